"""What many sessions of one part of a project amount to: pure rules over statistics, and the two chores that apply
them.

A module is looked at when it has been worked in 5, 10, 20, 50 and 100 times; once a week the pairs across modules are.
Each look is written down, so that none is made twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import Tombstoned
from recollect.core.kinds import Kind
from recollect.core.observed import FileSeen, PairCount, SessionSeen, Synthesis
from recollect.observer import policy
from recollect.observer.context import ACTOR, ObserverContext
from recollect.observer.history import DAY_SECONDS
from recollect.observer.hunch import Evidence, Hunch, code, reword
from recollect.observer.promotion import (
    Learned,
    Proposal,
    compare_with_known,
    draft_memory,
    filter_by_frequency,
    note_promotion,
    score_hunches,
)
from recollect.observer.recorder import module_of
from recollect.observer.rules.places import is_namesake, is_noise, is_passing_place
from recollect.observer.rules.work import find_telling, prefetch_hunch

ROOT = "./"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSeen:
    """Everything observed about one module: the sessions that worked in it, oldest first, and what they did."""

    module: str
    sessions: Sequence[SessionSeen]
    files: Mapping[str, Sequence[FileSeen]] = field(default_factory=dict)  # by session, of the whole project
    used: Mapping[str, int] = field(default_factory=dict)  # sessions by file, of the whole project
    changed: Mapping[str, int] = field(default_factory=dict)  # of these, those that changed it
    project: Sequence[SessionSeen] = ()  # every session of the project, to tell what is special about these

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(session.id) for session in self.sessions)


def stage_of(sessions: int, done: Collection[str]) -> int | None:
    """The stage a module has reached and was not looked at yet; the highest when it passed several."""
    reached = max((stage for stage in policy.SYNTHESIS_STAGES if stage <= sessions), default=None)
    return None if reached is None or any(int(one) >= reached for one in done if one.isdigit()) else reached


def synthesise(seen: ModuleSeen) -> list[Hunch]:
    """What the sessions of a module amount to, the strongest first."""
    return sorted(prefetch(seen), key=lambda one: (-one.strength, one.signal, one.subject))


def prefetch(seen: ModuleSeen) -> Iterator[Hunch]:
    """Files of elsewhere that nearly every session of the module used, and those that most did, far more often than
    the sessions of other modules."""
    if seen.module == ROOT or is_passing_place(seen.module) or days_of(seen.sessions) < policy.DIFFERENT_DAYS:
        return
    total = len(seen.sessions) + policy.DOUBT_OCCASIONS
    used = Counter(one.path for session in seen.sessions for one in seen.files.get(session.id, ()))
    share = {path: times / total for path, times in used.items()}
    telling = find_telling(share, seen.module, used=seen.used, changed=seen.changed, every=len(seen.project))
    ranked = sorted(telling, key=lambda path: (-share[path], path))
    always = [path for path in ranked if share[path] > policy.ALWAYS_SHARE]
    often = [path for path in ranked if policy.OFTEN_SHARE < share[path] <= policy.ALWAYS_SHARE]
    if always:
        yield prefetch_hunch(seen.module, always, often, share, seen.evidence)


def causes(pairs: Iterable[PairCount], used: Mapping[str, int], *, every: int) -> list[tuple[PairCount, float]]:
    """Pairs across modules that are tied and mostly used in the same order: one leads to the other."""
    return [
        (pair, weight)
        for pair, weight in tied(pairs, used, every=every)
        if module_of(pair.one) != module_of(pair.other) and _direction(pair) >= policy.DIRECTED_SHARE
    ]


def tied(pairs: Iterable[PairCount], used: Mapping[str, int], *, every: int) -> list[tuple[PairCount, float]]:
    """Pairs that are used together far more often than chance among `every` session would have it, the strongest
    first, with the share of the less used file's sessions, with doubt."""
    kept = []
    for pair in pairs:
        one, other = max(1, used.get(pair.one, 0)), max(1, used.get(pair.other, 0))
        weight = pair.sessions / (min(one, other) + policy.DOUBT_OCCASIONS)
        if (
            pair.sessions >= policy.SHARED_SESSIONS
            and weight >= policy.COUPLED_SHARE
            and pair.sessions * every / (one * other) >= policy.CHANCE_RATIO
            and not is_noise(pair.one, pair.other)
            and not is_namesake(pair.one, pair.other)  # what is read side by side need not be changed together
        ):
            kept.append((pair, weight))
    return sorted(kept, key=lambda item: (-item[1], -item[0].sessions, item[0].one, item[0].other))


def _direction(pair: PairCount) -> float:
    told = pair.led + pair.followed
    return max(pair.led, pair.followed) / told if told else 0.0


def couple(pair: PairCount, weight: float, evidence: tuple[Evidence, ...]) -> Hunch:
    """The hunch of a tied pair of which one leads to the other."""
    first, then = (pair.one, pair.other) if pair.led >= pair.followed else (pair.other, pair.one)
    return Hunch(
        signal="co_access",
        subject=f"{pair.one} + {pair.other}",
        kind=Kind.CAUSAL_DEPENDENCY,
        text=f"When you change {code(first)}, check {code(then)} too: work on the first has led to changes of it.",
        evidence=evidence,
        files=(first, then),
        strength=weight,
        trigger={"files": [first, then]},
    )


def days_of(sessions: Iterable[SessionSeen]) -> int:
    """On how many days some sessions began; one that nobody knows the time of stands for itself."""
    return len({one.id if one.started is None else int(one.started // DAY_SECONDS) for one in sessions})


# --- the chores ----------------------------------------------------------------------------------------------------


WEEKLY = "weekly"  # the stage of a pair that was looked at across modules


@dataclass(frozen=True, slots=True)
class SynthesiseChore:
    """Looks at every module that has reached a stage: 5, 10, 20, 50 or 100 sessions."""

    context: ObserverContext
    name: str = "synthesise"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        found = self._modules_due()
        steps = tuple(Step(module, f"{sessions} sessions worked in it") for module, sessions, _ in found)
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        reached, notes, added, looked = self._modules_due(), list[str](), 0, 0
        for module, _, stage in reached:
            if not budget.allows():
                break
            kept, note = _look_at_module(self.context, module, stage)
            added, looked = added + kept, looked + 1
            notes += [note] if note else []
            budget.take()
            budget.progress(looked, len(reached) - looked)
        told = tuple(dict.fromkeys(notes))
        return Done(self.name, looked, len(reached) - looked, told, {"modules": looked, "memories": added})

    def _modules_due(self) -> list[tuple[str, int, int]]:
        observed = self.context.observed
        done: dict[str, list[str]] = {}
        for one in observed.syntheses():
            done.setdefault(one.subject, []).append(one.stage)
        modules = observed.modules(least=policy.SYNTHESIS_STAGES[0])
        staged = (
            (module.module, module.sessions, stage_of(module.sessions, done.get(module.module, ())))
            for module in modules
        )
        return [(module, sessions, stage) for module, sessions, stage in staged if stage is not None]


@dataclass(frozen=True, slots=True)
class CausesChore:
    """Looks once a week at files of different modules that are used in one order and changed together: what is only
    read side by side calls for nothing."""

    context: ObserverContext
    name: str = "causes"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        steps = tuple(Step(pair.subject, f"{len(pair.evidence)} sessions") for pair in self._find_pairs())
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        found = self._find_pairs()
        chosen = found[: min(policy.WEEKLY_PAIRS, len(found) if budget.left is None else budget.left)]
        sessions = self.context.observed.sessions()
        if not chosen or not sessions:
            return Done(self.name)
        fresh, note = _choose_proposals(chosen, self.context, most=policy.WEEKLY_PAIRS)
        looks = [(one.subject, WEEKLY) for one in chosen]
        added = _write_proposals(fresh, looks, sessions[-1], self.context)
        budget.take(len(chosen))
        return Done(self.name, len(chosen), len(found) - len(chosen), (note,) if note else (), {"memories": added})

    def _find_pairs(self) -> list[Hunch]:
        observed = self.context.observed
        done = {one.subject for one in observed.syntheses() if one.stage == WEEKLY}
        used = {file.path: file.sessions for file in observed.files()}
        found = []
        every = {one.id: one for one in observed.sessions()}
        for pair, weight in causes(observed.pairs(least=policy.SHARED_SESSIONS), used, every=len(every)):
            if f"{pair.one} + {pair.other}" in done:
                continue
            changed = observed.changed_together({pair.one, pair.other}).get((pair.one, pair.other), ())
            shared = [every[id] for id in changed]
            if len(shared) >= policy.SHARED_SESSIONS and days_of(shared) >= policy.DIFFERENT_DAYS:
                found.append(couple(pair, weight, tuple(Evidence(one.id) for one in shared)))
        return found


def module_seen(context: ObserverContext, module: str) -> ModuleSeen:
    """Everything observed about a module."""
    observed = context.observed
    ids = observed.sessions_in(module)
    within = frozenset(ids)
    every = observed.sessions()
    files = observed.files()
    return ModuleSeen(
        module=module,
        sessions=[one for one in every if one.id in within],
        project=every,
        files=observed.files_of(ids),
        used={file.path: file.sessions for file in files},
        changed={file.path: file.edited for file in files},
    )


def _look_at_module(context: ObserverContext, module: str, stage: int) -> tuple[int, str]:
    seen = module_seen(context, module)
    fresh, note = _choose_proposals(synthesise(seen), context, most=policy.SYNTHESIS_HUNCHES)
    return _write_proposals(fresh, [(module, str(stage))], seen.sessions[-1], context), note


def _choose_proposals(found: Sequence[Hunch], context: ObserverContext, *, most: int) -> tuple[list[Proposal], str]:
    """The few that are news, with their confidence, told by a model where there is one."""
    often = filter_by_frequency(found, Learned(""))
    fresh = [
        known_item.hunch
        for known_item in compare_with_known(often, context)
        if known_item.known is None and not known_item.closed
    ]
    proposals = score_hunches(fresh, errs={})[:most]
    told, note = reword([one.hunch for one in proposals], context, "synthesis") if proposals else ([], "")
    return [Proposal(hunch, one.confidence) for hunch, one in zip(told, proposals, strict=True)], note


def _write_proposals(
    proposals: Sequence[Proposal], looks: Sequence[tuple[str, str]], newest: SessionSeen, context: ObserverContext
) -> int:
    """Write the memories and that the look was made, together. What was rejected meanwhile is left out."""
    now = context.writer.now().timestamp()
    drafts = [(one.hunch, context.writer.tie(draft_memory(one, newest))) for one in proposals]
    with context.writer.transaction():
        taken = context.observed.promoted([key for hunch, _ in drafts for key in hunch.keys])
        ids: list[str] = []
        for hunch, draft in drafts:
            if not taken.keys().isdisjoint(hunch.keys):
                continue
            try:
                receipt = context.writer.remember([draft], actor=ACTOR)[0]
            except Tombstoned:
                continue
            note_promotion(hunch, receipt.id, newest.id, context)
            ids.append(receipt.id)
        for subject, stage in looks:
            context.observed.note_synthesis(Synthesis(subject=subject, stage=stage, at=now, memories=tuple(ids)))
    return len(ids)
