"""What the observer foresees in real sessions: repeated errors before they happen, and files before they are touched.

Sessions are taken in the order they began and each is scored with what the ones before it taught, then learnt from.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import thread_time

from sets import DATA

from recollect.observer import policy
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult, UserText
from recollect.observer.failure_patterns import Match, Trouble, choose_threshold
from recollect.observer.features import with_folders
from recollect.observer.file_prediction import PastSession, predict_files
from recollect.observer.language import fingerprint, is_request
from recollect.observer.predictor import FailureOdds, SessionPredictor
from recollect.observer.recorder import Recorder

BUDGETS = (1.0, 2.0, 2.5, policy.WARNINGS_PER_HUNDRED_CALLS, 3.5, 4.0, 5.0)  # warnings per hundred calls that are tried


@dataclass
class Gate:
    """One way to set the threshold, and what came of it; figures for the first and the second half of the sessions."""

    budget: float | None = None  # chosen by what the sessions before would have had; else fixed
    threshold: float = 0.0
    calls: Counter[int] = field(default_factory=Counter)
    warnings: Counter[int] = field(default_factory=Counter)
    recurring: Counter[int] = field(default_factory=Counter)
    at_once: Counter[int] = field(default_factory=Counter)  # warned of at the very call that failed
    by_then: Counter[int] = field(default_factory=Counter)  # or earlier in the session
    well_founded: Counter[int] = field(default_factory=Counter)  # warnings after which such a trouble came
    _open: list[tuple[Match, bool]] = field(default_factory=list)

    def begin(self, history: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.given: set[str] = set()
        self.told: set[str] = set()
        self._open = []
        if self.budget is not None:
            self.threshold = choose_threshold(history, budget=self.budget)

    def call(self, matches: Sequence[Match], half: int) -> Match | None:
        self.calls[half] += 1
        for match in matches:
            if match.likelihood < self.threshold:
                return None
            marks = match.pattern.fingerprints
            if match.pattern.id not in self.given and not marks <= self.told:
                self.given.add(match.pattern.id)
                self.told |= marks
                self.warnings[half] += 1
                self._open.append((match, False))
                return match
        return None

    def error(self, mark: str, warned: Match | None, half: int, *, recurring: bool) -> None:
        hit = warned is not None and mark in warned.pattern.fingerprints
        if recurring:
            self.recurring[half] += 1
            self.at_once[half] += hit
            self.by_then[half] += hit or mark in self.told
        for place, (match, borne_out) in enumerate(self._open):
            if not borne_out and mark in match.pattern.fingerprints:
                self._open[place] = (match, True)
                self.well_founded[half] += 1


@dataclass
class Repeats:
    """What all gates did over one set."""

    gates: list[Gate]
    micros: list[float] = field(default_factory=list)
    patterns: int = 0
    groups: list[int] = field(default_factory=list)  # recurring errors of one session and fingerprint


def repeats(sessions: Sequence[Sequence[Event]]) -> Repeats:
    """Warn of repeated errors over sessions in time order."""
    run = Repeats(
        [Gate(threshold=threshold) for threshold in policy.THRESHOLDS] + [Gate(budget=budget) for budget in BUDGETS]
    )
    odds, known = FailureOdds(), set[str]()
    told: dict[tuple[str, str], Trouble] = {}
    before: Counter[tuple[str, str]] = Counter()
    history: list[tuple[int, tuple[int, ...]]] = []
    for number, events in enumerate(sessions):
        half = int(number >= len(sessions) // 2)
        patterns = odds.patterns(told)
        run.patterns = len(patterns)
        predictor = SessionPredictor(patterns, known=known)
        here = _session(run, predictor, events, half, before, history)
        odds.add(predictor.features())
        history.append((predictor.calls, tuple(predictor.raised)))
        before.update(here)
        known.update(_existing(events))
        told.update(_clean(events))
    return run


def _session(
    run: Repeats,
    predictor: SessionPredictor,
    events: Iterable[Event],
    half: int,
    before: Counter[tuple[str, str]],
    history: Sequence[tuple[int, Sequence[int]]],
) -> set[tuple[str, str]]:
    for gate in run.gates:
        gate.begin(history)
    asked: dict[str, tuple[str, list[Match | None]]] = {}
    here: Counter[tuple[str, str]] = Counter()
    for event in events:
        start = thread_time()
        matches = predictor.see(event)
        if isinstance(event, ToolCall):
            run.micros.append((thread_time() - start) * 1e6)
            asked[event.call_id] = (event.tool, [gate.call(matches, half) for gate in run.gates])
        elif isinstance(event, ToolResult) and event.error and not event.rejected and event.call_id in asked:
            tool, warned = asked[event.call_id]
            mark = fingerprint(event.text).key
            for gate, match in zip(run.gates, warned, strict=True):
                gate.error(mark, match, half, recurring=before[tool, mark] >= policy.RECURRING_SESSIONS)
            here[tool, mark] += 1
    run.groups += [times for key, times in here.items() if before[key] >= policy.RECURRING_SESSIONS]
    return set(here)


def _clean(events: Iterable[Event]) -> dict[tuple[str, str], Trouble]:
    """The troubles a session met before it reached outside: only those may be told."""
    tools: dict[str, str] = {}
    found: dict[tuple[str, str], Trouble] = {}
    for event in events:
        if isinstance(event, ToolCall):
            if event.action is ActionType.EXTERNAL:
                break
            tools[event.call_id] = event.tool
        elif isinstance(event, ToolResult) and event.error and not event.rejected and event.call_id in tools:
            mark = fingerprint(event.text).key
            found[tools[event.call_id], mark] = Trouble(mark)
    return found


def _existing(events: Iterable[Event]) -> set[str]:
    """The files and folders that a session found to exist."""
    asked: dict[str, ToolCall] = {}
    found: set[str] = set()
    for event in events:
        if isinstance(event, ToolCall):
            asked[event.call_id] = event
        elif isinstance(event, ToolResult) and not event.error and (call := asked.get(event.call_id)):
            for path in (*call.paths, *([call.inside] if call.inside else [])):
                found.update(with_folders(path))
    return found


def repeats_report(run: Repeats) -> list[str]:
    """The curve as a table."""
    total = run.gates[0]
    micros = sorted(run.micros)
    recurring, calls = sum(total.recurring.values()), sum(total.calls.values())
    most = int(policy.WARNINGS_PER_HUNDRED_CALLS * calls / 100)
    best = sum(sorted(run.groups, reverse=True)[:most])
    lines = [
        f"- recurring errors {sum(total.recurring.values())} (second half {total.recurring[1]}) in "
        f"{sum(total.calls.values())} calls; {run.patterns} patterns at the end; a call looked at by the matcher at "
        f"every bar: median {micros[len(micros) // 2]:.0f} µs, p99 {micros[int(len(micros) * 0.99)]:.0f} µs",
        f"- who knew the future could foresee {min(most, len(run.groups)) / recurring:.0%} at that call and "
        f"{best / recurring:.0%} by then with {policy.WARNINGS_PER_HUNDRED_CALLS:g} warnings in a hundred calls",
        "",
        "| bar | warnings / 100 calls | foreseen at that call | foreseen by then | warnings borne out "
        "| second half: warnings | at that call | by then |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for gate in run.gates:
        name = f"fixed {gate.threshold:.2f}" if gate.budget is None else f"**budget {gate.budget:g}**"
        both = [_figures(gate, (0, 1)), _figures(gate, (1,))]
        lines.append(
            f"| {name} | {both[0][0]:.2f} | {both[0][1]:.1%} | {both[0][2]:.1%} | {both[0][3]:.0%} "
            f"| {both[1][0]:.2f} | {both[1][1]:.1%} | {both[1][2]:.1%} |"
        )
    return lines


def _figures(gate: Gate, halves: tuple[int, ...]) -> tuple[float, float, float, float]:
    def total(counter: Counter[int]) -> int:
        return sum(counter[half] for half in halves)

    recurring, warnings = max(1, total(gate.recurring)), max(1, total(gate.warnings))
    return (
        100 * total(gate.warnings) / max(1, total(gate.calls)),
        total(gate.at_once) / recurring,
        total(gate.by_then) / recurring,
        total(gate.well_founded) / warnings,
    )


# --- files ----------------------------------------------------------------------------------------------------------

K = 10
QUOTED = {"entireio_cli": (0.318, 0.304), "context_evaluator": (0.735, 0.506)}  # the floors as the data's page tells


@dataclass(frozen=True)
class Asked:
    """A session as the prediction of files sees it. `touched` is what the session really changed."""

    id: str
    prompt: str
    touched: frozenset[str]
    listed: tuple[str, ...]  # the same, in the order of the data
    branch: str
    began: float
    ended: float
    edited: tuple[str, ...]
    read: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]


def asked(name: str, sessions: Sequence[Sequence[Event]]) -> list[Asked]:
    """The sessions of a set with their first prompt and the files they touched."""
    with (DATA / "traces" / f"{name}.sessions.jsonl").open(encoding="utf-8") as lines:
        told = {row["session"]: row for row in map(json.loads, lines)}
    return [_asked(events, told[events[0].session]) for events in sessions]


def _asked(events: Sequence[Event], told: dict[str, object]) -> Asked:
    recorder = Recorder()
    for event in events:
        recorder.see(event)
    files = recorder.files()
    texts = [event.text for event in events if isinstance(event, UserText)]
    touched = tuple(str(path) for path in told["files_touched"])  # type: ignore[attr-defined]
    return Asked(
        id=events[0].session,
        prompt=next((text for text in texts if is_request(text)), texts[0] if texts else ""),
        touched=frozenset(touched),
        listed=touched,
        branch=str(told["branch"] or ""),
        began=recorder.started or 0.0,
        ended=recorder.ended or 0.0,
        edited=tuple(one.path for one in files if one.edits),
        read=tuple(one.path for one in files if not one.edits),
        pairs=tuple((one.one, one.other) for one in recorder.pairs()),
    )


Guess = Callable[[Asked, Sequence[Asked]], list[str]]


def similar_sessions(now: Asked, past: Sequence[Asked]) -> list[str]:
    """The floor: the ten sessions whose first prompt is most alike (BM25) vote for their files by how alike."""
    likeness = _bm25(now.prompt, [one.prompt for one in past])
    votes: Counter[str] = Counter()
    for place in sorted(range(len(past)), key=lambda at: (-likeness[at], -at))[:10]:
        for path in past[place].listed:
            votes[path] += likeness[place]  # type: ignore[assignment]
    return [path for path, _ in votes.most_common(K)]


def recent_files(now: Asked, past: Sequence[Asked]) -> list[str]:
    """The floor: the files touched last."""
    return list(dict.fromkeys(path for one in reversed(past) for path in one.listed))[:K]


def observer(now: Asked, past: Sequence[Asked]) -> list[str]:
    """What the observer foresees, from what it saw of the sessions before."""
    return _foreseen(now, past, branch=now.branch)


def observer_without_branch(now: Asked, past: Sequence[Asked]) -> list[str]:
    """The same where the host does not tell the branch."""
    return _foreseen(now, past, branch="")


def _foreseen(now: Asked, past: Sequence[Asked], *, branch: str) -> list[str]:
    seen = [PastSession(prompt=one.prompt, edited=one.edited, read=one.read, branch=one.branch) for one in past]
    together = _together(past)
    return [one.path for one in predict_files(now.prompt, seen, k=K, branch=branch, together=lambda _: together)]


def _together(past: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """For each file, the share of its sessions in which another was used close by."""
    used = Counter(path for one in past for path in {*one.edited, *one.read})
    shared: dict[str, Counter[str]] = {}
    for one, other in (pair for session in past for pair in session.pairs):
        shared.setdefault(one, Counter())[other] += 1
        shared.setdefault(other, Counter())[one] += 1
    return {path: {other: n / used[path] for other, n in near.items()} for path, near in shared.items() if used[path]}


GUESSES: tuple[Guess, ...] = (similar_sessions, recent_files, observer, observer_without_branch)


def predicted(sessions: Sequence[Asked], guess: Guess, *, over: bool = False) -> list[tuple[int, float, float]]:
    """For each session that touched a known file: its place, recall@10 of the known files, and of all it touched.

    Known are files that an earlier session touched; with `over`, earlier means over before this one began.
    """
    scores = []
    for place, now in enumerate(sessions):
        past = [one for one in sessions[:place] if not over or (one.ended < now.began and _same(one) != _same(now))]
        known = now.touched & {path for one in past for path in one.touched}
        if known:
            found = set(guess(now, past))
            scores.append((place, len(found & known) / len(known), len(found & now.touched) / len(now.touched)))
    return scores


def _same(one: Asked) -> str:
    """The id without its date: a session that was resumed another day."""
    return one.id[11:]


def files_report(name: str, sessions: Sequence[Asked]) -> list[str]:
    quoted = QUOTED[name]
    lines = [
        f"- floors as quoted: similar sessions {quoted[0]:.3f}, most recent files {quoted[1]:.3f}",
        "",
        "| recall@10 | all | first half | second half | of every file touched | only from sessions that were over |",
        "|---|---|---|---|---|---|",
    ]
    for guess in GUESSES:
        scores, strict = predicted(sessions, guess), predicted(sessions, guess, over=True)
        halves = [[score for score in scores if (score[0] >= len(sessions) // 2) == late] for late in (False, True)]
        cells = [*(_mean(part, 1) for part in (scores, *halves)), _mean(scores, 2), _mean(strict, 1)]
        lines.append(f"| {guess.__name__.replace('_', ' ')} | {' | '.join(cells)} |")
    return lines


def _mean(scores: Sequence[tuple[int, float, float]], column: int) -> str:
    return f"{sum(score[column] for score in scores) / max(1, len(scores)):.3f} (n={len(scores)})"


def _bm25(query: str, texts: Sequence[str]) -> list[float]:
    bags = [Counter(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]
    wanted = set(re.findall(r"[a-z0-9]+", query.lower()))
    held = Counter(word for bag in bags for word in bag.keys() & wanted)
    usual = sum(bag.total() for bag in bags) / max(1, len(bags)) or 1.0
    rarity = {word: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for word, n in held.items()}
    return [
        sum(
            rarity[word] * bag[word] * 2.5 / (bag[word] + 1.5 * (0.25 + 0.75 * bag.total() / usual))
            for word in bag.keys() & wanted
        )
        for bag in bags
    ]
