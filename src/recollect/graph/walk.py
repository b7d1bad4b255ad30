"""A breadth-first walk: level by level, to a depth, to a number of nodes, with the best way to each. Pure.

The answer is a total order (depth, then strength, then node), and a cap cuts it at its end: what is returned under a
cap is always a prefix of what would be returned without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Generic, TypeVar

N = TypeVar("N", int, str)


@dataclass(frozen=True, slots=True)
class Step(Generic[N]):
    """A node that was reached."""

    node: N
    depth: int
    strength: float  # the product of weights along the way
    before: N  # the node it was reached from
    type: str  # of the link between them


@dataclass(frozen=True, slots=True)
class Walk(Generic[N]):
    """Everything reached, nearest first. `left_out` tells how many nodes the cap kept out, as far as they were seen."""

    seeds: tuple[N, ...]
    steps: tuple[Step[N], ...]
    left_out: int = 0

    def way(self, step: Step[N]) -> tuple[Step[N], ...]:
        """The steps from a seed to this one, the seed's neighbour first."""
        known = {step.node: step for step in self.steps}
        way = [step]
        while (before := known.get(way[-1].before)) is not None:
            way.append(before)
        return tuple(reversed(way))


def walk(
    seeds: Iterable[N],
    links: Callable[[Sequence[N]], Iterable[tuple[N, N, str, float]]],
    *,
    depth: int,
    limit: int,
) -> Walk[N]:
    """Walk from the seeds along `links` (asked once per level with all nodes of the level).

    Of several links that first reach a node, the one that leaves most strength is its way; ties go to the smaller node
    and the smaller type, so that the same graph always gives the same answer.
    """
    start = tuple(dict.fromkeys(seeds))
    strength: dict[N, float] = dict.fromkeys(start, 1.0)
    steps: list[Step[N]] = []
    level: Sequence[N] = start
    for distance in range(1, depth + 1):
        if not level:
            break
        best = _level(level, links, strength)
        room = limit - len(steps)
        found = [Step(node, distance, -left, *best[node][1:]) for left, node in _strongest(best, room)]
        steps += found
        if len(best) > room:
            return Walk(start, tuple(steps), len(best) - room)
        strength.update((step.node, step.strength) for step in found)
        level = [step.node for step in found]
    return Walk(start, tuple(steps))


def _level(
    level: Sequence[N],
    links: Callable[[Sequence[N]], Iterable[tuple[N, N, str, float]]],
    strength: dict[N, float],
) -> dict[N, tuple[float, N, str]]:
    """Every new node of the next level, with what is left of the strength there, the node before it and the link."""
    best: dict[N, tuple[float, N, str]] = {}
    for near, far, type, weight in links(level):
        if far in strength:
            continue
        left = strength[near] * weight
        known = best.get(far)
        if known is None or left > known[0] or (left == known[0] and (near, type) < (known[1], known[2])):
            best[far] = (left, near, type)
    return best


def _strongest(best: dict[N, tuple[float, N, str]], room: int) -> list[tuple[float, N]]:
    """The first so many by falling strength, then by node; strengths are negated. A hub has thousands."""
    ranked = [(-left, node) for node, (left, _, _) in best.items()]
    return sorted(ranked) if len(ranked) <= room else nsmallest(room, ranked)
