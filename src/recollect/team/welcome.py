"""What whoever joins a team is shown first: the few memories that the team relies on most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.core.kinds import EVIDENCE, Kind
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Status, Visibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.recall.reader import Reader

MOST = 5  # memories; more would not be read
PINNED_WEIGHT = 2.0  # somebody said that it must not be missed
_LOOKED_AT = 500  # the surest ones; what is best by confidence, pins and use is among them
_SHARED = (Visibility.TEAM, Visibility.ORGANIZATION, Visibility.PROJECT)


@dataclass(frozen=True, slots=True)
class Welcomed:
    """A memory with what it counts for somebody new."""

    memory: Memory
    weight: float


def choose_welcome(reader: Reader, *, most: int = MOST) -> Sequence[Welcomed]:
    """The best by confidence × pinned × accesses, of what others share and nobody doubts. Ties go to the older one."""
    kinds = [kind for kind in Kind if kind not in EVIDENCE]
    asked = Filter(kinds=kinds, visibilities=_SHARED, statuses=Status.ACTIVE, needs_review=False)
    found = reader.list(asked, order="confidence", limit=_LOOKED_AT)
    weighed = [Welcomed(memory, _weigh(memory, reader.confidence(memory))) for memory in found]
    return sorted(weighed, key=lambda one: (-one.weight, one.memory.created_at, one.memory.id))[:most]


def _weigh(memory: Memory, confidence: float) -> float:
    return confidence * (PINNED_WEIGHT if memory.pinned else 1.0) * (1 + memory.access_count)
