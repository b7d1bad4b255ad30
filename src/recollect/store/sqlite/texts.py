"""Every text that the tables of a file hold, whatever its schema: for those who look for what must not be there.

Rows are read and changed one by one, with their checksums. Memories and the log have writers of their own and are left
out where rows are changed; indexes over them hold no column of text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from recollect.core.digest import checksum
from recollect.store.port import Engine, Row, Value

_TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name"
_COLUMNS = "select name, lower(type), pk from pragma_table_info(:table) order by cid"
_EVERY = "select {columns} from {table}"
_CHANGE = "update or replace {table} set {set} where {key}"
_NUMBER, _CHECKSUM = "number", "checksum"
_NAMES = ("id", "turn", "path", "section", "session", "name")  # columns by which people know a row
OWN_WRITERS = ("memories", "facets", "log")


class HeldText(NamedTuple):
    """A text in a row: its table, its column, and what the row is called."""

    table: str
    column: str
    name: str
    text: str


class _Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    texts: tuple[int, ...]  # the places of its texts
    key: tuple[int, ...]  # the places of what names a row


class StoredTexts:
    """The texts of one file, table by table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def every(self, *, without: Sequence[str] = ()) -> Iterator[HeldText]:
        """Each text of each table but those of `without`."""
        for table in self._tables():
            if table.name not in without:
                for row in self._rows(table):
                    yield from _texts(table, row)

    def reword(self, change: Callable[[str], str], *, without: Sequence[str] = OWN_WRITERS) -> None:
        """Put every text through a change. Rows that do not match their checksum stay as they are. Runs inside the
        current write."""
        for table in self._tables():
            if table.name in without:
                continue
            for row in self._rows(table):
                new = [change(value) if place in table.texts and value else value for place, value in enumerate(row)]
                if new != list(row):
                    self._replace(table, row, new)

    def _tables(self) -> Iterator[_Table]:
        for (name,) in self._engine.rows(_TABLES):
            found = self._engine.rows(_COLUMNS, {"table": name})
            texts = tuple(place for place, (_, type, _) in enumerate(found) if type == "text")
            key = tuple(place for place, (_, _, part) in sorted(enumerate(found), key=lambda one: one[1][2]) if part)
            if texts and key:
                yield _Table(str(name), tuple(str(column) for column, _, _ in found), texts, key)

    def _rows(self, table: _Table) -> list[Row]:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        return self._engine.rows(_EVERY.format(columns=columns, table=f'"{table.name}"'))

    def _replace(self, table: _Table, row: Row, new: list[Value]) -> None:
        if _CHECKSUM in table.columns:
            at = table.columns.index(_CHECKSUM)
            counted = [place for place, column in enumerate(table.columns) if column not in (_NUMBER, _CHECKSUM)]
            if checksum([row[place] for place in counted]) != row[at]:
                return
            new[at] = checksum([new[place] for place in counted])
        changed = {f"new{place}": value for place, value in enumerate(new) if value != row[place]}
        named = {f"old{place}": row[place] for place in table.key}
        sets = ", ".join(f'"{table.columns[int(name[3:])]}" = :{name}' for name in changed)
        keys = " and ".join(f'"{table.columns[place]}" = :old{place}' for place in table.key)
        self._engine.execute(_CHANGE.format(table=f'"{table.name}"', set=sets, key=keys), {**changed, **named})


def _texts(table: _Table, row: Row) -> Iterator[HeldText]:
    named = next((table.columns.index(name) for name in _NAMES if name in table.columns), None)
    key = ", ".join(str(row[place]) for place in table.key) if named is None else str(row[named])
    for place in table.texts:
        if row[place]:
            yield HeldText(table.name, table.columns[place], key, str(row[place]))
