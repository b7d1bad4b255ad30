"""Another program's SQLite file, read table by table. It may be in use, and whoever made it may mean harm.

Only plain tables are read, never a view, a virtual table or a generated expression; nothing of its schema runs, nothing
is written, and values are bounded. What comes out are plain dicts; which tables matter is the caller's business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import apsw

from recollect.core.errors import InvalidField

_VALUE_LIMIT = 16 * 2**20  # bytes of one value
_COLUMNS_LIMIT = 200
_TABLES = "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name"
_NAMES = "select name, hidden from pragma_table_xinfo(?)"
_PLAIN = re.compile(r"create\s++table\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MAGIC = b"SQLite format 3\0"


def is_sqlite(path: Path) -> bool:
    """Does a file begin like an SQLite database?"""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class ForeignDatabase:
    """One file, open for reading."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._connection = self._open(path)
            self._tables = dict(self._read_tables())
        except apsw.Error as error:
            raise InvalidField(str(path), f"it is no SQLite file that can be read ({error})") from None

    def _open(self, path: Path) -> apsw.Connection:
        place = os.path.abspath(path)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        in_use = any(os.path.exists(f"{place}{end}") for end in ("-wal", "-journal"))
        frozen = "" if in_use else "?immutable=1"  # nobody writes to it: no lock and no file beside it is needed
        connection = apsw.Connection(f"file:{quote(place)}{frozen}", flags=flags)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _VALUE_LIMIT)
        connection.set_busy_timeout(2_000)
        return connection

    def _read_tables(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for name, sql in list(self._connection.execute(_TABLES)):
            if not isinstance(sql, str) or not _PLAIN.match(sql.lstrip()) or not _WORD.fullmatch(name):
                continue
            columns = [column for column, hidden in self._connection.execute(_NAMES, (name,)) if not hidden]
            if len(columns) <= _COLUMNS_LIMIT:
                yield name, tuple(column for column in columns if _WORD.fullmatch(column))

    def has(self, table: str, *columns: str) -> bool:
        """Is there a plain table with these columns?"""
        return table in self._tables and set(columns) <= set(self._tables[table])

    def rows(self, table: str, columns: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Every row of a plain table, in the order they were kept, with those of some columns that it has."""
        known = self._tables.get(table, ())
        wanted = [column for column in (columns or known) if column in known]
        if not wanted:
            return
        listed = ", ".join(f'"{column}"' for column in wanted)
        try:
            for row in self._connection.execute(f'select {listed} from "{table}" order by rowid'):
                yield dict(zip(wanted, row, strict=True))
        except apsw.Error as error:
            raise InvalidField(str(self._path), f"its table {table} cannot be read ({error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
