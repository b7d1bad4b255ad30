"""What many sessions of one part of a project amount to. Pure rules: statistics in, hunches out, the surest first.

A module is looked at when it has been worked in 5, 10, 20, 50 and 100 times, and gives five hunches at most each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.core.kinds import Kind
from recollect.core.observed import ErrorCount, FileSeen, PairCount, SequenceSeen, SessionSeen
from recollect.observer import gate
from recollect.observer.events import Outcome
from recollect.observer.hunch import Hunch, Sighting
from recollect.observer.record import module_of
from recollect.observer.wording import code, codes, deeds, quote

STAGES = (5, 10, 20, 50, 100)  # sessions of a module at which it is looked at as a whole
MOST = 5  # hunches of one look
COUPLED = 0.7  # share of the less used file's sessions in which the other was used close by
DIRECTED = 0.7  # share of those in which the same one came first
SHARED = 3  # sessions that two files must share, and a trouble or a round must have been seen in
AT_HOME = 0.6  # share of a trouble's files above which it belongs to one module
ROOT = "./"
PLANS = 3  # planned sessions that a calibration rests on
TELLING = 1.25  # times as many or as few steps as planned that are worth telling
CONSULTED = 0.5  # share of a module's sessions that read a file without changing it
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
    def sightings(self) -> tuple[Sighting, ...]:
        return tuple(_sighting(one) for one in self.sessions)


def stage_of(sessions: int, done: Collection[str]) -> int | None:
    """The stage a module has reached and was not looked at yet; the highest when it passed several."""
    reached = max((stage for stage in STAGES if stage <= sessions), default=None)
    return None if reached is None or any(int(one) >= reached for one in done if one.isdigit()) else reached


def synthesised(seen: ModuleSeen) -> list[Hunch]:
    """What the sessions of a module amount to, the strongest first."""
    found = [
        *prefetch(seen), *coupling(seen), *recurring(seen), *calibration(seen), *rounds(seen), *consulted(seen)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.strength, one.signal, one.subject))


def prefetch(seen: ModuleSeen) -> Iterator[Hunch]:
    """Files that nearly every session of the module used, and those that most did."""
    if seen.module == ROOT:
        return
    total = len(seen.sessions)
    used = Counter(one.path for session in seen.sessions for one in seen.files.get(session.id, ()))
    ranked = sorted(used, key=lambda path: (-used[path], path))
    always = [path for path in ranked if used[path] / total > gate.ALWAYS][:_FILES]
    often = [path for path in ranked if gate.OFTEN < used[path] / total <= gate.ALWAYS][:_FILES]
    if len(always) + len(often) < 2 and (not always or module_of(always[0]) == seen.module):
        return
    first = f"nearly always needs {codes(always)}" if always else f"often needs {codes(often)}"
    more = f", often {codes(often)} too" if always and often else ""
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
            yield _coupled(pair, weight, seen.sightings)


def recurring(seen: ModuleSeen) -> Iterator[Hunch]:
    """Troubles that kept coming back in the module and are at home there, with what helped."""
    for one in seen.errors:
        files = tuple(path for path in one.files if module_of(path) == seen.module)
        if one.sessions < SHARED or len(files) <= AT_HOME * len(one.files):
            continue
        what = code(one.words) if one.words else one.tool
        remedy = f" What helped: {deeds(one.resolutions[0][0])}." if one.resolutions else ""
        yield _hunch(
            seen,
            "error_retry",
            f"{one.tool}: {one.words}: {one.fingerprint} in {seen.module}",
            Kind.ERROR_PATTERN,
            f"In {code(seen.module)} {what} keeps failing with {quote(one.example)}.{remedy}",
            files=files[:_FILES],
            strength=min(1.0, one.sessions / len(seen.sessions)),
            trigger={
                "tool": one.tool,
                "fingerprint": one.fingerprint,
                "words": one.words.split(),
                "files": list(files),
            },
        )


def calibration(seen: ModuleSeen) -> Iterator[Hunch]:
    """How many steps planned work in the module really takes, where that is neither as planned nor as elsewhere."""
    planned = [one for one in seen.sessions if one.planned and one.steps]
    everywhere = [one for one in seen.project if one.planned and one.steps]
    if len(planned) < PLANS:
        return
    expected = sum(one.planned for one in planned) * gate.PLANNED_STEPS / len(planned)
    taken = sum(one.steps for one in planned) / len(planned)
    ratio, usual = taken / expected, _overrun(everywhere)
    if 1 / TELLING < ratio < TELLING or (seen.module != ROOT and 1 / TELLING < ratio / usual < TELLING):
        return
    each = round(ratio * gate.PLANNED_STEPS)
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
        sightings=tuple(_sighting(one) for one in planned),
    )


def rounds(seen: ModuleSeen) -> Iterator[Hunch]:
    """The order of tools that sessions of the module repeated and that ended well."""
    well = [one for one in seen.sessions if one.outcome not in (Outcome.FAILURE, Outcome.ABANDONED)]
    held: dict[str, list[SessionSeen]] = {}
    for session in well:
        for one in seen.rounds.get(session.id, ()):
            held.setdefault(one.tools, []).append(session)
    for tools, sessions in sorted(held.items(), key=lambda item: (-len(item[1]), item[0])):
        parts = tools.split(_ARROW)
        ran = [part for part in dict.fromkeys(parts) if part.startswith(_RUN) and part != _RUN]
        if len(sessions) < SHARED or not ran or len(set(parts)) < len(parts):
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
            sightings=tuple(_sighting(one) for one in sessions),
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
        if path in changed or module_of(path) == seen.module or times / total <= CONSULTED or times < SHARED:
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
        if module_of(pair.one) != module_of(pair.other) and _direction(pair) >= DIRECTED
    ]


def cause(pair: PairCount, weight: float, sightings: tuple[Sighting, ...]) -> Hunch:
    """The hunch of a directed pair."""
    return _coupled(pair, weight, sightings)


def tied(pairs: Iterable[PairCount], used: Mapping[str, int]) -> list[tuple[PairCount, float]]:
    """Pairs whose co-access is above the mark, the strongest first."""
    weighed = [(pair, pair.sessions / max(1, min(used.get(pair.one, 0), used.get(pair.other, 0)))) for pair in pairs]
    kept = [(pair, min(1.0, weight)) for pair, weight in weighed if pair.sessions >= SHARED and weight > COUPLED]
    return sorted(kept, key=lambda item: (-item[1], -item[0].sessions, item[0].one, item[0].other))


def _direction(pair: PairCount) -> float:
    told = pair.led + pair.followed
    return max(pair.led, pair.followed) / told if told else 0.0


def _coupled(pair: PairCount, weight: float, sightings: tuple[Sighting, ...]) -> Hunch:
    first, then = (pair.one, pair.other) if pair.led >= pair.followed else (pair.other, pair.one)
    if _direction(pair) >= DIRECTED:
        text = f"Work on {code(first)} leads to {code(then)}: look at both before the work is done."
    else:
        text = f"{code(pair.one)} and {code(pair.other)} are used together: look at both."
    return Hunch(
        signal="co_access",
        subject=f"{pair.one} + {pair.other}",
        kind=Kind.CAUSAL_DEPENDENCY,
        text=text,
        sightings=sightings,
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
    sightings: tuple[Sighting, ...] | None = None,
) -> Hunch:
    return Hunch(
        signal=signal,
        subject=subject,
        kind=kind,
        text=text,
        sightings=seen.sightings if sightings is None else sightings,
        files=files,
        strength=strength,
        trigger=trigger or {"files": [seen.module]},
        payload=payload,
    )


def _overrun(planned: Sequence[SessionSeen]) -> float:
    """How many times as many steps as planned some sessions took; 1 when none had a plan."""
    expected = sum(one.planned for one in planned) * gate.PLANNED_STEPS
    return sum(one.steps for one in planned) / expected if expected else 1.0


def _sighting(session: SessionSeen) -> Sighting:
    return Sighting(session.id, (), session.taint)


def _step(part: str) -> str:
    return f"run {code(part.removeprefix(_RUN))}" if part.startswith(_RUN) else part
