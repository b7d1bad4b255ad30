"""The SQLite engine: one driver (apsw), one writing connection, a small pool of readers.

Every pragma below has a measured reason: a write is acknowledged only after it is synced (WAL with full sync), writers
take an immediate transaction under the fair lock, readers never wait, deleted text is overwritten. Before anything is
acknowledged or told, the name is compared with the file that is open: see `_keep_up`. Never open the file a second time
by other means in one process: closing it drops the locks of this one and commits are lost.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, TypeVar

import apsw

from recollect.core.errors import (
    MemoryClosed,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreLost,
    StoreMissing,
    StoreReadOnly,
    UnsafeFile,
)
from recollect.store.indexes import EngineIndexes, LazyIndexes
from recollect.store.migrations.latest import APPLICATION_ID
from recollect.store.port import Column, Row, Value
from recollect.store.sqlite.connection import (
    BUSY_MS,
    Connection,
    close_ghost,
    log_files,
    open_connection,
    prepare,
    require_safe_sqlite,
    require_same_store,
    require_whole,
    sqlite_version,
    translate,
    unmoved_pages,
)
from recollect.store.sqlite.dialect import SqliteDialect
from recollect.store.sqlite.lock import FairLock, Reserve
from recollect.store.sqlite.own_log import claim_log, strange_files
from recollect.store.sqlite.place import (
    Identity,
    beside,
    file_identity,
    look,
    look_safely,
    open_safely,
    require_plain,
    resolved,
)
from recollect.store.sqlite.swap import finish, is_unfinished, set_log_aside, set_strange_aside
from recollect.store.terms import cut_with

TIMEOUT = 30.0  # seconds a writer queues before it reports the store as busy
_CHECKPOINT_MS = 250  # for emptying the log: a reader in the way is left in peace
_FORK_TIMEOUT = 5.0  # seconds a fork waits for readers to finish
_READERS_KEPT = 8  # idle reading connections
_BLOCK = 2**20  # bytes of the file that are searched at once
_TRIES = 20  # how often a file may be replaced between looking and opening
_LOOK = 0.5  # seconds between two looks for what others changed
_STRANGE = "It came from outside, perhaps with a pull. Any command that writes moves it to quarantine/; or remove it."
_TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name"
_COLUMNS = "select name, lower(type), pk from pragma_table_info(:of) order by cid"

if TYPE_CHECKING:
    from recollect.store.port import Engine

Result = TypeVar("Result")
_render, _bind = SqliteDialect.render, SqliteDialect.bind

# What the planner is told of tables and indexes: rows, and how many share the first column, the first two …
PLANNER = (
    ("memories", "sqlite_autoindex_memories_1", "1000000 1"),
    ("memories", "memories_by_time", "1000000 100000 2 1"),
    ("memories", "memories_by_access", "1000000 100000 2 1"),
    ("memories", "memories_counted", "1000000 100000 5000 1"),
    ("memories", "memories_by_fingerprint", "1000000 2"),
    ("memories", "memories_by_session", "500000 50"),
    ("memories", "memories_by_turn", "500000 50000 50 1"),
    ("memories", "memories_standing", "100000 10000 1000 1"),
    ("memories", "memories_to_review", "1000 1000 1"),
    ("memories", "memories_leading", "10000 1000 500 250 10 1"),
)
_DROP_FIGURES = "delete from sqlite_stat1 where tbl = :table and idx = :index"
_ADD_FIGURES = "insert into sqlite_stat1 (tbl, idx, stat) values (:table, :index, :figures)"


_open_engines: weakref.WeakSet[SqliteEngine] = weakref.WeakSet()


def _before_fork() -> None:
    for engine in list(_open_engines):
        engine.before_fork()


def _after_fork() -> None:
    for engine in list(_open_engines):
        engine.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class SqliteEngine(LazyIndexes):
    """One database file (or one in memory), shared by all threads of this process."""

    INDEXES = EngineIndexes("sqlite.keywords:SqliteKeywords", "sqlite.vectors:SqliteVectors", "sqlite.ivf:create")

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
        self._busy_ms = min(BUSY_MS, int(timeout * 1000))
        self._vfs = vfs
        self._recognises = recognises and path is not None
        self._closed = False
        self._local = threading.local()
        self._turn = threading.Lock()  # one writing thread at a time
        self._pool_guard = threading.Condition(threading.Lock())
        self._readers: list[Connection] = []
        self._lent = 0  # readers in use
        self._is_forking = False
        self._writer: Connection | None = None
        self._durable: bool | None = None  # how the writer syncs just now
        self._name = "" if path is None else str(path)
        self._may_create = path is not None and look(path) is None
        self._file: Identity | None = None  # the file all connections have open
        self._size = 0  # of the file when it was last looked at: it shrinks only by `vacuum`
        self._changed_at = 0  # when it was last changed, in nanoseconds
        self._log: Identity | None = None  # the log of that file
        self._generation = 0
        self._lock = FairLock(beside(path, "-lock"), timeout=timeout) if path is not None else None
        self._reserve = Reserve(beside(path, "-reserve")) if path is not None else None
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

    @property
    def is_remote(self) -> bool:
        return False

    @property
    def generation(self) -> int:
        return self._generation

    def size(self) -> int:
        if self._path is None:
            return 0
        files = (self._name, f"{self._name}-wal")
        return sum(os.lstat(file).st_size for file in files if os.path.lexists(file))

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
                self._require_kept(connection)
                if self._reserve:
                    self._reserve.refill()
            finally:
                self._local.writing = None
                if connection.in_transaction:
                    connection.execute("rollback")

    def migration(self) -> AbstractContextManager[None]:
        return self.write()

    def each_store(self) -> Iterator[None]:
        yield  # a file holds one

    def register(self) -> None:
        """A file holds one store, and that is known."""

    def wait_for_change(self, timeout: float) -> bool:
        sleep(min(timeout, _LOOK))
        return True  # a file tells nobody; a look costs a tenth of a millisecond

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
        current = self._current
        connection = self._borrow() if current is None else current
        try:
            return cut_with(connection, texts)
        finally:
            if current is None:
                self._give_back(connection)

    def viewing(self, sight: Mapping[str, Value] | None) -> AbstractContextManager[None]:
        return nullcontext()  # a file has no row security: statements are all that limits what is read

    def wall(self, table: str, condition: str) -> None:
        """A file has no row security."""

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

    @property
    def version(self) -> str:
        return f"SQLite {sqlite_version()}"

    def tables(self) -> dict[str, list[Column]]:
        return {
            str(table): [
                Column(str(name), type == "text", key) for name, type, key in self.rows(_COLUMNS, {"of": table})
            ]
            for (table,) in self.rows(_TABLES)
        }

    def check_structure(self) -> list[str]:
        with self.read():
            self.rows("select rowid from keywords limit 1")  # lets FTS5 notice what other connections wrote
            return [row[0] for row in self.rows("pragma integrity_check(20)") if row[0] != "ok"]

    def backup(self, reason: str, *, unless_same: bool = False) -> Path | None:
        from recollect.store.sqlite.backup import find_same, make_backup

        return (find_same(self, reason) if unless_same else None) or make_backup(self, reason=reason)

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the last committed state, while others go on writing."""
        with self._translated():
            os.close(open_safely(target, os.O_RDWR | os.O_CREAT | os.O_EXCL))
            copy = apsw.Connection(resolved(target), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
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
            self._keep_up()
            connection = self._connection_for_writing()
            connection.set_busy_timeout(_CHECKPOINT_MS)  # the lock is held: others must not wait for a stuck reader
            try:
                busy = connection.execute("pragma main.wal_checkpoint(truncate)").fetchall()
            finally:
                connection.set_busy_timeout(self._busy_ms)
            if self._reserve:
                self._reserve.refill()
        return bool(busy) and busy[0][0] == 0

    def raw_blocks(self) -> Iterator[bytes]:
        """The bytes of the file, block by block: rows, and what rows left behind."""
        if self._path is None:
            return
        connection = self._borrow()
        try:
            size = os.lstat(self._name).st_size
            for start in range(0, size, _BLOCK):  # through SQLite's own handle: closing another would drop its locks
                yield connection.read("main", 0, start, min(_BLOCK, size - start))[1]
        finally:
            self._give_back(connection)

    def contains_bytes(self, text: str) -> bool:
        sought, end = text.encode(), b""
        for block in self.raw_blocks() if sought else ():
            if sought in end + block:
                return True
            end = block[-len(sought) :]
        return False

    def vacuum(self) -> None:
        """Rewrite the whole file, without anything that deleted rows left in the gaps of pages."""
        with self._taking_turn(), self._translated():
            self._keep_up()
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
                close_ghost(connection) if connection.file != self._file else connection.close()
            if self._lock:
                self._lock.close()
        finally:
            if waits:
                self._turn.release()

    # --- inside ---------------------------------------------------------------------------------------------------

    @property
    def _writing(self) -> Connection | None:
        return getattr(self._local, "writing", None)

    @property
    def _current(self) -> Connection | None:
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

    def _begin(self, durable: bool) -> Connection:
        self._keep_up()
        connection = self._connection_for_writing()
        if durable != self._durable:
            connection.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._durable = durable
        connection.execute("begin immediate")
        if connection.log is None and self._path is not None:
            if not claim_log(self._name):
                self._writer = None
                close_ghost(connection)
                raise StoreLost(self.location, "was given another log (-wal)", hint="Try again.")
            connection.log = log_files(self._name)
            self._log = connection.log[0]
        return connection

    def _connection_for_writing(self) -> Connection:
        if self._closed:
            raise MemoryClosed(self.location)
        if self._writer is not None and self._writer.file != self._file:
            close_ghost(self._writer)
            self._writer = None
        if self._writer is None:
            if self._path is not None and self._lock is not None:
                finish(self._path, self._lock)
                set_strange_aside(self._path)
            self._writer = self._connect(read_only=False)
            self._durable = None
            if self._reserve:
                self._reserve.refill()
        return self._writer

    def _borrow(self) -> Connection:
        if self._closed:
            raise MemoryClosed(self.location)
        if self._path is None:  # in memory there is one connection, so readers wait for the writer
            self._turn.acquire()
            return self._connection_for_writing()
        if self._file is not None and self._writing is None:
            self._keep_up_reading()
        with self._pool_guard:
            self._lent += 1
            if self._readers:
                return self._readers.pop()
        try:
            return self.retry_with_reserve(self._connect_for_reading)
        except BaseException:
            self._returned()
            raise

    def _connect_for_reading(self) -> Connection:
        with self._translated():
            self._finish_swap()
            connection = self._connect(read_only=True)
            try:
                connection.execute(
                    "select 1 from sqlite_schema limit 1"
                ).fetchall()  # a full disk shows here, not later
                self._log = self._log or log_files(self._name)[0]
            except BaseException:
                connection.close(True)
                raise
            return connection

    def _give_back(self, connection: Connection) -> None:
        if self._path is None:
            self._turn.release()
            return
        with self._pool_guard:
            kept = not self._closed and len(self._readers) < _READERS_KEPT and connection.file == self._file
            if kept:
                self._readers.append(connection)
        if not kept:
            close_ghost(connection) if connection.file != self._file else connection.close()
        self._returned()

    def _returned(self) -> None:
        with self._pool_guard:
            self._lent -= 1
            self._pool_guard.notify_all()

    def _connect(self, *, read_only: bool) -> Connection:
        connection = self._open(read_only=read_only)
        try:
            prepare(connection, self.location, read_only=read_only, busy_ms=self._busy_ms, recognises=self._recognises)
        except BaseException:  # whoever keeps the error would keep the file open with it
            connection.close(True)
            raise
        return connection

    def _open(self, *, read_only: bool) -> Connection:
        """A connection to the file the name stands for. Between looking and opening it may have become another."""
        if self._path is None:
            return Connection(":memory:")
        for _ in range(_TRIES):
            before = look_safely(self._path)
            for suffix in ("-wal", "-shm"):
                look_safely(self._name + suffix)
            if before is None:
                if not self._may_create or read_only:
                    raise StoreMissing(self.location)
                os.close(open_safely(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
                continue
            connection = open_connection(resolved(self._path), vfs=self._vfs, read_only=read_only)
            after = look(self._path)
            if after is not None and file_identity(after) == file_identity(before):
                break
            connection.close()
        else:
            raise StoreLost(self.location, "was replaced again and again")
        connection.file = file_identity(after)
        if self._file is None:
            self._file, self._size, self._changed_at = connection.file, after.st_size, after.st_mtime_ns
            self._may_create = False
        elif connection.file != self._file:
            connection.close()
            raise StoreLost(self.location, "was replaced", hint="Try again.")
        return connection

    # --- files that change under us -------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Follow the name to the file it stands for now, with the lock held: a store that was put in the place of
        this one is used from here on; a file that was removed, cut short or linked elsewhere is an error."""
        if self._file is None:
            return
        found = look(self._name)
        if self._path is not None and self._lock is not None and self._lock.has_note:
            finish(self._path, self._lock)  # somebody died on the way to putting a new file here
            found = look(self._name)
        if found is None or file_identity(found) != self._file or found.st_nlink != 1:
            self._follow(self._writer or (self._readers[-1] if self._readers else None))
            return
        if found.st_size < self._size:
            require_whole(self._name, vfs=self._vfs)
        writer = self._writer
        is_ours = writer is not None and writer.file == self._file  # or a reader has followed, and it is left next
        if writer is not None and is_ours and writer.log is not None and writer.log != log_files(self._name):
            self._leave_lost_log(writer, found)
        self._size, self._changed_at = found.st_size, found.st_mtime_ns

    def _keep_up_reading(self) -> None:
        """The same for those who only read, without the lock."""
        found = look(self._name)
        if found is None or file_identity(found) != self._file:
            if self._read_only:
                self._follow(None)
                return
            with self._taking_turn():
                self._keep_up()
        elif found.st_size < self._size:
            require_whole(self._name, vfs=self._vfs)
            self._size = found.st_size

    def _require_kept(self, connection: Connection) -> None:
        """What was just committed stands in the file the name stands for; otherwise nobody is told that it does."""
        if self._path is None:
            return
        found = look(self._name)
        if found is None or file_identity(found) != connection.file or found.st_nlink != 1:
            raise StoreLost(self.location, "was removed, replaced or linked", hint="Try again.")
        if found.st_size < self._size:
            require_whole(self._name, vfs=self._vfs)
        self._size, self._changed_at = found.st_size, found.st_mtime_ns
        if connection.log != log_files(self._name):
            raise StoreLost(self.location, "lost its log (-wal)", hint="Try again.")

    def _finish_swap(self) -> None:
        """Finish what somebody who put a new file here did not live to finish, or wait for them to do it. A stranger's
        log is moved away before SQLite could play it back; who may not move it refuses the store."""
        if self._path is None or self._lock is None:
            return
        strange = strange_files(self._name)
        if self._read_only or self._current is not None:
            if strange:
                raise UnsafeFile(strange[0], "not written by this store", hint=_STRANGE)
            return
        if strange or is_unfinished(self._path):
            with self._taking_turn():
                finish(self._path, self._lock)
                set_strange_aside(self._path)

    def _follow(self, old: Connection | None) -> None:
        """Leave the file that is open for the one that stands in its place, if that is this store."""
        if self._path is None:
            return
        found = look(self._path)
        if found is None:
            raise StoreLost(self.location, "was removed")
        require_plain(self._path, found)
        if file_identity(found) == self._file:
            return
        log = look(f"{self._name}-wal")
        if not self._read_only and log is not None and log.st_size and file_identity(log) == self._log:
            set_log_aside(self._path)  # that of the old file: SQLite would mix the two
        connection = open_connection(resolved(self._path), vfs=self._vfs, read_only=True)
        try:
            require_same_store(connection, old, self.location)
        finally:
            connection.close()
        self._leave(found)

    def _leave(self, found: os.stat_result) -> None:
        """Use the file that was found from now on. Readers in use are closed when they come back, the writer when it
        is asked for again."""
        with self._pool_guard:
            idle, self._readers = self._readers, []
            self._generation += 1
            self._log = None
            self._file, self._size, self._changed_at = file_identity(found), found.st_size, found.st_mtime_ns
        for connection in idle:
            close_ghost(connection)

    def _leave_lost_log(self, writer: Connection, found: os.stat_result) -> None:
        """The log or its index was removed under us. What only the log held is moved into the file while nobody else
        can have changed it; otherwise it is said that it is lost."""
        log = log_files(self._name)[0]
        unmoved = 0
        if writer.log is not None and log != writer.log[0]:
            unmoved = unmoved_pages(writer, "noop")
            if unmoved and log is None and found.st_mtime_ns == self._changed_at:
                unmoved = unmoved_pages(writer, "truncate")
        writer.file = None  # a ghost: nobody writes with it any more
        self._leave(os.lstat(self._name))
        if unmoved:
            raise StoreLost(
                self.location,
                "lost its log (-wal)",
                hint="What was written last may be missing: run `recollect check`. A backup helps if it is.",
            )

    def before_fork(self) -> None:
        """No connection crosses a fork: SQLite's record of its locks would be copied, the locks themselves not, and
        acknowledged writes of the child would be lost. Both sides reopen."""
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
            raise translate(error, self.location, waited=self._busy_ms / 1000) from error
        except UnicodeDecodeError as error:
            raise StoreDamaged(self.location, f"a text in it is not UTF-8 ({error})") from error
