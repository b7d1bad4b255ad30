"""Every text that the tables of a store hold, whatever its schema: for those who look for what must not be there.

Rows are read and changed one by one, with their checksums. Memories and the log have writers of their own and are left
out where rows are changed; indexes over them hold no column of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from recollect.core.digest import checksum
from recollect.store.port import Engine, Row, Value

_EVERY = "select {columns} from {table}"
_OF_PROJECT = "select {columns} from {table} where project = :project"
_CHANGE = "update {table} set {set} where {key}"
_REMOVE = "delete from {table} where {key}"
_CLEAR = "delete from {table} where {which}"
_NUMBER, _CHECKSUM, _PROJECT = "number", "checksum", "project"
# Where a session's name stands in tables that have no column `session`.
_SESSION_IDS = ("sessions", "observed_sessions")
_SCHEMA_TABLES = "keywords"  # begins the names of the tables inside the keyword index
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
    """The texts of one store, table by table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def every(self, *, without: Sequence[str] = ()) -> Iterator[HeldText]:
        """Each text of each table but those of `without`."""
        for table in self._tables():
            if table.name not in without:
                for row in self._rows(table):
                    yield from _texts(table, row)

    def reword(
        self, change: Callable[[str], str], *, without: Sequence[str] = OWN_WRITERS, project: str | None = None
    ) -> Counter[str]:
        """Put every text through a change; how many rows of each table that changed. With `project` only its rows, and
        its name stays. Rows that do not match their checksum stay as they are. Runs inside the current write."""
        changed: Counter[str] = Counter()
        for table in self._tables():
            if table.name in without:
                continue
            texts = set(table.texts) - (
                {table.columns.index(_PROJECT)} if project and _PROJECT in table.columns else set()
            )
            for row in self._rows(table, project):
                new = [change(value) if place in texts and value else value for place, value in enumerate(row)]
                if new != list(row):
                    changed[table.name] += self._replace(table, row, new)
        return changed

    def remove_sessions(self, goes: Callable[[str], bool], project: str) -> Counter[str]:
        """Delete the rows of some sessions, turns with their calls, from every table but those of `OWN_WRITERS`."""
        removed: Counter[str] = Counter()
        turns: set[str] = set()
        for table in self._tables():
            column = "id" if table.name in _SESSION_IDS else "session"
            if table.name in OWN_WRITERS or column not in table.columns:
                continue
            at = table.columns.index(column)
            for row in self._rows(table, project):
                if row[at] is not None and goes(str(row[at])):
                    removed[table.name] += self._remove(table, row)
                    if table.name == "turns":
                        turns.add(str(row[table.columns.index("id")]))
        for table in self._tables():
            if table.name == "turn_calls" and turns:
                at = table.columns.index("turn")
                gone = [row for row in self._rows(table, project) if row[at] in turns]
                removed[table.name] += sum(self._remove(table, row) for row in gone)
        return removed

    def clear(self, project: str | None, *, without: Sequence[str]) -> Counter[str]:
        """Delete all rows of a project, or of all projects, from every table but those of `without`. Facts about the
        whole file stay."""
        removed: Counter[str] = Counter()
        for name, columns in self._engine.tables().items():
            if name in without or name.startswith(_SCHEMA_TABLES) or _PROJECT not in {one.name for one in columns}:
                continue
            which = "project = :project" if project is not None else "project <> ''" if name == "meta" else "true"
            given = {} if project is None else {"project": project}
            removed[name] += self._engine.execute(_CLEAR.format(table=f'"{name}"', which=which), given)
        return +removed

    def _tables(self) -> Iterator[_Table]:
        for name, columns in self._engine.tables().items():
            texts = tuple(place for place, column in enumerate(columns) if column.is_text)
            key = tuple(sorted((p for p, column in enumerate(columns) if column.key), key=lambda p: columns[p].key))
            if texts and key:
                yield _Table(name, tuple(column.name for column in columns), texts, key)

    def _rows(self, table: _Table, project: str | None = None) -> list[Row]:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        given = {} if project is None or _PROJECT not in table.columns else {"project": project}
        sql = _OF_PROJECT if given else _EVERY
        return self._engine.rows(sql.format(columns=columns, table=f'"{table.name}"'), given)

    def _remove(self, table: _Table, row: Row) -> int:
        named, key = self._key(table, row)
        return self._engine.execute(_REMOVE.format(table=f'"{table.name}"', key=key), named)

    def _replace(self, table: _Table, row: Row, new: list[Value]) -> int:
        if _CHECKSUM in table.columns:
            at = table.columns.index(_CHECKSUM)
            counted = [place for place, column in enumerate(table.columns) if column not in (_NUMBER, _CHECKSUM)]
            if checksum([row[place] for place in counted]) != row[at]:
                return 0
            new[at] = checksum([new[place] for place in counted])
        changed = {f"new{place}": value for place, value in enumerate(new) if value != row[place]}
        sets = ", ".join(f'"{table.columns[int(name[3:])]}" = :{name}' for name in changed)
        named, key = self._key(table, row)
        if named != (after := self._key(table, new))[0]:  # another row may be called so already: this one replaces it
            self._engine.execute(_REMOVE.format(table=f'"{table.name}"', key=after[1]), after[0])
        return self._engine.execute(_CHANGE.format(table=f'"{table.name}"', set=sets, key=key), {**changed, **named})

    def _key(self, table: _Table, row: Sequence[Value]) -> tuple[dict[str, Value], str]:
        """What names a row, as values and as a condition."""
        named = {f"key{place}": row[place] for place in table.key}
        return named, " and ".join(f'"{table.columns[place]}" = :key{place}' for place in table.key)


def _texts(table: _Table, row: Row) -> Iterator[HeldText]:
    named = next((table.columns.index(name) for name in _NAMES if name in table.columns), None)
    key = ", ".join(str(row[place]) for place in table.key) if named is None else str(row[named])
    for place in table.texts:
        if row[place]:
            yield HeldText(table.name, table.columns[place], key, str(row[place]))
