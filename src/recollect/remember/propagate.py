"""How a change of confidence travels along links. Pure.

The change travels, not the level: setting a neighbour to `source × factor` would let any conflict zero it and any
validation lower it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.scope import Relation

THRESHOLD = 0.05  # a change must be larger than this to travel
_ROUNDING = 1e-9  # 0.55 - 0.5 is a hair more than 0.05

FACTORS: Mapping[Relation, float] = {
    Relation.VALIDATES: 0.6,
    Relation.REQUIRED_WITH: 0.3,
    Relation.CONFLICTS_WITH: -0.4,
    Relation.SUPERSEDES: 0.8,
    Relation.DERIVED_FROM: 0.5,
}


def travels(before: float, after: float) -> bool:
    """Is the change large enough to move the neighbours?"""
    return abs(after - before) > THRESHOLD + _ROUNDING


def moved(target: float, link: Link, *, source: float, change: float) -> float:
    """The confidence of a link's target after its source changed by `change` to `source`."""
    factor = FACTORS[link.relation]
    if link.relation is Relation.SUPERSEDES:
        return _clamp(target * (1 - factor * link.confidence * source))
    return _clamp(target + factor * link.confidence * change)


def propagate(
    start: MemoryId,
    *,
    before: float,
    after: float,
    links: Callable[[MemoryId], Sequence[Link]],
    confidence: Callable[[MemoryId], float | None],
) -> dict[MemoryId, float]:
    """New confidences of everything that the change at `start` reaches, each touched once, cycles safe."""
    settled: dict[MemoryId, float] = {}
    visited = {start}
    queue = deque([(start, before, after)])
    while queue:
        id, old, new = queue.popleft()
        if not travels(old, new):
            continue
        for link in links(id):
            if link.target is None or link.target in visited:
                continue
            current = confidence(link.target)
            if current is None:
                continue
            visited.add(link.target)
            settled[link.target] = moved(current, link, source=new, change=new - old)
            queue.append((link.target, current, settled[link.target]))
    return settled


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
