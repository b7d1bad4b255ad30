"""Does a call look like calls that failed before? The matcher of the gate before an action: pure, quick to load.

A pattern is a trait with the troubles such calls met and how likely one is, by the state of the session. The likelihood
is the greater of two shares of earlier experience: calls like this that failed, and sessions that failed so from here.
"""

from __future__ import annotations

from recollect.core.digest import short_digest
from recollect.observer.events import Value
from recollect.observer.traits import Situation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recollect.observer.events import ToolCall

BARS = (0.10, 0.13, 0.16, 0.20, 0.23, 0.26, 0.30, 0.34, 0.38, 0.42, 0.46, 0.50, 0.55, 0.60, 0.70, 0.80)  # likelihoods
FIRST_BAR = 0.34  # until enough was observed to choose one
BUDGET = 3.0  # warnings in a hundred calls that the bar is chosen for
WINDOW = 40  # sessions it is chosen on: projects change
ENOUGH = 200  # calls of them


class Trouble(Value):
    """What such calls met: the fingerprint of the error, how it reads, what helped, and the memory that tells of it."""

    __slots__ = ("fingerprint", "memory", "remedy", "text")

    def __init__(self, fingerprint: str, text: str = "", remedy: str = "", memory: str = "") -> None:
        self.fingerprint = fingerprint
        self.text = text
        self.remedy = remedy
        self.memory = memory


class Pattern(Value):
    """Calls of `tool` with a trait, and how likely they fail: by state, and in states never met."""

    __slots__ = ("odds", "sessions", "sort", "tool", "troubles", "usual", "what")

    def __init__(
        self,
        tool: str,
        sort: str,
        what: str,
        usual: float,
        odds: Mapping[str, float],
        troubles: tuple[Trouble, ...] = (),
        sessions: int = 0,
    ) -> None:
        self.tool = tool
        self.sort = sort
        self.what = what
        self.usual = usual
        self.odds = odds
        self.troubles = troubles
        self.sessions = sessions  # in which such calls failed

    @property
    def id(self) -> str:
        """The same for the same trait of the same tool, whatever was learnt since."""
        return short_digest("\x1f".join(self.name))

    @property
    def name(self) -> tuple[str, str, str]:
        return self.tool, self.sort, self.what

    @property
    def most(self) -> float:
        """How likely such a call fails in the worst state."""
        return max((self.usual, *self.odds.values()))

    def likelihood(self, state: str) -> float:
        """How likely such a call fails in a state; one never met is like others that begin alike."""
        return self.odds.get(state, self.odds.get(state.partition(" ")[0], self.usual))

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(trouble.fingerprint for trouble in self.troubles)


class Match(Value):
    """A pattern that a call meets, and how likely it fails as calls like it did."""

    __slots__ = ("likelihood", "pattern", "state")

    def __init__(self, pattern: Pattern, likelihood: float, state: str = "") -> None:
        self.pattern = pattern
        self.likelihood = likelihood
        self.state = state


def matching(
    call: ToolCall,
    patterns: Sequence[Pattern],
    *,
    situation: Situation | None = None,
    bar: float = FIRST_BAR,
    given: Collection[str] = (),
    told: Collection[str] = (),
) -> list[Match]:
    """The patterns a call meets at or above the bar, the likeliest first.

    Left out are those whose id was `given` in this session, and those all of whose fingerprints were `told` in it.
    """
    states = {(trait.sort, trait.what): trait.state for trait in (situation or Situation()).traits(call)}
    found = []
    for pattern in patterns:
        key = (pattern.sort, pattern.what)
        if pattern.tool != call.tool or key not in states:
            continue
        likelihood = pattern.likelihood(states[key])
        news = pattern.id not in given and not all(one.fingerprint in told for one in pattern.troubles)
        if likelihood >= bar and news:
            found.append(Match(pattern, likelihood, states[key]))
    return sorted(found, key=lambda match: (-match.likelihood, match.pattern.name))


def chosen_bar(sessions: Sequence[tuple[int, Sequence[int]]], *, budget: float = BUDGET) -> float:
    """The lowest bar that would have kept the budget over the last sessions, each as its calls and `raised`.

    Never above the highest: who fails four times in five is told, whatever it costs.
    """
    lately = [(calls, raised) for calls, raised in sessions if len(raised) == len(BARS)][-WINDOW:]
    calls = sum(one for one, _ in lately)
    if calls < ENOUGH:
        return FIRST_BAR
    kept = (bar for place, bar in enumerate(BARS) if 100 * sum(one[place] for _, one in lately) <= budget * calls)
    return next(kept, BARS[-1])


def warning(match: Match, *, most: int = 2) -> str:
    """The warning in one or two sentences, as a colleague would say it."""
    pattern = match.pattern
    what = {
        "command": f"`{pattern.what}`",
        "file": f"{pattern.tool} on {pattern.what}",
        "ending": f"{pattern.tool} on .{pattern.what} files",
        "shape": f"{pattern.tool} of {pattern.what.partition(' ')[0]} text like this",
        "state": f"{pattern.tool} of a file that is {_STATES.get(pattern.what, pattern.what)}",
        "disk": f"{pattern.tool} of {_DISK.get(pattern.what, pattern.what)}",
        "subject": f"{pattern.tool} {pattern.what}",
    }.get(pattern.sort, pattern.tool)
    met = "; ".join(
        one.text + (f" (what helped: {one.remedy})" if one.remedy else "") for one in pattern.troubles[:most]
    )
    return f"{what} failed in {pattern.sessions} earlier session{'s' * (pattern.sessions != 1)} here: {met}"


_DISK = {
    "missing": "a path that does not exist (as this one)",
    "absent": "text that is not in the file (as here)",
    "several": "text that is in the file more than once (as here)",
}
_STATES = {
    "new": "not known to exist",
    "unread": "not read in this session",
    "long ago": "not read since the last request",
    "read": "already read",
}
