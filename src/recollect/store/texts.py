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

_PAGE = 1_000  # rows read at once
_ROWS = "select {columns} from {table} where {which} order by {order} limit :page"
_ROW = "select {columns} from {table} where {key}"
_CHANGE = "update {table} set {set} where {key}"
_REMOVE = "delete from {table} where {key}"
_CLEAR = "delete from {table} where {which}"
_COUNT = "select count(*) from {table} where {which}"
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


class FoundRow(NamedTuple):
    """A row in which something was found: its table, and what names it there."""

    table: str
    key: tuple[Value, ...]


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
        return self.reword_rows(self.changing(change, without=without, project=project), change, project=project)

    def changing(
        self, change: Callable[[str], str], *, without: Sequence[str] = OWN_WRITERS, project: str | None = None
    ) -> list[FoundRow]:
        """The rows that a change would alter. Only reads, page by page."""
        return [
            FoundRow(table.name, tuple(row[place] for place in table.key))
            for table in self._tables()
            if table.name not in without
            for row in self._rows(table, project)
            if _changed(table, row, change, project) != list(row)
        ]

    def reword_rows(
        self, found: Sequence[FoundRow], change: Callable[[str], str], *, project: str | None = None
    ) -> Counter[str]:
        """Put the texts of some rows through a change, as they are now; how many of each table it altered. Runs inside
        the current write."""
        changed: Counter[str] = Counter()
        tables = {table.name: table for table in self._tables()}
        for one in found:
            table = tables[one.table]
            row = self._row(table, one)
            if row is not None and (new := _changed(table, row, change, project)) != list(row):
                changed[table.name] += self._replace(table, row, new)
        return changed

    def of_sessions(self, goes: Callable[[str], bool], project: str) -> list[FoundRow]:
        """The rows of some sessions, turns with their calls, in every table but those of `OWN_WRITERS`. Only reads."""
        found: list[FoundRow] = []
        turns: set[str] = set()
        for table in self._tables():
            column = "id" if table.name in _SESSION_IDS else "session"
            if table.name in OWN_WRITERS or column not in table.columns:
                continue
            at = table.columns.index(column)
            for row in self._rows(table, project):
                if row[at] is not None and goes(str(row[at])):
                    found.append(FoundRow(table.name, tuple(row[place] for place in table.key)))
                    if table.name == "turns":
                        turns.add(str(row[table.columns.index("id")]))
        for table in self._tables():
            if table.name == "turn_calls" and turns:
                at = table.columns.index("turn")
                gone = (row for row in self._rows(table, project) if row[at] in turns)
                found += [FoundRow(table.name, tuple(row[place] for place in table.key)) for row in gone]
        return found

    def remove_rows(self, found: Sequence[FoundRow]) -> Counter[str]:
        """Delete some rows; how many of each table there were. Runs inside the current write."""
        removed: Counter[str] = Counter()
        tables = {table.name: table for table in self._tables()}
        for one in found:
            named, key = self._named(tables[one.table], one.key)
            removed[one.table] += self._engine.execute(_REMOVE.format(table=f'"{one.table}"', key=key), named)
        return removed

    def clear(self, project: str | None, *, without: Sequence[str]) -> Counter[str]:
        """Delete all rows of a project, or of all projects, from every table but those of `without`. Facts about the
        whole file stay."""
        removed: Counter[str] = Counter()
        for name, which, given in self._of_project(project, without):
            removed[name] += self._engine.execute(_CLEAR.format(table=f'"{name}"', which=which), given)
        return +removed

    def count(self, project: str | None, *, without: Sequence[str]) -> Counter[str]:
        """How many rows `clear` would delete."""
        counted: Counter[str] = Counter()
        for name, which, given in self._of_project(project, without):
            row = self._engine.row(_COUNT.format(table=f'"{name}"', which=which), given)
            counted[name] += int(row[0]) if row else 0
        return +counted

    def _of_project(self, project: str | None, without: Sequence[str]) -> Iterator[tuple[str, str, dict[str, Value]]]:
        """The tables that hold rows of projects, each with the condition that names those of one, or of all."""
        for name, columns in self._engine.tables().items():
            if name in without or name.startswith(_SCHEMA_TABLES) or _PROJECT not in {one.name for one in columns}:
                continue
            which = "project = :project" if project is not None else "project <> ''" if name == "meta" else "true"
            yield name, which, {} if project is None else {"project": project}

    def _tables(self) -> Iterator[_Table]:
        for name, columns in self._engine.tables().items():
            texts = tuple(place for place, column in enumerate(columns) if column.is_text)
            key = tuple(sorted((p for p, column in enumerate(columns) if column.key), key=lambda p: columns[p].key))
            if texts and key:
                yield _Table(name, tuple(column.name for column in columns), texts, key)

    def _rows(self, table: _Table, project: str | None = None) -> Iterator[Row]:
        """The rows of a table by their keys, a page at a time."""
        columns = ", ".join(f'"{column}"' for column in table.columns)
        order = ", ".join(f'"{table.columns[place]}"' for place in table.key)
        given: dict[str, Value] = {} if project is None or _PROJECT not in table.columns else {"project": project}
        which = "project = :project" if given else "1 = 1"
        while True:
            sql = _ROWS.format(columns=columns, table=f'"{table.name}"', which=which, order=order)
            rows = self._engine.rows(sql, {**given, "page": _PAGE})
            yield from rows
            if len(rows) < _PAGE:
                return
            last = {f"last{place}": rows[-1][place] for place in table.key}
            given = {**given, **last}
            beyond = f"({order}) > ({', '.join(f':{name}' for name in last)})"
            which = f"project = :project and {beyond}" if "project" in given else beyond

    def _row(self, table: _Table, found: FoundRow) -> Row | None:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        named, key = self._named(table, found.key)
        return self._engine.row(_ROW.format(columns=columns, table=f'"{table.name}"', key=key), named)

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
        return self._named(table, [row[place] for place in table.key])

    def _named(self, table: _Table, key: Sequence[Value]) -> tuple[dict[str, Value], str]:
        named = {f"key{place}": value for place, value in zip(table.key, key, strict=True)}
        return named, " and ".join(f'"{table.columns[place]}" = :key{place}' for place in table.key)


def _changed(table: _Table, row: Row, change: Callable[[str], str], project: str | None) -> list[Value]:
    """The values of a row after a change of its texts; the name of a single project stays."""
    kept = _PROJECT if project else None
    return [
        change(str(value)) if value and place in table.texts and table.columns[place] != kept else value
        for place, value in enumerate(row)
    ]


def _texts(table: _Table, row: Row) -> Iterator[HeldText]:
    named = next((table.columns.index(name) for name in _NAMES if name in table.columns), None)
    key = ", ".join(str(row[place]) for place in table.key) if named is None else str(row[named])
    for place in table.texts:
        if row[place]:
            yield HeldText(table.name, table.columns[place], key, str(row[place]))
