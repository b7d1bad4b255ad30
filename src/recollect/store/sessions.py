"""The sessions table: which conversations there are, and how far each was consolidated. Rows in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.core.conversations import Session
from recollect.core.query import ANY_USER
from recollect.core.records import Memory
from recollect.store.codec import from_ms, to_ms
from recollect.store.filters import SEEN
from recollect.store.memories import M_NAMES, Memories
from recollect.store.port import Engine, Params, Row

_STATE = "s.cursor, s.queued_at, s.consolidated_at"
_SAID = "m.project = s.project and m.session = s.id and m.ordinal is not null"
_COUNTED = f"s.id, s.project, s.seen_at, s.last_at, {_STATE}, (select count(*) from memories m where {_SAID})"
# What one user may see: sessions in which something was said that is theirs or nobody's, and when and how often it was.
_SEEN = f"({SEEN} or :user = '{ANY_USER}')"
_OF_SEEN = f"from memories m where {_SAID} and {SEEN}"
_SEEN_AT = (
    f"case when :user = '{ANY_USER}' then s.seen_at else coalesce((select min(m.created_at) {_OF_SEEN}), s.seen_at) end"
)
_LAST_AT = f"""case when :user = '{ANY_USER}' then s.last_at
    else coalesce((select max(coalesce(m.event_at, m.created_at)) {_OF_SEEN}), s.last_at) end"""
_COUNTED_SEEN = f"""s.id, s.project, {_SEEN_AT}, {_LAST_AT} as last_said, {_STATE},
    (select count(*) from memories m where {_SAID} and {_SEEN})"""
_SHOWN = f"""
    (exists (select 1 from memories m where {_SAID} and {_SEEN}) or not exists (select 1 from memories m where {_SAID}))
"""


class Sessions:
    """Writing needs a transaction, so that a session is known exactly when its first message is."""

    def __init__(self, engine: Engine, project: str, memories: Memories) -> None:
        self._engine = engine
        self._project = project
        self._memories = memories

    _KNOWN = "select 1 from sessions where project = :project and id = :id"
    _TOUCH = """
        insert into sessions (project, id, seen_at, last_at, cursor) values (:project, :id, :seen, :last, 0)
            on conflict (project, id) do update
            set seen_at = least(sessions.seen_at, excluded.seen_at),
                last_at = greatest(sessions.last_at, excluded.last_at), consolidated_at = null
    """

    def touch(self, id: str, *, seen: datetime, last: datetime) -> bool:
        """Something was said in a session, so it has more to consolidate. Is it a new one?"""
        key = {"project": self._project, "id": id}
        known = self._engine.row(self._KNOWN, key) is not None
        self._engine.execute(self._TOUCH, {**key, "seen": to_ms(seen), "last": to_ms(last)})
        return not known

    _QUEUE = """
        update sessions set queued_at = :at
         where project = :project and id <> :current and consolidated_at is null and queued_at is null
    """

    def queue_others(self, current: str, *, at: datetime) -> int:
        """Every open session but the current one waits for consolidation from now on; how many were added."""
        return self._engine.execute(self._QUEUE, {"project": self._project, "current": current, "at": to_ms(at)})

    _GET = f"select {_COUNTED_SEEN} from sessions s where s.project = :project and s.id = :id and {_SHOWN}"

    def get(self, id: str, *, user: str | None = ANY_USER) -> Session | None:
        row = self._engine.row(self._GET, {"project": self._project, "id": id, "user": user})
        return None if row is None else _session(row)

    _PAGE = f"""
        select {_COUNTED_SEEN} from sessions s where s.project = :project and {_SHOWN}
         order by last_said desc, s.id limit :limit offset :skip
    """

    def page(self, *, limit: int, skip: int = 0, user: str | None = ANY_USER) -> list[Session]:
        """Sessions a user may see, the one spoken in last first."""
        params = {"project": self._project, "limit": limit, "skip": skip, "user": user}
        return [_session(row) for row in self._engine.rows(self._PAGE, params)]

    _PENDING = f"""
        select {_COUNTED} from sessions s where s.project = :project and s.consolidated_at is null {{queued}}
         order by s.seen_at, s.id limit :limit
    """

    def pending(self, *, queued: bool, limit: int = 1000) -> list[Session]:
        """Sessions with something left to consolidate, oldest first; only those that are queued when asked."""
        sql = self._PENDING.format(queued="and s.queued_at is not null" if queued else "")
        return [_session(row) for row in self._engine.rows(sql, {"project": self._project, "limit": limit})]

    _TALLY = f"""
        select case when consolidated_at is not null then 'consolidated'
                    when queued_at is not null then 'queued' else 'open' end as state, count(*)
          from sessions s where s.project = :project and {_SHOWN} group by state order by state
    """

    def tally(self, *, user: str | None = ANY_USER) -> dict[str, int]:
        return dict(self._engine.rows(self._TALLY, {"project": self._project, "user": user}))

    _EPISODES = f"""
        select m.ordinal, {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.session = :session and m.ordinal > :after order by m.ordinal limit :limit
    """

    def episodes(self, id: str, *, after: int = 0, limit: int) -> list[tuple[int, Memory]]:
        """What was said in a session, in the order it arrived, each with its ordinal."""
        rows = self._engine.rows(self._EPISODES, {**self._of(id), "after": after, "limit": limit})
        return [(row[0], memory) for row in rows for memory in self._memories.sound([row[1:]])]

    _LAST = "select coalesce(max(ordinal), 0) from memories where project = :project and session = :session"

    def last_ordinal(self, id: str) -> int:
        """The ordinal of the last episode of a session."""
        row = self._engine.row(self._LAST, self._of(id))
        return int(row[0]) if row else 0

    _LATEST = f"""
        select {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.session = :session and m.ordinal is not null and {_SEEN}
         order by coalesce(m.event_at, m.created_at) desc, m.ordinal desc limit :limit
    """

    def latest(self, id: str, *, limit: int, user: str | None = ANY_USER) -> list[Memory]:
        """The last things said by event time that a user may see, oldest of them first."""
        params = {**self._of(id), "limit": limit, "user": user}
        return self._memories.sound(self._engine.rows(self._LATEST, params)[::-1])

    _BEFORE = f"""
        select {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.session = :session
           and m.ordinal < (select ordinal from memories where id = :id)
         order by m.ordinal desc limit :limit
    """
    _FROM = f"""
        select {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.session = :session
           and m.ordinal >= (select ordinal from memories where id = :id)
         order by m.ordinal limit :limit
    """

    def around(self, episode: Memory, *, before: int, after: int) -> list[Memory]:
        """An episode with what was said before and after it in its session, in the order it arrived."""
        if episode.session is None:
            return []
        key = {**self._of(episode.session), "id": episode.id}
        earlier = self._engine.rows(self._BEFORE, {**key, "limit": before})
        return self._memories.sound([*earlier[::-1], *self._engine.rows(self._FROM, {**key, "limit": after + 1})])

    def _of(self, id: str) -> Params:
        return {"session": id, "project": self._project}

    def around_each(self, episodes: Sequence[Memory], *, before: int, after: int) -> list[Memory]:
        """Some episodes, each with what was said around it, in the order it arrived; none of them twice."""
        found: dict[str, Memory] = {
            said.id: said for episode in episodes for said in self.around(episode, before=before, after=after)
        }
        return [found[id] for id in self._memories.in_order(list(found))]

    _ADVANCE = """
        update sessions set cursor = :to where project = :project and id = :id and cursor = :from_
    """

    def advance(self, session: Session, *, to: int) -> bool:
        """Note that the facts up to an ordinal were drawn. False when another process was faster."""
        key = {"project": self._project, "id": session.id, "from_": session.cursor, "to": to}
        return self._engine.execute(self._ADVANCE, key) == 1

    _FINISH = """
        update sessions set consolidated_at = :at, queued_at = null
         where project = :project and id = :id and consolidated_at is null
           and not exists (select 1 from memories m where m.project = sessions.project and m.session = sessions.id
                              and m.ordinal > sessions.cursor)
    """

    def finish(self, id: str, *, at: datetime) -> bool:
        """Nothing is left to draw from a session. False when something was said meanwhile, or it was done before."""
        return self._engine.execute(self._FINISH, {"project": self._project, "id": id, "at": to_ms(at)}) == 1

    _ADOPT = """
        insert into sessions (project, id, seen_at, last_at, cursor)
        select project, session, min(created_at), max(coalesce(event_at, created_at)), 0 from memories
         where kind = 'episode' and session is not null group by project, session
            on conflict do nothing
    """

    def adopt(self) -> int:
        """Register sessions whose episodes came by another way; how many there were."""
        return self._engine.execute(self._ADOPT)

    _SETTLE = """
        update sessions
           set seen_at = said.seen_at, last_at = said.last_at
          from (select min(created_at) as seen_at, max(coalesce(event_at, created_at)) as last_at from memories
                 where project = :project and session = :session and ordinal is not null) said
         where project = :project and id = :session and said.seen_at is not null
    """

    _DROP = """
        delete from sessions where project = :project and id = :session and not exists
            (select 1 from memories m where m.project = :project and m.session = :session and m.ordinal is not null)
    """

    def settle(self, id: str) -> None:
        """Something said in a session changed or is gone: its times are those of what is left, as `adopt` would find
        them. With nothing left it is gone, too."""
        self._engine.execute(self._SETTLE, self._of(id))
        self._engine.execute(self._DROP, self._of(id))

    _UNKNOWN = """
        select count(distinct m.session) from memories m
         where m.kind = 'episode' and m.session is not null and m.attributes like '%"message":%'
           and not exists (select 1 from sessions s where s.project = m.project and s.id = m.session)
    """

    def unknown(self) -> int:
        """How many sessions were captured and are not registered: their row was lost."""
        row = self._engine.row(self._UNKNOWN)
        return int(row[0]) if row else 0


def _session(row: Row) -> Session:
    id, project, seen_at, last_at, cursor, queued_at, consolidated_at, episodes = row
    return Session(
        id=id,
        project=project,
        seen_at=from_ms(seen_at),
        last_at=from_ms(last_at),
        episodes=episodes,
        cursor=cursor,
        queued_at=None if queued_at is None else from_ms(queued_at),
        consolidated_at=None if consolidated_at is None else from_ms(consolidated_at),
    )
