"""Is this file's schema one that Recollect makes? Asked of every connection before anything else is read through it.

A file can hold more than rows: a view in the place of a table runs whatever query it likes, a trigger eats what was
just written, a generated column or an index calls functions. So a store is used only if each of its objects is word for
word one that a release of ours creates. Light: the hook's reader asks here too. Knows no engine and no migration.
"""

from __future__ import annotations

import time

from recollect.core.digest import blake2b
from recollect.store.migrations.latest import APPLICATION_ID, LATEST, SCHEMA_DIGESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import apsw

    SchemaRow = tuple[Any, ...]  # type, name, tbl_name, rootpage, sql

MAX_OBJECTS = 600  # of a schema; ours has some 130
MAX_VALUE = 256 * 2**20  # bytes of one value: the largest we write is the log entry of a large document
MAX_SQL = 1_000_000  # bytes of one statement
_SECONDS = 5.0  # to read the schema; ours takes a millisecond
_STEPS = 20_000  # of SQLite's machine between two looks at the clock

_OBJECTS = "select type, name, tbl_name, rootpage, sql from sqlite_schema order by type, name limit :limit"
_INDEX_SETTINGS = "select k, v from keywords_config limit 10"
# What `analyze` makes depends on how SQLite was built, so these may be there or not.
_FIGURES = {
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
_STORED_SETTINGS = {"version": (4, 5), "secure-delete": (1,)}  # of FTS5, which moves to 5 by itself


def harden(connection: apsw.Connection) -> None:
    """Take away what only hostile files use: triggers, attached files, functions called by a schema, double-quoted
    words that become strings, writing to the tables inside an index, values larger than we ever write."""
    import apsw

    for option, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    ):
        connection.config(option, value)
    for limit, value in (
        (apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE),
        (apsw.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL),
        (apsw.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (apsw.SQLITE_LIMIT_ATTACHED, 0),
    ):
        connection.limit(limit, value)


class FoundSchema:
    """What a file says it is, read at one moment: others may be making or migrating it."""

    __slots__ = ("application_id", "is_of_this_release", "rows", "settings", "version")

    def __init__(self, connection: apsw.Connection) -> None:
        until = time.monotonic() + _SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        connection.execute("begin")
        try:
            self.application_id = _number(connection, "application_id")
            self.version = _number(connection, "user_version")
            self.rows: list[SchemaRow] = connection.execute(_OBJECTS, {"limit": MAX_OBJECTS + 1}).fetchall()
            # The schema number of this release, and word for word its schema.
            self.is_of_this_release = (
                self.is_ours and self.version == LATEST and digest_schema(self.rows) in SCHEMA_DIGESTS
            )
            self.settings: list[tuple[Any, ...]] = (
                connection.execute(_INDEX_SETTINGS).fetchall() if self.is_of_this_release else []
            )
        finally:
            connection.set_progress_handler(None)
            if connection.in_transaction:
                connection.execute("rollback")

    @property
    def is_empty(self) -> bool:
        return not self.rows

    @property
    def is_ours(self) -> bool:
        """Does the header say that Recollect made it?"""
        return self.application_id == APPLICATION_ID

    def odd_settings(self) -> list[str]:
        """What the keyword index is told to do that we never tell it."""
        return [
            f"setting {name!r} of the keyword index"
            for name, value in self.settings
            if value not in _STORED_SETTINGS.get(name, ())
        ]


def _number(connection: apsw.Connection, pragma: str) -> int:
    found: list[tuple[Any, ...]] = connection.execute(f"pragma {pragma}").fetchall()
    return int(found[0][0])


def digest_schema(rows: Iterable[SchemaRow]) -> str:
    """One value for a whole schema. Blanks do not count, nor where in the file an object lies, as long as no two lie
    in the same place."""
    told = []
    places: list[int] = []
    for type, name, table, root, sql in rows:
        if _FIGURES.get(name) == sql and type == "table":
            continue
        if root:
            places.append(root)
        told.append(f"{type}\0{name}\0{table}\0{bool(root):d}\0{sql}\0")
    if len(set(places)) != len(places):
        told.append("two in one place")
    return str(blake2b(" ".join("".join(told).split()).encode("utf-8", "replace"), digest_size=16).hexdigest())


def odd_objects(rows: Sequence[SchemaRow], known: Mapping[tuple[str, str], frozenset[str]]) -> list[str]:
    """What stands in a schema and not among the known statements of each type and name, and what is missing."""
    if len(rows) > MAX_OBJECTS:
        return [f"more than {MAX_OBJECTS} tables, indexes and other objects"]
    found = {(type, name) for type, name, *_ in rows}
    odd = [_describe(type, name, table) for type, name, table, sql in unknown_objects(rows, known)]
    odd += [f"no {type} {name}" for type, name in sorted(known) if (type, name) not in found]
    roots = [row[3] for row in rows if row[3]]
    return odd + (["two tables in the same place of the file"] if len(set(roots)) != len(roots) else [])


def odd_kinds(rows: Sequence[SchemaRow], known: Mapping[tuple[str, str], frozenset[str]]) -> list[str]:
    """The same for a store of a newer release, whose tables cannot be known here: only what could run something."""
    return [
        _describe(type, name, table)
        for type, name, table, sql in unknown_objects(rows, known)
        if type not in ("table", "index") or _runs_something(str(sql or ""))
    ]


def unknown_objects(
    rows: Sequence[SchemaRow], known: Mapping[tuple[str, str], frozenset[str]]
) -> Iterator[tuple[str, str, str, str | None]]:
    """Type, name, table and statement of what is not known."""
    for type, name, table, _, sql in rows:
        if _FIGURES.get(name) == sql and type == "table":
            continue
        if squeeze(sql) not in known.get((type, name), ()):
            yield type, name, table, sql


def squeeze(sql: str | None) -> str:
    """A statement without needless blanks; nothing for what SQLite makes by itself."""
    return " ".join(str(sql or "").split())


def _runs_something(sql: str) -> bool:
    words = squeeze(sql).lower().replace(" (", "(")
    return any(word in words for word in ("virtual table", "generated always", " as(", "check(", "default("))


def _describe(type: str, name: str, table: str) -> str:
    shown = f"{type} {name}"[:80]
    return shown if type in ("table", "view") or table == name else f"{shown} on {table}"[:120]
