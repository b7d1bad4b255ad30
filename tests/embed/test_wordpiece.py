"""WordPiece on a vocabulary made here; its agreement with the reference tokenizer is told in the module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from embed.embed_tools import TOKENS, vocabulary
from recollect.embed.wordpiece import WordPiece, read_vocabulary

WORDS = WordPiece(TOKENS)


def tokens(text: str, **how: int) -> list[str]:
    return [TOKENS[id] for id in WORDS.encode(text, framed=False, **how)]


def test_the_longest_piece_from_the_left_wins() -> None:
    assert tokens("jumped foxs jumps") == ["jump", "##ed", "fox", "##s", "jump", "##s"]


def test_a_word_with_one_unknown_piece_is_unknown_as_a_whole() -> None:
    assert tokens("jumpxed red") == ["[UNK]", "red"]


def test_case_accents_and_width_of_spaces_do_not_count() -> None:
    assert tokens("THE\u00a0RÉD\u3000föx") == ["the", "red", "fox"]


def test_an_accented_letter_is_read_bare_even_if_the_vocabulary_has_it() -> None:
    assert tokens("é") == ["[UNK]"]


def test_punctuation_and_ideographs_stand_alone() -> None:
    assert tokens("red,fox!世世the") == ["red", ",", "fox", "!", "世", "世", "the"]


def test_control_and_invisible_characters_vanish_without_splitting() -> None:
    assert tokens("r\u200bed f\x00o\x0bx\ufeff \ufffd") == ["red", "fox"]


def test_special_tokens_in_the_text_are_taken_as_such_only_when_spelt_exactly() -> None:
    assert tokens("red[SEP]fox [MASK]") == ["red", "[SEP]", "fox", "[MASK]"]
    assert "[SEP]" not in tokens("[sep] [ SEP ]")


def test_a_word_of_more_than_a_hundred_letters_is_unknown() -> None:
    assert WordPiece(["[UNK]", "a", "##a"]).encode("a" * 100, framed=False) == [1] + [2] * 99
    assert WordPiece(["[UNK]", "a", "##a"]).encode("a" * 101, framed=False) == [0]


def test_the_limit_counts_the_frame_and_keeps_it_whole() -> None:
    ids = WORDS.encode("red fox " * 1000, limit=6)
    assert [TOKENS[id] for id in ids] == ["[CLS]", "red", "fox", "red", "fox", "[SEP]"]
    assert len(WORDS.encode("jumped " * 9, limit=5, framed=False)) == 5


@pytest.mark.parametrize("text", ["", "   \n", "\u200b"])
def test_a_text_without_visible_words_is_only_the_frame(text: str) -> None:
    assert [TOKENS[id] for id in WORDS.encode(text)] == ["[CLS]", "[SEP]"]


def test_a_cached_word_reads_the_same_as_a_new_one() -> None:
    fresh = WordPiece(TOKENS)
    first = fresh.encode_batch(["Jumped, fox", "RED"])
    assert fresh.encode_batch(["Jumped, fox", "RED"]) == first


def test_a_megabyte_without_a_space_is_cut_and_does_not_hang() -> None:
    assert len(WORDS.encode("世" * 1_000_000, limit=512)) == 512
    assert tokens("x" * 1_000_000) == ["[UNK]"]


def test_a_lone_surrogate_is_dropped() -> None:
    assert tokens("red\ud800 fox") == ["red", "fox"]


def test_every_form_of_a_vocabulary_gives_the_same_tokens(tmp_path: Path) -> None:
    shuffled = {token: place for place, token in reversed(list(enumerate(TOKENS)))}
    forms = {
        "lf.txt": vocabulary(),
        "crlf.txt": vocabulary().replace(b"\n", b"\r\n"),
        "tokenizer.json": json.dumps({"model": {"type": "WordPiece", "vocab": shuffled}}).encode(),
    }
    for name, data in forms.items():
        assert read_vocabulary(data) == TOKENS, name
        (tmp_path / name).write_bytes(data)
        assert WordPiece.from_file(tmp_path / name).encode("red fox") == WORDS.encode("red fox")
