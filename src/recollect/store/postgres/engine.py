"""The PostgreSQL engine: a pool of connections, each bound to one tenant and to a role that cannot look past it.

Writers of a tenant take turns by an advisory lock, so that the log has one order; readers never wait. Work that changes
tables runs on a connection of the role that logged in, alone in the whole database, and falls back to the working role
for everything that is not a definition.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.sql import Composed
from psycopg.types.numeric import NumericBinaryLoader
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from recollect.core.errors import FileOnly, MemoryClosed, StoreBusy, StoreError, StoreReadOnly, StoreUnreachable
from recollect.store.indexes import EngineIndexes, LazyIndexes
from recollect.store.port import Column, Params, Row, Value
from recollect.store.postgres.dialect import PostgresDialect, bind_row, defines, definitions, viewer_wall
from recollect.store.postgres.replica import ReplicaReads
from recollect.store.postgres.server import (
    EVERYONE,
    VIEWER,
    Connection,
    Server,
    as_store_error,
    inspect_server,
    keep_fact,
    parse_address,
    prepare_database,
    session_settings,
    viewer_settings,
)

if TYPE_CHECKING:
    from recollect.store.port import Engine

TIMEOUT = 30.0  # seconds a writer queues before it reports the store as busy
_PREPARED = 500  # statements that a connection keeps planned; there are some three hundred
_TRIES = 2  # a connection that died while it was idle is noticed at the first word, when nothing has been done yet
_DATABASE = "database"  # the lock that work on tables holds alone and every write shares
_SAVE_TENANT = "insert into tenants (tenant) values (current_setting('recollect.tenant')) on conflict do nothing"
_KNOWS_TENANT = "select 1 from tenants where tenant = current_setting('recollect.tenant')"
_TENANTS = "select tenant from tenants order by tenant"
_SET_TENANT = "select set_config('recollect.tenant', %s, true)"
_MADE = re.compile(r"create (table|sequence) (\w+)(?! partition of)\b")
_RIGHTS = {"table": "select, insert, update, delete on", "sequence": "usage on sequence"}

_SCHEMA = "select value from about where name = 'schema'"
_UNWALLED = """
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'recollect' and c.relkind in ('r', 'p') and not c.relispartition and not c.relrowsecurity
       and c.relname <> 'about' order by c.relname
"""
# Without the tenant, which statements never name, and without the keyword index, which is made from the rows.
_COLUMNS = """
    select c.relname::text, a.attname::text, a.atttypid = 'text'::regtype, coalesce(
               (select array_position(k.conkey, a.attnum) - 1 from pg_constraint k
                 where k.conrelid = c.oid and k.contype = 'p'), 0)::bigint
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = 'recollect' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname not in ('about', 'tenants', 'keywords', 'keyword_counts') and a.attname <> 'tenant'
     order by c.relname, a.attnum
"""
_END_OF_LOG = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
_REPLICA_TIMEOUT = 5.0  # seconds; the primary can answer too
_ENDED = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown, psycopg.errors.IdleSessionTimeout)
_IDLE = TransactionStatus.IDLE

Result = TypeVar("Result")
_render, _bind = PostgresDialect.render, PostgresDialect.bind


class _NumberLoader(NumericBinaryLoader):
    """Sums of whole numbers come as decimals: a whole number again."""

    def load(self, data: Any) -> Any:
        number = super().load(data)
        return int(number) if number == number.to_integral_value() else float(number)


class PostgresEngine(LazyIndexes):
    """One tenant of one database, shared by all threads of this process."""

    INDEXES = EngineIndexes(
        "postgres.keywords:PostgresKeywords", "postgres.vectors:PostgresVectors", "postgres.vectors:create"
    )

    def __init__(
        self,
        dsn: str,
        *,
        read_only: bool = False,
        timeout: float = TIMEOUT,
        replica: str = "",
        tenant: str | None = None,
    ) -> None:
        """`replica` is the address of a copy that answers reads; `tenant` wins over the one in the address."""
        address = parse_address(dsn)
        self._address = address if tenant is None else address.of_tenant(tenant)
        self._read_only = read_only
        self._timeout = timeout
        self._closed = False
        self._local = threading.local()
        self._turn = threading.Lock()  # one writing thread at a time: the others must not hold connections meanwhile
        self._opening = threading.Lock()
        self._pool: tuple[int, ConnectionPool[Connection]] | None = None  # and the process that opened it
        self._channel = f"recollect_{_key(self.tenant):x}".replace("-", "_")
        self._hearing = threading.Lock()
        self._ear: Connection | None = None  # hears of changes, once somebody waits for them
        self._looked_as: WeakKeyDictionary[Connection, tuple[str, ...]] = WeakKeyDictionary()
        self._written = -1  # where the server's log ended after our last write
        self._replica: ReplicaReads | None = None
        if replica:
            parse_address(replica)  # a mistake in it is told at once
            self._replica = ReplicaReads(
                lambda: PostgresEngine(replica, read_only=True, timeout=_REPLICA_TIMEOUT, tenant=self.tenant),
                self._end_of_log,
            )
        self._server = self._look()

    # --- identity -------------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        return self._address.location

    @property
    def tenant(self) -> str:
        return self._address.tenant

    @property
    def is_owner(self) -> bool:
        """Do we work as the role that owns the tables, because no other can be had?"""
        return not self._server.role

    @property
    def vector_schema(self) -> str:
        """Where the types and operators of pgvector are."""
        return self._server.vector_schema

    @property
    def folder(self) -> Path | None:
        return None

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def is_remote(self) -> bool:
        return True

    @property
    def generation(self) -> int:
        return 0  # a server's database is not replaced under its clients

    def size(self) -> int:
        return 0  # what a server keeps is no file that could outgrow its engine

    @property
    def version(self) -> str:
        server = self._server
        release = f"PostgreSQL {server.version // 10_000}.{server.version % 10_000}"
        role = server.role or f"{server.login}, the owner of the tables"
        replica = "" if self._replica is None else f"; {self._replica.describe()}"
        return f"{release}, pgvector {server.vector or 'missing'}, as {role}{replica}"

    # --- transactions ---------------------------------------------------------------------------------------------

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[None]:
        if self._writing is not None:
            yield  # joins the outer transaction
            return
        if self._read_only:
            raise StoreReadOnly(self.location)
        with self._taking_turn(), self._translated():
            begin = self._begin(durable)
            connection, _ = self._start(lambda fresh: fresh.execute(begin))
            self._local.writing = connection
            try:
                yield
                self._commit(connection, told=durable)
            finally:
                self._local.writing = None
                self._give_back(connection)

    def _begin(self, durable: bool) -> str:
        lazily = "" if durable else "; set local synchronous_commit = off"
        if self._sight is not None:
            lazily += "; set local recollect.writing = 'on'"
        return (
            f"begin; set local lock_timeout = {int(self._timeout * 1000)}{lazily}; "
            f"select pg_advisory_xact_lock_shared({_key(_DATABASE)}), pg_advisory_xact_lock({_key(self.tenant)})"
        )

    @contextmanager
    def migration(self) -> Iterator[None]:
        if self._read_only:
            raise StoreReadOnly(self.location)
        with self._taking_turn(), self._translated():
            with self._connected() as connection:
                wait = f"set local lock_timeout = {int(self._timeout * 1000)}"
                connection.execute(f"begin; {wait}")
                connection.execute(f"select pg_advisory_xact_lock({_key(_DATABASE)})")
                self._server = inspect_server(connection, self.location)  # as whoever was faster left it
                role = self._server.role
                if not self._server.schema:
                    role = prepare_database(connection, self._server, self.location)
                    self._server = inspect_server(connection, self.location)
                    connection.execute(self._settings())
                self._local.writing, self._local.role = connection, role
                try:
                    self._work_as(role)
                    yield
                    self._commit(connection)
                finally:
                    self._local.writing = self._local.role = None
            self._server = self._look()
            self._renew_pool()

    def each_store(self) -> Iterator[None]:
        """Every tenant in turn, inside a migration: tables are changed for the first, rows for each."""
        connection = self._connection_in_write()
        self._work_as("")
        known = [row[0] for row in connection.execute(_TENANTS).fetchall()]
        self._work_as(self._local.role)
        for number, tenant in enumerate(known or [self.tenant]):
            connection.execute(_SET_TENANT, (tenant,))
            self._local.is_defined = number > 0
            yield
        self._local.is_defined = False
        connection.execute(_SET_TENANT, (self.tenant,))

    def define(self, statements: Sequence[str]) -> None:
        """Change tables, as the role that owns them; what is made is the working role's to use."""
        connection, role = self._connection_in_write(), getattr(self._local, "role", None)
        if role is None:
            raise RuntimeError("a definition outside migration(): tables are changed by migrations only")
        if getattr(self._local, "is_defined", False):
            return
        self._work_as("")
        for statement in statements:
            connection.execute(statement)
            if role and (made := _MADE.match(statement.lstrip())):
                connection.execute(f"grant {_RIGHTS[made[1]]} {made[2]} to {role}")
        self._work_as(role)

    def _work_as(self, role: str) -> None:
        self._connection_in_write().execute(f"set local role {role or 'none'}")

    def wait_for_change(self, timeout: float) -> bool:
        """Wait for a commit of this tenant, by whomever, since the last time. Has a connection of its own."""
        with self._hearing, self._translated():
            if self._closed:
                raise MemoryClosed(self.location)
            try:
                if self._ear is None:
                    self._ear = psycopg.connect(self._address.conninfo, autocommit=True)
                    self._ear.execute(f"listen {self._channel}")
                return any(True for _ in self._ear.notifies(timeout=timeout, stop_after=1))
            except psycopg.OperationalError:
                ear, self._ear = self._ear, None
                if ear is None:
                    raise
                ear.close()
                return True  # what was said meanwhile was not heard

    @contextmanager
    def viewing(self, sight: Params | None) -> Iterator[None]:
        before = self._sight
        self._local.sight = sight
        try:
            yield
        finally:
            self._local.sight = before

    def wall(self, table: str, condition: str) -> None:
        self.define(viewer_wall(table, condition))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        connection = self._writing
        if connection is None:
            raise RuntimeError("savepoint() outside write(): there is no transaction to be a part of")
        with self._translated(), connection.transaction():
            yield

    @contextmanager
    def read(self) -> Iterator[None]:
        if self._current is not None or self._on_replica is not None:
            yield
            return
        if (replica := self._replica_for_reading()) is not None:
            with ExitStack() as stack:
                if self._begin_on(replica, stack):
                    yield
                    return
        with self._translated():
            connection, _ = self._start(lambda fresh: fresh.execute("begin isolation level repeatable read read only"))
            self._local.reading = connection
            try:
                yield
            finally:
                self._local.reading = None
                self._give_back(connection)

    def retry_with_reserve(self, act: Callable[[], Result]) -> Result:
        """Run `act`. Room on the disk is the server's to keep."""
        return act()

    # --- statements -----------------------------------------------------------------------------------------------

    def execute(self, sql: str, params: Mapping[str, Value] | None = None) -> int:
        connection = self._connection_in_write()
        if defines(sql):
            self.define(definitions(sql))
            return 0
        return connection.execute(_render(sql), _bind(params) if params else None).rowcount

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> list[Row]:
        connection = self._connection_in_write()
        if not rows:
            return []
        returns = "returning" in sql
        with connection.cursor(binary=True) as cursor:
            cursor.executemany(_render(sql), [bind_row(row) for row in rows], returning=returns)
            found: list[Row] = []
            while returns:
                found += cursor.fetchall()
                returns = bool(cursor.nextset())
            return found

    def rows(self, sql: str, params: Mapping[str, Value] | None = None) -> list[Row]:
        if (replica := self._on_replica) is not None:
            return replica.rows(sql, params)
        statement, bound = _render(sql), _bind(params) if params else None
        current = self._current
        if current is None and (replica := self._replica_for_reading()) is not None:
            try:
                with replica.viewing(self._sight):
                    return replica.rows(sql, params)
            except StoreError as error:
                self._avoid_replica(error)
        if current is not None:
            return current.execute(statement, bound, binary=True).fetchall()
        with self._translated():
            connection, found = self._start(lambda fresh: fresh.execute(statement, bound, binary=True).fetchall())
            self._give_back(connection)
            return found

    def row(self, sql: str, params: Mapping[str, Value] | None = None) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    # --- schema number and upkeep ---------------------------------------------------------------------------------

    def schema(self) -> int:
        if getattr(self._local, "role", None) is None:
            return self._server.schema
        row = self.row(_SCHEMA)
        return int(row[0]) if row else 0

    def set_schema(self, number: int) -> None:
        self._work_as("")
        keep_fact(self._connection_in_write(), "schema", str(number))
        self._work_as(self._local.role)
        self.register()

    def register(self) -> None:
        """Let migrations know of this tenant, inside the current write."""
        self._connection_in_write().execute(_SAVE_TENANT)

    def upgrades(self) -> Sequence[tuple[int, str, Callable[[Engine], None], tuple[str, ...]]]:
        return ()

    def tables(self) -> dict[str, list[Column]]:
        found: dict[str, list[Column]] = {}
        for table, name, is_text, key in self.rows(_COLUMNS):
            found.setdefault(table, []).append(Column(name, is_text, key))
        return found

    def check_structure(self) -> list[str]:
        """What is wrong with the walls and the tables. Pages and indexes are the server's to check (`pg_amcheck`)."""
        open_tables = [row[0] for row in self.rows(_UNWALLED)]
        return [f"the table {name} shows every tenant's rows: row-level security is off" for name in open_tables]

    def backup(self, reason: str, *, unless_same: bool = False) -> Path | None:
        return None  # `pg_dump` and `pg_basebackup` do that, for all tenants at once

    def copy_to(self, target: Path) -> None:
        raise FileOnly("Copying", self.location, hint="Use `pg_dump` or `pg_basebackup`.")

    def checkpoint(self) -> bool:
        return True  # what is deleted leaves the log with the server's own rotation

    def raw_blocks(self) -> Iterator[bytes]:
        return iter(())  # the server's files are not ours to read

    def contains_bytes(self, text: str) -> bool:
        return False

    def vacuum(self) -> None:
        """Deleted rows are overwritten when the server's autovacuum comes by; nobody waits for that."""

    def close(self) -> None:
        """Close every connection. A write of another thread that is under way ends first."""
        if self._closed:
            return
        self._closed = True
        waits = self._current is None
        if waits and not self._turn.acquire(timeout=self._timeout):
            self._closed = False
            raise StoreBusy(self.location, waited=self._timeout)
        try:
            pool, self._pool = self._pool, None
            if pool is not None and pool[0] == os.getpid():
                pool[1].close()
            if self._ear is not None:
                self._ear.close()
            if self._replica is not None:
                self._replica.close()
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

    def _connection_in_write(self) -> Connection:
        connection = self._writing
        if connection is None:
            raise RuntimeError("a change outside write(): statements that change rows need a transaction")
        return connection

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        if self._closed:
            raise MemoryClosed(self.location)
        if not self._turn.acquire(timeout=self._timeout):
            raise StoreBusy(self.location, waited=self._timeout)
        try:
            yield
        finally:
            self._turn.release()

    def _start(self, act: Callable[[Connection], Result]) -> tuple[Connection, Result]:
        """A connection and what the first thing said on it came to. One that died while idle is replaced."""
        for last in (False,) * (_TRIES - 1) + (True,):
            connection = self._pooled().getconn()
            try:
                self._look_as(connection)
                return connection, act(connection)
            except BaseException as error:
                was_dead = connection.broken or isinstance(error, _ENDED)
                if was_dead:
                    connection.close()
                self._give_back(connection)
                if last or not was_dead:
                    raise
                self._pooled().check()  # the others that were idle will have died with it
        raise AssertionError("the last try returns or raises")

    # --- the replica ------------------------------------------------------------------------------------------------

    @property
    def _on_replica(self) -> PostgresEngine | None:
        """The replica, while this thread reads several things of one state of it."""
        return None if self._writing is not None else getattr(self._local, "on_replica", None)

    def _replica_for_reading(self) -> PostgresEngine | None:
        return None if self._replica is None else self._replica.engine_for(self._written)

    def _begin_on(self, replica: PostgresEngine, stack: ExitStack) -> bool:
        """Read on the replica until the stack ends; False when it does not answer."""
        try:
            stack.enter_context(replica.viewing(self._sight))
            stack.enter_context(replica.read())
        except StoreError as error:
            self._avoid_replica(error)
            return False
        self._local.on_replica = replica
        stack.callback(setattr, self._local, "on_replica", None)
        return True

    def _avoid_replica(self, error: StoreError) -> None:
        if self._replica is not None:
            self._replica.avoid(str(error))

    def _end_of_log(self) -> int:
        """Where the primary's log ends."""
        with self._translated():
            connection, row = self._start(lambda fresh: fresh.execute(_END_OF_LOG).fetchone())
            self._give_back(connection)
            return -1 if row is None else int(row[0])

    @property
    def _sight(self) -> Params | None:
        found: Params | None = getattr(self._local, "sight", None)
        return found

    def _look_as(self, connection: Connection) -> None:
        """Tell the server who is looking, if that is another than the last time."""
        sight = viewer_settings(self._sight)
        if self._looked_as.get(connection, EVERYONE) != sight:
            connection.execute(VIEWER, sight)
            self._looked_as[connection] = sight

    def _give_back(self, connection: Connection) -> None:
        """Return a connection, whatever its transaction came to."""
        pool = self._pool
        try:
            if not connection.closed and connection.pgconn.transaction_status != _IDLE:
                connection.rollback()
            if pool is not None:
                pool[1].putconn(connection)
        except (psycopg.Error, ValueError):  # it died, or comes from a pool that was replaced meanwhile
            connection.close()
        if pool is None:
            connection.close()

    def _commit(self, connection: Connection, *, told: bool = False) -> None:
        """Commit, and let those know who listen, unless only counters changed: telling makes commits take turns."""
        self._local.committing = True
        connection.execute(f"notify {self._channel}; commit" if told else "commit")
        self._local.committing = False
        if self._replica is not None:
            row = connection.execute(_END_OF_LOG).fetchone()
            self._written = self._written if row is None else max(self._written, int(row[0]))

    def _pooled(self) -> ConnectionPool[Connection]:
        """The pool of this process: a fork must not speak on its parent's connections."""
        pool = self._pool
        if pool is not None and pool[0] == os.getpid():
            return pool[1]
        with self._opening:
            if self._closed:
                raise MemoryClosed(self.location)
            if self._pool is None or self._pool[0] != os.getpid():
                made = ConnectionPool(
                    self._address.conninfo,
                    kwargs={"autocommit": True, "prepare_threshold": 1},
                    configure=self._configure,
                    min_size=1,
                    max_size=self._address.pool,
                    timeout=self._timeout,
                    num_workers=1,
                    open=True,
                    name="recollect",
                )
                self._pool = (os.getpid(), made)
            return self._pool[1]

    def _renew_pool(self) -> None:
        """Later connections work as the role that has just been made."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool[1].close()

    def _configure(self, connection: Connection) -> None:
        connection.adapters.register_loader("numeric", _NumberLoader)
        connection.prepared_max = _PREPARED
        connection.execute(self._settings(as_role=True))

    def _settings(self, *, as_role: bool = False) -> Composed:
        return session_settings(self._address, self._server, as_role=as_role, read_only=self._read_only)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """A connection of the role that logged in, beside the pool."""
        connection = psycopg.connect(self._address.conninfo, autocommit=True)
        try:
            connection.adapters.register_loader("numeric", _NumberLoader)
            connection.execute(self._settings())
            yield connection
        finally:
            connection.close()

    def _look(self) -> Server:
        with self._translated(), psycopg.connect(self._address.conninfo, autocommit=True) as connection:
            return inspect_server(connection, self.location)

    def _has_connections(self) -> bool:
        pool = self._pool
        return pool is not None and pool[1].get_stats().get("pool_size", 0) > 0

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The driver's errors as ours, at the one boundary between them."""
        try:
            yield
        except (psycopg.Error, PoolTimeout, PoolClosed) as error:
            committing, self._local.committing = getattr(self._local, "committing", False), False
            if self._closed and not committing:
                raise MemoryClosed(self.location) from error
            if isinstance(error, PoolTimeout) and not self._has_connections():
                why = "no server there takes connections; with several hosts, none that can be written to"
                raise StoreUnreachable(self.location, why) from error
            raise as_store_error(
                error,
                self.location,
                waited=self._timeout,
                size=self._address.pool,
                was_committing=committing,
            ) from error


def _key(name: str) -> int:
    """The number of an advisory lock."""
    return int.from_bytes(blake2b(f"recollect:{name}".encode(), digest_size=8).digest(), signed=True)
