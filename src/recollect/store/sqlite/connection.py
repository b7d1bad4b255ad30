"""One connection to a SQLite file: how it is opened, set up and closed, whether the file is whole and ours, and what
the driver's errors mean. The engine decides how many there are and who uses them."""

from __future__ import annotations

import os
from pathlib import Path
from time import sleep
from typing import Any

import apsw

from recollect.core.errors import (
    NotAStore,
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLost,
    StoreReadOnly,
    UnsafeSqlite,
)
from recollect.core.text import index_body, index_names
from recollect.store.migrations.latest import APPLICATION_ID, LATEST
from recollect.store.sqlite.place import Identity, file_identity, look, resolved
from recollect.store.sqlite.recognise import FoundSchema, harden

BUSY_MS = 10_000  # for SQLite's own short locks: recovery and checkpoints
_WAL_KEPT = 16 * 2**20  # bytes the log file may keep after a checkpoint
_SAFE = (3, 51, 3)  # first release without the WAL-reset bug
_BACKPORTS = {(3, 50): 7, (3, 44): 6}
_TRIES = 20  # how often a file may be replaced between looking and opening
_MOMENT = 0.02  # seconds
_CUT = "Run `recollect repair`: it keeps the file and salvages what is left. `recollect restore` puts a backup back."
_ABOUT = ("application_id", "user_version")
_PROJECT = "select value from meta where project = '' and name = 'project'"
_HEADER = 100  # bytes before the first page of a database; its size in pages stands at 28


def sqlite_version() -> str:
    """The SQLite that is bundled with the driver."""
    return apsw.sqlite_lib_version()


def require_safe_sqlite(version: str) -> None:
    """Refuse a SQLite that can corrupt a log which two connections write."""
    release = tuple(int(part) for part in version.split("."))
    backport = _BACKPORTS.get((release[0], release[1]))
    if release < _SAFE and (backport is None or release[2] < backport):
        raise UnsafeSqlite(version)


class Connection(apsw.Connection):
    """A connection that knows which files it has open."""

    file: Identity | None = None
    log: tuple[Identity | None, Identity | None] | None = None  # the log and its index, once it has written


def open_connection(path: str, *, vfs: str | None, read_only: bool) -> Connection:
    """A connection to the file of this resolved path."""
    flags = apsw.SQLITE_OPEN_NOFOLLOW
    if not read_only or (os.access(os.path.dirname(path), os.W_OK) and os.access(path, os.W_OK)):
        return Connection(path, flags=flags | apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    # A directory we may not write to has no log to share: read the file as the unchanging thing it is.
    flags |= apsw.SQLITE_OPEN_READONLY
    if look(f"{path}-wal") is not None:
        return Connection(path, flags=flags, vfs=vfs)
    uri = f"{Path(path).as_uri()}?immutable=1"
    return Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI, vfs=vfs)


def prepare(connection: Connection, location: str, *, read_only: bool, busy_ms: int, recognises: bool) -> None:
    """Set a connection up: what it may do, how it syncs, and that the file is a store of ours."""
    connection.set_busy_timeout(busy_ms)
    harden(connection)
    if recognises:
        _recognise(connection, location)
    if not read_only:  # before any other statement: one that keeps a page would hold up a change of the mode
        connection.execute("pragma journal_mode = wal").fetchall()
    for statement in (
        "pragma cell_size_check = on",
        "pragma mmap_size = 0",
        "pragma temp_store = memory",
        "pragma cache_size = -16384",
        "create virtual table temp.keyword_terms using fts5vocab(main, keywords, row)",
    ):
        connection.execute(statement)
    if read_only:
        connection.execute("pragma query_only = on")
    if not read_only:
        connection.execute("pragma secure_delete = on")
        connection.execute(f"pragma journal_size_limit = {_WAL_KEPT}")
    _add_functions(connection)


def _recognise(connection: apsw.Connection, location: str) -> None:
    """Refuse another program's database, and a store into which somebody put what we never make."""
    found = FoundSchema(connection)
    if found.is_empty:
        return
    if not found.is_ours:
        raise NotAStore(location, "another program's database")
    if odd := found.odd_settings():
        raise StoreAltered(location, odd)
    if not found.is_of_this_release:
        from recollect.store.sqlite.known_schema import require_known  # runs every migration once, in memory

        require_known(found, location)


def unmoved_pages(connection: apsw.Connection, mode: str) -> int:
    """How many pages of the log are not in the file, after a checkpoint of that mode."""
    _, held, moved = map(int, connection.execute(f"pragma main.wal_checkpoint({mode})").fetchall()[0])  # type: ignore[arg-type]
    return held - moved


def close_ghost(connection: Connection) -> None:
    """Close a connection to a file that has lost its name, without touching what has the name now."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()


def _add_functions(connection: apsw.Connection) -> None:
    """The analyzer as SQL functions, so that SQLite itself can rebuild and verify the keyword index from the rows."""
    analyzer: tuple[tuple[str, Any], ...] = (("index_body", index_body), ("index_names", index_names))
    for name, function in analyzer:
        connection.create_scalar_function(name, function, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def log_files(name: str) -> tuple[Identity | None, Identity | None]:
    """The log and its index, as the names stand for now."""
    log, index = look(f"{name}-wal"), look(f"{name}-shm")
    return (None if log is None else file_identity(log)), (None if index is None else file_identity(index))


def require_whole(name: str, *, vfs: str | None) -> None:
    """A file that became shorter has as many pages as its header says, or it was cut. While somebody empties the
    log, its header may be ahead of its pages for a moment."""
    fault = ""
    for _ in range(_TRIES):
        try:
            header, size = _read_header(name, vfs)
        except (apsw.CantOpenError, FileNotFoundError):  # it goes while we look at it
            fault = "was removed"
        else:
            pages, page = int.from_bytes(header[28:32]), int.from_bytes(header[16:18])
            fault = "was cut short" if pages else "was emptied"
            if pages and size >= pages * (65_536 if page == 1 else page):
                return
        sleep(_MOMENT)
    raise StoreLost(name, fault, hint=_CUT)


def _read_header(name: str, vfs: str | None) -> tuple[bytes, int]:
    """What a file says of itself, and its size."""
    connection = open_connection(resolved(Path(name)), vfs=vfs, read_only=True)
    try:
        return connection.read("main", 0, 0, _HEADER)[1], os.lstat(name).st_size
    finally:
        close_ghost(connection)


def require_same_store(other: Connection, old: Connection | None, location: str) -> None:
    """The store that took the place of ours is of this project and release; otherwise it is refused."""
    try:
        owner, schema = (other.execute(f"pragma {name}").fetchall()[0][0] for name in _ABOUT)
        project = other.execute(_PROJECT).fetchall() if owner == APPLICATION_ID else []
    except apsw.Error:
        owner, schema, project = 0, 0, []
    if owner != APPLICATION_ID:
        raise StoreLost(location, "was replaced by something that is no store")
    if schema != LATEST:
        raise StoreLost(location, "was replaced by a store of another release", hint="Open it again.")
    if old is not None and old.execute(_PROJECT).fetchall() != project:
        raise StoreLost(location, "was replaced by the store of another project", hint="Open it again.")


def translate(error: apsw.Error, location: str, *, waited: float = BUSY_MS / 1000) -> StoreError:
    """The most specific of our errors for one of the driver's."""
    match error:
        case apsw.FullError():
            return StoreFull(location)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(location, waited=waited)
        case apsw.NotADBError():
            return NotAStore(location, "not a database")
        case apsw.CorruptError():
            return StoreDamaged(location, str(error))
        case apsw.TooBigError():
            return StoreDamaged(location, "a value in it is larger than any that is written")
        case apsw.InterruptError():
            return StoreDamaged(location, "reading its list of tables takes too long")
        case apsw.CantOpenError() if _disk_is_full(location):
            return StoreFull(location)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreReadOnly(location)
        case apsw.ConstraintError():
            return StoreError(
                f"{location} did not take that: {error}.",
                hint="Run `recollect check`; if all is sound, this is a mistake in Recollect: please report it.",
            )
        case apsw.IOError() if _disk_is_full(location):
            return StoreFull(location)
        case apsw.IOError():
            return StoreError(f"Reading or writing {location} failed: {error}.", hint="Check the disk.")
        case _:
            return StoreError(f"{location}: {error}", hint="This is a defect in Recollect; please report it.")


def _disk_is_full(location: str) -> bool:
    """Some file systems report a full disk or quota as a plain I/O error; one without room for a new file, as a file
    that cannot be opened."""
    try:
        room = os.statvfs(os.path.dirname(location) or ".")
    except (OSError, AttributeError):
        return False
    return room.f_bavail * room.f_frsize < 2**20 or (room.f_files > 0 and room.f_favail == 0)
