"""Stores of any shape for the tests of export and import: what people and agents do, in a random order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import recollect
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status
from recollect.portable.records import link_record, memory_record
from recollect.store.contents import Contents

EVERY = Filter(statuses=Status, user=ANY_USER)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
_WORDS = (
    "staging database resets every night deploy friday rollback plan harbour boats café naïve 東京 scheduler adds one"
    " calendar year never edit generated files use make test instead of npm the cache key holds tenant and locale"
).split()

texts = st.lists(st.sampled_from(_WORDS), min_size=3, max_size=12).map(" ".join)
kinds = st.sampled_from(["fact", "gotcha", "decision", "preference", "requirement", "pattern"])
acts = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), texts, kinds, st.sampled_from(["project", "personal", "team"])),
        st.tuples(st.just("for_user"), texts, st.sampled_from(["ada", "ben"])),
        st.tuples(st.just("say"), texts, st.sampled_from(["s1", "s2"]), st.sampled_from(["user", "assistant"])),
        st.tuples(st.just("recipe"), texts),
        st.tuples(
            st.sampled_from(["edit", "correct", "reject", "dispute", "pin", "confirm", "forget", "relate"]),
            st.integers(0, 50),
            texts,
        ),
    ),
    min_size=1,
    max_size=14,
)


class Clock:
    """A clock that moves a minute with every look."""

    def __init__(self) -> None:
        self._minutes = count()

    def __call__(self) -> datetime:
        return START + timedelta(minutes=next(self._minutes))


def open_store(path: Path, project: str = "harbour") -> recollect.Recollect:
    return recollect.open(path, project=project, clock=Clock(), actor="ada")


def fill(memory: recollect.Recollect, steps: Sequence[tuple[Any, ...]]) -> None:
    """Do what the steps say; what cannot be done is left."""
    for number, (what, *given) in enumerate(steps):
        ids = [one.id for one in memory.list(EVERY, limit=100, order="oldest")]
        try:
            match what:
                case "remember":
                    memory.remember(given[0], kind=given[1], visibility=given[2], tags=["t"], files=["src/a.py"])
                case "for_user":
                    memory.remember(given[0], user=given[1])
                case "say":
                    memory.sessions.capture(
                        given[0], session=given[1], role=given[2], at=START + timedelta(hours=number)
                    )
                case "recipe":
                    memory.remember(
                        given[0], kind="dead_end", payload={"approach": given[0], "why_failed": "it was slow"},
                        attributes={"deep": {"list": [1, 2.5, None, "x"]}},
                    )  # fmt: skip
                case _ if ids:
                    _act(memory, what, ids, *given)
        except recollect.RecollectError:
            continue


def _act(memory: recollect.Recollect, what: str, ids: Sequence[str], place: int, text: str) -> None:
    id, other = ids[place % len(ids)], ids[(place + 1) % len(ids)]
    match what:
        case "edit":
            memory.edit(id, content=text)
        case "correct":
            memory.correct(id, text)
        case "relate":
            memory.relate(id, "validates", to=other)
        case _:
            getattr(memory, what)(id)


def rows(memory: recollect.Recollect, *, links: bool = True) -> dict[str, Any]:
    """All that a store holds, comparable: memories with their places, links, tombstones, entities."""
    contents = Contents(memory.store)
    return {
        "memories": [memory_record(kept) for page in contents.memories(EVERY) for kept in page],
        "links": [link_record(link) for page in contents.links() for link in page] if links else [],
        "tombstones": [stone for page in contents.tombstones() for stone in page],
        "entities": [(one.id, one.name, one.aliases) for page in contents.entities() for one in page],
    }


def answers(path: Path) -> list[list[str]]:
    """What some questions are answered with a day later, in order."""
    asked = ("staging database night", "friday rollback", "東京 harbour", "generated files", "cache tenant")
    with recollect.open(path, read_only=True, clock=lambda: START + timedelta(days=1)) as memory:
        found = [memory.recall(text, k=20, track=False, filter=Filter(user=ANY_USER)) for text in asked]
    return [[hit.id for hit in hits] for hits in found]
