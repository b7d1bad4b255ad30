"""The log can be replayed: an empty store filled from it holds the same memories, links, tombstones, entities and
sessions."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import Draft, Filter, Status
from recollect.app import Recollect
from recollect.core.errors import NothingToUndo, RecollectError
from recollect.core.fields import FIELDS
from recollect.core.ids import new_id
from recollect.core.kinds import Kinds
from recollect.core.query import ANY_USER
from recollect.core.records import Memory, Span
from recollect.dialogue.people import describe_entity
from recollect.remember.passages import DocumentChunks, drop_passages, replace_passages
from recollect.remember.replay import rebuild
from recollect.remember.rescreen import redact_stored
from recollect.store.check import check
from recollect.store.open import open_store
from recollect.store.store import Store

pytestmark = pytest.mark.both_engines

EVERYTHING = Filter(statuses=Status, user=ANY_USER)
TEXTS = (
    "The deploy script needs 8 workers on the build machine.",
    "The deploy script now needs 16 workers on the build machine.",
    "The deploy script never needs 8 workers on the build machine.",
    "The team lunch is on friday.",
    "The harbour opens at dawn.",
)
DOCUMENTS = ("guide", "notes")
PASSAGES = ("Install it with pip.", "Run the tests.", "Ask Alice.", "Deploy on Monday.")
SAID = (
    "Anna Karlsson works at Volvo in Gothenburg.",
    "Bob Stone moved to Berlin with @anna.",
    "My sister is Greta Holm, and she lives in Oslo.",
    "Anna Karlsson met Bob Stone at Volvo.",
)
ACTS = (
    "remember", "batch", "edit", "reword", "confirm", "reject", "dispute", "pin", "correct", "supersede", "relate",
    "relate_file", "forget", "undo", "undo_id", "recall", "index", "drop", "redact", "again", "capture", "capture",
    "describe", "merge_entities", "split_entity", "tend", "redate",
)  # fmt: skip
# How far a session was consolidated is work that `tend` does again.
SESSIONS = "select project, id, seen_at, last_at from sessions order by 1, 2"
STEPS = st.lists(
    st.tuples(st.sampled_from(ACTS), st.integers(0, 50), st.integers(0, 50), st.sampled_from([None, "anna"])),
    max_size=25,
)


class Clock:
    """Runs back now and then: the log's own time must not."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.ticks = 0

    def __call__(self) -> datetime:
        self.ticks += 1
        self.now += timedelta(seconds=-3 if self.ticks % 7 == 0 else 1)
        return self.now


def take(memory: Recollect, act: str, one: int, two: int, user: str | None) -> None:
    here = memory.list(EVERYTHING, order="oldest", limit=1000).memories
    a = here[one % len(here)] if here else None
    b = here[two % len(here)] if here else None
    text = TEXTS[one % len(TEXTS)]
    match act:
        case "remember":
            memory.remember(text, user=user, tags=[f"t{two % 3}"], files=[f"f{two % 4}.py"])
        case "again":
            memory.remember(text, user=user, again=True)
        case "batch":
            memory.remember_all([Draft(text), Draft(TEXTS[two % len(TEXTS)], derived_from=[a.id] if a else [])])
        case "index":
            texts = [PASSAGES[n % len(PASSAGES)] for n in range(one % 3, one % 3 + two % 4)]
            cut = tuple(
                Draft(text, kind="passage", span=Span("prose", 10 * n, 10 * n + 9, "Guide", None))
                for n, text in enumerate(texts)
            )
            replace_passages(
                [DocumentChunks(DOCUMENTS[two % 2], cut)], memory.store, memory.writer.act(), identity=new_id
            )
        case "recall":
            memory.recall(text, filter=Filter(user=user))
        case "undo":
            memory.undo()
        case "capture":
            at = datetime(2026, 2, 1 + one % 20, tzinfo=UTC) if one % 3 else None
            memory.sessions.capture(SAID[one % len(SAID)], session=f"s{two % 3}", at=at, user=user)
        case "describe" | "merge_entities" | "split_entity":
            work_on_entities(memory, act, one, two)
        case "tend":
            memory.sessions.consolidate()
        case _ if a is None or b is None:
            pass
        case "edit":
            memory.edit(a.id, tags=[f"t{two}"], valid_until=datetime(2027, 1, 1, tzinfo=UTC), attributes={"n": [two]})
        case "redate":
            memory.edit(a.id, event_at=datetime(2026, 1, 1 + two % 28, tzinfo=UTC))
        case "reword":
            memory.edit(a.id, content=f"{a.content} Reworded {two}.")
        case "correct":
            memory.correct(a.id, f"{text} Corrected {two}.")
        case "supersede":
            memory.remember_all([Draft(f"{text} Newer {two}.", supersedes=a.id, user=a.user)])
        case "relate":
            memory.relate(a.id, "validates", to=b.id, confidence=0.5 + two / 200)
        case "relate_file":
            memory.relate(a.id, "required_with", file="a.py")
        case "undo_id":
            memory.undo(a.id)
        case "drop":
            drop_passages([a], memory.store, memory.writer.act())
        case "redact":
            redact_stored(memory.store, a.id, memory.writer.act())
        case "pin":
            memory.pin(a.id, pinned=bool(two % 2))
        case _:
            getattr(memory, act)(a.id)


def work_on_entities(memory: Recollect, act: str, one: int, two: int) -> None:
    known = sorted(
        memory.sessions.entities(limit=100, user=ANY_USER), key=lambda entity: (entity.created_at, entity.name)
    )
    if not known:
        return
    a, b = known[one % len(known)], known[two % len(known)]
    if act == "describe":
        describe_entity(a.id, f"Number {two}.", memory.dialogue)
    elif act == "merge_entities":
        memory.sessions.merge_entities(a.id, b.id)
    elif a.aliases:
        memory.sessions.split_entity(a.id, a.aliases[two % len(a.aliases)])


def rows(store: Store) -> tuple[Any, ...]:
    usage = {field.name: 0 for field in FIELDS if field.usage}

    def settled(memory: Memory) -> Memory:
        return memory.having(**{**usage, "accessed_at": memory.created_at})

    memories = {memory.id: settled(memory) for page in store.memories.every() for memory in page.memories}
    tables = store.engine.tables()
    others = [
        sorted(store.engine.rows(f"select {', '.join(column.name for column in tables[table])} from {table}"), key=repr)
        for table in ("links", "tombstones", "entities", "entity_names")
    ]
    return memories, others, store.engine.rows(SESSIONS)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_replaying_the_log_gives_the_same_rows(steps: list[tuple[str, int, int, str | None]]) -> None:
    with recollect.open(":memory:", project="p", actor="t", clock=Clock()) as memory:
        for act, one, two, user in steps:
            with suppress(RecollectError):  # a closed or forgotten one; nothing must have been logged of it
                take(memory, act, one, two, user)
        assert memory.store.log.verify() == []
        fresh = open_store(None, Kinds(), project="p")
        rebuild(memory.store, fresh)
        assert check(memory.store, quick=True).findings == []
        assert rows(fresh) == rows(memory.store)
        fresh.close()


def test_a_forgotten_text_is_neither_in_the_log_nor_in_what_is_rebuilt_from_it(memory: Recollect) -> None:
    gone = memory.remember("The vault word is Zanzibar.").id
    memory.edit(gone, content="The vault word is Zanzibar nine.")
    kept = memory.remember("The harbour opens at dawn.").id
    memory.forget(gone)
    bodies = [row[0] or "" for row in memory.store.engine.rows("select body from log")]
    assert not any("Zanzibar" in body for body in bodies)
    fresh = open_store(None, Kinds(), project="test")
    assert list(rebuild(memory.store, fresh).memories) == [kept]


def test_entities_and_sessions_are_rebuilt_and_tend_adds_nothing_to_them(memory: Recollect, tmp_path: Path) -> None:
    talk = memory.sessions
    talk.capture("Anna Karlsson works at Volvo in Gothenburg.", session="monday")
    talk.capture("My sister is Greta Holm. I live in Oslo.", session="monday")
    talk.consolidate("monday")
    talk.merge_entities("Volvo", "Gothenburg")
    describe_entity("Anna Karlsson", "An engineer.", memory.dialogue)
    fresh = open_store(tmp_path / "fresh.db", Kinds(), project="test")
    rebuild(memory.store, fresh)
    assert rows(fresh) == rows(memory.store)
    assert fresh.entities.page(limit=100) == memory.store.entities.page(limit=100)
    fresh.close()
    with recollect.open(tmp_path / "fresh.db", project="test") as rebuilt:
        before = {entry.id for entry in rebuilt.list(EVERYTHING, limit=1000).memories}
        assert rebuilt.sessions.get("monday").state == "open"
        rebuilt.sessions.consolidate("monday")
        assert rebuilt.sessions.get("monday").state == "consolidated"
        assert {entry.id for entry in rebuilt.list(EVERYTHING, limit=1000).memories} == before


def test_a_name_nobody_mentions_any_more_is_neither_in_the_log_nor_rebuilt(memory: Recollect) -> None:
    talk = memory.sessions
    (gone,) = talk.capture("Zanna Quist works at Volvo.", session="monday").episodes
    talk.capture("Bob Stone works at Volvo.", session="monday")
    memory.forget(gone)
    bodies = [row[0] or "" for row in memory.store.engine.rows("select body from log")]
    assert not any("Quist" in body for body in bodies)
    fresh = open_store(None, Kinds(), project="test")
    rebuild(memory.store, fresh)
    assert rows(fresh) == rows(memory.store)
    assert {entity.name for entity in fresh.entities.page(limit=100)} == {"Bob Stone", "Volvo"}
    fresh.close()


def test_what_the_log_says_of_entities_is_neither_shown_nor_undone(memory: Recollect) -> None:
    (said,) = memory.sessions.capture("Anna Karlsson works at Volvo in Gothenburg.", session="monday").episodes
    assert [entry.change.action for entry in memory.history()] == ["add"]
    assert memory.undo().memories == (said,)
    with pytest.raises(NothingToUndo):
        memory.undo()
    fresh = open_store(None, Kinds(), project="test")
    rebuild(memory.store, fresh)
    assert rows(fresh) == rows(memory.store)
    fresh.close()


def test_a_forgotten_passage_leaves_the_others_of_its_document_in_the_log(memory: Recollect) -> None:
    cut = DocumentChunks(
        "guide", tuple(Draft(text, kind="passage", span=Span("prose", 0, 9, "", None)) for text in PASSAGES)
    )
    (kept,) = replace_passages([cut], memory.store, memory.writer.act(), identity=new_id)
    memory.forget(kept.passages[2])
    assert not any("Alice" in (row[0] or "") for row in memory.store.engine.rows("select body from log"))
    fresh = open_store(None, Kinds(), project="test")
    rebuild(memory.store, fresh)
    assert rows(fresh) == rows(memory.store)
