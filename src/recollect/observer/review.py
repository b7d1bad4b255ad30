"""The review queue: what was inferred and waits for a person, with what speaks for it and what it saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.core.doors import COMPOSED, SPOKEN, TAINTED
from recollect.core.kinds import Kind
from recollect.core.observed import SessionSeen
from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.observer.context import ObserverContext

_WAITING = Filter(
    statuses=frozenset({Status.CANDIDATE, Status.ACTIVE, Status.DISPUTED}),
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
        return bool(self.memory.attributes.get(TAINTED))

    @property
    def is_foreign(self) -> bool:
        """Are its words a tool's, an agent's or from outside? Then each wants a look of its own."""
        ours = self.memory.attributes.get(COMPOSED) or _spoken(self.memory)
        return self.tainted or not ours


def list_waiting(context: ObserverContext, *, limit: int, skip: int = 0) -> list[Waiting]:
    """What waits: what a person said first, then by confidence, then by age. The order is the same across pages."""
    waiting = context.reader.list(_WAITING, limit=context.reader.count(_WAITING)).memories
    ranked = sorted(waiting, key=lambda memory: (not _spoken(memory), -memory.confidence, memory.created_at, memory.id))
    page = ranked[max(0, skip) : max(0, skip) + max(0, limit)]
    sessions = {session.id: session for session in context.observed.sessions()} if page else {}
    return [_with_evidence(memory, sessions) for memory in page]


def count_waiting(context: ObserverContext) -> int:
    """How many wait."""
    return context.reader.count(_WAITING)


def _spoken(memory: Memory) -> bool:
    """Did a person say it? Memories written before this was noted tell it by their signal and kind."""
    spoken = memory.attributes.get(SPOKEN)
    if spoken is not None:
        return bool(spoken)
    return memory.attributes.get("signal") == "self_correction" and memory.kind == Kind.GOTCHA


def _with_evidence(memory: Memory, sessions: Mapping[str, SessionSeen]) -> Waiting:
    evidence = [one for one in memory.attributes.get("evidence", ()) if isinstance(one, dict)]
    seen = [(str(one.get("session")), max(1, len(one.get("steps", ())))) for one in evidence]
    costs = (
        session.tokens / session.steps * steps
        for id, steps in seen
        if (session := sessions.get(id)) is not None and session.steps
    )
    saves = round(sum(costs) / len(seen)) if seen else 0
    return Waiting(memory, tuple(id for id, _ in seen), sum(steps for _, steps in seen), saves)
