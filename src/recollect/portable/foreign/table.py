"""Plain tables: JSON, lines of JSON, CSV or lines of text, with a mapping where the names are not the usual ones.

A mapping goes from our field to their column: `{"content": "note", "created_at": "when", "tags": "labels"}`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.core.digest import short_digest
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.given_json import parse_given_json
from recollect.portable.foreign.base import (
    ForeignMemory,
    LeftOut,
    labels_of,
    moment_of,
    read_json_file,
    read_text_file,
    text_in,
)

_USUAL: Mapping[str, tuple[str, ...]] = {
    "content": ("content", "text", "memory", "note", "statement", "fact", "value", "body"),
    "id": ("id", "uuid", "key", "uid"),
    "kind": ("kind",),
    "created_at": ("created_at", "created", "timestamp", "time", "date", "at"),
    "event_at": ("event_at",),
    "tags": ("tags", "labels", "categories"),
    "files": ("files",),
    "user": ("user", "user_id"),
    "session": ("session", "session_id", "thread", "thread_id"),
}
_FIELD_LIMIT = 2_000_000  # characters of one value of a CSV file
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt")


class TableReader:
    """Rows of any program, by the names of their columns."""

    name = "table"
    about = "a table: .json, .jsonl, .csv, .tsv or .txt, one memory a row"

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        for field in mapping or {}:
            if field not in _USUAL:
                raise UnknownChoice("map", field, _USUAL)
        self._mapping = {**_USUAL, **{field: (column,) for field, column in (mapping or {}).items()}}

    def recognises(self, path: Path) -> bool:
        return path.suffix.lower() in _SUFFIXES and path.is_file()

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        found = False
        for number, row in enumerate(_rows(path), start=1):
            place = f"{path.name}: row {number}"
            content = text_in(self._value(row, "content"))
            if not content:
                left_out["rows without a text"] += 1
                continue
            found = True
            yield self._memory(row, content, place)
            for field in ("created_at", "event_at"):
                value = self._value(row, field)
                if value is not None and moment_of(value) is None:
                    left_out[f"dates for {field} that cannot be read: write them as 2026-03-31"] += 1
            for name in row.keys() - {column for columns in self._mapping.values() for column in columns}:
                left_out[f"column {name[:40]!r}"] += 1
        if not found and left_out["rows without a text"]:
            names = ", ".join(_USUAL["content"])
            raise InvalidField(
                str(path), f"no column is called {names}", hint="Name it: --map content=COLUMN. Nothing was imported."
            )

    def _memory(self, row: Mapping[str, Any], content: str, place: str) -> ForeignMemory:
        id = self._value(row, "id")
        return ForeignMemory(
            content,
            id=short_digest(content) if id in (None, "") else str(id)[:200],
            place=place,
            kind=text_in(self._value(row, "kind")) or "fact",
            created_at=moment_of(self._value(row, "created_at")),
            event_at=moment_of(self._value(row, "event_at")),
            tags=labels_of(self._value(row, "tags")),
            files=labels_of(self._value(row, "files")),
            user=text_in(self._value(row, "user")) or None,
            session=text_in(self._value(row, "session")) or None,
        )

    def _value(self, row: Mapping[str, Any], field: str) -> Any:
        return next((row[name] for name in self._mapping[field] if row.get(name) not in (None, "")), None)


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return _csv_rows(path)
        case ".txt":
            return (
                {"content": line.strip().lstrip("-*• ")} for line in read_text_file(path).split("\n") if line.strip()
            )
        case ".jsonl" | ".ndjson":
            return _json_lines(path)
    value = read_json_file(path)
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, list)), [value])
    if not isinstance(value, list):
        raise InvalidField(str(path), "it is no list of memories")
    return ({"content": one} if isinstance(one, str) else one for one in value if isinstance(one, dict | str))


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(read_text_file(path).split("\n"), start=1):
        if line.strip():
            value = parse_given_json(line, f"{path.name}: line {number}")
            if isinstance(value, dict):
                yield value


def _csv_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    csv.field_size_limit(_FIELD_LIMIT)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    lines = read_text_file(path).splitlines(keepends=True)
    try:
        for row in csv.DictReader(lines, delimiter=delimiter):
            yield {str(name): value for name, value in row.items() if name is not None}
    except csv.Error as error:
        raise InvalidField(str(path), f"it is no CSV that can be read ({error})") from None


def parse_mapping(given: Iterable[str]) -> dict[str, str]:
    """`content=note` and the like, as the command line takes them."""
    mapping: dict[str, str] = {}
    for one in given:
        field, sign, column = one.partition("=")
        if not sign or not field or not column:
            raise InvalidField("map", f"{one!r} is not FIELD=COLUMN")
        mapping[field.strip()] = column.strip()
    return mapping
