"""A turn of an agent: what came in, which tools were called, what went out. Values only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

TurnState: TypeAlias = Literal["open", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool within a turn. `step` counts the model's answers in the turn, from 0."""

    id: str
    name: str
    arguments: str  # JSON as the model wrote it
    result: str
    failed: bool = False
    step: int = 0
    said: str = ""  # what the model wrote before it called; on the first call of a step only
    ms: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange. `open` means that nobody was left to say how it ended."""

    id: str
    session: str
    thread: str  # one waking of the session
    provider: str
    model: str
    at: datetime
    input: str
    output: str = ""
    calls: tuple[Call, ...] = ()
    state: TurnState = "open"
    note: str = ""
    ended_at: datetime | None = None
    tokens_in: int = 0
    tokens_out: int = 0

    def having(self, **changes: Any) -> Turn:
        """This turn with some fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Waking:
    """Who wakes, and to which session; `thread` names this waking."""

    session: str
    thread: str
    agent: str
    at: datetime
