"""The scratchpad of one session: every event goes to every detector; nothing is written anywhere while the agent works.

It counts what went wrong instead of raising, measures its own time, and stays within its bound by forgetting the
least valuable notes. A checkpoint is plain JSON and a resumed collector goes on as if it had never stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from time import perf_counter
from typing import Any

from recollect.core.errors import CheckpointUnreadable
from recollect.observer import policy
from recollect.observer.events import Event, Outcome, SessionComplete, ToolCall, ToolResult
from recollect.observer.external_text import ExternalText, reaches_outside
from recollect.observer.signals import DETECTORS, detectors
from recollect.observer.signals.base import Detector, Note, Signal, make_room

FORMAT = 4  # of a checkpoint
_AWAITED = 256  # calls to the outside whose answers are awaited
_QUOTING = frozenset({"said", "self_correction"})  # signals that hold what somebody said
_NO_WITNESS = frozenset({"file_access", "repeated_grep"})  # any file read has these: they cannot bear out anything

_RUN_BYTES = 120  # estimated: a run of words from outside
_ID_BYTES, _NOTE_BYTES, _ITEM_BYTES = (
    180,
    700,
    400,
)  # estimated: an id; a note without its text; an item of another field
_EVENT_BYTES, _PATH_BYTES, _RESULT_BYTES = (
    8_000,
    12_000,
    20_000,
)  # the most an event, each of its paths, a result can add


@dataclass(slots=True)
class Counts:
    """What happened to the events that were fed."""

    events: int = 0
    repeated: int = 0
    foreign: int = 0
    slow: int = 0
    forgotten: int = 0
    slowest: float = 0.0
    troubles: Counter[str] = field(default_factory=Counter)


class SignalCollector:
    """Watches one session. `feed` never raises; `signals` may be asked at any moment."""

    def __init__(
        self, session: str, *, bound: int = policy.COLLECTOR_BYTES, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.session = session
        self.counts = Counts()
        self.outcome = Outcome.UNKNOWN
        self._bound = bound
        self._clock = clock
        self._detectors = detectors()
        self._ids: dict[str, None] = {}
        self._outside: tuple[int, str] | None = None
        self.external = ExternalText()
        self._awaited: dict[str, str] = {}  # calls whose answers come from outside, and where that is
        self._ceiling = 0

    def feed(self, event: Event) -> bool:
        """Show one event to every detector. One seen before, or of another session, changes nothing but a count.

        Says whether the event was new.
        """
        if event.session != self.session:
            self.counts.foreign += 1
            return False
        if event.id in self._ids:
            self.counts.repeated += 1
            return False
        start = self._clock()
        self._ids[event.id] = None
        if len(self._ids) * _ID_BYTES > policy.ID_SHARE * self._bound:
            del self._ids[next(iter(self._ids))]
        self.counts.events += 1
        self._notice(event)
        for detector in self._detectors:
            try:
                detector.see(event)
            except Exception as trouble:  # the agent's work must not fail because watching it did
                self.counts.troubles[f"{detector.name}: {type(trouble).__name__}"] += 1
        self._ceiling += _max_bytes_of(event)
        if self._ceiling > self._bound:
            self._fit()
        self._measure(self._clock() - start)
        return True

    @property
    def outside(self) -> tuple[int, str] | None:
        """The first step at which the agent reached outside the project, and where to."""
        return self._outside

    def signals(self) -> list[Signal]:
        """What was found so far, the most valuable first; what holds words from outside is tainted by them."""
        found = [one for detector in self._detectors for one in detector.found(self.session)]
        firm = {
            path for one in found if policy.GRADES[one.name].alone and one.name not in _NO_WITNESS for path in one.paths
        }
        kept = [one for one in found if policy.GRADES[one.name].alone or firm.intersection(one.paths)]
        worth = {name: policy.worth(name, sessions=1) for name in policy.GRADES}
        marked = [mark_taint(one, [self.external]) for one in kept if worth[one.name] >= policy.MIN_WORTH]
        return sorted(marked, key=lambda one: (-worth[one.name], one.name, -one.count, one.subject))

    def weight(self) -> int:
        """Bytes the collector takes, estimated from what it holds."""
        return (
            len(self._ids) * _ID_BYTES
            + len(self.external) * _RUN_BYTES
            + sum(_bytes_of(detector) for detector in self._detectors)
        )

    def checkpoint(self) -> dict[str, Any]:
        """Everything the collector knows, as plain JSON."""
        return {
            "format": FORMAT,
            "session": self.session,
            "outcome": str(self.outcome),
            "counts": {field.name: getattr(self.counts, field.name) for field in fields(self.counts)}
            | {"troubles": dict(self.counts.troubles)},
            "outside": list(self._outside) if self._outside else None,
            "external": self.external.to_json(),
            "awaited": dict(self._awaited),
            "ids": list(self._ids),
            "detectors": {detector.name: _copy_state(detector) for detector in self._detectors},
        }

    @classmethod
    def resume(
        cls, saved: Mapping[str, Any], *, bound: int = policy.COLLECTOR_BYTES, clock: Callable[[], float] = perf_counter
    ) -> SignalCollector:
        """The collector a checkpoint was made of. One that cannot be read is an error that says so."""
        if not isinstance(saved, Mapping) or saved.get("format") != FORMAT:
            raise CheckpointUnreadable("another format")
        try:
            collector = cls(str(saved["session"]), bound=bound, clock=clock)
            counts = dict(saved["counts"])
            collector.counts = Counts(**{**counts, "troubles": Counter(counts["troubles"])})
            collector.outcome = Outcome(saved["outcome"])
            collector._ids = dict.fromkeys(saved["ids"])
            outside = saved["outside"]
            collector._outside = (int(outside[0]), str(outside[1])) if outside else None
            collector.external = ExternalText(saved["external"])
            collector._awaited = {str(call): str(where) for call, where in saved["awaited"].items()}
            collector._detectors = [_restore_detector(made, saved["detectors"][made.name]) for made in DETECTORS]
            collector._ceiling = collector.weight()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as trouble:
            raise CheckpointUnreadable(f"{type(trouble).__name__}: {trouble}") from trouble
        return collector

    def _notice(self, event: Event) -> None:
        if isinstance(event, ToolCall) and reaches_outside(event):
            where = f"{event.tool} {event.subject}".strip()[:200]
            make_room(self._awaited, _AWAITED)
            self._awaited[event.call_id] = where
            if self._outside is None or event.step < self._outside[0]:
                self._outside = (event.step, where)
        elif isinstance(event, ToolResult) and event.call_id in self._awaited:
            self.external.add(event.text, self._awaited.pop(event.call_id))
        elif isinstance(event, SessionComplete):
            self.outcome = event.outcome

    def _measure(self, taken: float) -> None:
        self.counts.slow += taken > policy.SLOW_EVENT_SECONDS
        self.counts.slowest = max(self.counts.slowest, taken)

    def _fit(self) -> None:
        """Weigh what is really held; above the bound, forget the least valuable notes."""
        held = self.weight()
        if held > self._bound:
            held = self._forget(held)
        self._ceiling = held

    def _forget(self, held: int) -> int:
        ranked = sorted(
            (_value_of_note(detector.name, kept), number, key)
            for number, detector in enumerate(self._detectors)
            for key, kept in detector.notes.items()
        )
        for _, number, key in ranked:
            if held <= policy.FILLED_SHARE * self._bound:
                break
            held -= _bytes_of_note(key, self._detectors[number].notes.pop(key))
            self.counts.forgotten += 1
        return held


def mark_taint(found: Signal, external: Iterable[ExternalText]) -> Signal:
    """The signal, marked when part of it came from outside; what any agent of the session took in counts."""
    if found.taint:
        return found
    if found.name == "external_reference":
        return replace(found, taint=found.subject)  # it is about something outside
    if found.name not in _QUOTING:
        return found  # paths, commands and counts are local facts, whoever else names them
    texts = (found.subject, *found.words)
    where = next((where for one in external if (where := one.find(texts))), "")
    return replace(found, taint=where) if where else found


def _value_of_note(name: str, kept: Note) -> float:
    again = policy.SEEN_AGAIN_VALUE * min(kept.count, policy.SEEN_AGAIN_TIMES)
    return policy.worth(name, sessions=1) + again


def _max_bytes_of(event: Event) -> int:
    paths = len(event.paths) * _PATH_BYTES if isinstance(event, ToolCall) else 0
    return _EVENT_BYTES + paths + (_RESULT_BYTES if isinstance(event, ToolResult) else 0)


def _bytes_of(detector: Detector) -> int:
    notes = sum(_bytes_of_note(key, kept) for key, kept in detector.notes.items())
    return notes + _ITEM_BYTES * sum(
        len(value)
        for name, value in _field_values(detector).items()
        if name != "notes" and isinstance(value, dict | list)
    )


def _bytes_of_note(key: str, kept: Note) -> int:
    return _NOTE_BYTES + 2 * (len(key) + sum(map(len, kept.paths)) + sum(map(len, kept.words))) + 40 * len(kept.steps)


def _field_values(detector: Detector) -> dict[str, Any]:
    return {field.name: getattr(detector, field.name) for field in fields(detector)}


def _copy_state(detector: Detector) -> dict[str, Any]:
    """A copy: a checkpoint must not change when the collector goes on."""
    copied = {
        name: value.copy() if isinstance(value, dict | list) else value
        for name, value in _field_values(detector).items()
    }
    return {**copied, "notes": {key: asdict(kept) for key, kept in detector.notes.items()}}


def _restore_detector(made: type[Detector], state: Mapping[str, Any]) -> Detector:
    copied: dict[str, Any] = {
        name: value.copy() if isinstance(value, dict | list) else value for name, value in state.items()
    }
    copied["notes"] = {str(key): Note(**kept) for key, kept in state["notes"].items()}
    return made(**copied)
