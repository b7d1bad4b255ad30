"""`memory.overview`: the whole store at a glance. How healthy it is and why, what it holds by facet, what happened over
time, and what changed since a position. Reads only; the score is made here and shown by every door.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from recollect.core.kinds import EVIDENCE, Kind
from recollect.core.query import ANY_USER, Filter
from recollect.core.review import WAITING
from recollect.core.scope import OPEN, Status
from recollect.core.text import counted
from recollect.files.mark import StoreOrigin
from recollect.recall.reader import Reader
from recollect.store.codec import from_ms
from recollect.store.sqlite.backup import list_backups
from recollect.store.statistics import DayCount, Position, StandingCount
from recollect.store.store import Store
from recollect.tend import policy
from recollect.tend.growth import Growth, measure_growth, time_recalls

if TYPE_CHECKING:
    from recollect.core.ports import Clock

__all__ = [
    "Activity",
    "DayCount",
    "Facets",
    "Growth",
    "Health",
    "Overview",
    "Position",
    "Reason",
    "StoreEvent",
    "StoreEvents",
]

FACET_VALUES = 50  # values of a facet that are listed
_ALL_FILES = 1_000_000
Figure = TypeVar("Figure")
EventName: TypeAlias = Literal["memory", "job", "told", "note"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a store is not perfectly healthy: what it costs, in words, and the command or view that helps."""

    code: str
    points: int
    text: str
    action: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """A score from 0 to 100 and the reasons for every point that is missing."""

    score: int
    reasons: tuple[Reason, ...]
    total: int
    active: int  # used in the last 30 days
    to_review: int
    growth: tuple[Growth, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Facets:
    """How many memories of a filter carry each value, the most frequent first."""

    total: int
    counts: Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class Activity:
    """What happened each day, in UTC."""

    since: datetime
    kinds: Sequence[DayCount]  # memories that came
    sources: Sequence[DayCount]
    acts: Sequence[DayCount]  # what was done to memories
    told: Sequence[DayCount]  # what agents were told unasked, by moment


@dataclass(frozen=True, slots=True)
class StoreEvent:
    """One thing that happened. `position` is where the feed goes on after it."""

    position: Position
    name: EventName
    at: datetime
    action: str
    memory: str | None = None
    actor: str = ""
    door: str = ""
    session: str = ""
    job: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """What happened after a position. `is_reset`: too much for a feed, or another store's position: read all again."""

    events: tuple[StoreEvent, ...]
    position: Position
    is_reset: bool = False


class Overview:
    """The whole store at a glance."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        clock: Clock,
        *,
        origin: StoreOrigin,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._reader = reader
        self._clock = clock
        self._origin = origin
        self._timer = timer
        self._kept = KeptFigures(timer)

    # --- how healthy ------------------------------------------------------------------------------------------------

    def health(self) -> Health:
        """How healthy the store is, from 0 to 100, with the reason for every missing point."""
        return self._kept.get("health", self.position(), self._health)

    def _health(self) -> Health:
        now = self._clock()
        open_ones = Filter(statuses=OPEN, user=ANY_USER)
        rows = self._store.statistics.standing(open_ones, used_since=now - policy.RECENT, now=now)
        kept = [row for row in rows if row.kind not in EVIDENCE]
        growth = self.growth()
        reasons = sorted(self._reasons(kept, growth, now), key=lambda reason: (-reason.points, reason.code))
        return Health(
            score=max(0, 100 - sum(reason.points for reason in reasons)),
            reasons=tuple(reasons),
            total=sum(row.total for row in rows),
            active=sum(row.used for row in rows),
            to_review=self._reader.count(WAITING),
            growth=growth,
            at=now,
        )

    def growth(self, *, probe: bool = False) -> tuple[Growth, ...]:
        """How near the store is to the limits of one file: code nodes, bytes, and the p99 of recalls in this process
        once enough were timed; `probe` times some now."""
        if probe:
            time_recalls(self._reader, self._timer)
        return measure_growth(self._store, self._reader)

    def _reasons(self, rows: Sequence[StandingCount], growth: Iterable[Growth], now: datetime) -> Iterable[Reason]:
        total = sum(row.total for row in rows)
        review = sum(row.total for row in rows if row.needs_review)
        disputed = sum(row.total for row in rows if row.status == Status.DISPUTED)
        stale = sum(row.stale for row in rows)
        yield from _by_share(
            "review", review, total, _memories(review, "needs review", "need review"), "recollect review"
        )
        yield from _by_share(
            "disputed",
            disputed,
            total,
            _memories(disputed, "is disputed", "are disputed"),
            "recollect list --status disputed",
        )
        yield from _by_share(
            "stale", stale, total, _memories(stale, "is out of date", "are out of date"), "recollect review"
        )
        if self._is_older_than(now - policy.RECENT):
            unused = total - sum(row.used for row in rows)
            yield from _by_share(
                "unused",
                unused,
                total,
                _memories(unused, "was not used in 30 days", "were not used in 30 days"),
                "recollect tend",
            )
        yield from self._failed_jobs()
        if self._origin.is_foreign:
            yield Reason(
                "foreign", policy.HEALTH_POINTS["foreign"], "This store is not yours yet.", "recollect trust adopt"
            )
        yield from self._waiting_vectors()
        if total >= policy.WORTH_A_BACKUP and not self._has_backup(now):
            yield Reason("backup", policy.HEALTH_POINTS["backup"], "No backup of the last 30 days.", "recollect backup")
        passed = [one.name for one in growth if one.is_passed]
        if passed:
            points = min(policy.HEALTH_POINTS["growth"], policy.POINTS_EACH * len(passed))
            told = f"Past what one file is good for: {', '.join(passed)}."
            yield Reason("growth", points, told, "recollect migrate", len(passed))

    def _failed_jobs(self) -> Iterable[Reason]:
        failed = [job.name for job in self._store.jobs.every() if job.outcome == "failed"]
        if failed:
            points = min(policy.HEALTH_POINTS["jobs"], policy.POINTS_EACH * len(failed))
            told = f"{counted(len(failed), 'job')} failed: {', '.join(failed)}."
            yield Reason("jobs", points, told, "recollect logs", len(failed))

    def _waiting_vectors(self) -> Iterable[Reason]:
        space = self._store.vectors.active()
        if space is not None:
            waiting, total = self._store.vectors.waiting(space), self._reader.count(Filter(user=ANY_USER))
            yield from _by_share(
                "vectors",
                waiting,
                total,
                _memories(waiting, "waits for a vector", "wait for a vector"),
                "recollect tend",
            )

    def _is_older_than(self, moment: datetime) -> bool:
        oldest = self._reader.list(Filter(statuses=Status, user=ANY_USER), order="oldest", limit=1).memories
        return bool(oldest) and oldest[0].created_at < moment

    def _has_backup(self, now: datetime) -> bool:
        made = [backup.path.stat().st_mtime for backup in list_backups(self._store.engine.folder)]
        return self._store.engine.folder is None or any(at >= (now - policy.RECENT).timestamp() for at in made)

    # --- what it holds and what happened ----------------------------------------------------------------------------

    def facets(self, filter: Filter | None = None, *, limit: int = FACET_VALUES) -> Facets:
        """How many memories of a filter there are of each kind, source, scope, status, user, confidence, tag, file and
        module, and how many need review or are pinned."""
        wanted = self._reader.check(filter or Filter())
        return self._kept.get((wanted, limit), self.position(), lambda: self._facets(wanted, limit))

    def _facets(self, wanted: Filter, limit: int) -> Facets:
        return Facets(*self._store.facet_counts.count(wanted, limit=limit))

    def covered_files(self) -> Mapping[str, int]:
        """How many open memories are about each file; what was indexed or said does not count."""
        about = Filter(kinds=[kind for kind in Kind if kind not in EVIDENCE], statuses=OPEN, user=ANY_USER)
        return dict(self._store.statistics.values("file", self._reader.check(about), limit=_ALL_FILES))

    def activity(self, *, days: int = 30) -> Activity:
        """What came, what was done and what was told on each of the last days."""
        return self._kept.get(("activity", days), self.position(), lambda: self._activity(days))

    def _activity(self, days: int) -> Activity:
        since = (self._clock() - timedelta(days=max(1, days) - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
        per_day = self._store.statistics.per_day
        return Activity(
            since,
            kinds=per_day("kind", since=since),
            sources=per_day("source", since=since),
            acts=per_day("act", since=since),
            told=per_day("told", since=since),
        )

    # --- what changed since -----------------------------------------------------------------------------------------

    def position(self) -> Position:
        """Where the store stands now."""
        return self._store.statistics.position()

    def wait_for_change(self, timeout: float) -> bool:
        """Wait until the store may have changed, at most so many seconds; True when it is time to look."""
        return self._store.engine.wait_for_change(timeout)

    def events(self, after: Position, *, limit: int = 500) -> StoreEvents:
        """What happened after a position, whichever process did it, in order."""
        with self._store.engine.read():
            head = self.position()
            if after.entry > head.entry or after.told > head.told or head.entry - after.entry > limit:
                return StoreEvents((), head, is_reset=True)
            entries = self._store.log.shown_after(after.entry, limit=limit)
            told = self._store.statistics.told_since(after.told, limit=limit)
        if len(told) == limit:
            return StoreEvents((), head, is_reset=True)
        events: list[StoreEvent] = []
        for entry in entries:
            change = entry.change
            report = (change.after or {}) if change.action == "tend" else {}
            events.append(
                StoreEvent(
                    Position(entry.number, after.told),
                    "job" if change.action == "tend" else "memory" if change.memory else "note",
                    entry.at,
                    change.action,
                    memory=change.memory,
                    actor=entry.actor,
                    door=entry.door,
                    job=str(report.get("job", "")),
                    outcome=str(report.get("outcome", "")),
                )
            )
        for memory, moment, at, session in told:
            where = Position(head.entry, at)
            events.append(StoreEvent(where, "told", from_ms(at), moment, memory=memory, session=session))
        return StoreEvents(tuple(events), head)


class KeptFigures:
    """Figures that take long to count, kept until the store has moved on; in a large store a while longer, because a
    panel that follows every change would do nothing but count."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._kept: OrderedDict[object, tuple[Position, float, float, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object, position: Position, count: Callable[[], Figure]) -> Figure:
        """The figure of that key, counted again when it is out of date."""
        with self._lock:  # of several who ask at once, one counts
            known = self._kept.get(key)
            if known is not None:
                at, counted_at, took, figure = known
                rest = min(policy.LONGEST_KEPT, took * policy.KEPT_TIMES) if took >= policy.SLOW_COUNT else 0.0
                if at == position or self._timer() - counted_at < rest:
                    return cast(Figure, figure)
            began = self._timer()
            fresh = count()
            self._kept[key] = (position, self._timer(), self._timer() - began, fresh)
            self._kept.move_to_end(key)
            while len(self._kept) > policy.MOST_KEPT:
                self._kept.popitem(last=False)
            return fresh


def _by_share(code: str, count: int, total: int, text: str, action: str) -> Iterable[Reason]:
    if count and total:
        share = min(1.0, count / total / policy.FULL_SHARE)
        if points := round(policy.HEALTH_POINTS[code] * share):
            yield Reason(code, points, f"{text}.", action, count)


def _memories(count: int, one: str, several: str) -> str:
    return f"1 memory {one}" if count == 1 else f"{count:,} memories {several}"
