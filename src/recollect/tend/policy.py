"""When each chore runs and every other number of maintenance, named, with its unit and reason.

No process waits for an hour. Whoever tends asks whether one has struck since the last run, so a run that was missed by
a day or a month is caught up once, and many short processes need no scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo


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


# When each chore's hour comes, in local time. Enrichment first, so that consolidation sees the names it finds; decay
# after both, so that what was said again today is not pruned tonight.
SCHEDULE: Mapping[str, When] = {
    "vectors": ALWAYS,
    "evict": ALWAYS,
    "settle": ALWAYS,
    "sync": ALWAYS,
    "freshness": ALWAYS,
    "enrich": When(hour=2),
    "consolidate": When(hour=3),
    "reflect": When(hour=3, weekday=6),
    "synthesise": When(hour=3),
    "causes": When(hour=3, weekday=6),
    "prune": When(hour=4),
}
USUAL = When(hour=4)  # a chore nobody listed

LEASE = timedelta(minutes=15)  # a chore is held; a process that died gives it back after this
RETRY_AFTER = timedelta(minutes=10)  # a failed chore rests; doubles with each failure
LONGEST_RETRY = timedelta(hours=6)


def next_run(when: When, *, last: datetime | None, now: datetime, zone: tzinfo | None = None) -> datetime:
    """When a chore runs next: now if it is due, else when its hour strikes again."""
    if when.hour is None or is_due(when, last=last, now=now, zone=zone):
        return now
    return when.struck(now.astimezone(zone)) + timedelta(days=1 if when.weekday is None else 7)


# --- decay and prune ---
FADED = 0.05  # effective confidence below which a fact has expired
HALF_LIVES = 3  # unused, after which anything else has expired
KEPT_EXPIRED = timedelta(days=30)  # before an expired memory is deleted
LONGEST_REST = timedelta(days=730)  # since the last act; more, and the clock is doubted: nothing expires
KNOWN_SINCE = datetime(2000, 1, 1, tzinfo=UTC)  # what is dated before was written by a clock that stood still
NEVER_DELETED = frozenset(
    {"episode", "fact", "reflection"}
)  # conversational evidence goes only when somebody erases it
NEVER_EXPIRED = frozenset({"episode", "reflection", "passage"})  # evidence, and what documents keep track of themselves

# --- health: points off a hundred, and the most each reason can cost ---
RECENT = timedelta(days=30)  # what counts as in use
HEALTH_POINTS: Mapping[str, int] = {
    "review": 25,  # by the share that waits for a person; a queue nobody reads makes everything else doubtful
    "disputed": 15,  # by the share that somebody doubts
    "stale": 15,  # by the share whose time is over or whose file changed
    "unused": 10,  # by the share nobody needed in a month, once a store is older than that
    "jobs": 20,  # five for each job that failed last time
    "foreign": 20,  # nothing of it is told until a person adopts it
    "vectors": 10,  # by the share that is found by its words only
    "backup": 5,  # no copy of the last month, in a store that holds something
    "growth": 10,  # five for each limit of S10 that is passed
}
POINTS_EACH = 5  # of what is counted, not shared
FULL_SHARE = 0.5  # the share at which a reason costs all its points
WORTH_A_BACKUP = 50  # memories
MAX_NODES, MAX_BYTES, MAX_P99_MS = 50_000, 500 * 10**6, 100.0  # beyond which one file is the wrong engine
SLOW_COUNT = 0.2  # seconds: a figure that takes longer to count is kept a while, changes or not
KEPT_TIMES = 10  # as long as it took to count it …
LONGEST_KEPT = 15.0  # … and no longer than so many seconds
MOST_KEPT = 32  # figures
ENOUGH_TIMINGS = 100  # answers before their p99 says anything
WORTH_TIMING = 1_000  # memories: in a smaller store every recall is quick
TIMING_SECONDS = 20.0  # for all of them: `recollect doctor` should end while somebody waits
TIMED_CHARS = 200  # of a memory that is asked for to time recalls
