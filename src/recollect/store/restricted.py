"""A store as one member sees it: the same engine, with every statement that reads limited to what is in their sight.

The first wall is the statement itself (`store/sight.py`); where the database has row security of its own, it is told
who is looking, and is the second. Indexes are made over this engine, so that their reads pass here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from recollect.core.people import Member
from recollect.store.indexes import EngineIndexes
from recollect.store.port import Column, Engine, KeywordIndex, Params, Row, Value, VectorIndex
from recollect.store.sight import rewrite, sight_of

Result = TypeVar("Result")


class RestrictedEngine:
    """What the repositories of a member's store work on. Closing it closes nothing: the store belongs to others too."""

    def __init__(self, engine: Engine, member: Member) -> None:
        self._engine = engine
        self._sight = sight_of(member)

    def __getattr__(self, name: str) -> Any:
        """What an index needs of its own engine beyond the port."""
        return getattr(self._engine, name)

    # --- reads ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        limited = rewrite(sql)
        asked = params if limited is sql else {**(params or {}), **self._used(limited)}
        with self._engine.viewing(self._sight):
            return self._engine.rows(limited, asked)

    def _used(self, sql: str) -> dict[str, Value]:
        return {name: value for name, value in self._sight.items() if f":{name}" in sql}

    def row(self, sql: str, params: Params | None = None) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    @contextmanager
    def read(self) -> Iterator[None]:
        with self._engine.viewing(self._sight), self._engine.read():
            yield

    # --- writes -----------------------------------------------------------------------------------------------------

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[None]:
        with self._engine.viewing(self._sight), self._engine.write(durable=durable):
            yield

    def execute(self, sql: str, params: Params | None = None) -> int:
        return self._engine.execute(sql, params)

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> list[Row]:
        return self._engine.execute_many(sql, rows)

    def savepoint(self) -> AbstractContextManager[None]:
        return self._engine.savepoint()

    # --- indexes ----------------------------------------------------------------------------------------------------

    @property
    def indexes(self) -> EngineIndexes:
        return self._engine.indexes

    @cached_property
    def keywords(self) -> KeywordIndex:
        return self.indexes.keywords(self)

    def vectors(self, project: str) -> VectorIndex:
        return self.indexes.vectors(self, project)

    def create_vectors(self) -> None:
        self.indexes.create_vectors(self)

    # --- the rest is the engine's -----------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        return self._engine.location

    @property
    def read_only(self) -> bool:
        return self._engine.read_only

    @property
    def is_remote(self) -> bool:
        return self._engine.is_remote

    @property
    def generation(self) -> int:
        return self._engine.generation

    @property
    def folder(self) -> Path | None:
        return self._engine.folder

    @property
    def version(self) -> str:
        return self._engine.version

    def size(self) -> int:
        return self._engine.size()

    def viewing(self, sight: Params | None) -> AbstractContextManager[None]:
        return self._engine.viewing(self._sight)

    def wall(self, table: str, condition: str) -> None:
        self._engine.wall(table, condition)

    def migration(self) -> AbstractContextManager[None]:
        return self._engine.migration()

    def each_store(self) -> Iterator[None]:
        return self._engine.each_store()

    def register(self) -> None:
        self._engine.register()

    def wait_for_change(self, timeout: float) -> bool:
        return self._engine.wait_for_change(timeout)

    def schema(self) -> int:
        return self._engine.schema()

    def set_schema(self, number: int) -> None:
        self._engine.set_schema(number)

    def upgrades(self) -> Sequence[tuple[int, str, Callable[[Engine], None], tuple[str, ...]]]:
        return self._engine.upgrades()

    def tables(self) -> dict[str, list[Column]]:
        return self._engine.tables()

    def check_structure(self) -> list[str]:
        return self._engine.check_structure()

    def backup(self, reason: str, *, unless_same: bool = False) -> Path | None:
        return self._engine.backup(reason, unless_same=unless_same)

    def copy_to(self, target: Path) -> None:
        self._engine.copy_to(target)

    def retry_with_reserve(self, act: Callable[[], Result]) -> Result:
        return self._engine.retry_with_reserve(act)

    def checkpoint(self) -> bool:
        return self._engine.checkpoint()

    def raw_blocks(self) -> Iterator[bytes]:
        return iter(())  # they hold everybody's words

    def contains_bytes(self, text: str) -> bool:
        return self._engine.contains_bytes(text)

    def vacuum(self) -> None:
        self._engine.vacuum()

    def close(self) -> None:
        """The store is open for others."""
