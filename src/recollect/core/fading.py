"""How fast each kind fades, and fading itself for a process that has no time to load the curves of `decay`.

`kinds` takes its curves from here; a test holds the sums of both together. Whoever may load `decay` uses it.
"""

from __future__ import annotations

import math

_HALF_LIVES = {  # days
    "gotcha": 60.0, "error_pattern": 60.0, "work_state": 7.0, "causal_dependency": 120.0, "task_calibration": 180.0,
    "e2e_observation": 30.0, "workflow_recipe": 120.0,
}  # fmt: skip
_FADES = {
    "decision": "never",
    "episode": "never",  # evidence: it fades from view by rank, not by doubt
    "reflection": "never",
    "fact": "exponential:0.1",
    "passage": "hourly:0.995:0.1",
}
_USUAL = 90.0  # days; kinds the design gives no figure of their own
_DAY = 86_400_000.0  # milliseconds
DISPUTED = 0.8  # a disputed memory is still used, at this share of its confidence


def curve_of(kind: str) -> str:
    """The curve of a kind, spelt as the store spells one."""
    return _FADES.get(kind) or f"half-life:{_HALF_LIVES.get(kind, _USUAL)!r}"


def faded(confidence: float, curve: str, unused: float) -> float:
    """What is left of a confidence after so many milliseconds without use. An unknown curve fades as usual."""
    days = max(0.0, unused) / _DAY
    name, *figures = curve.split(":")
    try:
        match name, [float(figure) for figure in figures]:
            case "never", []:
                return confidence
            case "exponential", [rate]:
                return confidence * math.exp(-rate * days)
            case "hourly", [base, floor]:
                return max(floor, confidence * math.pow(base, days * 24))
            case "half-life", [half] if half > 0:
                return confidence * math.pow(0.5, days / half)
    except (ValueError, OverflowError):
        pass  # falls through to the usual curve
    return confidence * math.pow(0.5, days / _USUAL)
