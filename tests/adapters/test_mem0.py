"""A class with mem0's methods and dictionaries; compared with mem0 itself where that is installed."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import HandClock
from recollect.adapters.mem0 import AsyncMemory, Memory, expired, matches, messages_of, parse_expiry, text_of
from recollect.app import Recollect

ALICE = {"user_id": "alice"}
SAID = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "I like green tea.", "name": "al"},
    {"role": "assistant", "content": "Noted, you like green tea."},
]
# The keys of mem0 2.2.1's answers, read from its source.
ITEM = {"id", "memory", "hash", "metadata", "created_at", "updated_at"}
HISTORY = set("id memory_id old_memory new_memory event created_at updated_at is_deleted actor_id role".split())


@pytest.fixture
def mem(memory: Recollect) -> Memory:
    return Memory(memory)


def texts(answer: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in answer["results"]]


def test_raw_messages_are_kept_one_by_one_without_the_system(mem: Memory) -> None:
    results = mem.add(SAID, user_id="alice", infer=False)["results"]
    assert [(result["memory"], result["event"], result["role"], result["actor_id"]) for result in results] == [
        ("I like green tea.", "ADD", "user", "al"),
        ("Noted, you like green tea.", "ADD", "assistant", None),
    ]
    assert set(results[0]) == {"id", "memory", "event", "actor_id", "role"}


def test_inferring_keeps_what_people_said_once(mem: Memory) -> None:
    first = mem.add(SAID, user_id="alice")["results"]
    assert [set(one) for one in first] == [{"id", "memory", "event"}]
    assert mem.add(SAID, user_id="alice")["results"] == []
    assert len(mem.add(SAID, user_id="bob")["results"]) == 1
    assert len(mem.add(SAID, agent_id="a")["results"]) == 2


def test_items_have_mem0s_keys(mem: Memory) -> None:
    id = mem.add("I like tea", user_id="alice", run_id="r1", metadata={"topic": "drinks"})["results"][0]["id"]
    got = mem.get(id)
    assert got is not None
    assert set(got) == ITEM | {"score", "user_id", "run_id"}
    assert (got["metadata"], got["user_id"], got["score"]) == ({"topic": "drinks"}, "alice", None)
    assert set(mem.get_all(filters=ALICE)["results"][0]) == ITEM | {"user_id", "run_id"}
    found = mem.search("tea", filters=ALICE)["results"][0]
    assert set(found) == ITEM | {"score", "user_id", "run_id"}
    assert 0 < found["score"] <= 1
    assert mem.get("nothing") is None
    assert mem.get(id[-8:]) is None


def test_users_do_not_see_or_overrule_each_other(mem: Memory) -> None:
    mem.add("I live in Paris", user_id="alice")
    mem.add("I live in Rome", user_id="bob")
    mem.add("I no longer live in Paris", user_id="bob")
    assert texts(mem.search("where do I live", filters=ALICE)) == ["I live in Paris"]
    assert sorted(texts(mem.get_all(filters={"user_id": "bob"}))) == ["I live in Rome", "I no longer live in Paris"]
    assert texts(mem.get_all(filters={"user_id": "Alice"})) == []


def test_a_scope_is_asked_for_by_any_of_its_ids_together(mem: Memory) -> None:
    mem.add("one", user_id="u", agent_id="a", run_id="r")
    mem.add("two", user_id="u", agent_id="b")
    assert texts(mem.get_all(filters={"user_id": "u"})) == ["one", "two"]
    assert texts(mem.get_all(filters={"user_id": "u", "agent_id": "a"})) == ["one"]
    assert texts(mem.get_all(filters={"run_id": "r", "agent_id": "b"})) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"n": 1}, ["one"]),
        ({"n": {"gte": 2}}, ["two", "three"]),
        ({"n": {"gt": 1, "lt": 3}}, ["two"]),
        ({"n": {"in": [1, 3]}}, ["one", "three"]),
        ({"n": {"nin": [1, 3]}}, ["two"]),
        ({"n": {"ne": 1}}, ["two", "three"]),
        ({"topic": {"contains": "rin"}}, ["one"]),
        ({"topic": {"icontains": "FOO"}}, ["two"]),
        ({"topic": "*"}, ["one", "two"]),
        ({"OR": [{"n": 1}, {"topic": "food"}]}, ["one", "two"]),
        ({"AND": [{"n": 2}, {"topic": "food"}]}, ["two"]),
        ({"NOT": [{"n": 1}]}, ["two", "three"]),
        ({"n": {"gt": "text"}}, []),
    ],
)
def test_filters_mean_what_they_mean_for_mem0(mem: Memory, filters: dict[str, Any], expected: list[str]) -> None:
    mem.add("one", user_id="alice", metadata={"n": 1, "topic": "drinks"})
    mem.add("two", user_id="alice", metadata={"n": 2, "topic": "food"})
    mem.add("three", user_id="alice", metadata={"n": 3})
    assert texts(mem.get_all(filters={**ALICE, **filters})) == expected


def test_an_update_changes_words_and_metadata_and_never_the_owner(mem: Memory) -> None:
    id = mem.add("I like tea", user_id="alice", metadata={"a": 1})["results"][0]["id"]
    assert mem.update(id, "I like coffee", metadata={"b": 2, "user_id": "bob"}) == {
        "message": "Memory updated successfully!"
    }
    got = mem.get(id)
    assert got is not None
    assert (got["id"], got["memory"], got["user_id"], got["metadata"]) == (
        id,
        "I like coffee",
        "alice",
        {"a": 1, "b": 2},
    )
    assert texts(mem.search("coffee", filters=ALICE)) == ["I like coffee"]
    mem.update(id, data="I like water")
    assert mem.get(id)["memory"] == "I like water"  # type: ignore[index]


def test_history_tells_every_change_and_of_what_is_gone_only_that(mem: Memory) -> None:
    id = mem.add("I like tea", user_id="alice")["results"][0]["id"]
    mem.update(id, "I like coffee")
    mem.update(id, "I like water")
    told = mem.history(id)
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in told] == [
        ("ADD", None, "I like tea"),
        ("UPDATE", "I like tea", "I like coffee"),
        ("UPDATE", "I like coffee", "I like water"),
    ]
    assert set(told[0]) == HISTORY
    mem.delete(id)
    last = mem.history(id)[-1]
    assert (last["event"], last["is_deleted"], last["old_memory"]) == ("DELETE", True, None)
    assert mem.history("nothing") == []


def test_what_is_deleted_is_gone_and_may_be_said_again(mem: Memory) -> None:
    id = mem.add("I like tea", user_id="alice")["results"][0]["id"]
    assert mem.delete(id) == {"message": "Memory deleted successfully!"}
    assert mem.get(id) is None
    assert texts(mem.search("tea", filters=ALICE)) == []
    mem.add("I like tea", user_id="alice")
    mem.add("I like tea", user_id="bob")
    assert mem.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
    assert texts(mem.get_all(filters=ALICE)) == []
    assert texts(mem.get_all(filters={"user_id": "bob"})) == ["I like tea"]


def test_reset_forgets_what_was_added_here_and_nothing_else(mem: Memory) -> None:
    mem.memory.remember("The staging database resets.")
    mem.add("I like tea", user_id="alice")
    mem.reset()
    assert [memory.content for memory in mem.memory.list().memories] == ["The staging database resets."]


def test_the_expired_is_shown_only_on_request(mem: Memory) -> None:
    mem.add("an offer of tea", user_id="alice", expiration_date="2020-01-01")
    id = mem.add("an offer of cake", user_id="alice", expiration_date="2999-01-01")["results"][0]["id"]
    assert texts(mem.search("offer", filters=ALICE)) == ["an offer of cake"]
    assert len(mem.search("offer", filters=ALICE, show_expired=True)["results"]) == 2
    assert len(mem.get_all(filters=ALICE, show_expired=True)["results"]) == 2
    mem.update(id, expiration_date=None)
    assert mem.get(id)["expiration_date"] is None  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda mem: mem.add("x"),
        lambda mem: mem.add("x", user_id=" "),
        lambda mem: mem.add("x", user_id="a b"),
        lambda mem: mem.add(7, user_id="a"),
        lambda mem: mem.add("x", user_id="a", memory_type="odd"),
        lambda mem: mem.add("x", user_id="a", timestamp=1),
        lambda mem: mem.add("x", user_id="a", expiration_date="soon"),
        lambda mem: mem.search("x", user_id="a"),
        lambda mem: mem.search("x"),
        lambda mem: mem.search(" ", filters=ALICE),
        lambda mem: mem.search("x", filters=ALICE, threshold=2),
        lambda mem: mem.search("x", filters=ALICE, top_k=-1),
        lambda mem: mem.get_all(filters={}),
        lambda mem: mem.get_all(filters={**ALICE, "n": {"near": 1}}) or mem,
        lambda mem: mem.update("nothing", "x"),
        lambda mem: mem.update("nothing"),
        lambda mem: mem.delete("nothing"),
        lambda mem: mem.delete_all(),
    ],
)
def test_what_mem0_refuses_is_refused_and_nothing_changes(mem: Memory, wrong: Any) -> None:
    mem.add("kept", user_id="alice")
    with pytest.raises(ValueError, match=r"."):
        wrong(mem)
    assert texts(mem.get_all(filters=ALICE)) == ["kept"]


def test_a_procedure_is_kept_whole(mem: Memory) -> None:
    results = mem.add(SAID, agent_id="a", memory_type="procedural_memory")["results"]
    assert [result["memory"] for result in results] == [
        "user: I like green tea.\nassistant: Noted, you like green tea."
    ]
    assert mem.get(results[0]["id"])["metadata"] == {"memory_type": "procedural_memory"}  # type: ignore[index]


def test_the_asynchronous_class_gives_the_same(memory: Recollect) -> None:
    async def story() -> Any:
        mem = AsyncMemory(memory)
        id = (await mem.add("I like tea", user_id="alice"))["results"][0]["id"]
        await mem.update(id, "I like coffee")
        found = await mem.search("coffee", filters=ALICE)
        listed = await mem.get_all(filters=ALICE)
        told = await mem.history(id)
        one = await mem.get(id)
        await mem.delete(id)
        await mem.delete_all(user_id="alice")
        await mem.reset()
        return texts(found), texts(listed), len(told), one["memory"] if one else None

    assert asyncio.run(story()) == (["I like coffee"], ["I like coffee"], 2, "I like coffee")


def test_the_methods_take_what_mem0s_own_take() -> None:
    theirs = pytest.importorskip("mem0")
    for name in ("add", "search", "get", "get_all", "update", "delete", "delete_all", "history", "reset"):
        expected = inspect.signature(getattr(theirs.Memory, name)).parameters
        given = inspect.signature(getattr(Memory, name)).parameters
        assert list(given) == list(expected), name
        assert [one.kind for one in given.values()] == [one.kind for one in expected.values()], name
        assert inspect.iscoroutinefunction(getattr(AsyncMemory, name))
    for ours, their in ((Memory, theirs.Memory), (AsyncMemory, theirs.AsyncMemory)):
        public = {name for name in vars(their) if not name.startswith("_")} - {"project", "entity_store"}
        assert public <= set(dir(ours)) | {"chat"}


@pytest.mark.filterwarnings("default")
def test_answers_have_the_shapes_of_mem0s_own(
    memory: Recollect, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = pytest.importorskip("mem0")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    class Vectors:
        """Every text is alike: only the shapes matter."""

        def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
            return [1.0, 0.5, 0.25]

    store = {"path": str(tmp_path / "q"), "embedding_model_dims": 3, "on_disk": False}
    config = {
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": str(tmp_path / "history.db"),
    }
    their = theirs.Memory.from_config(config)
    their.embedding_model = Vectors()

    def story(mem: Any) -> list[Any]:
        added = mem.add(SAID, user_id="alice", run_id="r", metadata={"topic": "drinks"}, infer=False)
        id = added["results"][0]["id"]
        answers = [added, mem.get(id), mem.get_all(filters=ALICE), mem.search("green tea", filters=ALICE)]
        answers += [mem.update(id, "I like coffee."), mem.history(id), mem.get(id), mem.delete(id), mem.get(id)]
        gone = [{**one, "actor_id": None, "role": None} for one in mem.history(id)]  # ours no longer knows
        answers += [gone, mem.delete_all(user_id="alice"), mem.get_all(filters=ALICE), mem.reset()]
        return answers

    assert [shape(one) for one in story(Memory(memory))] == [shape(one) for one in story(their)]
    their.close()


def shape(answer: Any) -> Any:
    """An answer without its values: keys and types, and how many there are. The words of what was deleted are gone."""
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in answer.items() if name not in ("old_memory", "new_memory")}
    if isinstance(answer, list):
        return sorted((shape(one) for one in answer), key=repr)
    return type(answer).__name__


def test_what_was_changed_since_may_be_said_anew(mem: Memory) -> None:
    id = mem.add("I like tea", user_id="alice")["results"][0]["id"]
    mem.update(id, "I like coffee")
    assert texts(mem.add("I like tea", user_id="alice")) == ["I like tea"]
    assert sorted(texts(mem.get_all(filters=ALICE))) == ["I like coffee", "I like tea"]


# --- what is given and asked for -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ({"n": 3}, True),
        ({"n": 4}, False),
        ({"n": {"eq": 3}}, True),
        ({"n": {"ne": 3}}, False),
        ({"n": {"gt": 3}}, False),
        ({"n": {"gte": 3}}, True),
        ({"n": {"lt": 3}}, False),
        ({"n": {"lte": 3}}, True),
        ({"n": {"gt": 1, "lt": 3}}, False),
        ({"n": {"gt": "1"}}, False),
        ({"n": {"in": [1, 3]}}, True),
        ({"n": {"nin": [1, 3]}}, False),
        ({"t": {"contains": "Tea"}}, True),
        ({"t": {"contains": "tea"}}, False),
        ({"t": {"icontains": "tea"}}, True),
        ({"gone": {"nin": [1]}}, True),
        ({"gone": {"gt": 1}}, False),
        ({"gone": {"ne": 1}}, True),
        ({"t": "*"}, True),
        ({"gone": "*"}, False),
        ({"AND": [{"n": 3}, {"t": "*"}]}, True),
        ({"AND": [{"n": 3}, {"n": 4}]}, False),
        ({"OR": [{"n": 4}, {"n": 3}]}, True),
        ({"OR": [{"n": 4}, {"n": 5}]}, False),
        ({"NOT": [{"n": 4}]}, True),
        ({"NOT": [{"n": 4}, {"n": 3}]}, False),
    ],
)
def test_every_operator_of_a_filter_means_what_mem0_means(condition: dict[str, Any], fits: bool) -> None:
    assert matches({"n": 3, "t": "Tea or coffee"}, condition) is fits


@pytest.mark.parametrize("condition", [{"OR": []}, {"NOT": {}}, {"n": {"near": 3}}])
def test_a_filter_nobody_can_mean_is_refused(condition: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"operator"):
        matches({"n": 3}, condition)


def test_an_expiry_is_a_date_however_it_is_given_and_lasts_until_its_day_is_over() -> None:
    day = date(2026, 3, 1)
    assert parse_expiry(None) is None
    assert parse_expiry("2026-03-01") == parse_expiry(day) == parse_expiry(datetime(2026, 3, 1, 23, 59)) == "2026-03-01"
    for wrong in ("tomorrow", 20260301):
        with pytest.raises(ValueError, match="YYYY-MM-DD"):
            parse_expiry(wrong)
    assert not expired({"expiration_date": "2026-03-01"}, today=day)
    assert expired({"expiration_date": "2026-03-01"}, today=date(2026, 3, 2))
    assert not expired({}, today=day)


def test_messages_are_taken_in_every_form_and_empty_ones_left_out(caplog: pytest.LogCaptureFixture) -> None:
    assert messages_of("hi") == [{"role": "user", "content": "hi"}]
    assert messages_of({"role": "user", "content": "hi"}) == [{"role": "user", "content": "hi"}]
    blocks = {"role": "user", "content": [{"type": "text", "text": "one"}, "two"]}
    assert text_of(blocks) == "one\ntwo"
    assert messages_of([blocks, {"role": "user", "content": "  "}, {"content": "no role"}]) == [blocks]
    assert "left out 1 message(s)" in caplog.text
    with pytest.raises(ValueError, match="messages must be"):
        messages_of(3)


def test_a_configuration_names_the_store_and_says_what_it_has_no_use_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recollect.open(tmp_path / "m.db"):
        pass
    opened = Memory.from_config({"path": str(tmp_path / "m.db"), "llm": {}})
    assert opened.memory.path == tmp_path / "m.db"
    assert "no use for the settings llm" in caplog.text
    opened.memory.close()


def test_a_client_is_a_context_that_gives_itself(memory: Recollect) -> None:
    client = Memory(memory)
    with client as entered:
        assert entered is client


def steps(mem: Any) -> Any:
    """Every method once; each gives what it gives, or what can be awaited."""
    added = yield mem.add("I like tea.", user_id="ada", infer=False)
    id = added["results"][0]["id"]
    yield mem.get(id)
    yield mem.update(id, "I like green tea.")
    yield mem.search("tea", filters={"user_id": "ada"})
    yield mem.get_all(filters={"user_id": "ada"})
    yield mem.history(id)
    yield mem.delete(id)
    yield mem.get(id)
    yield mem.add("I like coffee.", user_id="ada", infer=False)
    yield mem.delete_all(user_id="ada")
    yield mem.reset()
    yield mem.get_all(filters={"user_id": "ada"})


def undrawn(answer: Any) -> Any:
    """An answer without what chance and the clock put into it."""
    if isinstance(answer, dict):
        drawn = ("id", "memory_id", "created_at", "updated_at", "hash", "score")
        return {name: "…" if name in drawn else undrawn(value) for name, value in answer.items()}
    return [undrawn(one) for one in answer] if isinstance(answer, list) else answer


def test_every_awaitable_method_answers_what_the_plain_one_answers(clock: HandClock) -> None:
    plain, awaited = [], []
    with recollect.open(":memory:", project="a", clock=clock) as memory:
        talk, answer = steps(Memory(memory)), None
        with contextlib.suppress(StopIteration):
            while True:
                answer = talk.send(answer)
                plain.append(undrawn(answer))

    async def use() -> None:
        with recollect.open(":memory:", project="a", clock=clock) as memory:
            talk, answer = steps(AsyncMemory(memory)), None
            with contextlib.suppress(StopIteration):
                while True:
                    answer = await talk.send(answer)
                    awaited.append(undrawn(answer))

    asyncio.run(use())
    assert len(plain) == 12
    assert awaited == plain
