"""Repeated errors as the hook process foresees them: over a real store, the row it reads and the session file it keeps.

Every event goes through what a hook does with it, in this process: `take_event`, `foresee_failure`, `follow`. The store
learns after each session as `recollect observe` does, so what may be told is what the store says may be told. Beside
it a warm session is asked the same; where the two differ is counted.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

import recollect
from recollect.agent.hook import follow, foresee_failure
from recollect.app import Recollect
from recollect.files.session_file import SessionFile
from recollect.observer import policy
from recollect.observer.events import Event, ToolCall, ToolResult, UserText
from recollect.observer.failure_patterns import SNAPSHOT_FILES_NAME, SNAPSHOT_NAME, Match, match_patterns
from recollect.observer.language import fingerprint
from recollect.store.sqlite.hook_reader import HookReader, open_hook_reader


@dataclass
class Gated:
    """What the gate of the hook did; counters for the first and the second half of the sessions."""

    calls: Counter[int] = field(default_factory=Counter)
    warnings: Counter[int] = field(default_factory=Counter)
    recurring: Counter[int] = field(default_factory=Counter)
    at_once: Counter[int] = field(default_factory=Counter)
    by_then: Counter[int] = field(default_factory=Counter)
    differ: int = 0  # calls at which a warm session would have said something else
    micros: list[float] = field(default_factory=list)  # of asking and following, a call
    followed: list[float] = field(default_factory=list)  # of following an answer
    row: int = 0
    files: int = 0
    session_file: int = 0  # bytes on disk


def gated(sessions: Sequence[Sequence[Event]]) -> Gated:
    """Live through sessions in time order, each with what the ones before it taught."""
    run = Gated()
    before: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder, recollect.open(folder, create=True) as memory:
        for number, events in enumerate(sessions):
            half = int(number >= len(sessions) // 2)
            before.update(_session(run, memory, events, half, before))
            watch = memory.observer.watch(events[0].session)
            for event in events:
                watch.feed(event)
            memory.observer.finish(watch)
        run.row, run.files = (
            len(memory.store.meta(SNAPSHOT_NAME) or ""),
            len(memory.store.meta(SNAPSHOT_FILES_NAME) or ""),
        )
    return run


class _Warm:
    """A warm session beside the hook: the same question to what is held in memory."""

    def __init__(self, memory: Recollect) -> None:
        self._patterns = memory.observer.patterns()
        self._threshold = memory.observer.threshold()
        self.feature_state = memory.observer.feature_state()
        self._given: set[str] = set()
        self._told: set[str] = set()

    def foreseen(self, call: ToolCall) -> Match | None:
        found = match_patterns(
            call,
            self._patterns,
            feature_state=self.feature_state,
            threshold=self._threshold,
            given=self._given,
            told=self._told,
        )
        for match in found[:1]:
            self._given.add(match.pattern.id)
            self._told |= match.pattern.fingerprints
            return match
        return None


def _session(
    run: Gated, memory: Recollect, events: Sequence[Event], half: int, before: Counter[tuple[str, str]]
) -> set[tuple[str, str]]:
    assert memory.path is not None
    reader: HookReader = open_hook_reader(str(memory.path), now=0)
    file = SessionFile.of(str(Path(memory.path).parent), events[0].session)
    warm = _Warm(memory)
    asked: dict[str, tuple[ToolCall, Match | None]] = {}
    told: set[str] = set()
    here: Counter[tuple[str, str]] = Counter()
    for number, event in enumerate(events):
        if isinstance(event, ToolCall):
            file.take_event(f"{number:016x}", "before", number, named=True)
            start = thread_time()
            match = foresee_failure(event, reader, file, now=number)
            follow("before", file, calls=(event,), answers=(("", False),))
            run.micros.append((thread_time() - start) * 1e6)
            other = warm.foreseen(event)
            run.differ += (match and match.pattern.id) != (other and other.pattern.id)
            run.calls[half] += 1
            run.warnings[half] += match is not None
            told |= match.pattern.fingerprints if match else frozenset()
            asked[event.call_id] = (event, match)
        elif isinstance(event, ToolResult):
            file.take_event(f"{number:016x}", "after", number, named=True)
            call, match = asked.get(event.call_id, (None, None))
            start = thread_time()
            answers = ((event.text, event.error or event.rejected),) if call else ()
            follow("after", file, calls=(call,) if call else (), answers=answers)
            run.followed.append((thread_time() - start) * 1e6)
            if call and event.error and not event.rejected:
                key = (call.tool, fingerprint(event.text).key)
                if before[key] >= policy.RECURRING_SESSIONS:
                    run.recurring[half] += 1
                    run.at_once[half] += match is not None and key[1] in match.pattern.fingerprints
                    run.by_then[half] += key[1] in told
                here[key] += 1
        elif isinstance(event, UserText):
            file.take_event(f"{number:016x}", "prompt", number, named=True)
            follow("prompt", file, prompt=event.text)
        warm.feature_state.see(event)
    run.session_file = max(run.session_file, 512 * Path(file.path).stat().st_blocks)
    return set(here)


def gated_report(run: Gated) -> list[str]:
    """The figures as lines."""
    lines = []
    for name, halves in (("all sessions", (0, 1)), ("second half", (1,))):
        calls, warnings, recurring, at_once, by_then = (
            sum(counter[half] for half in halves)
            for counter in (run.calls, run.warnings, run.recurring, run.at_once, run.by_then)
        )
        lines.append(
            f"- {name}: {recurring} recurring errors in {calls} calls; {100 * warnings / max(1, calls):.2f} warnings "
            f"a hundred calls; foreseen at that call {at_once / max(1, recurring):.1%}, **by then "
            f"{by_then / max(1, recurring):.1%}**"
        )
    asked, followed = sorted(run.micros), sorted(run.followed)
    lines += [
        f"- a warm session asked the same would have said something else at {run.differ} calls",
        f"- the row a hook reads holds {run.row:,} letters at the end, that of known files {run.files:,}; the largest "
        f"session file {run.session_file:,} bytes on disk",
        f"- processor time inside a running process: to ask and follow before a call median {_at(asked, 0.5):.0f} µs, "
        f"p99 {_at(asked, 0.99):.0f} µs; to follow its answer median {_at(followed, 0.5):.0f} µs, "
        f"p99 {_at(followed, 0.99):.0f} µs",
    ]
    return lines


def _at(values: Sequence[float], share: float) -> float:
    return values[int(len(values) * share)] if values else 0.0
