"""The ports strangers plug into and the small callables the house takes as arguments: protocols, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from recollect.core.ids import MemoryId
from recollect.core.query import Candidate, Query, Reading
from recollect.core.records import Memory

if TYPE_CHECKING:
    from recollect.core.chores import Done, Plan, WorkBudget

Clock: TypeAlias = Callable[[], datetime]
Identity: TypeAlias = Callable[[str, datetime], MemoryId]


def quiet(done: int, waiting: int) -> None:
    """Progress that nobody watches."""


class Channel(Protocol):
    """One way of finding candidates. Raising is allowed: `gather` names the broken channel and goes on."""

    @property
    def name(self) -> str: ...

    def candidates(self, query: Query, reading: Reading) -> Sequence[Candidate]:
        """Best first."""
        ...


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


class CoChange(Protocol):
    """Files that are worked on together, by what was observed or committed."""

    def changing_with(self, files: Sequence[str]) -> Mapping[str, float]:
        """Files that go with some of `files`, each with how surely, from 0 to 1; none of `files` themselves."""
        ...


class Volatility(Protocol):
    """How fast files change, by their history."""

    def rates(self, files: Sequence[str]) -> Mapping[str, float]:
        """Changes per day lately; files without a history are left out."""
        ...


class Tokenizer(Protocol):
    """Counts the tokens a text costs. `exact` is false for an estimate."""

    @property
    def exact(self) -> bool: ...

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """How a memory anchored to a symbol stands against the source as it is now."""

    state: Literal["valid", "moved", "stale"]
    note: str = ""  # where it moved to, what changed
    factor: float = 1.0  # what is left of its score


class Anchors(Protocol):
    """Verifies memories against the symbols they are about. Those it knows nothing of are left out."""

    def standing(self, memories: Sequence[Memory]) -> Mapping[MemoryId, Standing]: ...


class Changes(Protocol):
    """What happened to files since a memory was made."""

    def changed(self, files: Sequence[str], *, since: str) -> Sequence[str]:
        """Those of `files` that differ from what they were at a commit. An unknown commit is no change."""
        ...

    def modified(self, file: str) -> datetime | None:
        """When a file was last written; nothing when it is not there."""
        ...


class Chore(Protocol):
    """One kind of maintenance. Planning only reads; applying goes in small transactions and can be cut short."""

    @property
    def name(self) -> str: ...

    def plan(self, now: datetime, *, due: bool) -> Plan:
        """What there is to do. When its hour has not come, only what should not wait for it."""
        ...

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        """Do it, as far as the budget goes. May raise: the runner writes it down and the rest goes on."""
        ...
