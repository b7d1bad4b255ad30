"""What the observer does at night: look at a module as a whole when enough sessions worked in it, and once a week
across modules for what leads to what. Each look is written down, so that none is made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import Tombstoned
from recollect.core.observed import Promotion, SessionSeen, Synthesis
from recollect.observer.hunch import Hunch, Sighting
from recollect.observer.keep import Proposal, drafted
from recollect.observer.novelty import novel
from recollect.observer.promote import Learned, frequent, scored
from recollect.observer.reword import reword
from recollect.observer.room import ACTOR, Room
from recollect.observer.synthesis import MOST, SHARED, STAGES, ModuleSeen, cause, causes, stage_of, synthesised
from recollect.remember.remember import remember

WEEKLY = "weekly"  # the stage of a pair that was looked at across modules
_PAIRS = 20  # pairs of one weekly look
_ERRORS = 50  # troubles of a module that are looked at


@dataclass(frozen=True, slots=True)
class SynthesiseChore:
    """Looks at every module that has reached a stage: 5, 10, 20, 50 or 100 sessions."""

    room: Room
    name: str = "synthesise"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        found = self._reached()
        steps = tuple(Step(module, f"{sessions} sessions worked in it") for module, sessions, _ in found)
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        reached, notes, added, looked = self._reached(), list[str](), 0, 0
        for module, _, stage in reached:
            if not budget.allows():
                break
            kept, note = _look(self.room, module, stage)
            added, looked = added + kept, looked + 1
            notes += [note] if note else []
            budget.take()
            budget.progress(looked, len(reached) - looked)
        told = tuple(dict.fromkeys(notes))
        return Done(self.name, looked, len(reached) - looked, told, {"modules": looked, "memories": added})

    def _reached(self) -> list[tuple[str, int, int]]:
        observed = self.room.store.observed
        done: dict[str, list[str]] = {}
        for one in observed.syntheses():
            done.setdefault(one.subject, []).append(one.stage)
        modules = observed.modules(least=STAGES[0])
        staged = ((one.module, one.sessions, stage_of(one.sessions, done.get(one.module, ()))) for one in modules)
        return [(module, sessions, stage) for module, sessions, stage in staged if stage is not None]


@dataclass(frozen=True, slots=True)
class CausesChore:
    """Looks once a week at files of different modules that are used together in one order."""

    room: Room
    name: str = "causes"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        steps = tuple(Step(one.subject, f"{len(one.sightings)} sessions") for one in self._found())
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        found = self._found()
        chosen = found[: min(_PAIRS, len(found) if budget.left is None else budget.left)]
        sessions = self.room.store.observed.sessions()
        if not chosen or not sessions:
            return Done(self.name)
        fresh, note = _weighed(chosen, self.room, most=_PAIRS)
        looks = [(one.subject, WEEKLY) for one in chosen]
        added = _kept(fresh, looks, sessions[-1], self.room)
        budget.take(len(chosen))
        return Done(self.name, len(chosen), len(found) - len(chosen), (note,) if note else (), {"memories": added})

    def _found(self) -> list[Hunch]:
        observed = self.room.store.observed
        done = {one.subject for one in observed.syntheses() if one.stage == WEEKLY}
        used = {one.path: one.sessions for one in observed.files()}
        outside = observed.outside()
        found = []
        for pair, weight in causes(observed.pairs(least=SHARED), used):
            if f"{pair.one} + {pair.other}" in done:
                continue
            shared = observed.sharing(pair.one, pair.other)
            sightings = tuple(Sighting(id, (), outside[id][1] if id in outside else "") for id in shared)
            found.append(cause(pair, weight, sightings))
        return found


def module_seen(room: Room, module: str) -> ModuleSeen:
    """Everything observed about a module."""
    observed = room.store.observed
    ids = observed.sessions_in(module)
    within = frozenset(ids)
    every = observed.sessions()
    files = observed.files()
    inside = [one.path for one in files if one.module == module]
    return ModuleSeen(
        module=module,
        sessions=[one for one in every if one.id in within],
        project=every,
        files=observed.files_of(ids),
        pairs=observed.pairs(touching=inside, least=SHARED),
        used={one.path: one.sessions for one in files},
        errors=observed.errors(least=SHARED)[:_ERRORS],
        rounds=observed.rounds(ids),
    )


def _look(room: Room, module: str, stage: int) -> tuple[int, str]:
    seen = module_seen(room, module)
    fresh, note = _weighed(synthesised(seen), room, most=MOST)
    return _kept(fresh, [(module, str(stage))], seen.sessions[-1], room), note


def _weighed(found: Sequence[Hunch], room: Room, *, most: int) -> tuple[list[Proposal], str]:
    """The few that are news, with their confidence, told by a model where there is one."""
    often = frequent(found, Learned(""))
    fresh = [one.hunch for one in novel(often, room) if one.known is None and not one.closed]
    proposals = scored(fresh, errs={})[:most]
    told, note = reword([one.hunch for one in proposals], room, "synthesis") if proposals else ([], "")
    return [Proposal(hunch, one.confidence) for hunch, one in zip(told, proposals, strict=True)], note


def _kept(proposals: Sequence[Proposal], looks: Sequence[tuple[str, str]], newest: SessionSeen, room: Room) -> int:
    """Write the memories and that the look was made, together. What was rejected meanwhile is left out."""
    now, store = room.now(), room.store
    drafts = [(one.hunch, room.placed(drafted(one, newest))) for one in proposals]
    with store.engine.write():
        taken = store.observed.promoted([hunch.key for hunch, _ in drafts])
        ids: list[str] = []
        for hunch, draft in drafts:
            if hunch.key in taken:
                continue
            try:
                receipt = remember([draft], store, now=now, identity=room.identity, actor=ACTOR)[0]
            except Tombstoned:
                continue
            noted = Promotion(key=hunch.key, memory=receipt.id, session=newest.id, at=now.timestamp())
            store.observed.note_promotions([noted])
            ids.append(receipt.id)
        for subject, stage in looks:
            done = Synthesis(subject=subject, stage=stage, at=now.timestamp(), memories=tuple(ids))
            store.observed.note_synthesis(done)
    return len(ids)
