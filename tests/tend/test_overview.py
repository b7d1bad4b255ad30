"""The store at a glance: what its score is made of, and figures that are kept no longer than they may be."""

from __future__ import annotations

from recollect.store.statistics import Position
from recollect.tend.overview import KeptFigures


def test_a_figure_is_counted_again_as_soon_as_the_store_has_moved_on() -> None:
    kept, counted = KeptFigures(lambda: 0.0), iter(range(10))
    assert kept.get("x", Position(1, 0), lambda: next(counted)) == 0
    assert kept.get("x", Position(1, 0), lambda: next(counted)) == 0
    assert kept.get("x", Position(2, 0), lambda: next(counted)) == 1
    assert kept.get("y", Position(2, 0), lambda: next(counted)) == 2


def test_a_figure_that_takes_long_is_kept_a_while_although_the_store_moved_on() -> None:
    now, counted = [0.0], iter(range(10))

    def count() -> int:
        now[0] += 1.0  # a second each time
        return next(counted)

    kept = KeptFigures(lambda: now[0])
    assert kept.get("x", Position(1, 0), count) == 0
    now[0] += 9.0
    assert kept.get("x", Position(2, 0), count) == 0
    now[0] += 2.0
    assert kept.get("x", Position(2, 0), count) == 1
