"""Embeddings that were kept for a week leave the cache. They are copies: losing one costs a little time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Allowance, Done, Plan, Step
from recollect.core.ports import Clock
from recollect.store.cache import EmbeddingCache
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class EvictChore:
    """Removes what has expired, in one small statement."""

    store: Store
    clock: Clock
    name: str = "evict"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        expired = EmbeddingCache(self.store.engine, self.clock).expired()
        if not expired:
            return Plan(self.name)
        return Plan(self.name, (Step(f"drop {expired} cached embeddings", "older than a week"),), expired)

    def apply(self, plan: Plan, allowance: Allowance) -> Done:
        return Done(self.name, EmbeddingCache(self.store.engine, self.clock).evict())
