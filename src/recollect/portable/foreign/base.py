"""What every reader of another program's memories hands over, and what they share: bounded reading, times, labels.

A reader says what each memory says, since when, for whom; what it cannot carry over it counts by name. It decides
nothing about trust: what another program kept is at most an agent's word until a person says otherwise.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from recollect.core.errors import InvalidField
from recollect.core.given_json import parse_given_json
from recollect.core.text import clean
from recollect.files.plain import read_plain_file
from recollect.store.sqlite.foreign import ForeignDatabase, is_sqlite

FILE_LIMIT = 512 * 2**20  # bytes of a file that is read whole
LABELS = 20  # tags of one memory that are carried over
_LABEL = 100  # characters


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """One memory as another program kept it."""

    content: str
    id: str  # its name there, so that importing again finds it
    place: str
    kind: str = "fact"
    created_at: datetime | None = None
    event_at: datetime | None = None
    tags: Sequence[str] = ()
    files: Sequence[str] = ()
    user: str | None = None
    session: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


class LeftOut(Counter[str]):
    """What could not be carried over, by what it is."""


class ForeignReader(Protocol):
    """Reads the memories of one program."""

    name: str
    about: str  # what it reads, for people

    def recognises(self, path: Path) -> bool:
        """Is this what it reads? Looks at little of it."""
        ...

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]: ...


def has_table(path: Path, table: str, *columns: str) -> bool:
    """Is it an SQLite database with a table that has some columns?"""
    if not path.is_file() or not is_sqlite(path):
        return False
    with ForeignDatabase(path) as found:
        return found.has(table, *columns)


def read_json_file(path: Path) -> Any:
    """The JSON value of a file, within a limit."""
    return parse_given_json(read_text_file(path), path.name)


def read_text_file(path: Path) -> str:
    """The text of a file: UTF-8, or UTF-16 where it says so."""
    data = read_plain_file(str(path), max_bytes=FILE_LIMIT)
    if data is None:
        raise InvalidField(str(path), f"it is no plain file, or larger than {FILE_LIMIT >> 20} MB")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not {encoding.removesuffix('-sig').upper()}"
        raise InvalidField(str(path), problem, hint="Convert it to UTF-8 first.") from None


def peek_json(path: Path, *, most: int = 64 * 2**20) -> Any:
    """The JSON value of a small file; nothing when it is none."""
    data = read_plain_file(str(path), max_bytes=most)
    try:
        return None if data is None else json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def moment_of(value: Any) -> datetime | None:
    """A time as ISO 8601, or as seconds or milliseconds since 1970; nothing when it is neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        if isinstance(value, str) and value.strip():
            at = datetime.fromisoformat(value.strip())
            return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


_MILLISECONDS = 10**11  # as seconds that would be the year 5138


def labels_of(value: Any) -> tuple[str, ...]:
    """Tags as a list, as JSON in a text, or between commas."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                value = []
        else:
            value = re.split(r"[,;]", text)
    names = (clean(str(one))[0].strip(" #\n")[:_LABEL] for one in value if one) if isinstance(value, list) else ()
    return tuple(dict.fromkeys(name for name in names if name))[:LABELS]


def text_in(value: Any) -> str:
    """A text, or nothing."""
    return value.strip() if isinstance(value, str) else ""


def object_of(value: Any) -> dict[str, Any]:
    """An object, given as one or as JSON in a text; empty when it is neither."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
