"""Freshness: memories follow renamed and deleted files, and those that their files outgrew go to review.

Most of it happens as soon as anybody asks (`remember/follow`); this chore also sees what git was not told of.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.doors import TEND
from recollect.core.ids import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.files.work_tree import GitChanges, WorkTree
from recollect.remember.act import ActContext
from recollect.remember.follow import FollowedMemory, apply_following, plan_following
from recollect.remember.writer import FRESHNESS
from recollect.store.store import Store

_SHOWN = 1000  # steps a plan lists


@dataclass(frozen=True, slots=True)
class FreshnessChore:
    """Keeps memories about files in step with the work tree beside the store."""

    store: Store
    root: Path
    clock: Clock
    identity: Identity
    name: str = FRESHNESS

    def plan(self, now: datetime, *, due: bool) -> Plan:
        found = self._find(now)
        steps = [Step(f"update {one.before.id}", one.why) for one in found[:_SHOWN]]
        return Plan(self.name, tuple(steps), len(found))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        now = whole_ms(self.clock())
        done = {"followed": 0, "sent to review": 0}
        found = self._find(now)
        for one in found:
            if not budget.allows():
                break
            if apply_following(self.store, one, ActContext(self.name, now, self.identity("act", now), TEND)):
                asks = one.after.needs_review and not one.before.needs_review
                done["sent to review" if asks else "followed"] += 1
            budget.take()
        total = sum(done.values())
        return Done(self.name, total, max(0, len(found) - total), (), done if total else {})

    def _find(self, now: datetime) -> list[FollowedMemory]:
        return plan_following(self.store, WorkTree(self.root), whole_ms(now), changes=GitChanges(self.root))
