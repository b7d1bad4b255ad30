"""When a chore's hour comes. Pure: a moment in, the last hour that struck out.

There is no process that waits. Whoever tends asks whether an hour has struck since the last run, so a run that was
missed by a day or a month is caught up once, and many short processes need no scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo


@dataclass(frozen=True, slots=True)
class When:
    """An hour of the day, on every day or on one of the week; with no hour, always."""

    hour: int | None = None
    minute: int = 0
    weekday: int | None = None  # Monday is 0

    def struck(self, now: datetime) -> datetime:
        """The last time this hour struck, not after `now`, on the clock that `now` was read from."""
        if self.hour is None:
            return now
        at = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        if at > now:
            at -= timedelta(days=1)
        if self.weekday is not None:
            at -= timedelta(days=(at.weekday() - self.weekday) % 7)
        return at

    @property
    def cron(self) -> str:
        """The same as a line of cron says it."""
        if self.hour is None:
            return "* * * * *"
        day = "*" if self.weekday is None else str((self.weekday + 1) % 7)
        return f"{self.minute} {self.hour} * * {day}"


ALWAYS = When()


def is_due(when: When, *, last: datetime | None, now: datetime, zone: tzinfo | None = None) -> bool:
    """Has the hour struck since the last run? A last run in the future was timed by a clock that was wrong."""
    local = now.astimezone(zone)
    return last is None or last > now or last < when.struck(local)
