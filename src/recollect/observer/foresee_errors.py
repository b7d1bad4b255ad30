"""Learning what fails from what was observed: the odds of every trait, and the patterns they amount to. Pure.

Counts fade with each further session, because what failed last year was mended. A share is pulled towards that of the
broader thing it belongs to, the less was seen of it: a state towards its trait, a trait towards its tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.core.observed import TraitSeen
from recollect.observer.foresee import BARS, Pattern, Trouble

FADING = 0.97  # of every count is left after one more session: half after twenty-three
PULL = 1.5  # calls or sessions that the broader share counts as
RECURRING = 2  # sessions a trouble must have been seen in before it can be foreseen
SESSIONS = 150  # that are learnt from; older ones have faded to a hundredth
DIGITS = 4  # of a likelihood that count
WHOLE = "tool"  # the sort of the trait that all calls of a tool share

Key = tuple[str, str, str]


@dataclass(slots=True)
class _Count:
    """Calls and sessions with a trait, and the troubles of each, by fingerprint."""

    calls: float = 0.0
    sessions: float = 0.0
    clean: int = 0
    failed: dict[str, float] = field(default_factory=dict)
    followed: list[tuple[float, frozenset[str]]] = field(default_factory=list)

    def add(self, seen: Sequence[TraitSeen], weight: float) -> None:
        self.calls += weight * sum(one.times for one in seen)
        self.sessions += weight
        self.clean += sum(one.clean for one in seen)
        for mark in (mark for one in seen for mark in one.failed):
            self.failed[mark] = self.failed.get(mark, 0.0) + weight
        followed = frozenset(mark for one in seen for mark in one.followed)
        if followed:
            self.followed.append((weight, followed))


class Odds:
    """How often calls with a trait failed. Add sessions in the order they began, then ask for patterns."""

    def __init__(self) -> None:
        self._weight = 1.0
        self._tools: dict[str, _Count] = {}
        self._traits: dict[Key, _Count] = {}
        self._states: dict[Key, dict[str, _Count]] = {}
        self._seen: Counter[tuple[str, str]] = Counter()  # sessions by tool and fingerprint

    def add(self, session: Sequence[TraitSeen]) -> None:
        """Learn from one more session."""
        self._weight /= FADING  # growing what is new is fading what is old
        by_tool: dict[str, list[TraitSeen]] = {}
        by_trait: dict[Key, list[TraitSeen]] = {}
        for one in session:
            by_trait.setdefault((one.tool, one.sort, one.what), []).append(one)
            if one.sort == WHOLE:
                by_tool.setdefault(one.tool, []).append(one)
        for tool, seen in by_tool.items():
            self._tools.setdefault(tool, _Count()).add(seen, self._weight)
            self._seen.update({(tool, mark) for one in seen for mark in one.failed})
        for key, seen in by_trait.items():
            if key[1] == WHOLE:
                continue
            self._traits.setdefault(key, _Count()).add(seen, self._weight)
            states = self._states.setdefault(key, {})
            alike: dict[str, list[TraitSeen]] = {}
            for one in seen:
                alike.setdefault(one.state, []).append(one)
                if (lead := one.state.partition(" ")[0]) != one.state:
                    alike.setdefault(lead, []).append(one)
            for state, some in alike.items():
                states.setdefault(state, _Count()).add(some, self._weight)

    def patterns(self, troubles: Mapping[tuple[str, str], Trouble] | None = None) -> list[Pattern]:
        """What is known to fail, the likeliest first.

        `troubles` is what may be told, by tool and fingerprint; what is not among it is left out. A trait that was only
        ever met after a session had reached outside is left out too: somebody else may have put it there.
        """
        made = (self._pattern(key, troubles) for key, count in self._traits.items() if count.clean)
        kept = [one for one in made if one is not None and one.most >= BARS[0]]
        return sorted(kept, key=lambda one: (-one.most, one.name))

    def _pattern(self, key: Key, troubles: Mapping[tuple[str, str], Trouble] | None) -> Pattern | None:
        tool, sort, what = key
        trait = self._traits[key]
        known = {
            mark: n
            for mark, n in trait.failed.items()
            if self._seen[tool, mark] >= RECURRING and (troubles is None or (tool, mark) in troubles)
        }
        if not known:
            return None
        marks = frozenset(mark for mark, _ in sorted(known.items()))
        base = self._share(self._tools[tool], self._recurring(tool), 0.0) if tool in self._tools else 0.0
        call = self._share(trait, marks, base)
        lasting = self._lasting(trait, marks, 0.0)
        odds = {
            state: round(max(self._share(count, marks, call), self._lasting(count, marks, lasting)), DIGITS)
            for state, count in self._states[key].items()
        }
        ranked = sorted(known, key=lambda mark: (-known[mark], mark))
        told = tuple(Trouble(mark) if troubles is None else troubles[tool, mark] for mark in ranked)
        failing = sum(1 for _, followed in trait.followed if followed & marks)
        return Pattern(tool, sort, what, round(max(call, lasting), DIGITS), odds, told, failing)

    def _recurring(self, tool: str) -> frozenset[str]:
        return frozenset(mark for (owner, mark), n in self._seen.items() if owner == tool and n >= RECURRING)

    def _share(self, count: _Count, marks: frozenset[str], broader: float) -> float:
        """Of the calls, those that met one of the troubles."""
        met = sum(n for mark, n in count.failed.items() if mark in marks)
        return (met / self._weight + PULL * broader) / (count.calls / self._weight + PULL)

    def _lasting(self, count: _Count, marks: frozenset[str], broader: float) -> float:
        """Of the sessions, those that met one of the troubles from here on."""
        met = sum(weight for weight, followed in count.followed if followed & marks)
        return (met / self._weight + PULL * broader) / (count.sessions / self._weight + PULL)
