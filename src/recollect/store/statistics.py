"""Counting what is kept, for people who look at the whole of it: by kind, source and the like, by day, and how far the
log has come. Reads only."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, NamedTuple

from recollect.core.query import Filter
from recollect.store.codec import from_ms, to_ms
from recollect.store.filters import where
from recollect.store.port import Engine

DAY_MS = 86_400_000


class StandingCount(NamedTuple):
    """How many memories stand alike. `tenth` is their confidence in tenths, rounded down."""

    kind: str
    source: str
    scope: str
    status: str
    user: str | None
    needs_review: bool
    pinned: bool
    tenth: int
    total: int
    used: int  # since the moment that was asked for
    stale: int


class DayCount(NamedTuple):
    """How often something happened on a day, in UTC."""

    day: datetime
    name: str
    times: int


class Position(NamedTuple):
    """How far the store has come: the number of the last entry of its log, and when something was last told."""

    entry: int
    told: int  # milliseconds since 1970; 0 for never


class Statistics:
    """What the tables of one project add up to."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _STANDING = """
        select m.kind, m.source, m.scope, m.status, m.user_id, m.needs_review, m.pinned,
               cast(floor(m.confidence * 10) as bigint) as tenth, count(*),
               count(*) filter (where m.accessed_at >= :used_since and m.access_count > 0),
               count(*) filter (where m.stale_at <= :stale_by)
          from memories m where {where}
         group by m.kind, m.source, m.scope, m.status, m.user_id, m.needs_review, m.pinned, tenth
    """

    def standing(self, filter: Filter, *, used_since: datetime, now: datetime) -> list[StandingCount]:
        """The memories a filter lets through, counted in one pass."""
        condition, params = where(filter, self._project)
        asked = {**params, "used_since": to_ms(used_since), "stale_by": to_ms(now)}
        rows = self._engine.rows(self._STANDING.format(where=condition), asked)
        return [_standing(*row) for row in rows]

    _VALUES = """
        select f.value, count(*) as times from facets f
         where f.project = :project and f.facet = :facet
           and f.seq in (select m.seq from memories m where {where})
         group by f.value order by times desc, f.value limit :limit
    """

    def values(self, facet: str, filter: Filter, *, limit: int) -> list[tuple[str, int]]:
        """The values of a facet that most memories of a filter carry, with how many do."""
        condition, params = where(filter, self._project)
        asked = {**params, "facet": facet, "limit": limit}
        return [(value, count) for value, count in self._engine.rows(self._VALUES.format(where=condition), asked)]

    _PER_DAY: ClassVar[dict[str, str]] = {
        "kind": """
            select created_at / :day as at, kind, count(*) from memories
             where project = :project and created_at >= :since group by at, kind order by at, kind
        """,
        "source": """
            select created_at / :day as at, source, count(*) from memories
             where project = :project and created_at >= :since group by at, source order by at, source
        """,
        "act": """
            select at / :day as on_day, action, count(*) from log
             where project = :project and about = 'memory' and at >= :since and action <> 'snapshot'
             group by on_day, action order by on_day, action
        """,
        "told": """
            select at / :day as on_day, moment, count(*) from injections
             where project = :project and at >= :since group by on_day, moment order by on_day, moment
        """,
    }

    def per_day(self, what: str, *, since: datetime) -> list[DayCount]:
        """What happened each day since a moment: memories by `kind` or `source`, acts by `act`, telling by `told`."""
        asked = {"project": self._project, "since": to_ms(since), "day": DAY_MS}
        rows = self._engine.rows(self._PER_DAY[what], asked)
        return [DayCount(from_ms(day * DAY_MS), name, count) for day, name, count in rows]

    _ENTRY = "select coalesce(max(number), 0) from log"
    _TOLD = "select coalesce(max(at), 0) from injections where project = :project"

    def position(self) -> Position:
        """Where the store stands now; cheap enough to ask often."""
        entry, told = self._engine.row(self._ENTRY), self._engine.row(self._TOLD, {"project": self._project})
        return Position(int(entry[0]) if entry else 0, int(told[0]) if told else 0)

    _TOLD_SINCE = """
        select memory, moment, at, session from injections
         where project = :project and at > :since order by at, session, memory limit :limit
    """

    def told_since(self, since: int, *, limit: int) -> list[tuple[str, str, int, str]]:
        """What was told after a moment in milliseconds: memory, moment, when, session; the earliest first."""
        asked = {"project": self._project, "since": since, "limit": limit}
        return [(row[0], row[1], row[2], row[3]) for row in self._engine.rows(self._TOLD_SINCE, asked)]


def _standing(
    kind: str,
    source: str,
    scope: str,
    status: str,
    user: str | None,
    review: int,
    pinned: int,
    tenth: int,
    *counts: int,
) -> StandingCount:
    total, used, stale = counts
    words = (kind, source, scope, status, user)
    return StandingCount(*words, bool(review), bool(pinned), min(9, tenth), total, used, stale)
