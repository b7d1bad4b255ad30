"""How often something was seen per period: memories that speak of it, counted by when they happened. Pure but for the
reading that is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal, TypeAlias, get_args

from recollect.core.errors import InvalidField, UnknownChoice

Period: TypeAlias = Literal["day", "week", "month"]
PERIODS: tuple[Period, ...] = get_args(Period)
MAX_TREND_DAYS = 3_660
MAX_COUNTED = 20_000  # memories of a trend; the newest count


@dataclass(frozen=True, slots=True)
class TrendPeriod:
    """One period, by its first moment, and how often the thing was seen in it."""

    start: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Trend:
    """How often something was seen, the oldest period first; the last one is not over yet."""

    by: Period
    periods: tuple[TrendPeriod, ...]

    @property
    def total(self) -> int:
        return sum(period.count for period in self.periods)

    @property
    def direction(self) -> str:
        """`rising`, `falling` or `steady`: the later half of the periods against the earlier one."""
        counts = [period.count for period in self.periods]
        half = len(counts) // 2
        before, after = sum(counts[:half]), sum(counts[len(counts) - half :])
        if abs(after - before) <= max(1, _STEADY * (after + before)):
            return "steady"
        return "rising" if after > before else "falling"


_STEADY = 0.2  # difference of the halves, as a share of both, that says nothing yet


def check_period(by: str, days: int) -> Period:
    """The period of this name; an unknown one, or a span nobody counts, is an error."""
    if by not in PERIODS:
        raise UnknownChoice("by", by, PERIODS)
    if not 1 <= days <= MAX_TREND_DAYS:
        raise InvalidField("days", f"{days} is not between 1 and {MAX_TREND_DAYS:,}")
    return by


def count_periods(moments: Sequence[datetime], *, by: Period, days: int, now: datetime) -> Trend:
    """Moments of the last so many days by period; what is dated in the future or earlier is left out."""
    first = _begin(now - timedelta(days=days - 1), by)
    starts = [first]
    while (following := _following(starts[-1], by)) <= now:
        starts.append(following)
    counts = dict.fromkeys(starts, 0)
    for moment in moments:
        start = _begin(moment, by) if moment <= now else None
        if start in counts:
            counts[start] += 1
    return Trend(by, tuple(TrendPeriod(start, count) for start, count in counts.items()))


def _begin(at: datetime, by: Period) -> datetime:
    day = at.astimezone(UTC).date()
    if by == "week":
        day -= timedelta(days=day.weekday())
    elif by == "month":
        day = day.replace(day=1)
    return datetime.combine(day, time(), UTC)


def _following(start: datetime, by: Period) -> datetime:
    days = {"day": 1, "week": 7, "month": 31}[by]
    return _begin(start + timedelta(days=days), by)
