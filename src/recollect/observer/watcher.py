"""Watching one session: a signal collector for each of its agents, one recorder for all, nothing written while they
work.

Feeding never raises. What was found so far may be asked at any moment and is made again from the same state each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from recollect.core.likeness import jaccard
from recollect.core.observed import Contribution, FeatureSeen, SessionSeen, SignalSeen
from recollect.core.text import words
from recollect.observer import policy
from recollect.observer.collector import SignalCollector, mark_taint
from recollect.observer.events import Event, Outcome, SessionComplete, ToolCall, ToolResult, UserText
from recollect.observer.findings import Observation, UiWatcher
from recollect.observer.predictor import SessionPredictor
from recollect.observer.recorder import Recorder, safe
from recollect.observer.signals.base import MAX_MARKS, Signal
from recollect.observer.signals.files import ParallelConflict
from recollect.observer.signals.work import test_command

AGENTS = 16  # agents of one session that have a collector of their own; more share the last
EARLY = 64  # answers that may come before their call


class SessionWatcher:
    """One session as it happens, or as a transcript tells it."""

    def __init__(
        self,
        session: str,
        *,
        host: str = "",
        kind: str = "build",
        branch: str = "",
        predictor: SessionPredictor | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.session = session
        self.host = host
        self.kind = kind
        self.branch = branch
        self.events = 0
        self.slow = 0
        self.troubles: Counter[str] = Counter()
        self._clock = clock
        self._collectors: dict[str, SignalCollector] = {
            "": SignalCollector(session, bound=policy.COLLECTOR_BYTES // 2, clock=clock)
        }  # together within the bound
        self._recorder = Recorder()
        self._predictor = predictor or SessionPredictor()
        self._screen = UiWatcher()
        self._conflicts = ParallelConflict()
        self._callers: dict[str, str] = {}
        self._early: dict[str, ToolResult] = {}
        self._outcome = Outcome.UNKNOWN
        self._testing = ""
        self._tests_failed = False

    def feed(self, event: Event) -> None:
        """Take one event in. An answer that comes before its call waits for it."""
        if event.session != self.session:
            return
        if isinstance(event, ToolResult) and event.call_id not in self._callers:
            if len(self._early) < EARLY:
                self._early[event.call_id] = event
            return
        self._take(event)
        if isinstance(event, ToolCall) and event.call_id in self._early:
            self._take(self._early.pop(event.call_id))

    @property
    def outside(self) -> tuple[int, str] | None:
        """Where any of the agents first reached outside: what one brings in, all may have heard."""
        return min(
            (collector.outside for collector in self._collectors.values() if collector.outside is not None),
            default=None,
        )

    @property
    def started(self) -> float | None:
        """When it began, where that is known."""
        return self._recorder.started

    def acute(self) -> list[EarlySignal]:
        """What is worth noting before the session ends, the most urgent first."""
        return early_signals(self.signals())

    def observations(self) -> list[Observation]:
        """What driving a user interface taught, without secrets."""
        return [replace(observation, text=safe(observation.text)) for observation in self._screen.observations()]

    @property
    def planned(self) -> int:
        """How many items the longest plan had."""
        return self._recorder.planned

    @property
    def outcome(self) -> Outcome:
        """How it ended. Where nobody said, a last test run that failed is a failure."""
        if self._outcome is Outcome.UNKNOWN and self._tests_failed:
            return Outcome.FAILURE
        return self._outcome

    def signals(self) -> list[SignalSeen]:
        """What all agents saw together."""
        found = {
            agent: [signal for signal in collector.signals() if signal.name != ParallelConflict.name]
            for agent, collector in self._collectors.items()
        }
        found[""] = [*found[""], *self._conflicts.found(self.session)]  # seen only by who sees all agents
        external = [collector.external for collector in self._collectors.values()]
        return _distinct_signals(
            [_to_signal_seen(mark_taint(finding.signal, external), finding.agents) for finding in merge_findings(found)]
        )

    def _is_from_outside(self, text: str) -> bool:
        return any(collector.external.holds(text) for collector in self._collectors.values())

    def find_outside(self, text: str) -> str:
        """Where words of a text came from, if any agent of the session took them in from outside."""
        found = (collector.external.find([text]) for collector in self._collectors.values())
        return next((where for where in found if where), "")

    def contribution(self) -> Contribution:
        """Everything the session adds to the statistics, without secrets."""
        record = self._recorder
        outside = self.outside
        return Contribution(
            session=SessionSeen(
                id=self.session,
                host=self.host,
                kind=self.kind,
                outcome=str(self.outcome),
                started=_to_the_millisecond(record.started),
                ended=_to_the_millisecond(record.ended),
                prompt=safe(record.prompt),
                steps=record.steps,
                calls=record.calls,
                errors=record.errors,
                tokens=record.tokens,
                events=self.events,
                slow=self.slow,
                taint="" if outside is None else safe(outside[1]),
                outside=None if outside is None else outside[0],
                agents=tuple(record.agents),
                planned=record.planned,
                branch=safe(self.branch),
                raised=self._predictor.raised,
            ),
            files=record.files(),
            pairs=record.pairs(),
            errors=record.troubles(),
            calls=record.counts(),
            sequences=record.sequences(),
            signals=(*self.signals(), *record.commands()),
            features=_distinct_features(self._predictor.features()),
        )

    def _take(self, event: Event) -> None:
        start = self._clock()
        agent = self._agent(event)
        if not self._collector_for(agent).feed(event):
            return
        self.events += 1
        kept = event
        if isinstance(event, ToolResult) and event.error and self._is_from_outside(event.text):
            kept = without_text(event)  # that it failed is a local fact; what it says came from outside
        for name, see in (
            ("record", lambda _: self._recorder.see(kept)),
            ("conflicts", self._conflicts.see),
            ("predictor", lambda _: self._predictor.see(kept)),
            ("screen", self._screen.see),
            ("end", self._notice),
        ):
            try:
                see(event)
            except Exception as trouble:  # the agent's work must not fail because watching it did
                self.troubles[f"{name}: {type(trouble).__name__}"] += 1
        self.slow += self._clock() - start > policy.SLOW_EVENT_SECONDS

    def _agent(self, event: Event) -> str:
        """An answer belongs to whoever asked, whatever the host says of it."""
        if isinstance(event, ToolCall):
            if len(self._callers) > 20_000:
                del self._callers[next(iter(self._callers))]
            self._callers[event.call_id] = event.agent
        elif isinstance(event, ToolResult):
            return self._callers.get(event.call_id, event.agent)
        return event.agent

    def _collector_for(self, agent: str) -> SignalCollector:
        found = self._collectors.get(agent)
        if found is None:
            if len(self._collectors) >= AGENTS:
                return self._collectors[""]
            found = self._collectors[agent] = SignalCollector(
                self.session, bound=policy.COLLECTOR_BYTES // 2 // AGENTS, clock=self._clock
            )
        return found

    def _notice(self, event: Event) -> None:
        if isinstance(event, UserText):
            self.branch = self.branch or event.branch
        if isinstance(event, SessionComplete):
            self._outcome = event.outcome if event.outcome is not Outcome.UNKNOWN else self._outcome
        elif isinstance(event, ToolCall) and test_command(event.subject):
            self._testing = event.call_id
        elif isinstance(event, ToolResult) and event.call_id == self._testing:
            self._tests_failed = event.error


def without_text(result: ToolResult) -> ToolResult:
    """A result of which only is known that it came, and how it ended."""
    return ToolResult(
        call_id=result.call_id,
        error=result.error,
        rejected=result.rejected,
        size=result.size,
        id=result.id,
        session=result.session,
        step=result.step,
        at=result.at,
        agent=result.agent,
    )


def _to_the_millisecond(at: float | None) -> float | None:
    """What the store keeps: what is read back must equal what was put."""
    return None if at is None else round(at, 3)


def _to_signal_seen(signal: Signal, agents: int) -> SignalSeen:
    return SignalSeen(
        name=signal.name,
        subject=safe(signal.subject),
        steps=signal.steps,
        count=signal.count,
        paths=signal.paths,
        words=tuple(safe(word) for word in signal.words),
        hunch=signal.hunch,
        measure=signal.measure,
        taint=safe(signal.taint),
        agents=agents,
    )


def _distinct_features(features: Sequence[FeatureSeen]) -> tuple[FeatureSeen, ...]:
    """The features without secrets; of those that then look the same, one."""
    clean = (replace(feature, what=safe(feature.what)) for feature in features)
    return tuple({(one.tool, one.sort, one.what, one.state): one for one in clean}.values())


def _distinct_signals(found: list[SignalSeen]) -> list[SignalSeen]:
    """One of each name and subject: taking out secrets can make two the same."""
    kept: dict[tuple[str, str], SignalSeen] = {}
    for one in found:
        known = kept.get((one.name, one.subject))
        kept[one.name, one.subject] = one if known is None else replace(known, count=known.count + one.count)
    return list(kept.values())


# --- what several agents saw ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Merged:
    """A finding, and how many agents made it."""

    signal: Signal
    agents: int = 1


def merge_findings(collectors: Mapping[str, Sequence[Signal]]) -> list[Merged]:
    """The findings of every agent without their repetitions, in the order of the agents' names."""
    kept: list[tuple[Signal, frozenset[str], set[str]]] = []
    places: dict[str, list[int]] = {}  # where the findings of one signal stand, so that only like is compared with like
    for agent in sorted(collectors):
        for found in collectors[agent]:
            said = _subject_words(found)
            alike = next((n for n in places.get(found.name, ()) if _alike(said, kept[n][1], found, kept[n][0])), None)
            if alike is None:
                places.setdefault(found.name, []).append(len(kept))
                kept.append((found, said, {agent}))
            else:
                known, words_, agents = kept[alike]
                kept[alike] = (_join_signals(known, found), words_, agents | {agent})
    return [Merged(signal, len(agents)) for signal, _, agents in kept]


def _subject_words(found: Signal) -> frozenset[str]:
    return frozenset(words(found.subject))


def _alike(one: frozenset[str], other: frozenset[str], found: Signal, known: Signal) -> bool:
    """Files and commands must be the very same; sentences may differ in a few words."""
    if found.subject == known.subject:
        return True
    if found.name not in policy.SENTENCE_SIGNALS:
        return False
    return jaccard(one, other) > policy.ALIKE_OVERLAP


def _join_signals(known: Signal, found: Signal) -> Signal:
    return replace(
        known,
        steps=tuple(sorted({*known.steps, *found.steps}))[:MAX_MARKS],
        count=known.count + found.count,
        paths=tuple(dict.fromkeys((*known.paths, *found.paths)))[:MAX_MARKS],
        words=tuple(dict.fromkeys((*known.words, *found.words)))[:MAX_MARKS],
        hunch=known.hunch or found.hunch,
        measure=max(known.measure, found.measure),
        taint=known.taint or found.taint,
    )


# --- what cannot wait for the end ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EarlySignal:
    """A signal that should not wait for the end of the session."""

    signal: SignalSeen
    priority: float


def early_signals(signals: Sequence[SignalSeen]) -> list[EarlySignal]:
    """The signals that are worth noting now, the most urgent first."""
    errors = sum(signal.name == "error_retry" for signal in signals)
    found = [
        EarlySignal(signal, policy.EARLY_URGENCY[signal.name])
        for signal in signals
        if signal.name in policy.EARLY_URGENCY and _is_acute(signal, errors=errors)
    ]
    return sorted(found, key=lambda one: (-one.priority, one.signal.name, one.signal.subject))


def _is_acute(one: SignalSeen, *, errors: int) -> bool:
    if one.name == "error_retry":
        return errors >= policy.EARLY_ERRORS
    return one.name != "config_touch" or len(one.paths) >= policy.EARLY_CHANGED_FILES
