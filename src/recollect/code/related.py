"""Which files are likely to change together with one: by the past, by the graph, and by what is being worked on."""

from __future__ import annotations

from recollect.code.cochange import blended
from recollect.code.impact import MOST, reach
from recollect.store.store import Store

FURTHER = 0.3  # what is left of a dependent's strength when it is not a direct one


def related(store: Store, file: str, *, k: int) -> list[tuple[str, float]]:
    """Files with their likelihood, most likely first."""
    together = {other: weight for other, weight, _ in store.graph.cochanged([file])}
    both = blended(nearness(store, file), together, store.graph.hot())
    ranked = sorted(both.items(), key=lambda item: (-item[1], item[0]))
    return [(name, round(weight, 4)) for name, weight in ranked if name != file][:k]


def nearness(store: Store, file: str) -> dict[str, float]:
    """How near other files are by the graph: those that depend on it, and those it needs."""
    up = reach(store, file, direction="dependents", depth=2, most=2 * MOST, memories=False)
    down = reach(store, file, direction="dependencies", depth=1, most=2 * MOST, memories=False)
    near = {one.file: one.strength if one.depth == 1 else FURTHER * one.strength for one in up.files}
    for one in down.files:
        near[one.file] = near.get(one.file, 0.0) + one.strength
    return near
