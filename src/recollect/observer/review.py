"""The review queue: what was inferred and waits for a person, with what speaks for it and what it saves."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory
from recollect.core.scope import Source, Status
from recollect.observer.context import ObserverContext

_WAITING = Filter(
    statuses=frozenset({Status.CANDIDATE, Status.ACTIVE, Status.DISPUTED}),
    sources=frozenset({Source.OBSERVER_INFERRED, Source.MCP_AUTO, Source.AGENT_EXPLICIT}),
    needs_review=True,
    user=ANY_USER,
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that waits for review. `saves` is about how many tokens each further time would cost without it."""

    memory: Memory
    sessions: tuple[str, ...]
    steps: int
    saves: int

    @property
    def tainted(self) -> bool:
        return bool(self.memory.attributes.get("tainted"))


def list_waiting(room: ObserverContext, *, limit: int, skip: int = 0) -> list[Waiting]:
    """What waits, what a person said first, then by confidence, then by age."""
    found = room.store.memories.page(_WAITING, limit=limit, skip=skip).memories
    ranked = sorted(found, key=lambda one: (-one.confidence, one.created_at, one.id))
    return [_waiting(one, room) for one in ranked]


def count_waiting(room: ObserverContext) -> int:
    """How many wait."""
    return room.store.memories.count(_WAITING)


def _waiting(memory: Memory, room: ObserverContext) -> Waiting:
    evidence = [one for one in memory.attributes.get("evidence", ()) if isinstance(one, dict)]
    steps = sum(max(1, len(one.get("steps", ()))) for one in evidence)
    cost = 0.0
    for one in evidence:
        session = room.store.observed.session(str(one.get("session")))
        if session is not None and session.steps:
            cost += session.tokens / session.steps * max(1, len(one.get("steps", ())))
    saves = round(cost / len(evidence)) if evidence else 0
    return Waiting(memory, tuple(str(one.get("session")) for one in evidence), steps, saves)
