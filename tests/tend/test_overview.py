"""The store at a glance: what its score is made of, and figures that are kept no longer than they may be."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.store.statistics import Position
from recollect.tend import policy
from recollect.tend.growth import Growth
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


def test_a_limit_that_is_passed_names_the_way_on() -> None:
    assert Growth("nodes", 50_000, policy.MAX_NODES).advice == ""
    told = Growth("nodes", 50_001, policy.MAX_NODES).advice
    assert "50,001 of 50,000 code nodes" in told
    assert "`recollect migrate" in told


@pytest.mark.parametrize(("memories", "timed"), [(3, False), (4, True)])
def test_recalls_are_timed_only_in_a_store_where_they_may_be_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memories: int, timed: bool
) -> None:
    monkeypatch.setattr(policy, "WORTH_TIMING", 4)
    monkeypatch.setattr(policy, "ENOUGH_TIMINGS", 4)
    with recollect.open(tmp_path / "memory.db") as memory:
        for number in range(memories):
            memory.remember(f"Stone {number} is hard.", again=True)
        assert ("p99_ms" in [one.name for one in memory.overview.growth(probe=True)]) is timed


def test_a_store_without_a_file_has_no_limits_of_one() -> None:
    with recollect.open(":memory:") as memory:
        assert memory.overview.growth() == ()
