"""LangGraph's store: the same operations as its own in-memory store, the same answers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.app import Recollect

pytest.importorskip("langgraph")

from langgraph.store.base import GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from recollect.adapters.langgraph import RecollectStore

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "alice"), "tea", {"text": "Alice likes green tea", "score": 3, "tags": ["a", "b"]}),
    (("users", "alice"), "Tea", {"text": "another key", "score": 5.5, "nested": {"a": 1, "b": {"c": 2}}}),
    (("users", "bob"), "tea", {"text": "Alice likes green tea", "score": 9}),
    (("users",), "all", {"text": "", "none": None, "flag": True}),
    (("docs", "v1", "draft"), "k", {"text": "line one\nline two\r\n", "odd": "\u200b é", "pairs": [{"n": 2}, "x"]}),
]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"score": 3},
    {"score": {"$gte": 5}},
    {"score": {"$lt": 9, "$ne": 3}},
    {"nested": {"a": 1}},
    {"nested": {"b": {"c": {"$eq": 2}}}},
    {"tags": ["a", "b"]},
    {"pairs": [{"n": {"$gt": 1}}, "x"]},
    {"pairs": [{"n": {"$gt": 2}}, "x"]},
    {"pairs": [{"n": 2}]},
    {"text": "Alice likes green tea", "score": 9},
    {"flag": True},
    {"missing": "x"},
]


def shown(items: list[Any]) -> list[tuple[Any, ...]]:
    return [(item.namespace, item.key, item.value) for item in items]


@pytest.fixture
def stores(memory: Recollect) -> tuple[Any, Any]:
    theirs, ours = InMemoryStore(), RecollectStore(memory)
    for store in (theirs, ours):
        for namespace, key, value in ITEMS:
            store.put(namespace, key, value)
    return theirs, ours


def test_items_come_back_as_they_were(stores: tuple[Any, Any]) -> None:
    for namespace, key, value in ITEMS:
        found = stores[1].get(namespace, key)
        assert (found.namespace, found.key, found.value) == (namespace, key, value)
    assert stores[1].get(("users", "alice"), "absent") is None


@pytest.mark.parametrize("prefix", [(), ("users",), ("users", "alice"), ("docs",), ("nobody",)])
@pytest.mark.parametrize("filter", FILTERS)
def test_a_search_without_a_question_finds_what_their_store_finds(
    stores: tuple[Any, Any], prefix: tuple[str, ...], filter: dict[str, Any] | None
) -> None:
    if filter and any("$" in str(one) for one in filter.values()):
        filter = {**filter}
        theirs = [
            one
            for one in stores[0].search(prefix, limit=100)
            if all(name in one.value for name in filter)  # their store cannot compare what is not there
        ]
        kept = InMemoryStore()
        for one in theirs:
            kept.put(one.namespace, one.key, one.value)
        expected = kept.search(prefix, filter=filter, limit=100)
    else:
        expected = stores[0].search(prefix, filter=filter, limit=100)
    assert sorted(map(repr, shown(stores[1].search(prefix, filter=filter, limit=100)))) == sorted(
        map(repr, shown(expected))
    )


@pytest.mark.parametrize(("limit", "offset"), [(1, 0), (2, 1), (10, 4), (10, 9)])
def test_pages_are_cut_the_same_way(stores: tuple[Any, Any], limit: int, offset: int) -> None:
    ours = stores[1].search((), limit=limit, offset=offset)
    assert len(ours) == len(stores[0].search((), limit=limit, offset=offset))


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"prefix": ("users",)},
        {"suffix": ("draft",)},
        {"prefix": ("users", "*")},
        {"prefix": ("docs",), "suffix": ("draft",)},
        {"max_depth": 1},
        {"max_depth": 2, "limit": 2},
        {"limit": 1, "offset": 1},
        {"prefix": ("*", "v1")},
    ],
)
def test_namespaces_are_listed_the_same_way(stores: tuple[Any, Any], asked: dict[str, Any]) -> None:
    assert stores[1].list_namespaces(**asked) == stores[0].list_namespaces(**asked)


def test_a_second_put_replaces_and_a_delete_removes(stores: tuple[Any, Any]) -> None:
    _, ours = stores
    before = ours.get(("users", "alice"), "tea")
    ours.put(("users", "alice"), "tea", {"text": "coffee now"})
    after = ours.get(("users", "alice"), "tea")
    assert after.value == {"text": "coffee now"}
    assert (after.created_at, after.updated_at > before.updated_at) == (before.created_at, True)
    ours.delete(("users", "alice"), "tea")
    ours.delete(("users", "alice"), "tea")
    assert ours.get(("users", "alice"), "tea") is None
    assert ours.get(("users", "bob"), "tea") is not None
    ours.put(("users", "alice"), "tea", {"text": "coffee now"})
    assert ours.get(("users", "alice"), "tea").value == {"text": "coffee now"}


def test_a_question_is_answered_within_its_namespace_with_a_score(stores: tuple[Any, Any]) -> None:
    found = stores[1].search(("users", "alice"), query="who likes green tea?")
    assert shown(found)[0] == ITEMS[0]
    assert all(one.namespace == ("users", "alice") for one in found)
    assert found[0].score > 0
    narrowed = stores[1].search(("users",), query="who likes green tea?", filter={"score": {"$gt": 5}})
    assert [one.namespace for one in narrowed] == [("users", "bob")]


def test_a_filter_that_takes_most_away_still_finds_what_is_left(memory: Recollect) -> None:
    store = RecollectStore(memory)
    for number in range(60):
        store.put(("n",), str(number), {"text": f"tea number {number}", "n": number})
    found = store.search(("n",), query="tea", filter={"n": {"$gte": 57}}, limit=3)
    assert sorted(one.value["n"] for one in found) == [57, 58, 59]


def test_only_the_asked_fields_can_be_searched(memory: Recollect) -> None:
    store = RecollectStore(memory)
    store.put(("n",), "1", {"title": "lighthouse", "body": "volcano"}, index=["title"])
    store.put(("n",), "2", {"title": "lighthouse keeper"}, index=False)
    assert [one.key for one in store.search(("n",), query="lighthouse")] == ["1"]
    assert store.search(("n",), query="volcano") == []
    assert store.get(("n",), "2") is not None


def test_reads_of_a_batch_see_what_was_there_before_it(memory: Recollect) -> None:
    for store in (InMemoryStore(), RecollectStore(memory)):
        answers = store.batch(
            [PutOp(("n",), "k", {"v": 1}), GetOp(("n",), "k"), PutOp(("n",), "k", {"v": 2}), SearchOp(("n",))]
        )
        assert answers == [None, None, None, []]
        assert store.get(("n",), "k").value == {"v": 2}  # type: ignore[union-attr]


def test_the_asynchronous_methods_reach_the_same_items(memory: Recollect) -> None:
    async def story() -> Any:
        store = RecollectStore(memory)
        await store.aput(("n",), "k", {"v": 1})
        await store.aput(("n",), "gone", {"v": 1})
        await store.adelete(("n",), "gone")
        found = await store.asearch(("n",))
        return (await store.aget(("n",), "k")).value, shown(found), await store.alist_namespaces()  # type: ignore[union-attr]

    assert asyncio.run(story()) == ({"v": 1}, [(("n",), "k", {"v": 1})], [("n",)])


def test_what_outlived_its_time_is_not_there_and_reading_lets_it_live_on(memory: Recollect) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    store = RecollectStore(memory, clock=lambda: now[0])
    store.put(("n",), "short", {"text": "the kettle"}, ttl=10)
    store.put(("n",), "long", {"text": "the kettle"})
    now[0] += timedelta(minutes=8)
    assert store.get(("n",), "short") is not None
    now[0] += timedelta(minutes=8)
    assert store.get(("n",), "short", refresh_ttl=False) is not None
    now[0] += timedelta(minutes=8)
    assert store.get(("n",), "short") is None
    assert [one.key for one in store.search(("n",))] == ["long"]
    assert [one.key for one in store.search(("n",), query="kettle")] == ["long"]
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)


def test_a_default_time_to_live_holds_for_what_names_none(memory: Recollect) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    store = RecollectStore(memory, ttl={"default_ttl": 5}, clock=lambda: now[0])
    store.put(("n",), "k", {"v": 1})
    now[0] += timedelta(minutes=6)
    assert store.get(("n",), "k") is None
    assert store.list_namespaces() == []


def test_a_store_is_used_by_a_running_graph(memory: Recollect) -> None:
    from langgraph.graph import START, StateGraph
    from langgraph.runtime import Runtime
    from typing_extensions import TypedDict

    class State(TypedDict):
        said: str

    def node(state: State, runtime: Runtime[None]) -> dict[str, str]:
        assert runtime.store is not None
        runtime.store.put(("facts",), "1", {"text": state["said"]})
        return {"said": runtime.store.search(("facts",), query="staging database")[0].value["text"]}

    graph = StateGraph(State).add_node("n", node).add_edge(START, "n").compile(store=RecollectStore(memory))
    assert graph.invoke({"said": "The staging database resets every night"})["said"].startswith("The staging")
