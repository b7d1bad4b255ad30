"""How far a document is trusted: it starts high, fades by the hour while nobody needs it, and rises when found."""

from __future__ import annotations

import math
from datetime import datetime

START = 0.8
HOURLY = 0.995  # what an hour without use leaves
FLOOR = 0.1
GAIN = 1.03  # what being found is worth
CAP = 1.0


def effective(confidence: float, *, last_used: datetime, now: datetime) -> float:
    """What a stored confidence is worth now. Computed when read, never written back."""
    hours = max(0.0, (now - last_used).total_seconds() / 3600)
    return max(FLOOR, confidence * math.pow(HOURLY, hours))


def found(confidence: float) -> float:
    """The stored confidence after a search has handed the document out."""
    return min(CAP, confidence * GAIN)


def blend(fused: float, *, confidence: float, rank: float) -> float:
    """How good a passage is, given how far its document is trusted and how much others refer to it (both 0 to 1)."""
    return fused * (0.7 + 0.3 * confidence) * (0.8 + 0.2 * rank)
