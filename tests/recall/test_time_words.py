from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.time_words import Window, when

NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)  # a Wednesday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what did we decide on 2026-03-05?", "2026-03-05", "2026-03-06"),
        ("what happened in March?", "2026-03-01", "2026-04-01"),
        ("what happened in June?", "2026-06-01", "2026-07-01"),
        ("what happened in July?", "2025-07-01", "2025-08-01"),
        ("what happened in December?", "2025-12-01", "2026-01-01"),
        ("who visited on 5 May 2023", "2023-05-05", "2023-05-06"),
        ("who visited on May 5th, 2023", "2023-05-05", "2023-05-06"),
        ("the plan for Q3 2025", "2025-07-01", "2025-10-01"),
        ("what broke in 2024", "2024-01-01", "2025-01-01"),
        ("what did I do yesterday", "2026-06-16", "2026-06-17"),
        ("today's errors", "2026-06-17", "2026-06-18"),
        ("what failed last week", "2026-06-08", "2026-06-15"),
        ("what failed this week", "2026-06-15", "2026-06-22"),
        ("what failed last month", "2026-05-01", "2026-06-01"),
        ("what failed last year", "2025-01-01", "2026-01-01"),
        ("what did we ship on Monday", "2026-06-15", "2026-06-16"),
        ("what did we ship last Wednesday", "2026-06-10", "2026-06-11"),
        ("plans for last weekend", "2026-06-13", "2026-06-15"),
    ],
)
def test_a_time_expression_becomes_a_window(question: str, start: str, end: str) -> None:
    assert when(question, NOW) == Window(day(start), day(end))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("decisions before March", Window(None, day("2026-03-01"), "before")),
        ("decisions since March", Window(day("2026-03-01"), None, "after")),
        ("decisions after 2025-02-01", Window(day("2025-02-02"), None, "after")),
        ("what changed before the migration", Window(side="before", event="migration")),
        ("what changed since we moved to Postgres", Window(side="after", event="moved to Postgres")),
    ],
)
def test_before_and_after_open_one_side(question: str, expected: Window) -> None:
    assert when(question, NOW) == expected


def test_three_weeks_ago_is_not_a_days_precision() -> None:
    window = when("what did Ada say three weeks ago", NOW)
    assert window is not None
    assert window.holds(day("2026-05-25"))
    assert not window.holds(day("2026-06-10"))


@pytest.mark.parametrize(
    "question", ["may I march on?", "who is Ada", "set the timeout", "", "10 may be enough", "the second"]
)
def test_ordinary_words_are_not_dates(question: str) -> None:
    assert when(question, NOW) is None or when(question, NOW).event  # type: ignore[union-attr]


def test_an_impossible_date_is_no_window() -> None:
    assert when("on 2026-02-31", NOW) is None


def test_distance_is_zero_inside_and_grows_outside() -> None:
    window = Window(day("2026-03-01"), day("2026-04-01"))
    assert window.distance(day("2026-03-10")).days == 0
    assert window.distance(day("2026-02-19")).days == 10
    assert window.distance(day("2026-04-05")).days == 4


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert when(text, NOW) is None or isinstance(when(text, NOW), Window)
