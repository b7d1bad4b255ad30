"""The texts a memory is embedded as: cut between sentences, with its context last, and known by a digest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.app import Recollect
from recollect.core.records import Span
from recollect.recall.embedding_texts import _BEFORE, _CHUNK, _MOST_CHUNKS, _OWN, embedding_texts, pieces, stamp
from recollect.store.nearby import Said


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [
        ([_CHUNK - 10, 9], 1),
        ([_CHUNK - 10, 10], 1),
        ([_CHUNK - 10, 11], 2),
        ([3 * _CHUNK], 1),
        ([_CHUNK] * 12, _MOST_CHUNKS),
        ([1], 1),
    ],
)
def test_a_long_text_is_cut_between_sentences(lengths: list[int], cut: int) -> None:
    sentences = [f"{'x' * (length - 1)}." for length in lengths]
    found = pieces("  ".join(sentences))
    assert len(found) == cut
    assert all(len(piece) <= 2 * _CHUNK for piece in found)
    assert found[0].startswith(sentences[0][: 2 * _CHUNK])


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
