"""How confidence fades: the curves, how a store spells them, and which curve each kind has.

Computed when a memory is read and never written back: multiplying the stored confidence every night would compound, so
a memory would fade by how often the job ran instead of by how long nobody needed it. The hook process computes it too,
so this stays light to load.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

DISPUTED_SHARE = 0.8  # of its confidence that a disputed memory is still used with
_USUAL_HALF_LIFE = 90.0  # days; kinds the design gives no figure of their own
_DAY_SECONDS = 86_400.0


class Decay:
    """A curve: equal to another of the same figures, and spelt by `str()` as the store spells it."""

    __slots__ = ()
    name = ""

    @property
    def figures(self) -> tuple[float, ...]:
        return ()

    def left(self, confidence: float, days: float) -> float:
        """What is left of a confidence after so many days without use."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Decay) and self.figures == other.figures

    def __hash__(self) -> int:
        return hash((self.name, self.figures))

    def __str__(self) -> str:
        return ":".join([self.name, *map(repr, self.figures)])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.figures))})"


class Never(Decay):
    """Does not fade."""

    __slots__ = ()
    name = "never"

    def left(self, confidence: float, days: float) -> float:
        return confidence


class HalfLife(Decay):
    """Halves every `days` without use: what is known about code."""

    __slots__ = ("days",)
    name = "half-life"

    def __init__(self, days: float) -> None:
        self.days = days

    @property
    def figures(self) -> tuple[float, ...]:
        return (self.days,)

    def left(self, confidence: float, days: float) -> float:
        return confidence * math.pow(0.5, days / self.days)


class Exponential(Decay):
    """exp(-rate × days): what was said by people. Rate 0 protects."""

    __slots__ = ("rate",)
    name = "exponential"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    @property
    def figures(self) -> tuple[float, ...]:
        return (self.rate,)

    def left(self, confidence: float, days: float) -> float:
        return confidence * math.exp(-self.rate * days)


class Hourly(Decay):
    """base^hours, never below the floor: documents, which stay findable however old."""

    __slots__ = ("base", "floor")
    name = "hourly"

    def __init__(self, base: float, floor: float = 0.0) -> None:
        self.base = base
        self.floor = floor

    @property
    def figures(self) -> tuple[float, ...]:
        return self.base, self.floor

    def left(self, confidence: float, days: float) -> float:
        return max(self.floor, confidence * math.pow(self.base, days * 24))


NEVER = Never()
USUAL = HalfLife(_USUAL_HALF_LIFE)
_BY_KIND: dict[str, Decay] = {
    "gotcha": HalfLife(60.0),
    "error_pattern": HalfLife(60.0),
    "work_state": HalfLife(7.0),
    "causal_dependency": HalfLife(120.0),
    "task_calibration": HalfLife(180.0),
    "e2e_observation": HalfLife(30.0),
    "workflow_recipe": HalfLife(120.0),
    "decision": NEVER,
    "episode": NEVER,  # evidence: it fades from view by rank, not by doubt
    "reflection": NEVER,
    "fact": Exponential(0.1),
    "passage": Hourly(0.995, 0.1),
}


def decay_of_kind(kind: str) -> Decay:
    """The curve of a kind that ships; of any other, the usual one."""
    return _BY_KIND.get(kind, USUAL)


def parse_decay(text: str) -> Decay:
    """The curve that `str()` of one wrote."""
    found = _parsed(text)
    if found is None:
        from recollect.core.errors import InvalidField

        raise InvalidField("decay", f"{text!r} is not a curve", hint="Say never, half-life:DAYS or exponential:RATE.")
    return found


def stored_decay(text: str | None, kind: str) -> Decay:
    """The curve of a stored memory, for readers that must not fail: one that is spelt wrong fades as usual."""
    return (_parsed(text) or USUAL) if text else decay_of_kind(kind)


def _parsed(text: str) -> Decay | None:
    name, *figures = text.split(":")
    try:
        numbers = [float(figure) for figure in figures]
    except ValueError:
        return None
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        return None
    match name, numbers:
        case "never", []:
            return NEVER
        case "half-life", [days] if days > 0:
            return HalfLife(days)
        case "exponential", [rate]:
            return Exponential(rate)
        case "hourly", [base, floor] if 0 < base <= 1 and floor <= 1:
            return Hourly(base, floor)
    return None


def effective(confidence: float, curve: Decay, *, last_used: datetime, now: datetime, held: bool) -> float:
    """Confidence as of `now`. `held` memories (pinned or protected) do not fade; a clock that ran back adds nothing."""
    if held:
        return confidence
    return curve.left(confidence, max(0.0, (now - last_used).total_seconds()) / _DAY_SECONDS)
