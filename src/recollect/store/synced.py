"""The synced table: for each memory and tombstone that travels, what the server has and what waits to be sent.

`version` is the number of the server's last entry about it; nothing while the server does not have it. `shadow` tells
by digests what both sides had last; `sent` what was sent and not answered, in which batch; `held` links that wait for
the memory they lead to. Rows follow from the log and the server, and can be dropped: the next sync compares everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recollect.store.port import Engine, Row, chunks

SyncSort: TypeAlias = Literal["memory", "tombstone"]
_NAMES = "key, sort, version, shadow, pending, gone, batch, sent, held, note"


@dataclass(frozen=True, slots=True)
class SyncedRow:
    """How one thing stands between this copy and the server."""

    key: str  # a memory's id, or a tombstone's
    sort: SyncSort
    version: int | None = None
    shadow: str | None = None
    pending: bool = False  # it may have changed here since
    gone: bool = False  # the server deleted it, and this copy has not followed yet
    batch: str | None = None
    sent: str | None = None
    held: str | None = None
    note: str = ""  # why it does not travel


class Synced:
    """Writing needs a transaction: a row changes together with what it is about."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _GET = f"select {_NAMES} from synced where project = :project and key = any(:keys)"

    def get(self, keys: Iterable[str]) -> dict[str, SyncedRow]:
        found: dict[str, SyncedRow] = {}
        for some in chunks(list(keys)):
            rows = self._engine.rows(self._GET, {"project": self._project, "keys": some})
            found.update((row[0], _read(row)) for row in rows)
        return found

    _PUT = f"""
        insert into synced (project, {_NAMES}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (project, key) do update
            set version = excluded.version, shadow = excluded.shadow, pending = excluded.pending, gone = excluded.gone,
                batch = excluded.batch, sent = excluded.sent, held = excluded.held, note = excluded.note
    """

    def put(self, rows: Iterable[SyncedRow]) -> None:
        """Add rows, or replace what they said."""
        self._engine.execute_many(self._PUT, [(self._project, *_written(row)) for row in rows])

    _REMOVE = "delete from synced where project = :project and key = any(:keys)"

    def remove(self, keys: Iterable[str]) -> None:
        for some in chunks(list(keys)):
            self._engine.execute(self._REMOVE, {"project": self._project, "keys": some})

    _MARK = """
        insert into synced (project, key, sort, pending, gone, note) values (?, ?, ?, 1, 0, '')
            on conflict (project, key) do update set pending = 1
    """

    def mark(self, touched: Mapping[str, SyncSort]) -> None:
        """Say of some things that they may have changed here."""
        self._engine.execute_many(self._MARK, [(self._project, key, sort) for key, sort in touched.items()])

    _WHICH = f"select {_NAMES} from synced where project = :project and {{which}} order by key"

    def pending(self) -> list[SyncedRow]:
        return self._those("pending = 1")

    def gone(self) -> list[SyncedRow]:
        return self._those("gone = 1")

    def unanswered(self) -> list[SyncedRow]:
        return self._those("batch is not null")

    def holding(self) -> list[SyncedRow]:
        return self._those("held is not null")

    def every(self) -> list[SyncedRow]:
        return self._those("1 = 1")

    def _those(self, which: str) -> list[SyncedRow]:
        return [_read(row) for row in self._engine.rows(self._WHICH.format(which=which), {"project": self._project})]

    _SHARED = """
        select count(*) from synced
         where project = :project and sort = 'memory' and (version is not null or shadow is not null)
    """

    def count_shared(self) -> int:
        """How many memories both sides have."""
        row = self._engine.row(self._SHARED, {"project": self._project})
        return int(row[0]) if row else 0

    _TRAVELLING = """
        select count(*) from memories
         where project = :project and kind not in ('episode', 'passage', 'reflection') and visibility <> 'personal'
    """

    def count_travelling(self) -> int:
        """How many memories there are of those that may travel."""
        row = self._engine.row(self._TRAVELLING, {"project": self._project})
        return int(row[0]) if row else 0

    _NOTES = """
        select note, count(*) from synced where project = :project and note <> '' group by note order by note
    """

    def notes(self) -> dict[str, int]:
        """Why things do not travel, and how many."""
        return dict(self._engine.rows(self._NOTES, {"project": self._project}))

    _FORGET_SERVER = "delete from synced where project = :project"

    def clear(self) -> None:
        """Forget what a server had."""
        self._engine.execute(self._FORGET_SERVER, {"project": self._project})


def _read(row: Row) -> SyncedRow:
    key, sort, version, shadow, pending, gone, batch, sent, held, note = row
    return SyncedRow(key, sort, version, shadow, bool(pending), bool(gone), batch, sent, held, note)


def _written(row: SyncedRow) -> Sequence[object]:
    return (
        row.key, row.sort, row.version, row.shadow, int(row.pending), int(row.gone), row.batch, row.sent, row.held,
        row.note,
    )  # fmt: skip
