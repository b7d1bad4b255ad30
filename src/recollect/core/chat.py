"""Words between a program and a language model: messages, the tools it may call, and what it asks of them. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
