"""Enrichment: at night, memories with few entities are searched again with every finder there is, and stamped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import BudgetSpent, ModelDown, ModelWrong
from recollect.core.records import Memory
from recollect.dialogue.policy import ENRICH_BATCH, ENRICH_FEW, ENRICH_KINDS
from recollect.dialogue.room import Room
from recollect.entities.resolve import link
from recollect.remember import acts


@dataclass(frozen=True, slots=True)
class EnrichChore:
    """Looks for names in memories that have few, newest first, each once for each set of finders."""

    room: Room
    name: str = "enrich"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        found = self._waiting()
        return Plan(self.name, tuple(Step(one.id, f"{len(one.entities)} entities") for one in found), len(found))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        looked, added, notes = 0, 0, []
        for memory in self._waiting():
            if not budget.allows():
                break
            try:
                added += self._enriched(memory)
            except (ModelDown, BudgetSpent) as error:
                notes.append(str(error))
                return Done(self.name, looked, plan.total - looked, tuple(notes), {"entities": added}, failed=True)
            except ModelWrong as error:
                notes.append(f"{memory.id}: {error}")
                self._stamp(memory)
            looked += 1
            budget.take()
        return Done(self.name, looked, max(0, plan.total - looked), tuple(notes), {"entities": added})

    def _waiting(self) -> list[Memory]:
        store = self.room.store
        ids = store.entities.with_few(
            kinds=ENRICH_KINDS,
            most=ENRICH_FEW,
            strategy=self.room.finders.names,
            limit=ENRICH_BATCH,
        )
        return list(store.memories.get_many(ids).memories)

    def _enriched(self, memory: Memory) -> int:
        """Search outside the transaction, write inside; how many entities were new."""
        mentions = self.room.finders.find(memory.content, "accurate")
        store = self.room.store
        with store.engine.write():
            found = link([mentions], store, now=self.room.now(), identity=self.room.identity)[0]
            current = store.memories.get(memory.id)
            new = [id for id in found if id not in current.entities]
            if new:
                hand = self.room.hand("entities found", actor="enrichment")
                acts.annotate(store, memory.id, hand, entities=(*current.entities, *new))
            store.entities.stamp([memory.id], strategy=self.room.finders.names, at=self.room.now())
        return len(new)

    def _stamp(self, memory: Memory) -> None:
        with self.room.store.engine.write():
            self.room.store.entities.stamp([memory.id], strategy=self.room.finders.names, at=self.room.now())
