"""The ports strangers plug into, and the small callables the house takes as arguments. Protocols only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from recollect.core.ids import MemoryId
from recollect.core.query import Candidate, Query, Reading
from recollect.core.records import Memory

Clock: TypeAlias = Callable[[], datetime]
Identity: TypeAlias = Callable[[str, datetime], MemoryId]


class Channel(Protocol):
    """One way of finding candidates. Raising is allowed: `gather` names the broken channel and goes on."""

    @property
    def name(self) -> str: ...

    def candidates(self, query: Query, reading: Reading) -> Sequence[Candidate]:
        """Best first."""
        ...


class Projector(Protocol):
    """Keeps one projection (vectors, entities …) in step with the rows, from the outbox."""

    @property
    def name(self) -> str: ...

    def project(self, memories: Sequence[Memory]) -> None: ...


class Reranker(Protocol):
    """Reorders the best candidates by reading them. May raise; the order then stays as it was."""

    @property
    def name(self) -> str: ...

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One relevance from 0 to 1 for each text."""
        ...


class Neighbourhood(Protocol):
    """The files one hop away from some files, in the code graph or the co-access graph."""

    def neighbours(self, files: Sequence[str]) -> Sequence[str]: ...


class Tokenizer(Protocol):
    """Counts the tokens a text costs. `exact` is false for an estimate."""

    @property
    def exact(self) -> bool: ...

    def count(self, text: str) -> int: ...
