"""Watching one session: a pad for each of its agents, one recorder for all, nothing written while they work.

Feeding never raises. What was found so far may be asked at any moment and is made anew from the same state each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

from recollect.core.observed import Contribution, SessionSeen, SignalSeen, TraitSeen
from recollect.observer.early import Acute, acute
from recollect.observer.events import Event, Outcome, SessionComplete, ToolCall, ToolResult, UserText
from recollect.observer.lookout import Lookout
from recollect.observer.merge import merge
from recollect.observer.pad import BOUND, BUDGET, Pad, tainted
from recollect.observer.record import Recorder, safe
from recollect.observer.signals.note import Signal
from recollect.observer.signals.parallel_conflict import ParallelConflict
from recollect.observer.signals.test_order import tested
from recollect.observer.ui import Observation, Screen

AGENTS = 16  # agents of one session that have a pad of their own; more share the last
EARLY = 64  # answers that may come before their call


class Watch:
    """One session as it happens, or as a transcript tells it."""

    def __init__(
        self,
        session: str,
        *,
        host: str = "",
        kind: str = "build",
        branch: str = "",
        lookout: Lookout | None = None,
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
        self._pads: dict[str, Pad] = {"": Pad(session, bound=BOUND // 2, clock=clock)}  # together within the bound
        self._recorder = Recorder()
        self._lookout = lookout or Lookout()
        self._screen = Screen()
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
        return min((pad.outside for pad in self._pads.values() if pad.outside is not None), default=None)

    @property
    def started(self) -> float | None:
        """When it began, where that is known."""
        return self._recorder.started

    def acute(self) -> list[Acute]:
        """What is worth noting before the session ends, the most urgent first."""
        return acute(self.signals())

    def observations(self) -> list[Observation]:
        """What driving a user interface taught, without secrets."""
        return [replace(one, text=safe(one.text)) for one in self._screen.observations()]

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
            agent: [one for one in pad.signals() if one.name != ParallelConflict.name]
            for agent, pad in self._pads.items()
        }
        found[""] = [*found[""], *self._conflicts.found(self.session)]  # seen only by who sees all agents
        outside = self.outside
        return _distinct([_seen(tainted(one.signal, outside), one.agents) for one in merge(found)])

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
                raised=self._lookout.raised,
            ),
            files=record.files(),
            pairs=record.pairs(),
            errors=record.troubles(),
            calls=record.counts(),
            sequences=record.sequences(),
            signals=tuple(self.signals()),
            traits=_told_apart(self._lookout.traits()),
        )

    def _take(self, event: Event) -> None:
        start = self._clock()
        agent = self._agent(event)
        if not self._pad(agent).feed(event):
            return
        self.events += 1
        for name, see in (
            ("record", self._recorder.see),
            ("conflicts", self._conflicts.see),
            ("lookout", self._lookout.see),
            ("screen", self._screen.see),
            ("end", self._notice),
        ):
            try:
                see(event)
            except Exception as trouble:  # the agent's work must not fail because watching it did
                self.troubles[f"{name}: {type(trouble).__name__}"] += 1
        self.slow += self._clock() - start > BUDGET

    def _agent(self, event: Event) -> str:
        """An answer belongs to whoever asked, whatever the host says of it."""
        if isinstance(event, ToolCall):
            if len(self._callers) > 20_000:
                del self._callers[next(iter(self._callers))]
            self._callers[event.call_id] = event.agent
        elif isinstance(event, ToolResult):
            return self._callers.get(event.call_id, event.agent)
        return event.agent

    def _pad(self, agent: str) -> Pad:
        found = self._pads.get(agent)
        if found is None:
            if len(self._pads) >= AGENTS:
                return self._pads[""]
            found = self._pads[agent] = Pad(self.session, bound=BOUND // 2 // AGENTS, clock=self._clock)
        return found

    def _notice(self, event: Event) -> None:
        if isinstance(event, UserText):
            self.branch = self.branch or event.branch
        if isinstance(event, SessionComplete):
            self._outcome = event.outcome if event.outcome is not Outcome.UNKNOWN else self._outcome
        elif isinstance(event, ToolCall) and tested(event.subject):
            self._testing = event.call_id
        elif isinstance(event, ToolResult) and event.call_id == self._testing:
            self._tests_failed = event.error


def _to_the_millisecond(at: float | None) -> float | None:
    """What the store keeps: what is read back must equal what was put."""
    return None if at is None else round(at, 3)


def _seen(signal: Signal, agents: int) -> SignalSeen:
    return SignalSeen(
        name=signal.name,
        subject=safe(signal.subject),
        steps=signal.steps,
        count=signal.count,
        paths=signal.paths,
        words=tuple(safe(one) for one in signal.words),
        hunch=signal.hunch,
        measure=signal.measure,
        taint=safe(signal.taint),
        agents=agents,
    )


def _told_apart(traits: Sequence[TraitSeen]) -> tuple[TraitSeen, ...]:
    """The traits without secrets; of those that then look the same, one."""
    clean = (replace(one, what=safe(one.what)) for one in traits)
    return tuple({(one.tool, one.sort, one.what, one.state): one for one in clean}.values())


def _distinct(found: list[SignalSeen]) -> list[SignalSeen]:
    """One of each name and subject: taking out secrets can make two the same."""
    kept: dict[tuple[str, str], SignalSeen] = {}
    for one in found:
        known = kept.get((one.name, one.subject))
        kept[one.name, one.subject] = one if known is None else replace(known, count=known.count + one.count)
    return list(kept.values())
