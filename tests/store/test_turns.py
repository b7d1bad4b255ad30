"""Turns and working memory in the store: kept step by step, checked, salvaged, carried through a migration."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.core.conversations import Call, Turn
from recollect.core.kinds import Kinds
from recollect.store.check import check
from recollect.store.migrate import census, every_step, migrate
from recollect.store.open import open_store
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.repair import salvage
from recollect.store.store import Store
from recollect.store.turns import GONE

pytestmark = pytest.mark.both_engines

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def turn(number: int = 1, **fields: object) -> Turn:
    return Turn(f"turn_{number}", "s", "w", "recency", "m", AT, f"message {number}").having(**fields)


@pytest.fixture
def store(place: Path | str) -> Iterator[Store]:
    opened = open_store(place, Kinds(), project="p")
    yield opened
    opened.close()


def test_a_turn_is_brought_up_to_date_with_its_calls_in_order(store: Store) -> None:
    store.turns.put(turn())
    calls = (Call("a", "look", "{}", "1", said="Hm."), Call("b", "go", "{}", "2", failed=True, step=1, ms=7))
    for place, call in enumerate(calls):
        store.turns.put_call("turn_1", place, call)
    store.turns.put(turn(state="done", output="Here.", ended_at=AT, tokens_in=3, tokens_out=4, model="n"))
    found = store.turns.recent(limit=5)
    assert found == [turn(state="done", output="Here.", ended_at=AT, tokens_in=3, tokens_out=4, calls=calls, model="n")]
    assert store.turns.count() == 1
    assert check(store).ok


def test_projects_and_sessions_are_kept_apart_and_the_latest_come_last(store: Store) -> None:
    for number in range(5):
        store.turns.put(turn(number, session="odd" if number % 2 else "even"))
    Store(store.engine, Kinds(), project="other").turns.put(turn(9))
    assert [one.id for one in store.turns.recent(limit=2)] == ["turn_3", "turn_4"]
    assert [one.id for one in store.turns.recent(session="odd", limit=9)] == ["turn_1", "turn_3"]
    assert store.turns.last_session() == "even"
    assert store.turns.by_state() == {"open": 5}
    assert store.turns.recent(limit=9, ended=True) == []


def test_what_another_waking_left_open_was_interrupted(store: Store) -> None:
    store.turns.put(turn(1, thread="dead"))
    store.turns.put(turn(2, thread="mine"))
    assert store.turns.close_open("s", thread="mine", at=AT) == 1
    assert [one.state for one in store.turns.recent(limit=9)] == ["interrupted", "open"]


@pytest.mark.parametrize(
    "damage",
    [
        "update turns set input = 'other' where id = 'turn_1'",
        "update turn_calls set result = 'other'",
        "update working_memory set items = '[]'",
    ],
)
def test_a_damaged_row_is_found_by_check_and_left_out_of_what_is_read(store: Store, damage: str) -> None:
    store.turns.put(turn())
    store.turns.put_call("turn_1", 0, Call("a", "look", "{}", "1"))
    store.working.put("goals", ["sail"], at=AT)
    with store.engine.write():
        store.engine.execute(damage)
    findings = check(store).findings
    assert [finding.area for finding in findings] == ["turns"]
    assert not findings[0].projection
    assert all(one.input == "message 1" for one in store.turns.recent(limit=5))


def test_forgetting_a_text_blanks_it_wherever_a_turn_holds_it(store: Store) -> None:
    text = "I live at Elm Street 9."
    store.turns.put(turn(1, input=text, output=f"You said: {text}"))
    store.turns.put_call("turn_1", 0, Call("a", "look", '{"q": "Elm"}', f"found {text}"))
    store.turns.put(turn(2, input="ok", output="ok then, look"))
    store.working.put("facts", [text, "another"], at=AT)
    assert store.turns.forget([text, "ok"]) == 3
    store.working.forget([text])
    first, second = store.turns.recent(limit=5)
    assert (first.input, first.output, first.calls[0].result) == (GONE, f"You said: {GONE}", f"found {GONE}")
    assert (second.input, second.output) == (GONE, "ok then, look"), "a short text is only recognised when it is all"
    assert store.working.sections() == {"facts": ("another",)}
    assert check(store).ok


def test_turns_and_working_memory_survive_backup_and_salvage(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, project="p") as memory:
        memory.store.turns.put(turn(state="done", output="Here."))
        memory.store.turns.put_call("turn_1", 0, Call("a", "look", "{}", "1"))
        memory.store.working.put("goals", ["sail"], at=AT)
        memory.remember("A stone.")
    salvage(path, Kinds())
    with recollect.open(path) as memory:
        found = memory.store.turns.recent(limit=5)
        assert (found[0].output, found[0].calls[0].result) == ("Here.", "1")
        assert memory.store.working.sections() == {"goals": ("sail",)}
        assert check(memory.store).ok


def test_the_census_of_a_migration_counts_turns(store: Store) -> None:
    store.turns.put(turn())
    counts = dict(census(store.engine).counts)
    assert (counts["turns"], counts["turn_calls"], counts["working_memory"]) == (1, 0, 0)


def test_an_older_store_gains_the_tables_with_a_backup_first(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "m.db")
    steps = every_step(engine)
    before = next(place for place, step in enumerate(steps) if step.name == "turns")
    migrate(engine, steps[:before])
    engine.close()
    with recollect.open(tmp_path / "m.db", project="p") as memory:
        memory.store.turns.put(turn())
        assert memory.store.turns.count() == 1
    assert list((tmp_path / "backups").glob("*.db"))
