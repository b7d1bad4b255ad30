"""The log can be replayed: an empty store filled from it holds the same memories, links and tombstones."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import Draft, Filter, Status
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.core.fields import FIELDS
from recollect.core.ids import new_id
from recollect.core.kinds import Kinds
from recollect.core.query import ANY_USER
from recollect.core.records import Memory, Span
from recollect.remember.forget import redact_stored
from recollect.remember.passages import DocumentChunks, drop_passages, replace_passages
from recollect.remember.replay import rebuild
from recollect.store.open import open_store
from recollect.store.store import Store

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
ACTS = (
    "remember", "batch", "edit", "reword", "confirm", "reject", "dispute", "pin", "correct", "supersede", "relate",
    "relate_file", "forget", "undo", "undo_id", "recall", "index", "drop", "redact", "again",
)  # fmt: skip
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
        case _ if a is None or b is None:
            pass
        case "edit":
            memory.edit(a.id, tags=[f"t{two}"], valid_until=datetime(2027, 1, 1, tzinfo=UTC), attributes={"n": [two]})
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


def rows(store: Store) -> tuple[Any, ...]:
    usage = {field.name: 0 for field in FIELDS if field.usage}

    def settled(memory: Memory) -> Memory:
        return memory.having(**{**usage, "accessed_at": memory.created_at})

    memories = {memory.id: settled(memory) for page in store.memories.every() for memory in page.memories}
    links = store.engine.rows("select * from links order by 1, 2, 3, 4")
    tombstones = store.engine.rows("select * from tombstones order by 1, 2")
    return memories, links, tombstones


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
