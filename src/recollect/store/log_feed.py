"""The log as a feed: what was touched after a position, by the number of its last entry, and what an act did.

Sync reads it on both sides. Numbers have no gaps and are given in the order of commits, so a position never skips an
entry; the hash at a position tells whether it is still the same log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from recollect.store.codec import to_ms
from recollect.store.port import Engine, chunks
from recollect.store.synced import SyncSort

_TRAVELS = "about in ('memory', 'link', 'tombstone') and subject is not null"
_DELETES = "about = 'memory' and action in ('forget', 'erase', 'prune')"


class LogPosition(NamedTuple):
    """An entry of a log: its number, and its hash, by which the log is known again."""

    number: int
    hash: str


class TouchedSubject(NamedTuple):
    """A memory or a tombstone that entries tell of, the number of the last of them and who wrote it."""

    key: str
    sort: SyncSort
    number: int
    actor: str


class LoggedBatch(NamedTuple):
    """A batch of changes that came in under the name of an act: whose it was, and the number each thing got by it."""

    actor: str
    door: str
    applied: dict[str, int]


class LogFeed:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _HEAD = "select number, hash from log order by number desc limit 1 /* whole */"
    _AT = "select number, hash from log where number = :number /* whole */"

    def head(self) -> LogPosition:
        """Where the log ends now."""
        return LogPosition(*(self._engine.row(self._HEAD) or (0, "")))

    def holds(self, position: LogPosition) -> bool:
        """Is this a position of this log, as it is now?"""
        if position.number == 0:
            return True
        row = self._engine.row(self._AT, {"number": position.number})
        return row is not None and row[1] == position.hash

    def at(self, number: int) -> LogPosition:
        """The position of an entry."""
        return LogPosition(*(self._engine.row(self._AT, {"number": number}) or (0, "")))

    _TOUCHED = f"""
        select l.subject, l.about, l.number, l.actor from log l join (
            select subject, max(number) as last from log
             where project = :project and number > :after and {_TRAVELS}
             group by subject order by last limit :limit) t on t.last = l.number
         order by l.number /* whole */
    """

    def touched(self, after: int, *, limit: int) -> list[TouchedSubject]:
        """What entries after a number tell of, in the order of the last entry of each."""
        rows = self._engine.rows(self._TOUCHED, {"project": self._project, "after": after, "limit": limit})
        return [
            TouchedSubject(key, "tombstone" if about == "tombstone" else "memory", number, actor)
            for key, about, number, actor in rows
        ]

    _VERSIONS = f"""
        select subject, max(number) from log where subject = any(:keys) and project = :project and {_TRAVELS}
         group by subject /* whole */
    """

    def versions(self, keys: Iterable[str]) -> dict[str, int]:
        """The number of the last entry about each of some things that the log tells of."""
        found: dict[str, int] = {}
        for some in chunks(list(keys)):
            found.update(self._engine.rows(self._VERSIONS, {"keys": some, "project": self._project}))
        return found

    _ACT = """
        select actor, door, body from log where act = :act and project = :project
         order by case when about = 'note' then 0 else 1 end, number limit 1 /* whole */
    """

    def batch(self, act: str) -> LoggedBatch | None:
        """What the note of a batch says; nothing when the log has no entry of this act."""
        row = self._engine.row(self._ACT, {"act": act, "project": self._project})
        if row is None:
            return None
        actor, door, body = row
        told = json.loads(body) if body else {}
        return LoggedBatch(actor, door, (told.get("after") or {}).get("applied", {}))

    _EXISTING = "select id from memories where id = any(:ids) and project = :project /* whole */"

    def existing(self, ids: Iterable[str]) -> set[str]:
        """Those of some memories that there are, whoever may see them."""
        found: set[str] = set()
        for some in chunks(list(ids)):
            found.update(row[0] for row in self._engine.rows(self._EXISTING, {"ids": some, "project": self._project}))
        return found

    _DELETED = f"""
        select count(*) from log where project = :project and door = :door and actor = :actor and at > :since
           and {_DELETES} /* whole */
    """

    def deleted(self, *, actor: str, door: str, since: datetime) -> int:
        """How many memories somebody deleted by one door since then."""
        asked = {"project": self._project, "actor": actor, "door": door, "since": to_ms(since)}
        row = self._engine.row(self._DELETED, asked)
        return int(row[0]) if row else 0
