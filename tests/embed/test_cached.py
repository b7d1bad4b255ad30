"""The cache: what is known is not asked again, what is broken is asked again, and models never share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from embed.embed_tools import CountingEmbedder
from recollect.core.errors import StoreBusy
from recollect.embed.cached import CachedEmbedder, cache_key
from recollect.models.withhold import PermittedEmbedder


class DictCache:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.error: Exception | None = None

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        if self.error:
            raise self.error
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put_many(self, items: Mapping[str, bytes]) -> None:
        if self.error:
            raise self.error
        self.kept.update(items)


@pytest.fixture
def inner() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def cache() -> DictCache:
    return DictCache()


def test_a_text_is_embedded_once_even_twice_in_one_batch(inner: CountingEmbedder, cache: DictCache) -> None:
    cached = CachedEmbedder(inner, cache)
    first = cached.embed_documents(["a", "b", "a"])
    again = cached.embed_documents(["b", "c", "a"])
    assert inner.asked == ["a", "b", "c"]
    np.testing.assert_array_equal(first[[0, 1, 0]], again[[2, 0, 2]])
    np.testing.assert_array_equal(first, CountingEmbedder().embed_documents(["a", "b", "a"]))


def test_the_cache_outlives_the_embedder(inner: CountingEmbedder, cache: DictCache) -> None:
    CachedEmbedder(inner, cache).embed_documents(["a"])
    CachedEmbedder(inner, cache).embed_documents(["a"])
    assert inner.asked == ["a"]


def test_another_model_or_size_never_gets_these_vectors(inner: CountingEmbedder, cache: DictCache) -> None:
    CachedEmbedder(inner, cache).embed_documents(["a"])
    other = CountingEmbedder()
    other.model = "other"
    CachedEmbedder(other, cache).embed_documents(["a"])
    assert other.asked == ["a"]


def test_no_two_different_entries_share_a_key() -> None:
    triples = [
        ("a", "m", 1),
        ("a", "m", 11),
        ("a1", "m", 1),
        ("a", "m1", 1),
        ("", "am", 1),
        ("am", "", 1),
        ("\ud800", "m", 1),
    ]
    assert len({cache_key(text, model=model, dims=dims) for text, model, dims in triples}) == len(triples)


@pytest.mark.parametrize("data", [b"", b"short", b"\0" * 31, np.full(8, np.nan, "<f4").tobytes()])
def test_an_entry_that_is_no_vector_is_made_anew(inner: CountingEmbedder, cache: DictCache, data: bytes) -> None:
    cache.kept[cache_key("a", model=inner.model, dims=inner.dims)] = data
    found = CachedEmbedder(inner, cache).embed_documents(["a"])
    assert np.isfinite(found).all()
    assert CachedEmbedder(inner, cache).embed_documents(["a"]).tolist() == found.tolist()
    assert inner.asked == ["a"]


@pytest.mark.parametrize("error", [StoreBusy("x", waited=1), OSError("disk")])
def test_a_broken_cache_costs_time_and_not_the_answer(
    inner: CountingEmbedder, cache: DictCache, error: Exception
) -> None:
    cache.error = error
    assert CachedEmbedder(inner, cache).embed_documents(["a", "b"]).shape == (2, 8)


def test_recent_questions_are_kept_in_memory_and_the_oldest_goes_first(
    inner: CountingEmbedder, cache: DictCache
) -> None:
    cached = CachedEmbedder(inner, cache, questions=2)
    for question in ("a", "b", "a", "c", "a", "b"):
        cached.embed_query(question)
    assert inner.asked == ["query: a", "query: b", "query: c", "query: b"]
    assert cache.kept == {}


def test_a_kept_question_cannot_be_changed_by_whoever_got_it(inner: CountingEmbedder, cache: DictCache) -> None:
    with pytest.raises(ValueError, match="read-only"):
        CachedEmbedder(inner, cache).embed_query("a")[0] = 7


def test_no_texts_give_no_rows(inner: CountingEmbedder, cache: DictCache) -> None:
    assert CachedEmbedder(inner, cache).embed_documents([]).shape == (0, 8)
    assert inner.asked == []


@pytest.mark.parametrize("at_hand", [True, False])
def test_whoever_stands_before_an_embedder_tells_its_model_its_size_and_whether_it_is_at_hand(
    inner: CountingEmbedder, cache: DictCache, monkeypatch: pytest.MonkeyPatch, at_hand: bool
) -> None:
    monkeypatch.setattr(type(inner), "at_hand", at_hand, raising=False)
    foreign = [False]
    permitted = PermittedEmbedder(inner, lambda: None, is_foreign=lambda: foreign[0])
    for wrapped in (CachedEmbedder(inner, cache), permitted):
        assert (wrapped.model, wrapped.dims, wrapped.at_hand) == (inner.model, inner.dims, at_hand)
    foreign[0] = True
    assert not permitted.at_hand
