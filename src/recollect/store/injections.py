"""The tables of what agents were told: sessions, and the memories each was told. Rows in, values out.

While an agent works nothing is written here; a session's own file is brought in when it is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.core.doors import DOORS
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that a session was told."""

    memory: str
    moment: str
    at: datetime


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A session of an agent as memory saw it; `ended_at` is unknown while it works, and when nobody said."""

    session: str
    host: str
    arm: str
    began_at: datetime
    ended_at: datetime | None
    outcome: str


_AGENTS_DOORS = ", ".join(f"'{door.name}'" for door in DOORS.values() if not door.is_persons)


class Injections:
    """Writing needs a transaction."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _BEGIN = """
        insert into agent_sessions (project, session, host, arm, began_at, ended_at, outcome)
        values (:project, :session, :host, :arm, :at, null, '') on conflict (project, session) do nothing
    """

    def begin(self, session: str, *, host: str, arm: str, at: datetime) -> None:
        """A session is known from now on; one that is known stays as it is."""
        params = {"project": self._project, "session": session, "host": host, "arm": arm, "at": to_ms(at)}
        self._engine.execute(self._BEGIN, params)

    _END = """
        update agent_sessions set ended_at = :at, outcome = :outcome where project = :project and session = :session
    """

    def end(self, session: str, *, outcome: str, at: datetime) -> None:
        params = {"project": self._project, "session": session, "outcome": outcome, "at": to_ms(at)}
        self._engine.execute(self._END, params)

    _NOTE = """
        insert into injections (project, session, memory, moment, at) values (:project, :session, :memory, :moment, :at)
            on conflict (project, session, memory) do nothing
    """

    def note(self, session: str, told: Iterable[Told]) -> list[str]:
        """Write down what a session was told; the memories that were not written down before."""
        fresh = []
        for one in told:
            params = {"project": self._project, "session": session, "memory": one.memory, "moment": one.moment}
            if self._engine.execute(self._NOTE, {**params, "at": to_ms(one.at)}):
                fresh.append(one.memory)
        return fresh

    _OF = (
        "select memory, moment, at from injections where project = :project and session = :session order by at, memory"
    )

    def of(self, session: str) -> list[Told]:
        """What a session was told, in order."""
        rows = self._engine.rows(self._OF, {"project": self._project, "session": session})
        return [Told(memory, moment, from_ms(at)) for memory, moment, at in rows]

    _LATEST = """
        select i.memory, i.moment, i.at, i.session, coalesce(s.host, '') from injections i
          left join agent_sessions s on s.project = i.project and s.session = i.session
         where i.project = :project and (cast(:session as text) is null or i.session = :session)
         order by i.at desc, i.session, i.memory limit :limit
    """

    def latest(self, *, session: str | None, limit: int) -> list[tuple[Told, str, str]]:
        """What was told, the latest first, with its session and host; of one session where one is named."""
        rows = self._engine.rows(self._LATEST, {"project": self._project, "session": session, "limit": limit})
        return [
            (Told(memory, moment, from_ms(at)), told_session, host) for memory, moment, at, told_session, host in rows
        ]

    _SESSIONS = """
        select session, host, arm, began_at, ended_at, outcome from agent_sessions
         where project = :project and began_at >= :since order by began_at, session
    """

    def sessions(self, *, since: datetime) -> list[AgentRun]:
        """The sessions since a moment, the first leading."""
        rows = self._engine.rows(self._SESSIONS, {"project": self._project, "since": to_ms(since)})
        return [
            AgentRun(session, host, arm, from_ms(began), None if ended is None else from_ms(ended), outcome)
            for session, host, arm, began, ended, outcome in rows
        ]

    _JUDGED = f"""
        select count(*) filter (where action = 'confirm'), count(*),
               count(*) filter (where action <> 'confirm'
                    and subject in (select memory from injections where project = :project)),
               count(*) filter (where action <> 'confirm' and at >= :lately)
          from log where project = :project and about = 'memory' and at >= :since
           and action in ('confirm', 'reject', 'dispute', 'supersede') and door not in ({_AGENTS_DOORS})
    """
    _USED = "select count(distinct memory) from injections where project = :project and at >= :since"

    def judged(self, *, since: datetime, lately: datetime) -> tuple[int, int, int, int, int]:
        """What people did since a moment: confirmed, judged in all, corrected of what was told, flagged lately; and
        how many memories were told."""
        params = {"project": self._project, "since": to_ms(since)}
        row = self._engine.row(self._JUDGED, {**params, "lately": to_ms(lately)}) or (0, 0, 0, 0)
        used = self._engine.row(self._USED, params) or (0,)
        confirmed, judged, corrected, flagged = (int(figure or 0) for figure in row)
        return confirmed, judged, corrected, flagged, int(used[0] or 0)
