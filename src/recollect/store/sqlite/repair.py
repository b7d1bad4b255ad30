"""Repairing: projections are rebuilt; of a damaged file every readable row is carried into a new one beside it,
which then takes its place.

Nothing is ever deleted: what could not be read is still in quarantine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from recollect.core.digest import checksum, row_checksum
from recollect.core.errors import BackupFailed, RecollectError, StoreError, StoreMissing
from recollect.core.fields import COLUMNS, FIELDS
from recollect.core.ids import whole_ms
from recollect.core.kinds import Kinds
from recollect.store.codec import from_row
from recollect.store.erasures import LOG_COLUMNS, TOMBSTONE_COLUMNS, Erasures, gather_erasures
from recollect.store.migrate import every_step, migrate
from recollect.store.observed import IN_ORDER as OBSERVED_IN_ORDER
from recollect.store.observed import TABLES as OBSERVED
from recollect.store.port import Row
from recollect.store.rebuild import RepairReport, rebuild
from recollect.store.relog import put_log_in_order
from recollect.store.sqlite import frames, leaves
from recollect.store.sqlite.backup import verify
from recollect.store.sqlite.engine import TIMEOUT, SqliteEngine
from recollect.store.sqlite.history import NUMBER_TURNS
from recollect.store.sqlite.known_schema import make_harmless
from recollect.store.sqlite.place import beside
from recollect.store.sqlite.swap import exchange, holding, workplace
from recollect.store.store import Store
from recollect.store.tombstones import Tombstones, tombstone_key

_CARRIED = (
    "links", "tombstones", "log", "meta", "documents", "document_pairs", "document_links", "document_ranks",
    "entities", "spend", "turns", "turn_calls", "working_memory", "agent_sessions", "injections", *OBSERVED,
)  # fmt: skip


def salvage(path: Path, kinds: Kinds, *, only_if: Callable[[], bool] = lambda: True) -> RepairReport:
    """Put a fresh store with every readable row of a damaged one in its place; the damaged one is kept, whole.

    Asked again under the lock, `only_if` may find that somebody else was faster.
    """
    with holding(path, timeout=TIMEOUT) as lock, workplace(path) as work:
        if not only_if():
            return RepairReport()
        built = work / path.name
        fresh = SqliteEngine(built)
        try:
            migrate(fresh)
            carried, lost, tombstones = _carry(path, work, fresh, kinds)
        finally:
            fresh.close()
        if verify(built) != carried:
            raise BackupFailed(str(built), "it does not hold every row that was carried over")
        aside = exchange(path, built, lock, "damaged")
        return RepairReport(("keywords", "facets", "names"), aside, carried, tuple(sorted(lost)), tombstones)


def _carry(path: Path, work: Path, fresh: SqliteEngine, kinds: Kinds) -> tuple[int, set[str], int]:
    damaged = open_around(path, work, fresh)
    try:
        for table in _CARRIED:
            _carry_table(damaged, fresh, table)
        erasures = read_erasures(damaged)
        carried, lost = _carry_memories(damaged, fresh, kinds, erasures)
        buried = _carry_tombstones(fresh, erasures)
    finally:
        damaged.close()
    store = Store(fresh, kinds)
    rebuild(store)
    put_log_in_order(store, whole_ms(datetime.now(UTC)))
    fresh.checkpoint()
    return carried, lost, buried


def read_erasures(engine: SqliteEngine) -> Erasures:
    """What a store that may be damaged was asked to lose, as far as it can be read."""
    faults: list[str] = []
    tombstones = list(_readable(engine, "tombstones", TOMBSTONE_COLUMNS, faults))
    log = [row for row in _readable(engine, "log", LOG_COLUMNS, faults) if isinstance(row[0], int)]
    ids = [str(row[0]) for row in _readable(engine, "memories", "id", faults)]
    numbers = {row[0] for row in log}
    is_whole = not faults and len(numbers) == max(numbers, default=0)
    return gather_erasures(tombstones, log, ids, is_whole=is_whole)


def _carry_tombstones(fresh: SqliteEngine, erasures: Erasures) -> int:
    """Put the tombstones back that only the log knows of; how many."""
    rows = {(row[0], row[1]) for row in fresh.rows("select project, fingerprint from tombstones")}
    missing = {key: stone for key, stone in erasures.tombstones.items() if key not in rows}
    with fresh.write():
        for (project, key), stone in missing.items():
            Tombstones(fresh, project).put([key], reason=stone.reason, at=stone.at)
    return len(missing)


def open_around(path: Path, work: Path, donor: SqliteEngine) -> SqliteEngine:
    """A copy of a store that may be damaged, to be read around the damage: by the tables of today, if need be with the
    list of tables of a fresh store."""
    copy = work / "copy.db"
    _copy(path, copy)
    make_harmless(copy)
    try:
        engine = SqliteEngine(copy, recognises=False)
        try:
            engine.checkpoint()
            engine.row("select count(*) from memories where seq < 0")
            _upgrade(engine)
            return engine
        except StoreError:
            engine.close()
    except StoreMissing:
        copy.touch()
    _graft(copy, donor)
    return SqliteEngine(copy, recognises=False)


def _copy(path: Path, copy: Path) -> None:
    """The last committed state by SQLite; of a file it does not open, the bytes with what the log adds to them."""
    engine = SqliteEngine(path, read_only=True, recognises=False)
    try:
        if os.path.getsize(path):  # SQLite removes the log of an empty file
            engine.copy_to(copy)
            return
    except StoreError:
        pass  # then by hand
    finally:
        engine.close()
    log = beside(path, "-wal")
    for left in ("", "-journal", "-wal", "-shm"):
        beside(copy, left).unlink(missing_ok=True)
    copy.write_bytes(frames.apply(path.read_bytes(), log.read_bytes() if log.is_file() else b""))


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
    for left in ("-journal", "-wal", "-shm"):
        beside(copy, left).unlink(missing_ok=True)
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
_REVISION = COLUMNS.index("revision")


def _carry_memories(
    damaged: SqliteEngine, fresh: SqliteEngine, kinds: Kinds, erasures: Erasures
) -> tuple[int, set[str]]:
    """Every sound row, by the tables and, around what is broken in them, straight from the pages of the file."""
    forgotten = erasures.forgotten
    kept: dict[str, Row] = {}
    lost: set[str] = set()
    for row in (*_readable(damaged, "memories", f"{', '.join(COLUMNS)}, checksum"), *_in_pages(damaged)):
        id = str(row[0])
        if not _is_sound(row, kinds):
            lost.add(id)
        elif (
            id not in forgotten
            and not _is_buried(row, erasures)
            and (id not in kept or row[_REVISION] > kept[id][_REVISION])
        ):
            kept[id] = row
    with fresh.write():
        fresh.execute_many(_PLAIN_ADD, [(seq, *row) for seq, row in enumerate(kept.values(), start=1)])
        fresh.execute(NUMBER_TURNS)
    return len(kept), {id for id in lost - set(kept) - forgotten if id.partition("_")[2].isalnum()}


_BURIED_BY = tuple(COLUMNS.index(name) for name in ("project", "fingerprint", "user_id"))


def _is_buried(row: Row, erasures: Erasures) -> bool:
    """Was what a row says forgotten, so that it stands only in what is left of a page?"""
    project, fingerprint, user = (row[place] for place in _BURIED_BY)
    stone = erasures.tombstones.get((project, tombstone_key(fingerprint, user)))
    return stone is not None and stone.reason == "forgotten"


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
            how = "replace" if table == "meta" else "ignore"  # it says whose store it is, and which copy of it
            fresh.execute_many(f"insert or {how} into {table} values ({marks})", rows)


def _matches(row: Row) -> bool:
    try:
        return bool(checksum(row[:-1]) == row[-1])
    except (TypeError, ValueError):
        return False


def _readable(engine: SqliteEngine, table: str, columns: str, faults: list[str] | None = None) -> Iterator[Row]:
    """Every row that can still be read, around the damage: forwards by key, then backwards from the end. Damage that
    was met is added to `faults`."""
    faults = [] if faults is None else faults
    seen: set[int] = set()
    for order, compare in (("asc", ">"), ("desc", "<")):
        edge: int | None = None
        while True:
            try:
                bound = "" if edge is None else f"where rowid {compare} {edge}"
                rows = engine.rows(f"select rowid, {columns} from {table} {bound} order by rowid {order} limit 50")
            except StoreError as error:
                faults.append(str(error))
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
