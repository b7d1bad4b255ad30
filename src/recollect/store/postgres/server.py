"""The server behind a store: its address, what it must offer, the role we work as, and its errors in our words.

Only here and in the engine is the driver known. It is loaded when the first address is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from recollect.core.errors import (
    BadDsn,
    ExtensionMissing,
    ExtraMissing,
    OldServer,
    PoolExhausted,
    RowSecurityOff,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreForbidden,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from recollect.store.port import Params
from recollect.store.postgres.dialect import SCHEMA, PostgresDialect, walls

try:
    import psycopg
    from psycopg import conninfo, sql
    from psycopg_pool import PoolClosed, PoolTimeout
except ImportError:
    raise ExtraMissing("A store on PostgreSQL", package="psycopg", extra="postgres") from None

SCHEMES = ("postgresql://", "postgres://")
ROLE = "recollect_app"  # the role we work as wherever that can be had: it owns nothing and cannot look past its tenant
TENANT = "main"  # the tenant of an address that names none
POOL = 10  # connections of one process
CONNECT_TIMEOUT = 10  # seconds
OLDEST_SERVER = 150_000
OLDEST_VECTOR = (0, 8)
_TENANT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

_LEAD = re.compile(r"^.* failed: (FATAL:\s*)?")  # how the driver begins when it cannot connect

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Address:
    """A database and a tenant in it. `location` is what may be shown: it holds no password."""

    conninfo: str
    tenant: str
    pool: int
    location: str

    def of_tenant(self, tenant: str) -> Address:
        """The same database for another tenant."""
        return replace(self, tenant=tenant, location=f"{self.location.rpartition('=')[0]}={tenant}")


def parse_address(dsn: str) -> Address:
    """Read `postgresql://user:password@host/database?tenant=name&pool=20`; the rest is libpq's."""
    try:
        parts = urlsplit(dsn)
        given = parse_qsl(parts.query, keep_blank_values=True)
        ours = {name: value for name, value in given if name in ("tenant", "pool")}
        rest = urlencode([pair for pair in given if pair[0] not in ours], quote_via=quote)  # libpq takes + for a plus
        known = conninfo.conninfo_to_dict(urlunsplit(parts._replace(query=rest)))
        pool = int(ours.get("pool", POOL))
        for port in str(known.get("port") or "").split(","):  # one for each of several hosts
            int(port or 0)
    except (psycopg.ProgrammingError, ValueError) as error:
        raise BadDsn(_words(error)) from None
    tenant = ours.get("tenant", TENANT)
    if not _TENANT_NAME.fullmatch(tenant):
        raise BadDsn(f"{tenant[:80]!r} is no name for a tenant (letters, digits, dots, dashes; at most 63)")
    if not 1 <= pool <= 1_000:
        raise BadDsn(f"a pool of {pool} connections cannot be had")
    known.setdefault("connect_timeout", CONNECT_TIMEOUT)
    known.setdefault("application_name", "recollect")
    host, port = known.get("host") or "localhost", f":{known['port']}" if known.get("port") else ""
    where = f"/{known.get('dbname') or known.get('user') or ''}"
    location = f"postgresql://{'' if str(host).startswith('/') else f'{host}{port}'}{where}?tenant={tenant}"
    return Address(conninfo.make_conninfo("", **known), tenant, pool, location)


@dataclass(frozen=True, slots=True)
class Server:
    """What a server and the role that logged in are like."""

    version: int
    vector: str | None  # the version of pgvector in this database
    vector_schema: str
    login: str
    sees_everything: bool  # the login role ignores row level security
    makes_roles: bool
    schema: int  # the number of our schema there; 0 when it is not there
    role: str  # the role we work as; empty: as the login role itself
    may_take_role: bool


_LOOK = """
    select current_setting('server_version_num')::int, e.extversion, coalesce(n.nspname, 'public'), session_user::text,
           r.rolsuper or r.rolbypassrls, r.rolsuper or r.rolcreaterole,
           exists (select 1 from pg_roles where rolname = %(role)s),
           (select has_schema_privilege(o.oid, 'usage') from pg_namespace o where o.nspname = %(schema)s)
      from pg_roles r
      left join pg_extension e on e.extname = 'vector'
      left join pg_namespace n on n.oid = e.extnamespace
     where r.rolname = session_user
"""
_MAY_TAKE = "select pg_has_role(session_user, %(role)s, 'member')"
_ABOUT = f"select name, value from {SCHEMA}.about"


def inspect_server(connection: Connection, location: str) -> Server:
    """Look at a server, and refuse one that cannot hold a store."""
    row = connection.execute(_LOOK, {"role": ROLE, "schema": SCHEMA}).fetchone()
    if row is None:
        raise StoreForbidden(location, "the role that logged in is not known there", hint="Use another role.")
    version, vector, home, login, sees_everything, makes_roles, has_role, may_enter = row
    require_version(version, vector, location)
    if may_enter is False:
        hint = f"Ask its administrator to run `grant {ROLE} to {login}`."
        raise StoreForbidden(location, f"the role {login!r} may not use the schema {SCHEMA!r}", hint=hint)
    facts: dict[str, str] = dict(connection.execute(_ABOUT).fetchall()) if may_enter else {}
    may = bool(has_role and (found := connection.execute(_MAY_TAKE, {"role": ROLE}).fetchone()) and found[0])
    role = facts.get("role", ROLE if may or makes_roles else "")
    if sees_everything and not (role and (may or makes_roles)):
        raise RowSecurityOff(location, login)
    return Server(version, vector, home, login, sees_everything, makes_roles, int(facts.get("schema", 0)), role, may)


def require_version(version: int, vector: str | None, location: str) -> None:
    """Refuse a server, or an extension in it, that is too old."""
    if version < OLDEST_SERVER:
        raise OldServer(location, "PostgreSQL", found=_release(version), needed=_release(OLDEST_SERVER))
    if vector is not None and tuple(map(int, vector.split(".")[:2])) < OLDEST_VECTOR:
        raise OldServer(location, "pgvector", found=vector, needed=".".join(map(str, OLDEST_VECTOR)))


def _release(number: int) -> str:
    return f"{number // 10_000}.{number % 10_000}"


_EXTENSION = "create extension if not exists vector"
_BASE = f"""
    create schema {SCHEMA};
    create table {SCHEMA}.about (name text primary key, value text not null);
    create table {SCHEMA}.tenants (tenant text collate "C" primary key, made_at timestamptz not null default now())
"""


def prepare_database(connection: Connection, server: Server, location: str) -> str:
    """Make what every table needs: the extension, our schema, the role we work as. The name of that role."""
    if server.vector is None:
        try:
            with connection.transaction():
                connection.execute(_EXTENSION)
        except psycopg.Error:
            raise ExtensionMissing(location, extension="vector") from None
    role = server.role
    if role and not server.may_take_role:
        _make_role(connection, role)
    try:
        with connection.transaction():
            connection.execute(_BASE)
    except psycopg.errors.InsufficientPrivilege:
        raise StoreForbidden(
            location, f"the role {server.login!r} may not create a schema",
            hint=f"Run `grant create on database … to {server.login}` as an administrator.",
        ) from None  # fmt: skip
    keep_fact(connection, "role", role)
    for statement in walls(f"{SCHEMA}.tenants", for_owner=False):
        connection.execute(_text(statement))
    if role:
        for what in (f"usage on schema {SCHEMA}", f"select on {SCHEMA}.about", f"select, insert on {SCHEMA}.tenants"):
            connection.execute(_text(f"grant {what} to {role}"))
    return role


def _make_role(connection: Connection, role: str) -> None:
    try:
        with connection.transaction():
            connection.execute(_text(f"create role {role} nologin nosuperuser nobypassrls"))
    except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
        pass  # of another database of this server, or made at this very moment
    connection.execute(_text(f"grant {role} to session_user"))


_KEEP = f"""
    insert into {SCHEMA}.about (name, value) values (%s, %s) on conflict (name) do update set value = excluded.value
"""


def keep_fact(connection: Connection, name: str, value: str) -> None:
    """Write down a fact about the whole database."""
    connection.execute(_KEEP, (name, value))


def session_settings(address: Address, server: Server, *, as_role: bool, read_only: bool) -> sql.Composed:
    """What every connection is told before it is used."""
    told = [
        sql.SQL("set search_path = {}, {}").format(sql.Identifier(SCHEMA), sql.Identifier(server.vector_schema)),
        sql.SQL("set recollect.tenant = {}").format(sql.Literal(address.tenant)),
        sql.SQL("set recollect.viewer = '*'"),
        sql.SQL("set recollect.teams = '{}'"),
        sql.SQL("set recollect.projects = '{}'"),
        sql.SQL("set recollect.writing = 'off'"),
        sql.SQL("set client_min_messages = warning"),
        sql.SQL("set hnsw.iterative_scan = relaxed_order"),  # goes on until enough pass the filter
        sql.SQL("set hnsw.ef_search = 120"),
    ]
    if as_role and server.schema and server.role:
        told.append(sql.SQL("set role {}").format(sql.Identifier(server.role)))
    if read_only:
        told.append(sql.SQL("set default_transaction_read_only = on"))
    return sql.SQL("; ").join(told)


EVERYONE = ("*", "{}", "{}")  # what a session is told that works for the whole tenant
VIEWER = """
    select set_config('recollect.viewer', %s, false), set_config('recollect.teams', %s, false),
           set_config('recollect.projects', %s, false)
"""


def viewer_settings(sight: Params | None) -> tuple[str, ...]:
    """What a session is told of who looks: a member with these teams and projects, or the whole tenant."""
    if sight is None:
        return EVERYONE
    told = PostgresDialect.bind(sight)
    return ("member", told["seen_teams"], told["seen_projects"])


def _text(statement: str) -> sql.SQL:
    """A statement of our own words; the driver's types want to see that nothing else is in it."""
    return sql.SQL(statement)


# --- errors -----------------------------------------------------------------------------------------------------------


def as_store_error(
    error: Exception, location: str, *, waited: float, size: int, was_committing: bool = False
) -> StoreError:
    """The most specific of our errors for one of the driver's."""
    errors = psycopg.errors
    match error:
        case PoolTimeout():
            return PoolExhausted(location, size=size, waited=waited)
        case errors.LockNotAvailable():
            return StoreBusy(location, waited=waited)
        case errors.DiskFull():
            return StoreFull(location)
        case errors.TooManyConnections():
            return StoreUnreachable(location, "the server has no connection left")
        case errors.InsufficientPrivilege():
            hint = f"Ask its administrator: `grant {ROLE} to` your role, or open it once as the role that owns it."
            return StoreForbidden(location, _words(error), hint=hint)
        case errors.ReadOnlySqlTransaction():
            return StoreReadOnly(location)
        case errors.DataCorrupted() | errors.IndexCorrupted() | errors.UndefinedTable() | errors.UndefinedColumn():
            return StoreDamaged(location, _words(error))
        case errors.IntegrityError():
            return StoreError(
                f"{location} did not take that: {_words(error)}.",
                hint="Run `recollect check`; if all is sound, this is a mistake in Recollect: please report it.",
            )
        case errors.OperationalError() | errors.InterfaceError() | PoolClosed():
            return StoreUnreachable(location, _words(error), was_committing=was_committing)
        case _:
            return StoreError(f"{location}: {_words(error)}", hint="This is a defect in Recollect; please report it.")


def _words(error: BaseException) -> str:
    """What an error says, on one line, without the echo of the statement or of the address."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    first = (primary or str(error) or type(error).__name__).strip().splitlines()[0]
    return _LEAD.sub("", first).rstrip(".")
