"""Between what was observed and its tables: a value as a row of plain columns and back, each row with its checksum."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any, Generic, TypeVar

from recollect.core.digest import checksum
from recollect.store.engine import Row, Value

V = TypeVar("V")
_MOMENTS = frozenset({"started", "ended", "at"})  # seconds in a value, milliseconds in a column


class Table(Generic[V]):
    """A table whose columns are its owner, the fields of a value by name, and a checksum."""

    def __init__(self, name: str, made: type[V], owner: tuple[str, ...], *, key: tuple[str, ...] = ()) -> None:
        self.name = name
        self._made = made
        self._fields: tuple[Field[Any], ...] = fields(made)  # type: ignore[arg-type]
        own = tuple(one.name for one in self._fields)
        self.columns = ", ".join(own)
        every = (*owner, *own, "checksum")
        replaced = ", ".join(f"{one} = excluded.{one}" for one in every if one not in key)
        self.insert = f"insert into {name} ({', '.join(every)}) values ({', '.join('?' * len(every))})" + (
            f" on conflict ({', '.join(key)}) do update set {replaced}" if key else ""
        )

    def rows(self, owner: tuple[str, ...], values: Sequence[V]) -> list[tuple[Value, ...]]:
        """The rows of some values of one owner."""
        plain = [(*owner, *(_stored(one, getattr(value, one.name)) for one in self._fields)) for value in values]
        return [(*row, checksum(row)) for row in plain]

    def value(self, row: Row) -> V:
        """The value whose columns these are, in the order of `columns`."""
        return self._made(
            **{one.name: _known(one, stored) for one, stored in zip(self._fields, row, strict=True)}
        )  # fmt: skip


def _stored(field: Field[Any], value: Any) -> Value:
    if field.name in _MOMENTS:
        return None if value is None else round(value * 1000)
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return float(value) if field.type == "float" else value


def _known(field: Field[Any], stored: Value) -> Any:
    if field.name in _MOMENTS:
        return None if stored is None else stored / 1000
    return tuple(json.loads(stored)) if str(field.type).startswith("tuple") else stored
