"""How many steps an agent may take, from how many its kind of work really took. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recollect.core.summary import MemorySummary

MOST_FACTOR = 2.0  # however wrong plans were, a limit at most doubles
MOST_STEPS = 500  # … and never passes this


def step_limit(base: int, ratio: float | None, *, most: int = MOST_STEPS) -> int:
    """A limit of `base` steps, scaled by how many more or fewer were needed than planned."""
    factor = 1.0 if ratio is None or not math.isfinite(ratio) or ratio <= 0 else min(ratio, MOST_FACTOR)
    return max(1, min(math.ceil(base * factor), most))


def ratio_of(calibrations: Sequence[MemorySummary], methodology: str) -> float | None:
    """Actual over planned steps, weighed by how many tasks each figure rests on; nothing when there is no figure.

    Those of the methodology in use count where there are any."""
    own = [one for one in calibrations if one.payload.get("methodology", "native") == methodology]
    figures = [(_number(one, "ratio"), _number(one, "samples")) for one in own or calibrations]
    sound = [(ratio, samples) for ratio, samples in figures if ratio > 0 and samples > 0]
    total = sum(samples for _, samples in sound)
    return sum(ratio * samples for ratio, samples in sound) / total if total else None


def _number(known: MemorySummary, name: str) -> float:
    value = known.payload.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
