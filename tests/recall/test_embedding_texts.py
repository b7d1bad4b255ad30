"""The texts a memory is embedded as: cut between sentences, with its context last, and known by a digest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.app import Recollect
from recollect.core.records import Span
from recollect.recall.embedding_texts import _BEFORE, _OWN, embedding_texts, pieces, stamp
from recollect.store.nearby import Said


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [([90, 9], 1), ([90, 10], 1), ([90, 11], 2), ([200], 1), ([201], 2), ([100] * 12, 12), ([1], 1)],
)
def test_a_long_text_is_cut_between_sentences(lengths: list[int], cut: int) -> None:
    sentences = [f"{'x' * (length - 1)}." for length in lengths]
    found = pieces("  ".join(sentences), size=100)
    assert len(found) == cut
    assert "".join(found).replace(" ", "") == "".join(sentences)


def test_what_people_say_is_embedded_by_sentences_and_passages_by_paragraphs(memory: Recollect) -> None:
    sentence = f"{'word ' * 24}end."
    said = memory.remember(" ".join([sentence] * 20), kind="episode", source_role="user").memory
    answer = replace(said, source_role="assistant")
    passage = replace(said, source_role=None, span=Span("prose", 1, 2))
    assert [len(embedding_texts(one, None)) - 1 for one in (said, answer, passage)] == [20, 4, 4]
    endless = replace(said, content=" ".join([sentence] * 500))
    assert len(embedding_texts(endless, None)) == 41
    assert len(embedding_texts(replace(endless, source_role="tool"), None)) == 9


def test_the_last_text_has_the_context_and_the_others_have_not(memory: Recollect) -> None:
    plain = memory.remember("Run make gen.", kind="gotcha", files=["a", "b", "c", "d"], modules=["m", "n", "o"]).memory
    assert embedding_texts(plain, None) == ["Run make gen.", "a | b | c | m | n | gotcha\nRun make gen."]
    assert embedding_texts(plain, Said("id", "why?" + "x" * 300, "user"))[-1] == f"user: {'x' * _BEFORE}\nRun make gen."
    assert embedding_texts(plain, Said("id", "why?", None))[-1] == "why?\nRun make gen."
    said = replace(plain, source_role="user", session="s", files=(), modules=())
    assert embedding_texts(said, None) == ["user: Run make gen.", "user: Run make gen."]
    spanned = replace(plain, span=Span("prose", 1, 2, context="Guide › Cache"))
    assert embedding_texts(spanned, None)[-1] == "Guide › Cache\nRun make gen."
    long = replace(plain, content="y" * 2000, files=(), modules=())
    assert embedding_texts(long, None)[-1] == f"gotcha\n{'y' * _OWN}"


def test_a_digest_tells_other_texts_and_other_cuts_apart() -> None:
    assert len(stamp(["a"])) == 16
    assert len({stamp(["a"]), stamp(["b"]), stamp(["a", "b"]), stamp(["ab"]), stamp([])}) == 5
    assert stamp(["a", "b"]) == stamp(("a", "b"))
