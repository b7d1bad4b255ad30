"""A lookout over one session: how its calls looked, what failed, and what the gate would have raised at every bar.

It learns nothing itself: what it gathers is the session's contribution. Constant work per call, bounded, never raises.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from recollect.core.observed import TraitSeen
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.fingerprint import fingerprint
from recollect.observer.foresee import BARS, Match, Pattern, matching
from recollect.observer.foresee_errors import WHOLE
from recollect.observer.traits import Situation, Trait

TRAITS = 1500  # of one session that are kept
FAILURES = 40  # of one trait that are kept, and calls whose answer is awaited


@dataclass(slots=True)
class _Met:
    times: int = 0
    clean: int = 0
    failed: list[str] = field(default_factory=list)
    followed: dict[str, None] = field(default_factory=dict)


class Lookout:
    """Watches one session. `patterns` and `known` are what earlier sessions taught; without, nothing is raised."""

    def __init__(self, patterns: Sequence[Pattern] | None = None, *, known: Container[str] = ()) -> None:
        self.situation = Situation(known)
        self._patterns: dict[str, list[Pattern]] = {}
        self._foresees = patterns is not None
        for pattern in patterns or ():
            self._patterns.setdefault(pattern.tool, []).append(pattern)
        self._met: dict[tuple[str, str, str, str], _Met] = {}
        self._asked: dict[str, tuple[str, tuple[Trait, ...]]] = {}
        self._given: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in BARS]
        self._raised = [0] * len(BARS)
        self._outside = False
        self.calls = 0

    @property
    def raised(self) -> tuple[int, ...]:
        """How many warnings each bar would have raised; nothing when there was nothing to foresee by."""
        return tuple(self._raised) if self._foresees else ()

    def see(self, event: Event) -> list[Match]:
        """Take one event in. For a call: everything it matches at the lowest bar, given or not."""
        matches: list[Match] = []
        if isinstance(event, ToolCall):
            self.calls += 1
            matches = matching(event, self._patterns.get(event.tool, ()), situation=self.situation, bar=BARS[0])
            self._raise(matches)
            self._call(event)
        elif isinstance(event, ToolResult):
            self._answer(event)
        self.situation.see(event)
        return matches

    def traits(self) -> tuple[TraitSeen, ...]:
        """What was gathered, as the session's contribution."""
        return tuple(
            TraitSeen(tool=tool, sort=sort, what=what, state=state, times=met.times, clean=met.clean,
                      failed=tuple(met.failed), followed=tuple(met.followed))
            for (tool, sort, what, state), met in sorted(self._met.items())
        )  # fmt: skip

    def _raise(self, matches: Sequence[Match]) -> None:
        """Count what each bar would raise: the likeliest that is news to the session."""
        for place, bar in enumerate(BARS):
            given, told = self._given[place]
            for match in matches:
                if match.likelihood < bar:
                    break
                marks = match.pattern.fingerprints
                if match.pattern.id not in given and not marks <= told:
                    given.add(match.pattern.id)
                    told |= marks
                    self._raised[place] += 1
                    break

    def _call(self, call: ToolCall) -> None:
        self._outside = self._outside or call.action is ActionType.EXTERNAL
        traits = (Trait(WHOLE, ""), *dict.fromkeys(self.situation.traits(call)))
        for sort, what, state in traits:
            met = self._met.get((call.tool, sort, what, state))
            if met is None:
                if len(self._met) >= TRAITS:
                    continue
                met = self._met[call.tool, sort, what, state] = _Met()
            met.times += 1
            met.clean += not self._outside
        if len(self._asked) >= FAILURES:
            del self._asked[next(iter(self._asked))]
        self._asked[call.call_id] = (call.tool, traits)

    def _answer(self, answer: ToolResult) -> None:
        tool, traits = self._asked.pop(answer.call_id, ("", ()))
        if not answer.error or answer.rejected:
            return
        mark = fingerprint(answer.text).key if traits else ""
        for sort, what, state in traits:
            met = self._met.get((tool, sort, what, state))
            if met is not None and len(met.failed) < FAILURES:
                met.failed.append(mark)
            exposure = state.partition(" ")[0]
            for (owner, other, thing, stood), seen in self._met.items():
                if (owner, other, thing) == (tool, sort, what) and stood.partition(" ")[0] == exposure:
                    seen.followed[mark] = None
