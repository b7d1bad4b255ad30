"""Conversations: messages between a program and a language model, the turns of an agent, and a session as the store
keeps track of it. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Request:
    """A tool the model wants called. Arguments are JSON as the model wrote it, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. An assistant's may carry requests; a tool's answers the request `answers` names."""

    role: Role
    content: str
    requests: tuple[Request, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: its name, what it is for, and the JSON schema of what it takes."""

    name: str
    description: str
    parameters: Mapping[str, Any]


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


SessionState: TypeAlias = Literal["open", "queued", "consolidated"]


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: when it was seen, how much was said, and how far its facts were drawn."""

    id: str
    project: str
    seen_at: datetime  # when its first message arrived
    last_at: datetime  # the latest event time in it
    episodes: int
    cursor: int = 0  # ordinal of the last episode whose facts were drawn
    queued_at: datetime | None = None
    consolidated_at: datetime | None = None

    @property
    def state(self) -> SessionState:
        if self.consolidated_at is not None:
            return "consolidated"
        return "open" if self.queued_at is None else "queued"
