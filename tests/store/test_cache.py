"""The cache of embeddings: a week, the newest few, harmless when it is broken."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from embed.embed_tools import CountingEmbedder
from recollect.app import Recollect
from recollect.core.kinds import Kinds
from recollect.embed.cached import CachedEmbedder
from recollect.store.cache import EmbeddingCache, empty
from recollect.store.open import open_store
from recollect.store.store import Store

pytestmark = pytest.mark.both_engines


@pytest.fixture
def store(place: Path | str) -> Iterator[Store]:
    opened = open_store(place, Kinds(), project="p")
    yield opened
    opened.close()


def test_what_was_kept_comes_back_in_another_process_and_nothing_else(store: Store, clock: HandClock) -> None:
    EmbeddingCache(store.engine, store.project, clock).put_many({"a": b"1", "b": b"\0\xff"})
    assert EmbeddingCache(store.engine, store.project, clock).get_many(["b", "a", "c"]) == {"a": b"1", "b": b"\0\xff"}
    assert EmbeddingCache(store.engine, store.project, clock).get_many([]) == {}


def test_many_keys_are_looked_up_at_once(store: Store, clock: HandClock) -> None:
    cache = EmbeddingCache(store.engine, store.project, clock)
    items = {f"k{n}": str(n).encode() for n in range(1_234)}
    cache.put_many(items)
    assert cache.get_many(list(items)) == items


def test_after_a_week_it_is_forgotten_and_maintenance_removes_it(store: Store, clock: HandClock) -> None:
    cache = EmbeddingCache(store.engine, store.project, clock)
    cache.put_many({"old": b"1"})
    clock.pass_(days=6)
    cache.put_many({"young": b"2"})
    clock.pass_(days=1)
    assert cache.get_many(["old", "young"]) == {"young": b"2"}
    assert (cache.count(), cache.evict(), cache.count()) == (2, 1, 1)


def test_only_the_newest_are_kept_and_what_is_put_again_counts_as_new(store: Store, clock: HandClock) -> None:
    cache = EmbeddingCache(store.engine, store.project, clock, most=3)
    for key in "abcad":
        cache.put_many({key: key.encode()})
    assert cache.get_many(list("abcd")).keys() == set("cad")
    cache.put_many({str(n): b"x" for n in range(10)})
    assert cache.get_many([str(n) for n in range(10)]).keys() == {"7", "8", "9"}
    assert cache.count() == 3


def test_a_harmed_entry_is_not_handed_out(store: Store, clock: HandClock) -> None:
    cache = EmbeddingCache(store.engine, store.project, clock)
    cache.put_many({"a": b"1", "b": b"2"})
    with store.engine.write():
        store.engine.execute("update embedding_cache set vector = :other where key = 'a'", {"other": b"9"})
    assert cache.get_many(["a", "b"]) == {"b": b"2"}


def test_a_store_that_cannot_be_written_answers_and_keeps_nothing(place: Path | str, clock: HandClock) -> None:
    with_one = open_store(place, Kinds(), project="p")
    EmbeddingCache(with_one.engine, with_one.project, clock).put_many({"a": b"1"})
    with_one.close()
    store = open_store(place, Kinds(), create=False, read_only=True)
    cache = EmbeddingCache(store.engine, store.project, clock)
    cache.put_many({"b": b"2"})
    assert cache.get_many(["a", "b"]) == {"a": b"1"}
    store.close()


def test_without_its_table_embedding_goes_on(tmp_path: Path, clock: HandClock) -> None:
    store = open_store(tmp_path / "m.db", Kinds(), project="p")
    with store.engine.write():
        store.engine.execute("drop table embedding_cache")
    cached = CachedEmbedder(CountingEmbedder(), EmbeddingCache(store.engine, store.project, clock))
    assert cached.embed_documents(["a", "b"]).shape == (2, 8)
    store.close()


def test_a_vector_outlives_its_embedder(store: Store, clock: HandClock) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    made = CachedEmbedder(first, EmbeddingCache(store.engine, store.project, clock)).embed_documents(["a", "b"])
    again = CachedEmbedder(second, EmbeddingCache(store.engine, store.project, clock)).embed_documents(["b", "a"])
    assert again[::-1].tolist() == made.tolist()
    assert second.asked == []


def test_emptying_leaves_nothing(store: Store, clock: HandClock) -> None:
    EmbeddingCache(store.engine, store.project, clock).put_many({"a": b"1"})
    assert (empty(store.engine), EmbeddingCache(store.engine, store.project, clock).count()) == (1, 0)


def test_forgetting_a_memory_empties_the_cache(memory: Recollect) -> None:
    cache = EmbeddingCache(memory.store.engine, memory.store.project, lambda: datetime.now(UTC))
    cache.put_many({"a": b"1"})
    memory.forget(memory.remember("The vault code is in the blue book.").id)
    assert cache.count() == 0


def test_tending_evicts_even_without_an_embedder(place: Path | str) -> None:
    late = datetime.now(UTC) + timedelta(days=8)
    with recollect.open(place, project="p", clock=lambda: late) as memory:
        cache = EmbeddingCache(memory.store.engine, memory.store.project, lambda: late - timedelta(days=8))
        cache.put_many({"a": b"1"})
        memory.tend()
        assert cache.count() == 0
