"""Everything a store holds of one project, as streams of rows in pages: what an export reads and an import writes.

Reading keeps no more than a page in memory. Writing runs inside the current write and adds rows as they are; which of
them may come in, and what the log says of it, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollect.core.digest import checksum
from recollect.core.entities import Entity
from recollect.core.errors import StoreDamaged
from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.log import GENESIS, OLD_REPLICA, chain, digest, next_stamp
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.store.codec import from_ms
from recollect.store.entities import read_entity
from recollect.store.filters import where
from recollect.store.links import read_link
from recollect.store.log import ANCHOR, COLUMNS
from recollect.store.memories import M_NAMES
from recollect.store.meta import FILE, Meta
from recollect.store.port import Item, Row, Space, Value, chunks
from recollect.store.store import Store, projects_of
from recollect.store.tombstones import Tombstone

PAGE = 1_000  # rows read at once


class Kept(NamedTuple):
    """A memory and its place in its session, if it is a turn of one."""

    memory: Memory
    ordinal: int | None


@dataclass(frozen=True, slots=True)
class RoomTable:
    """A table that a room keeps beside the memories: its columns without what the engine draws, and its key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    order: str = ""  # the column that gives the order of rows, where the engine draws one


def _table(columns: str, key: str, order: str = "") -> RoomTable:
    return RoomTable(tuple(columns.split()), tuple(key.split()), order)


# Canonical rows that only their room understands. What can be made again (code graph, ranks, caches, jobs) is left out.
ROOM_TABLES: Mapping[str, RoomTable] = {
    "documents": _table(
        "id project path sha256 title label type confidence created_at updated_at accessed_at access_count size "
        "mtime_ns seen_at passages state former checksum", "id"),
    "document_links": _table("project source position target kind line resolved", "source position"),
    "document_pairs": _table("project one other count at checksum", "one other"),
    "sessions": _table("project id seen_at last_at cursor queued_at consolidated_at", "project id"),
    "enriched": _table("project memory strategy at", "memory"),
    "working_memory": _table("project section items updated_at checksum", "project section"),
    "turns": _table(
        "id project session thread provider model at input output state note ended_at tokens_in tokens_out checksum",
        "id", "number"),
    "turn_calls": _table(
        "project turn position call name arguments result failed step said ms checksum", "turn position"),
    "agent_sessions": _table("project session host arm began_at ended_at outcome", "project session"),
    "injections": _table("project session memory moment at", "project session memory"),
    "observed_sessions": _table(
        "project id host kind outcome started ended prompt steps calls errors tokens events slow taint outside agents "
        "planned branch raised checksum", "project id"),
    "observed_promotions": _table("project key memory session at checksum", "project key"),
    "observed_syntheses": _table("project subject stage at memories note checksum", "project subject stage"),
    "observed_files": _table(
        "project session path module reads edits first_step last_step checksum", "project session path", "number"),
    "observed_pairs": _table(
        "project session one other forward backward steps seconds checksum", "project session one other", "number"),
    "observed_errors": _table(
        "project session tool words fingerprint shape example files steps times resolution checksum",
        "project session tool words fingerprint", "number"),
    "observed_calls": _table(
        "project session tool words times errors checksum", "project session tool words", "number"),
    "observed_sequences": _table("project session tools times checksum", "project session tools", "number"),
    "observed_signals": _table(
        "project session name subject steps count paths words hunch measure taint agents checksum",
        "project session name subject", "number"),
    "observed_traits": _table(
        "project session tool sort what state times clean failed followed checksum",
        "project session tool sort what state", "number"),
}  # fmt: skip


class Contents:
    """The rows of one project, to be read or added in bulk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._engine = store.engine
        self._project = store.project

    # --- memories -------------------------------------------------------------------------------------------------

    _MEMORIES = f"""
        select m.seq, m.ordinal, {M_NAMES}, m.checksum from memories m
         where m.seq > :after and {{where}} order by m.seq limit {PAGE}
    """

    def memories(self, filter: Filter) -> Iterator[list[Kept]]:
        """The memories that a filter lets through, in the order they were kept. A damaged row is an error."""
        condition, params = where(filter, self._project)
        sql, after = self._MEMORIES.format(where=condition), 0
        while rows := self._engine.rows(sql, {**params, "after": after}):
            page = self._store.memories.sound(row[2:] for row in rows)
            if len(page) != len(rows):
                sound = {memory.id for memory in page}
                gone = next(row[2] for row in rows if row[2] not in sound)
                raise StoreDamaged(self._engine.location, f"the row of {gone} cannot be read")
            yield [Kept(memory, row[1]) for memory, row in zip(page, rows, strict=True)]
            after = rows[-1][0]

    _ELSEWHERE = "select id from memories where id = any(:ids) and project <> :project"

    def held_elsewhere(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that memories of other projects have."""
        found: set[str] = set()
        for some in chunks(ids):
            found.update(row[0] for row in self._engine.rows(self._ELSEWHERE, {"ids": some, "project": self._project}))
        return found

    _FORGOTTEN = """
        select distinct subject from log where subject = any(:ids) and project = :project and about = 'memory'
           and action in ('forget', 'erase') /* whole */
    """

    def forgotten(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that the log tells were forgotten or erased."""
        found: set[str] = set()
        for some in chunks(ids):
            found.update(row[0] for row in self._engine.rows(self._FORGOTTEN, {"ids": some, "project": self._project}))
        return found

    def projects(self) -> list[str]:
        """Every project that the file holds something of."""
        return projects_of(self._engine)

    # --- links, tombstones, entities --------------------------------------------------------------------------------

    _LINKS = f"""
        select project, source, relation, target, is_file, confidence, automatic, created_at from links
         where project = :project and (source, relation, target, is_file) > (:source, :relation, :target, :is_file)
         order by source, relation, target, is_file limit {PAGE}
    """

    def links(self) -> Iterator[list[Link]]:
        last: tuple[Value, ...] = ("", "", "", 0)
        names = ("source", "relation", "target", "is_file")
        while rows := self._engine.rows(self._LINKS, {"project": self._project, **dict(zip(names, last, strict=True))}):
            yield [read_link(row) for row in rows]
            last = rows[-1][1:5]

    _TOMBSTONES = f"""
        select fingerprint, reason, at from tombstones where project = :project and fingerprint > :after
         order by fingerprint limit {PAGE}
    """

    def tombstones(self) -> Iterator[list[Tombstone]]:
        after = ""
        while rows := self._engine.rows(self._TOMBSTONES, {"project": self._project, "after": after}):
            yield [Tombstone(key, reason, from_ms(at)) for key, reason, at in rows]
            after = rows[-1][0]

    _ENTITIES = f"""
        select id, project, name, type, aliases, summary, merged_into, created_at, 0 from entities
         where project = :project and id > :after order by id limit {PAGE}
    """

    def entities(self) -> Iterator[list[Entity]]:
        after = ""
        while rows := self._engine.rows(self._ENTITIES, {"project": self._project, "after": after}):
            yield [read_entity(row) for row in rows]
            after = rows[-1][0]

    # --- rooms ----------------------------------------------------------------------------------------------------

    _ROOM = "select {columns} from {table} where project = :project and {where} order by {order} limit :limit"

    def room_rows(self, name: str) -> Iterator[list[Row]]:
        """The rows of a room's table, in the order they were kept; each as `ROOM_TABLES` lists the columns."""
        table = ROOM_TABLES[name]
        order = [table.order] if table.order else list(table.key)
        listed = ", ".join((*table.columns, *order))
        after: Row = ()
        while True:
            named = {f"last{place}": value for place, value in enumerate(after)}
            condition = f"({', '.join(order)}) > ({', '.join(f':{key}' for key in named)})" if after else "1 = 1"
            sql = self._ROOM.format(columns=listed, table=name, where=condition, order=", ".join(order))
            rows = self._engine.rows(sql, {"project": self._project, "limit": PAGE, **named})
            if not rows:
                return
            yield [self._sound(name, table, row[: len(table.columns)]) for row in rows]
            after = rows[-1][len(table.columns) :]

    def _sound(self, name: str, table: RoomTable, row: Row) -> Row:
        if table.columns[-1] == "checksum" and checksum(row[:-1]) != row[-1]:
            raise StoreDamaged(self._engine.location, f"a row of {name} does not match its checksum")
        return row

    _ADD_ROOM = "insert into {table} ({columns}) values ({marks}) on conflict do nothing"

    def add_room_rows(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows of a room's table under this project; those that are there already stay as they are."""
        table = ROOM_TABLES[name]
        place = table.columns.index("project")
        sql = self._ADD_ROOM.format(
            table=name, columns=", ".join(table.columns), marks=", ".join("?" for _ in table.columns)
        )
        self._engine.execute_many(sql, [_owned(table, row, place, self._project) for row in rows])

    # --- the log --------------------------------------------------------------------------------------------------

    _ENTRIES = f"select {COLUMNS} from log where number > :after order by number limit {PAGE}"

    def entries(self) -> Iterator[list[Row]]:
        """The rows of the whole log, of every project, as they are."""
        after = 0
        while rows := self._engine.rows(self._ENTRIES, {"after": after}):
            yield rows
            after = rows[-1][0]

    _HEAD = "select number, stamp from log order by number desc limit 1"
    _HEAD_OF = "select hash from log where replica = :replica order by number desc limit 1"
    _KNOWN = "select hash from log where hash = any(:hashes)"
    _APPEND = f"insert into log ({COLUMNS}) values ({', '.join('?' for _ in COLUMNS.split(','))})"

    def add_entries(self, rows: Sequence[Row]) -> None:
        """Add entries of other replicas as they are, each once; they only get numbers of this log."""
        known = {row[0] for row in self._engine.rows(self._KNOWN, {"hashes": [row[-1] for row in rows]})}
        fresh = [row for row in rows if row[-1] not in known]
        number, _ = self._engine.row(self._HEAD) or (0, 0)
        self._put_entries([(number + place, *row[1:]) for place, row in enumerate(fresh, start=1)])

    def retell_entries(self, rows: Sequence[Row], replica: str) -> None:
        """Add entries of another log under this project, chained by themselves under a replica's name of their own, as
        notes: who did what when is told, and replaying does not do it again."""
        number, stamp = self._engine.row(self._HEAD) or (0, 0)
        head = self._engine.row(self._HEAD_OF, {"replica": replica}) or self._engine.row(
            self._HEAD_OF, {"replica": OLD_REPLICA}
        )
        previous = head[0] if head else GENESIS
        made: list[Row] = []
        for row in rows:
            _, _, _, act, _, ms, actor, door, action, _, subject, text, _, undoes, _ = row
            number, stamp, fixed = number + 1, next_stamp(stamp, ms), digest(text)
            told = (replica, self._project, act, stamp, ms, actor, door, action, "note", subject)
            previous = chain(previous, *told, fixed, undoes)
            made.append((number, *told, text, fixed, undoes, previous))
        self._put_entries(made)

    def _put_entries(self, rows: Sequence[Row]) -> None:
        if rows:
            self._engine.execute_many(self._APPEND, rows)
            Meta(self._engine, FILE).put(ANCHOR, f"{rows[-1][0]}:{rows[-1][-1]}")

    # --- vectors --------------------------------------------------------------------------------------------------

    def vectors(self, space: Space, memories: Iterable[MemoryId]) -> list[Item]:
        """The vectors that some memories have in a space."""
        return self._store.vectors.items(space, list(memories))

    # --- counting -------------------------------------------------------------------------------------------------

    _COUNT = "select count(*) from {table} where project = :project"

    def census(self) -> dict[str, int]:
        """How many rows of each sort the project has."""
        names = ("memories", "links", "tombstones", "entities", "log", *ROOM_TABLES)
        counts: dict[str, int] = {}
        for name in names:
            row = self._engine.row(self._COUNT.format(table=name), {"project": self._project})
            counts[name] = int(row[0]) if row else 0
        return counts


def _owned(table: RoomTable, row: Row, place: int, project: str) -> Row:
    """A row under the project it comes into; its checksum covers that."""
    if row[place] == project:
        return row
    values = [*row[:place], project, *row[place + 1 :]]
    if table.columns[-1] == "checksum":
        values[-1] = checksum(values[:-1])
    return tuple(values)
