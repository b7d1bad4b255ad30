"""The SQLite engine: one driver (apsw), one writing connection, a small pool of readers.

Every pragma below has a measured reason: a write is acknowledged only after it is synced (WAL with full sync), writers
take an immediate transaction under the fair lock, readers never wait, deleted text is overwritten. Never open the same
file with a second SQLite library in one process: closing it drops this one's locks and commits are lost.
"""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from recollect.core.errors import (
    MemoryClosed,
    NotAStore,
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    UnsafeSqlite,
)
from recollect.core.text import index_body, index_names
from recollect.store.migrations.latest import APPLICATION_ID
from recollect.store.port import Row, Value
from recollect.store.sqlite.dialect import SqliteDialect
from recollect.store.sqlite.lock import FairLock, Reserve
from recollect.store.sqlite.match import TOKENIZER
from recollect.store.sqlite.recognise import FoundSchema, harden

TIMEOUT = 30.0  # seconds a writer queues before it reports the store as busy
_WAL_KEPT = 16 * 2**20  # bytes the log file may keep after a checkpoint
_BUSY_MS = 10_000  # for SQLite's own short locks: recovery and checkpoints
_CHECKPOINT_MS = 250  # for emptying the log: a reader in the way is left in peace
_SAFE = (3, 51, 3)  # first release without the WAL-reset bug
_BACKPORTS = {(3, 50): 7, (3, 44): 6}
_FORK_TIMEOUT = 5.0  # seconds a fork waits for readers to finish
_READERS_KEPT = 8  # idle reading connections

if TYPE_CHECKING:
    from recollect.store.port import Engine
    from recollect.store.sqlite.keywords import SqliteKeywords
    from recollect.store.sqlite.vectors import SqliteVectors

Result = TypeVar("Result")
_render, _bind = SqliteDialect.render, SqliteDialect.bind

# What the planner is told of tables and indexes: rows, and how many share the first column, the first two …
PLANNER = (
    ("memories", "sqlite_autoindex_memories_1", "1000000 1"),
    ("memories", "memories_by_time", "1000000 100000 2"),
    ("memories", "memories_by_fingerprint", "1000000 2"),
    ("memories", "memories_by_session", "500000 50"),
    ("memories", "memories_by_turn", "500000 50000 50 1"),
    ("memories", "memories_standing", "100000 10000 1000 1"),
    ("memories", "memories_to_review", "1000 1000 1"),
    ("memories", "memories_leading", "10000 1000 500 250 10 1"),
)
_DROP_FIGURES = "delete from sqlite_stat1 where tbl = :table and idx = :index"
_ADD_FIGURES = "insert into sqlite_stat1 (tbl, idx, stat) values (:table, :index, :figures)"


def sqlite_version() -> str:
    """The SQLite that is bundled with the driver."""
    return apsw.sqlite_lib_version()


def require_safe_sqlite(version: str) -> None:
    """Refuse a SQLite that can corrupt a log which two connections write."""
    release = tuple(int(part) for part in version.split("."))
    backport = _BACKPORTS.get((release[0], release[1]))
    if release < _SAFE and (backport is None or release[2] < backport):
        raise UnsafeSqlite(version)


_open_engines: weakref.WeakSet[SqliteEngine] = weakref.WeakSet()


def _before_fork() -> None:
    for engine in list(_open_engines):
        engine.before_fork()


def _after_fork() -> None:
    for engine in list(_open_engines):
        engine.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class SqliteEngine:
    """One database file (or one in memory), shared by all threads of this process."""

    def __init__(
        self,
        path: Path | None,
        *,
        read_only: bool = False,
        timeout: float = TIMEOUT,
        vfs: str | None = None,
        recognises: bool = True,
    ) -> None:
        """`recognises` off is for salvage, which works on a copy of whatever there is."""
        require_safe_sqlite(sqlite_version())
        self._path = path
        self._read_only = read_only
        self._timeout = timeout
        self._vfs = vfs
        self._recognises = recognises and path is not None
        self._closed = False
        self._local = threading.local()
        self._turn = threading.Lock()  # one writing thread at a time
        self._pool_guard = threading.Condition(threading.Lock())
        self._readers: list[apsw.Connection] = []
        self._lent = 0  # readers in use
        self._is_forking = False
        self._writer: apsw.Connection | None = None
        self._durable: bool | None = None  # how the writer syncs just now
        self._lock = FairLock(_beside(path, "-lock"), timeout=timeout) if path is not None else None
        self._reserve = Reserve(_beside(path, "-reserve")) if path is not None else None
        _open_engines.add(self)

    # --- identity -------------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        return ":memory:" if self._path is None else str(self._path)

    @property
    def folder(self) -> Path | None:
        return None if self._path is None else self._path.parent

    @property
    def read_only(self) -> bool:
        return self._read_only

    # --- transactions ---------------------------------------------------------------------------------------------

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[None]:
        if self._writing is not None:
            yield  # joins the outer transaction
            return
        if self._read_only:
            raise StoreReadOnly(self.location)
        with self._taking_turn(), self._translated():
            connection = self._begin(durable)
            self._local.writing = connection
            try:
                yield
                connection.execute("commit")
                if self._reserve:
                    self._reserve.refill()
            finally:
                self._local.writing = None
                if connection.in_transaction:
                    connection.execute("rollback")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        connection = self._writing
        if connection is None:
            raise RuntimeError("savepoint() outside write(): there is no transaction to be a part of")
        with self._translated(), connection:  # apsw opens a savepoint, and takes it back when the block raises
            yield

    @contextmanager
    def read(self) -> Iterator[None]:
        if self._current is not None:
            yield
            return
        connection = self._borrow()
        try:
            with self._translated():
                connection.execute("begin")
                self._local.reading = connection
                try:
                    yield
                finally:
                    self._local.reading = None
                    if connection.in_transaction:
                        connection.execute("rollback")
        finally:
            self._give_back(connection)

    def retry_with_reserve(self, act: Callable[[], Result]) -> Result:
        """Run `act`; when the disk is full, give up the reserve file and run it once more."""
        try:
            return act()
        except StoreFull:
            if self._reserve is None or not self._reserve.release():
                raise
        try:
            return act()
        finally:
            self._reserve.refill()

    # --- statements -----------------------------------------------------------------------------------------------

    def execute(self, sql: str, params: Mapping[str, Value] | None = None) -> int:
        connection = self._writing
        if connection is None:
            raise RuntimeError("execute() outside write(): statements that change rows need a transaction")
        connection.execute(_render(sql), _bind(params) if params else None)
        return connection.changes()

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> list[Row]:
        connection = self._writing
        if connection is None:
            raise RuntimeError("execute_many() outside write(): statements that change rows need a transaction")
        return connection.executemany(_render(sql), rows).fetchall() if rows else []

    def rows(self, sql: str, params: Mapping[str, Value] | None = None) -> list[Row]:
        current = self._current
        if current is not None:
            return current.execute(_render(sql), _bind(params) if params else None).fetchall()
        connection = self._borrow()
        try:
            with self._translated():
                return connection.execute(_render(sql), _bind(params) if params else None).fetchall()
        finally:
            self._give_back(connection)

    def row(self, sql: str, params: Mapping[str, Value] | None = None) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        connection = self._current or self._borrow()
        try:
            cut: Any = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
            plain: dict[str, Any] = {"include_offsets": False, "include_colocated": False}
            return [list(cut(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, **plain)) for text in texts]
        finally:
            if connection is not self._current:
                self._give_back(connection)

    @cached_property
    def keywords(self) -> SqliteKeywords:
        from recollect.store.sqlite.keywords import SqliteKeywords

        return SqliteKeywords(self)

    def vectors(self, project: str) -> SqliteVectors:
        from recollect.store.sqlite.vectors import SqliteVectors

        return SqliteVectors(self, project)

    def create_vectors(self) -> None:
        from recollect.store.sqlite.ivf import create

        create(self)

    # --- schema number, backup, upkeep ----------------------------------------------------------------------------

    def schema(self) -> int:
        found = self.row("pragma user_version")
        return int(found[0]) if found else 0

    def set_schema(self, number: int) -> None:
        self._tell_planner()
        self.execute(f"pragma user_version = {number:d}")
        self.execute(f"pragma application_id = {APPLICATION_ID:d}")

    def _tell_planner(self) -> None:
        """Let SQLite plan as for a large store from the first row on. Without figures it takes an index on the project
        for the best way to anything, and its own would have to be counted again and again."""
        self.execute("analyze meta")
        for table, index, figures in PLANNER:
            self.execute(_DROP_FIGURES, {"table": table, "index": index})
            self.execute(_ADD_FIGURES, {"table": table, "index": index, "figures": figures})
        self.execute("analyze sqlite_schema")

    def upgrades(self) -> Sequence[tuple[int, str, Callable[[Engine], None], tuple[str, ...]]]:
        from recollect.store.sqlite.history import UPGRADES

        return UPGRADES

    def check_structure(self) -> list[str]:
        with self.read():
            self.rows("select rowid from keywords limit 1")  # lets FTS5 notice what other connections wrote
            return [row[0] for row in self.rows("pragma integrity_check(20)") if row[0] != "ok"]

    def backup(self, reason: str) -> Path | None:
        from recollect.store.sqlite.backup import make_backup

        return make_backup(self, reason=reason)

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the last committed state, while others go on writing."""
        with self._translated():
            copy = apsw.Connection(str(target))
            connection = self._borrow()
            try:
                with copy.backup("main", connection, "main") as backup:
                    backup.step()
                copy.execute("pragma journal_mode = delete")  # a copy is one file, complete in itself
            finally:
                self._give_back(connection)
                copy.close()

    def checkpoint(self) -> bool:
        """Move the log into the file and empty it, so that no deleted text lingers there. False when a reader is in
        the way: the next call finishes the work."""
        if self._path is None:
            return True
        with self._taking_turn(), self._translated():
            connection = self._connection_for_writing()
            connection.set_busy_timeout(_CHECKPOINT_MS)  # the lock is held: others must not wait for a stuck reader
            try:
                busy = connection.execute("pragma wal_checkpoint(truncate)").fetchall()
            finally:
                connection.set_busy_timeout(_BUSY_MS)
            if self._reserve:
                self._reserve.refill()
        return bool(busy) and busy[0][0] == 0

    def contains_bytes(self, text: str) -> bool:
        """Do the bytes of the file hold this text, in rows or in what rows left behind?"""
        if self._path is None or not text:
            return False
        with self._path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            return whole.find(text.encode()) >= 0

    def vacuum(self) -> None:
        """Write the whole file anew, without anything that deleted rows left in the gaps of pages."""
        with self._taking_turn(), self._translated():
            connection = self._connection_for_writing()
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)  # SQLite attaches the new file while it writes it
            try:
                connection.execute("vacuum")
            finally:
                connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)

    def close(self) -> None:
        """Close every connection. A write of another thread that is under way ends first; a reader closes its own."""
        if self._closed:
            return
        self._closed = True
        waits = self._current is None
        if waits and not self._turn.acquire(timeout=self._timeout):
            self._closed = False
            raise StoreBusy(self.location, waited=self._timeout)
        try:
            with self._pool_guard:
                connections = [*self._readers, *([self._writer] if self._writer else [])]
                self._readers, self._writer = [], None
            for connection in connections:
                connection.close()
            if self._lock:
                self._lock.close()
        finally:
            if waits:
                self._turn.release()

    # --- inside ---------------------------------------------------------------------------------------------------

    @property
    def _writing(self) -> apsw.Connection | None:
        return getattr(self._local, "writing", None)

    @property
    def _current(self) -> apsw.Connection | None:
        return self._writing or getattr(self._local, "reading", None)

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        """Exclusive among threads, then among processes."""
        if not self._turn.acquire(timeout=self._timeout):
            raise StoreBusy(self.location, waited=self._timeout)
        try:
            if self._lock is None:
                yield
                return
            self._lock.acquire()
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._turn.release()

    def _begin(self, durable: bool) -> apsw.Connection:
        connection = self._connection_for_writing()
        if durable != self._durable:
            connection.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._durable = durable
        connection.execute("begin immediate")
        return connection

    def _connection_for_writing(self) -> apsw.Connection:
        if self._closed:
            raise MemoryClosed(self.location)
        if self._writer is None:
            self._writer = self._connect(read_only=False)
            if self._reserve:
                self._reserve.refill()
        return self._writer

    def _borrow(self) -> apsw.Connection:
        if self._closed:
            raise MemoryClosed(self.location)
        if self._path is None:  # in memory there is one connection, so readers wait for the writer
            self._turn.acquire()
            return self._connection_for_writing()
        with self._pool_guard:
            self._lent += 1
            if self._readers:
                return self._readers.pop()
        try:
            return self.retry_with_reserve(self._connect_for_reading)
        except BaseException:
            self._returned()
            raise

    def _connect_for_reading(self) -> apsw.Connection:
        with self._translated():
            connection = self._connect(read_only=True)
            connection.execute("select 1 from sqlite_schema limit 1").fetchall()  # a full disk shows here, not later
            return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        if self._path is None:
            self._turn.release()
            return
        with self._pool_guard:
            kept = not self._closed and len(self._readers) < _READERS_KEPT
            if kept:
                self._readers.append(connection)
        if not kept:
            connection.close()
        self._returned()

    def _returned(self) -> None:
        with self._pool_guard:
            self._lent -= 1
            self._pool_guard.notify_all()

    def _connect(self, *, read_only: bool) -> apsw.Connection:
        if self._path is None:
            connection = apsw.Connection(":memory:")
        elif not read_only:
            connection = apsw.Connection(
                str(self._path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs=self._vfs
            )
        else:
            connection = self._connect_reader(self._path)
        connection.set_busy_timeout(_BUSY_MS)
        harden(connection)
        if self._recognises:
            self._recognise(connection)
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
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma secure_delete = on")
            connection.execute(f"pragma journal_size_limit = {_WAL_KEPT}")
        _add_functions(connection)
        return connection

    def _recognise(self, connection: apsw.Connection) -> None:
        """Refuse another program's database, and a store into which somebody put what we never make."""
        found = FoundSchema(connection)
        if found.is_empty:
            return
        if not found.is_ours:
            raise NotAStore(self.location, "another program's database")
        if odd := found.odd_settings():
            raise StoreAltered(self.location, odd)
        if not found.is_of_this_release:
            from recollect.store.sqlite.known_schema import require_known  # runs every migration once, in memory

            require_known(found, self.location)

    def _connect_reader(self, path: Path) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK) else 0
        if flags:
            return apsw.Connection(str(path), flags=flags, vfs=self._vfs)
        # A directory we may not write to has no log to share: read the file as the unchanging thing it is.
        if _beside(path, "-wal").exists():
            return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs=self._vfs)
        uri = f"{path.absolute().as_uri()}?immutable=1"
        return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=self._vfs)

    def before_fork(self) -> None:
        """No connection crosses a fork: SQLite's record of its locks would be copied, the locks themselves not, and
        acknowledged writes of the child would be lost. Both sides open anew."""
        if self._path is None or self._closed or self._current is not None:
            return
        self._turn.acquire()
        self._pool_guard.acquire()
        self._pool_guard.wait_for(lambda: self._lent == 0, timeout=_FORK_TIMEOUT)
        self._is_forking = True
        for connection in [*self._readers, *([self._writer] if self._writer else [])]:
            connection.close()
        self._readers, self._writer, self._durable = [], None, None
        if self._lock:
            self._lock.close()

    def after_fork(self) -> None:
        """Let go of what `before_fork` held, in the parent and in the child."""
        if self._is_forking:
            self._is_forking = False
            self._pool_guard.release()
            self._turn.release()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The driver's errors as ours, at the one boundary between them."""
        try:
            yield
        except apsw.Error as error:
            raise translate(error, self.location) from error
        except UnicodeDecodeError as error:
            raise StoreDamaged(self.location, f"a text in it is not UTF-8 ({error})") from error


def translate(error: apsw.Error, location: str) -> StoreError:
    """The most specific of our errors for one of the driver's."""
    match error:
        case apsw.FullError():
            return StoreFull(location)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(location, waited=_BUSY_MS / 1000)
        case apsw.NotADBError():
            return NotAStore(location, "not a database")
        case apsw.CorruptError():
            return StoreDamaged(location, str(error))
        case apsw.TooBigError():
            return StoreDamaged(location, "a value in it is larger than any that is written")
        case apsw.InterruptError():
            return StoreDamaged(location, "reading its list of tables takes too long")
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
    """Some file systems report a full disk or quota as a plain I/O error."""
    try:
        room = os.statvfs(os.path.dirname(location) or ".")
    except (OSError, AttributeError):
        return False
    return room.f_bavail * room.f_frsize < 2**20


def _beside(path: Path | None, suffix: str) -> Path:
    return Path(f"{path}{suffix}")


def _add_functions(connection: apsw.Connection) -> None:
    """The analyzer as SQL functions, so that SQLite itself can rebuild and verify the keyword index from the rows."""
    analyzer: tuple[tuple[str, Any], ...] = (("index_body", index_body), ("index_names", index_names))
    for name, function in analyzer:
        connection.create_scalar_function(name, function, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
