"""Decay and prune: what faded leaves recall; what left it long ago, and is nobody's evidence, is deleted; what is past
its time is put to a person.

Fading itself is never written: it is computed when a memory is read. This chore only draws the consequence, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.decay import Exponential, HalfLife
from recollect.core.doors import TEND
from recollect.core.kinds import Kinds
from recollect.core.ports import Clock, Identity
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Status
from recollect.recall.score import confidence_now
from recollect.remember import acts
from recollect.remember.act import ActContext
from recollect.remember.agents import is_persons
from recollect.remember.forget import prune
from recollect.store.cache import EmbeddingCache
from recollect.store.store import Store
from recollect.tend.policy import (
    FADED,
    HALF_LIVES,
    KEPT_EXPIRED,
    KNOWN_SINCE,
    LONGEST_REST,
    NEVER_DELETED,
    NEVER_EXPIRED,
)

_ACTOR = "prune"
_SHOWN = 1000  # steps a plan lists


@dataclass(frozen=True, slots=True)
class PruneChore:
    """Expires what faded, deletes what expired long ago and sends to review what went stale. Pinned and verified
    memories neither expire nor go."""

    store: Store
    clock: Clock
    identity: Identity
    name: str = "prune"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        steps = [Step(f"{verb} {memory.id}", why) for verb, memory, why in self._found(now)]
        return Plan(self.name, tuple(steps[:_SHOWN]), len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        now = self.clock()
        counts = {"expire": 0, "delete": 0, "review": 0}
        for verb, memory, why in list(self._found(now)):
            if not budget.allows():
                break
            self._act(verb, memory, why, now)
            counts[verb] += 1
            budget.take()
        done = sum(counts.values())
        details = {"expired": counts["expire"], "deleted": counts["delete"]}
        if counts["review"]:
            details["sent to review"] = counts["review"]
        return Done(self.name, done, max(0, plan.total - done), (), details)

    def _found(self, now: datetime) -> Iterator[tuple[str, Memory, str]]:
        last = self.store.log.recent(1)
        if last and now - last[0].at > LONGEST_REST:
            return  # nobody acted for years, or the clock is ahead: the next act tells which
        for page in self.store.memories.every():
            for memory in page.memories:
                if memory.project != self.store.project:
                    continue
                if why := expires(memory, self.store.kinds, now):
                    yield "expire", memory, why
                elif why := deletes(memory, now):
                    yield "delete", memory, why
                elif why := goes_stale(memory, now):
                    yield "review", memory, why

    def _act(self, verb: str, memory: Memory, why: str, now: datetime) -> None:
        hand = ActContext(_ACTOR, now, self.identity("act", now), TEND, why)
        with self.store.engine.write():
            found = self.store.memories.get_many([memory.id]).memories
            if not found or found[0].revision != memory.revision:
                return  # somebody used, changed or forgot it meanwhile; it is looked at again next time
            current = found[0]
            if verb == "expire":
                acts.expire(self.store, memory.id, hand)
                return
            if verb == "review":
                acts.annotate(self.store, memory.id, hand, needs_review=True)
                return
            prune(self.store, current, hand)


def expires(memory: Memory, kinds: Kinds, now: datetime) -> str:
    """Why a memory has faded for good, or nothing."""
    if memory.status not in OPEN or memory.pinned or memory.verified or memory.kind in NEVER_EXPIRED:
        return ""
    curve = memory.decay if memory.decay is not None else kinds.rule(memory.kind).decay
    used = max(memory.accessed_at, memory.created_at)
    if used < KNOWN_SINCE:
        return ""
    idle = now - used
    if isinstance(curve, Exponential):
        left = confidence_now(memory, kinds, now)
        return f"faded to {left:.3f} after {idle.days} days unused" if curve.rate > 0 and left < FADED else ""
    if isinstance(curve, HalfLife) and idle.total_seconds() / 86_400 > HALF_LIVES * curve.days:
        return f"unused for {idle.days} days, more than {HALF_LIVES} half-lives of {curve.days:g} days"
    return ""


def goes_stale(memory: Memory, now: datetime) -> str:
    """Why a person should look at a memory again, or nothing."""
    if memory.status not in OPEN or memory.needs_review or memory.stale_at is None or memory.stale_at > now:
        return ""
    return f"stale since {memory.stale_at.date().isoformat()}"


def deletes(memory: Memory, now: datetime) -> str:
    """Why an expired memory may go for good, or nothing."""
    if memory.status is not Status.EXPIRED or is_persons(memory) or memory.kind in NEVER_DELETED:
        return ""  # age alone deletes nothing that a person taught, said or confirmed
    since = memory.valid_until or memory.updated_at
    return f"expired on {since.date().isoformat()}" if now - max(since, memory.updated_at) > KEPT_EXPIRED else ""


@dataclass(frozen=True, slots=True)
class EvictChore:
    """Drops cached embeddings after a week. They are copies: losing one costs a little time."""

    store: Store
    clock: Clock
    name: str = "evict"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        expired = EmbeddingCache(self.store.engine, self.store.project, self.clock).expired()
        if not expired:
            return Plan(self.name)
        return Plan(self.name, (Step(f"drop {expired} cached embeddings", "older than a week"),), expired)

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        return Done(self.name, EmbeddingCache(self.store.engine, self.store.project, self.clock).evict())
