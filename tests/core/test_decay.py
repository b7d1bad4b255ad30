from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.core.decay import NEVER, Decay, Exponential, HalfLife, Hourly, effective, parse_decay
from recollect.core.errors import InvalidField
from recollect.core.kinds import Kind, Kinds

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def faded(curve: Decay, unused: timedelta, held: bool = False) -> float:
    return effective(0.8, curve, last_used=NOW - unused, now=NOW, held=held)


def test_a_half_life_halves() -> None:
    assert faded(HalfLife(60), timedelta(days=60)) == pytest.approx(0.4)


def test_facts_fade_by_the_exponential_rate() -> None:
    assert faded(Exponential(0.1), timedelta(days=10)) == pytest.approx(0.8 * 0.36787944)


def test_rate_zero_protects() -> None:
    assert faded(Exponential(0.0), timedelta(days=10_000)) == 0.8


def test_documents_never_fade_below_their_floor() -> None:
    assert faded(Hourly(0.995, floor=0.1), timedelta(days=365)) == 0.1


def test_held_memories_do_not_fade() -> None:
    assert faded(HalfLife(7), timedelta(days=365), held=True) == 0.8


def test_a_clock_that_ran_back_adds_no_confidence() -> None:
    assert faded(HalfLife(7), timedelta(days=-30)) == 0.8


def test_reading_twice_fades_no_more_than_reading_once() -> None:
    first = faded(HalfLife(60), timedelta(days=30))
    assert faded(HalfLife(60), timedelta(days=30)) == first


@pytest.mark.parametrize("curve", [NEVER, HalfLife(7.5), Exponential(0.1), Hourly(0.995, 0.1)])
def test_a_curve_reads_back_as_it_was_written(curve: Decay) -> None:
    assert parse_decay(str(curve)) == curve


@pytest.mark.parametrize(
    "text", ["", "half-life", "half-life:0", "half-life:nan", "exponential:-1", "sometimes", "hourly:2:0"]
)
def test_an_ill_formed_curve_is_refused(text: str) -> None:
    with pytest.raises(InvalidField, match="decay"):
        parse_decay(text)


@pytest.mark.parametrize(
    ("kind", "days"),
    [("work_state", 7), ("e2e_observation", 30), ("error_pattern", 60), ("gotcha", 60), ("module_insight", 90),
     ("dead_end", 90), ("causal_dependency", 120), ("workflow_recipe", 120), ("task_calibration", 180),
     ("pattern", 90)],
)  # fmt: skip
def test_each_kind_fades_at_the_designed_pace(kind: str, days: float) -> None:
    assert Kinds().rule(kind).decay == HalfLife(days)


def test_decisions_never_fade() -> None:
    assert Kinds().rule(Kind.DECISION).decay == NEVER
