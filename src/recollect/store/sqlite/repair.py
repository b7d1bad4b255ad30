"""Repairing: projections are made anew; a damaged file is set aside whole and every readable row carried over.

Nothing is ever deleted: what could not be read is still in quarantine.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recollect.core.digest import checksum, row_checksum
from recollect.core.errors import RecollectError, StoreError
from recollect.core.fields import COLUMNS, FIELDS
from recollect.core.kinds import Kinds
from recollect.store.codec import from_row
from recollect.store.memories import facets
from recollect.store.migrate import every_step, migrate
from recollect.store.observed import IN_ORDER as OBSERVED_IN_ORDER
from recollect.store.observed import TABLES as OBSERVED
from recollect.store.port import Row
from recollect.store.sqlite import leaves
from recollect.store.sqlite.backup import set_aside
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.history import NUMBER_TURNS
from recollect.store.sqlite.known_schema import make_harmless
from recollect.store.store import Store

_SEQS = "select id, seq from memories"


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What repairing did."""

    rebuilt: tuple[str, ...] = ()
    quarantined: Path | None = None
    salvaged: int = 0
    lost: tuple[str, ...] = ()


_CARRIED = (
    "links", "tombstones", "log", "meta", "documents", "document_pairs", "document_links", "document_ranks",
    "entities", "spend", "turns", "turn_calls", "working_memory", "agent_sessions", "injections", *OBSERVED,
)  # fmt: skip
_CLEAR_FACETS = "delete from facets"
_ADD_FACET = "insert into facets (project, facet, value, seq) values (?, ?, ?, ?) on conflict do nothing"


def rebuild(store: Store) -> RepairReport:
    """Make every projection anew from the rows, in one transaction."""
    with store.engine.write():
        store.engine.keywords.rebuild()
        seqs: dict[str, int] = {row[0]: row[1] for row in store.engine.rows(_SEQS)}
        store.engine.execute(_CLEAR_FACETS)
        for page in store.memories.every():
            store.engine.execute_many(
                _ADD_FACET,
                [(m.project, facet, value, seqs[m.id]) for m in page.memories for facet, value in facets(m)],
            )
        store.documents.sweep()
        store.graph.mend()
        store.entities.rebuild_names()
        store.sessions.adopt()
    spaces = store.vectors.spaces()
    for space in spaces:
        store.vectors.rebuild(space)
    return RepairReport(rebuilt=("keywords", "facets", "names", *(["vectors"] if spaces else [])))


def salvage(path: Path, kinds: Kinds) -> RepairReport:
    """Move a damaged store aside, whole, and carry every readable row into a fresh one in its place."""
    aside = set_aside(path, "damaged")
    fresh = SqliteEngine(path)
    migrate(fresh)
    damaged = _opened(aside, fresh)
    try:
        for table in _CARRIED:
            _carry_table(damaged, fresh, table)
        carried, lost = _carry_memories(damaged, fresh, kinds)
        with fresh.write():
            fresh.keywords.rebuild()
        rebuild(Store(fresh, kinds))
        return RepairReport(("keywords", "facets", "names"), aside, carried, tuple(sorted(lost)))
    finally:
        damaged.close()
        fresh.close()


def _opened(aside: Path, fresh: SqliteEngine) -> SqliteEngine:
    """A working copy of the quarantined store that can be read, with the schema of a fresh one if need be."""
    copy = aside.with_name("working-copy.db")
    for suffix in ("", "-wal"):
        if (part := Path(f"{aside}{suffix}")).exists():
            shutil.copyfile(part, f"{copy}{suffix}")
    make_harmless(copy)
    engine = SqliteEngine(copy, recognises=False)
    try:
        engine.checkpoint()  # the log belongs to the store: what it says comes first
        engine.row("select count(*) from memories where seq < 0")
        _upgrade(engine)
        return engine
    except StoreError:
        engine.close()
    _graft(copy, fresh)
    return SqliteEngine(copy, recognises=False)


def _upgrade(engine: SqliteEngine) -> None:
    """Bring the copy of an older store up to date, as far as the damage lets it: its tables are then those of today."""
    for step in every_step(engine):
        if step.number > engine.schema():
            try:
                with engine.write():
                    step.apply(engine)
                    engine.set_schema(step.number)
            except (RecollectError, ValueError, TypeError):
                return  # rows are still found in the pages


def _graft(copy: Path, fresh: SqliteEngine) -> None:
    """Give a file whose list of tables is destroyed that of a fresh store: same schema, same root pages."""
    healthy = copy.with_name("healthy.db")
    fresh.copy_to(healthy)
    donor = healthy.read_bytes()
    healthy.unlink()
    Path(f"{copy}-wal").unlink(missing_ok=True)
    with copy.open("r+b") as file:
        for number in leaves.schema_pages(donor):
            page = bytearray(donor[(number - 1) * leaves.PAGE : number * leaves.PAGE])
            if number == 1:
                page[28:32] = (copy.stat().st_size // leaves.PAGE).to_bytes(4)  # how many pages the file has
                page[32:40] = bytes(8)  # no free pages: what is free is unknown
                page[92:96] = page[24:28]  # the size above is valid for this change counter
                page[18:20] = b"\x01\x01"  # no log: it is read as it stands
            file.seek((number - 1) * leaves.PAGE)
            file.write(page)


_PLAIN_ADD = (
    f"insert into memories (seq, {', '.join(COLUMNS)}, checksum) values ({', '.join('?' * (len(COLUMNS) + 2))})"
)
_FORGOTTEN = "select subject from log where action in ('forget', 'prune')"
_REVISION = COLUMNS.index("revision")


def _carry_memories(damaged: SqliteEngine, fresh: SqliteEngine, kinds: Kinds) -> tuple[int, set[str]]:
    """Every sound row, by the tables and, around what is broken in them, straight from the pages of the file."""
    forgotten = {row[0] for row in fresh.rows(_FORGOTTEN)}
    kept: dict[str, Row] = {}
    lost: set[str] = set()
    for row in (*_readable(damaged, "memories", f"{', '.join(COLUMNS)}, checksum"), *_in_pages(damaged)):
        id = str(row[0])
        if not _is_sound(row, kinds):
            lost.add(id)
        elif id not in forgotten and (id not in kept or row[_REVISION] > kept[id][_REVISION]):
            kept[id] = row
    with fresh.write():
        fresh.execute_many(_PLAIN_ADD, [(seq, *row) for seq, row in enumerate(kept.values(), start=1)])
        fresh.execute(NUMBER_TURNS)
    return len(kept), {id for id in lost - set(kept) - forgotten if id.partition("_")[2].isalnum()}


def _in_pages(damaged: SqliteEngine) -> Iterator[Row]:
    file = Path(damaged.location).read_bytes()
    first = sum(field.since == 1 for field in FIELDS)
    late = len(FIELDS) - first
    for size in (first + 2, first + 3, first + 3 + late):  # the ordinal and later columns follow the checksum
        for record in leaves.records(file, size):
            later = record[first + 3 :] or (None,) * late
            yield (*record[1 : first + 1], *later, record[first + 1])


def _is_sound(row: Row, kinds: Kinds) -> bool:
    try:
        if row_checksum(row[:-1]) != row[-1]:
            return False
        from_row(row[:-1], kinds)
    except (ValueError, TypeError, RecollectError):
        return False
    return True


_CHECKED = frozenset(
    {
        "links", "tombstones", "meta", "documents", "document_pairs", "entities", "turns", "turn_calls",
        "working_memory", *OBSERVED,
    }
)  # tables whose rows end in a checksum  # fmt: skip


def _carry_table(damaged: SqliteEngine, fresh: SqliteEngine, table: str) -> None:
    rows = list(_readable(damaged, table, "*"))
    if table in _CHECKED:
        numbered = table == "turns" or table in OBSERVED_IN_ORDER
        rows = [row for row in rows if _matches(row[1:] if numbered else row)]
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        with fresh.write():
            fresh.execute_many(f"insert or ignore into {table} values ({marks})", rows)


def _matches(row: Row) -> bool:
    try:
        return bool(checksum(row[:-1]) == row[-1])
    except (TypeError, ValueError):
        return False


def _readable(engine: SqliteEngine, table: str, columns: str) -> Iterator[Row]:
    """Every row that can still be read, around the damage: forwards by key, then backwards from the end."""
    seen: set[int] = set()
    for order, compare in (("asc", ">"), ("desc", "<")):
        edge: int | None = None
        while True:
            try:
                bound = "" if edge is None else f"where rowid {compare} {edge}"
                rows = engine.rows(f"select rowid, {columns} from {table} {bound} order by rowid {order} limit 50")
            except StoreError:
                rows = _one_by_one(engine, table, columns, edge, order, compare)
            rows = [row for row in rows if edge is None or (row[0] > edge if order == "asc" else row[0] < edge)]
            if not rows:  # a broken key can lead back to rows that were read before, for ever
                break
            edge = rows[-1][0]
            for row in rows:
                if row[0] not in seen:
                    seen.add(row[0])
                    yield row[1:]


def _one_by_one(
    engine: SqliteEngine, table: str, columns: str, edge: int | None, order: str, compare: str
) -> list[Row]:
    """As many rows of a failing page as can be read before the damage."""
    rows: list[Row] = []
    try:
        while len(rows) < 50:
            bound = "" if edge is None else f"where rowid {compare} {edge}"
            row = engine.row(f"select rowid, {columns} from {table} {bound} order by rowid {order} limit 1")
            if row is None:
                break
            rows.append(row)
            edge = row[0]
    except StoreError:
        pass  # the damage begins here; what lies behind it is reached from the other end
    return rows
