"""What every database engine offers the repositories above it: statements in, plain tuples out, one write at a time.

Repositories never see a connection. `write()` opens the transaction that `execute` runs in; reads outside one see the
last committed state and never wait for a writer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

Value: TypeAlias = Any  # str, int, float, bytes or None, as the driver returns them
Row: TypeAlias = tuple[Value, ...]
Params: TypeAlias = Mapping[str, Value]
Result = TypeVar("Result")


class Engine(Protocol):
    """One open database."""

    @property
    def location(self) -> str: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def folder(self) -> Path | None:
        """The directory of the file, or nothing for a database in memory."""
        ...

    def write(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """One transaction under the fair lock: all of it or none. Nested calls join the outer one.

        Durable means synced to disk when the block ends; the alternative is for counters that may be lost.
        """
        ...

    def read(self) -> AbstractContextManager[None]:
        """Several reads of one committed state."""
        ...

    def insist(self, act: Callable[[], Result]) -> Result:
        """Run `act`, a write that must succeed even on a full disk, such as forgetting."""
        ...

    def settle(self) -> bool:
        """Leave no deleted text behind in logs. False when that has to wait for a reader to end."""
        ...

    def holds(self, text: str) -> bool:
        """Do the bytes of the file hold this text?"""
        ...

    def rewrite(self) -> None:
        """Write the whole file anew, leaving out what deleted rows left behind."""
        ...

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the last committed state."""
        ...

    def execute(self, sql: str, params: Params | None = None) -> int:
        """Run a statement inside the current write; how many rows it changed."""
        ...

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run one positional statement for many rows inside the current write."""
        ...

    def rows(self, sql: str, params: Params | None = None) -> list[Row]: ...

    def row(self, sql: str, params: Params | None = None) -> Row | None: ...

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text as the keyword index sees it: cut into words, folded and stemmed."""
        ...

    def schema(self) -> int:
        """The number of the last migration this file went through; 0 for an empty file."""
        ...

    def set_schema(self, number: int) -> None: ...

    def close(self) -> None: ...
