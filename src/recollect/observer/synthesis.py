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
from recollect.core.observed import ErrorCount, FileSeen, PairCount, Promotion, SequenceSeen, SessionSeen, Synthesis
from recollect.observer import policy
from recollect.observer.context import ACTOR, ObserverContext
from recollect.observer.events import Outcome
from recollect.observer.hunch import Evidence, Hunch, code, describe_remedy, list_code, quote, reword
from recollect.observer.promotion import (
    Learned,
    Proposal,
    compare_with_known,
    draft_memory,
    filter_by_frequency,
    score_hunches,
)
from recollect.observer.recorder import module_of

ROOT = "./"
_FILES = 12  # files a hunch names
_ARROW = " → "
_RUN = "run "


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSeen:
    """Everything observed about one module: the sessions that worked in it, oldest first, and what they did."""

    module: str
    sessions: Sequence[SessionSeen]
    files: Mapping[str, Sequence[FileSeen]] = field(default_factory=dict)  # by session, of the whole project
    pairs: Sequence[PairCount] = ()
    used: Mapping[str, int] = field(default_factory=dict)  # sessions by file, of the whole project
    errors: Sequence[ErrorCount] = ()
    rounds: Mapping[str, Sequence[SequenceSeen]] = field(default_factory=dict)  # by session
    project: Sequence[SessionSeen] = ()  # every session of the project, to tell what is special about these

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(_evidence_of(session) for session in self.sessions)


def stage_of(sessions: int, done: Collection[str]) -> int | None:
    """The stage a module has reached and was not looked at yet; the highest when it passed several."""
    reached = max((stage for stage in policy.SYNTHESIS_STAGES if stage <= sessions), default=None)
    return None if reached is None or any(int(one) >= reached for one in done if one.isdigit()) else reached


def synthesise(seen: ModuleSeen) -> list[Hunch]:
    """What the sessions of a module amount to, the strongest first."""
    found = [
        *prefetch(seen), *coupling(seen), *recurring_troubles(seen), *calibration(seen), *rounds(seen), *consulted(seen)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.strength, one.signal, one.subject))


def prefetch(seen: ModuleSeen) -> Iterator[Hunch]:
    """Files that nearly every session of the module used, and those that most did."""
    if seen.module == ROOT:
        return
    total = len(seen.sessions)
    used = Counter(one.path for session in seen.sessions for one in seen.files.get(session.id, ()))
    ranked = sorted(used, key=lambda path: (-used[path], path))
    always = [path for path in ranked if used[path] / total > policy.ALWAYS_SHARE][:_FILES]
    often = [path for path in ranked if policy.OFTEN_SHARE < used[path] / total <= policy.ALWAYS_SHARE][:_FILES]
    if len(always) + len(often) < 2 and (not always or module_of(always[0]) == seen.module):
        return
    first = f"nearly always needs {list_code(always)}" if always else f"often needs {list_code(often)}"
    more = f", often {list_code(often)} too" if always and often else ""
    yield _hunch(
        seen,
        "file_access",
        f"module {seen.module}",
        Kind.PREFETCH_PATTERN,
        f"Work in {code(seen.module)} {first}{more}: read {'them' if len(always + often) > 1 else 'it'} first.",
        files=(*always, *often)[:_FILES],
        strength=used[(always or often)[0]] / total,
        payload={"module_trigger": seen.module, "always": always, "frequently": often, "session_count": total},
    )


def coupling(seen: ModuleSeen) -> Iterator[Hunch]:
    """Two files of which the less used is rarely used without the other, where they live in different folders."""
    for pair, weight in tied(seen.pairs, seen.used):
        folders = module_of(pair.one), module_of(pair.other)
        if seen.module in folders and folders[0] != folders[1]:
            yield _coupled(pair, weight, seen.evidence)


def recurring_troubles(seen: ModuleSeen) -> Iterator[Hunch]:
    """Troubles that kept coming back in the module and are at home there, with what helped."""
    for error in seen.errors:
        files = tuple(path for path in error.files if module_of(path) == seen.module)
        if error.sessions < policy.SHARED_SESSIONS or len(files) <= policy.AT_HOME_SHARE * len(error.files):
            continue
        what = code(error.words) if error.words else error.tool
        remedy = f" What helped: {describe_remedy(error.resolutions[0][0])}." if error.resolutions else ""
        yield _hunch(
            seen,
            "error_retry",
            f"{error.tool}: {error.words}: {error.fingerprint} in {seen.module}",
            Kind.ERROR_PATTERN,
            f"In {code(seen.module)} {what} keeps failing with {quote(error.example)}.{remedy}",
            files=files[:_FILES],
            strength=min(1.0, error.sessions / len(seen.sessions)),
            trigger={
                "tool": error.tool,
                "fingerprint": error.fingerprint,
                "words": error.words.split(),
                "files": list(files),
            },
        )


def calibration(seen: ModuleSeen) -> Iterator[Hunch]:
    """How many steps planned work in the module really takes, where that is neither as planned nor as elsewhere."""
    planned = [session for session in seen.sessions if session.planned and session.steps]
    everywhere = [one for one in seen.project if one.planned and one.steps]
    if len(planned) < policy.MIN_PLANNED_SESSIONS:
        return
    expected = sum(one.planned for one in planned) * policy.STEPS_PER_PLANNED_ITEM / len(planned)
    taken = sum(one.steps for one in planned) / len(planned)
    ratio, usual = taken / expected, _overrun(everywhere)
    if 1 / policy.TELLING_RATIO < ratio < policy.TELLING_RATIO or (
        seen.module != ROOT and 1 / policy.TELLING_RATIO < ratio / usual < policy.TELLING_RATIO
    ):
        return
    each = round(ratio * policy.STEPS_PER_PLANNED_ITEM)
    yield _hunch(
        seen,
        "step_overrun",
        f"plans in {seen.module}",
        Kind.TASK_CALIBRATION,
        f"{f'Work in {code(seen.module)}' if seen.module != ROOT else 'Work here'} takes about {each} steps for each "
        f"planned item: "
        f"{'plan smaller items or more of them' if ratio > 1 else 'fewer items would do'}.",
        strength=min(1.0, len(planned) / len(seen.sessions)),
        payload={
            "module": seen.module,
            "average_actual_steps": round(taken, 1),
            "average_planned_steps": round(expected, 1),
            "ratio": round(ratio, 2),
            "samples": len(planned),
        },
        evidence=tuple(_evidence_of(one) for one in planned),
    )


def rounds(seen: ModuleSeen) -> Iterator[Hunch]:
    """The order of tools that sessions of the module repeated and that ended well."""
    well = [session for session in seen.sessions if session.outcome not in (Outcome.FAILURE, Outcome.ABANDONED)]
    held: dict[str, list[SessionSeen]] = {}
    for session in well:
        for one in seen.rounds.get(session.id, ()):
            held.setdefault(one.tools, []).append(session)
    for tools, sessions in sorted(held.items(), key=lambda item: (-len(item[1]), item[0])):
        parts = tools.split(_ARROW)
        ran = [part for part in dict.fromkeys(parts) if part.startswith(_RUN) and part != _RUN]
        if len(sessions) < policy.SHARED_SESSIONS or not ran or len(set(parts)) < len(parts):
            continue
        yield _hunch(
            seen,
            "tool_sequence",
            f"{tools} in {seen.module}",
            Kind.WORKFLOW_RECIPE,
            f"A round that works in {code(seen.module)}: {', then '.join(_step(part) for part in parts)}.",
            strength=len(sessions) / len(seen.sessions),
            payload={
                "task_pattern": f"work in {seen.module}",
                "steps": [_step(part) for part in parts],
                "success_count": len(sessions),
            },
            evidence=tuple(_evidence_of(session) for session in sessions),
        )
        return  # the most frequent round says it; the others are its rotations


def consulted(seen: ModuleSeen) -> Iterator[Hunch]:
    """A file of elsewhere that is read for this work and never changed by it."""
    total = len(seen.sessions)
    read: Counter[str] = Counter()
    changed: set[str] = set()
    for session in seen.sessions:
        for one in seen.files.get(session.id, ()):
            read[one.path] += one.reads > 0
            changed.update([one.path] if one.edits else [])
    for path, times in sorted(read.items(), key=lambda item: (-item[1], item[0])):
        if (
            path in changed
            or module_of(path) == seen.module
            or times / total <= policy.CONSULTED_SHARE
            or times < policy.SHARED_SESSIONS
        ):
            continue
        yield _hunch(
            seen,
            "file_access",
            f"consulted {path} for {seen.module}",
            Kind.MODULE_INSIGHT,
            f"{code(path)} is where agents look things up for {code(seen.module)}; the work does not change it.",
            files=(path,),
            strength=0.8 * times / total,
        )


def causes(pairs: Iterable[PairCount], used: Mapping[str, int]) -> list[tuple[PairCount, float]]:
    """Pairs across modules that are tied and mostly used in the same order: one leads to the other."""
    return [
        (pair, weight)
        for pair, weight in tied(pairs, used)
        if module_of(pair.one) != module_of(pair.other) and _direction(pair) >= policy.DIRECTED_SHARE
    ]


def cause(pair: PairCount, weight: float, evidence: tuple[Evidence, ...]) -> Hunch:
    """The hunch of a directed pair."""
    return _coupled(pair, weight, evidence)


def tied(pairs: Iterable[PairCount], used: Mapping[str, int]) -> list[tuple[PairCount, float]]:
    """Pairs whose co-access is above the mark, the strongest first."""
    weighed = [(pair, pair.sessions / max(1, min(used.get(pair.one, 0), used.get(pair.other, 0)))) for pair in pairs]
    kept = [
        (pair, min(1.0, weight))
        for pair, weight in weighed
        if pair.sessions >= policy.SHARED_SESSIONS and weight > policy.COUPLED_SHARE
    ]
    return sorted(kept, key=lambda item: (-item[1], -item[0].sessions, item[0].one, item[0].other))


def _direction(pair: PairCount) -> float:
    told = pair.led + pair.followed
    return max(pair.led, pair.followed) / told if told else 0.0


def _coupled(pair: PairCount, weight: float, evidence: tuple[Evidence, ...]) -> Hunch:
    first, then = (pair.one, pair.other) if pair.led >= pair.followed else (pair.other, pair.one)
    if _direction(pair) >= policy.DIRECTED_SHARE:
        text = f"Work on {code(first)} leads to {code(then)}: look at both before the work is done."
    else:
        text = f"{code(pair.one)} and {code(pair.other)} are used together: look at both."
    return Hunch(
        signal="co_access",
        subject=f"{pair.one} + {pair.other}",
        kind=Kind.CAUSAL_DEPENDENCY,
        text=text,
        evidence=evidence,
        files=(first, then),
        strength=weight,
        trigger={"files": [first, then]},
    )


def _hunch(
    seen: ModuleSeen,
    signal: str,
    subject: str,
    kind: Kind,
    text: str,
    *,
    files: tuple[str, ...] = (),
    strength: float = 1.0,
    payload: Mapping[str, object] | None = None,
    trigger: Mapping[str, object] | None = None,
    evidence: tuple[Evidence, ...] | None = None,
) -> Hunch:
    return Hunch(
        signal=signal,
        subject=subject,
        kind=kind,
        text=text,
        evidence=seen.evidence if evidence is None else evidence,
        files=files,
        strength=strength,
        trigger=trigger or {"files": [seen.module]},
        payload=payload,
    )


def _overrun(planned: Sequence[SessionSeen]) -> float:
    """How many times as many steps as planned some sessions took; 1 when none had a plan."""
    expected = sum(one.planned for one in planned) * policy.STEPS_PER_PLANNED_ITEM
    return sum(one.steps for one in planned) / expected if expected else 1.0


def _evidence_of(session: SessionSeen) -> Evidence:
    return Evidence(session.id)


def _step(part: str) -> str:
    return f"run {code(part.removeprefix(_RUN))}" if part.startswith(_RUN) else part


# --- the chores ----------------------------------------------------------------------------------------------------


WEEKLY = "weekly"  # the stage of a pair that was looked at across modules
_ERRORS = 50  # troubles of a module that are looked at


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
    """Looks once a week at files of different modules that are used together in one order."""

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
        for pair, weight in causes(observed.pairs(least=policy.SHARED_SESSIONS), used):
            if f"{pair.one} + {pair.other}" in done:
                continue
            shared = observed.sharing(pair.one, pair.other)
            evidence = tuple(Evidence(id) for id in shared)
            found.append(cause(pair, weight, evidence))
        return found


def module_seen(context: ObserverContext, module: str) -> ModuleSeen:
    """Everything observed about a module."""
    observed = context.observed
    ids = observed.sessions_in(module)
    within = frozenset(ids)
    every = observed.sessions()
    files = observed.files()
    inside = [file.path for file in files if file.module == module]
    return ModuleSeen(
        module=module,
        sessions=[one for one in every if one.id in within],
        project=every,
        files=observed.files_of(ids),
        pairs=observed.pairs(touching=inside, least=policy.SHARED_SESSIONS),
        used={file.path: file.sessions for file in files},
        errors=observed.errors(least=policy.SHARED_SESSIONS)[:_ERRORS],
        rounds=observed.rounds(ids),
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
        taken = context.observed.promoted([hunch.key for hunch, _ in drafts])
        ids: list[str] = []
        for hunch, draft in drafts:
            if hunch.key in taken:
                continue
            try:
                receipt = context.writer.remember([draft], actor=ACTOR)[0]
            except Tombstoned:
                continue
            noted = Promotion(key=hunch.key, memory=receipt.id, session=newest.id, at=now)
            context.observed.note_promotions([noted])
            ids.append(receipt.id)
        for subject, stage in looks:
            context.observed.note_synthesis(Synthesis(subject=subject, stage=stage, at=now, memories=tuple(ids)))
    return len(ids)
