"""How confidence fades. One model, computed when a memory is read and never written back.

The trap this avoids: multiplying the stored confidence every night compounds, so a memory would fade by how often the
job ran instead of by how long nobody needed it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from recollect.core.errors import InvalidField

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Never:
    """Does not fade."""

    def left(self, confidence: float, unused: timedelta) -> float:
        return confidence

    def __str__(self) -> str:
        return "never"


@dataclass(frozen=True, slots=True)
class HalfLife:
    """Halves every `days` without use: what is known about code."""

    days: float

    def left(self, confidence: float, unused: timedelta) -> float:
        return confidence * math.pow(0.5, unused / _DAY / self.days)

    def __str__(self) -> str:
        return f"half-life:{self.days!r}"


@dataclass(frozen=True, slots=True)
class Exponential:
    """exp(-rate × days): what was said by people. Rate 0 protects."""

    rate: float

    def left(self, confidence: float, unused: timedelta) -> float:
        return confidence * math.exp(-self.rate * (unused / _DAY))

    def __str__(self) -> str:
        return f"exponential:{self.rate!r}"


@dataclass(frozen=True, slots=True)
class Hourly:
    """base^hours, never below the floor: documents, which stay findable however old."""

    base: float
    floor: float = 0.0

    def left(self, confidence: float, unused: timedelta) -> float:
        return max(self.floor, confidence * math.pow(self.base, unused / _HOUR))

    def __str__(self) -> str:
        return f"hourly:{self.base!r}:{self.floor!r}"


Decay: TypeAlias = Never | HalfLife | Exponential | Hourly
NEVER = Never()


def parse_decay(text: str) -> Decay:
    """The curve that `str()` of one wrote."""
    name, *figures = text.split(":")
    try:
        numbers = [float(figure) for figure in figures]
        if all(math.isfinite(number) and number >= 0 for number in numbers):
            match name, numbers:
                case "never", []:
                    return NEVER
                case "half-life", [days] if days > 0:
                    return HalfLife(days)
                case "exponential", [rate]:
                    return Exponential(rate)
                case "hourly", [base, floor] if 0 < base <= 1 and floor <= 1:
                    return Hourly(base, floor)
    except ValueError:
        pass  # falls through to the one message below
    raise InvalidField("decay", f"{text!r} is not a curve", hint="Say never, half-life:DAYS or exponential:RATE.")


def effective(confidence: float, curve: Decay, *, last_used: datetime, now: datetime, held: bool) -> float:
    """Confidence as of `now`. `held` memories (pinned or protected) do not fade; a clock that ran back adds nothing."""
    if held:
        return confidence
    return curve.left(confidence, max(now - last_used, timedelta(0)))
