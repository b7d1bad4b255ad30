"""Shapes of conversations, observed sessions, entities and what was told."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN, WholeMemory


@with_config(OPEN)
class SessionShape(TypedDict):
    """A conversation: when, how much was said, how far its facts were drawn."""

    id: str
    state: Literal["open", "queued", "consolidated"]
    episodes: int
    seen_at: datetime
    last_at: datetime
    consolidated_at: datetime | None


class SessionsShape(TypedDict):
    sessions: list[SessionShape]


@with_config(OPEN)
class EntityShape(TypedDict):
    id: str
    name: str
    type: str
    aliases: list[str]
    summary: str
    mentions: int


class EntitiesShape(TypedDict):
    entities: list[EntityShape]


@with_config(OPEN)
class ProfileShape(TypedDict):
    """All that is known of one entity."""

    entity: EntityShape
    merged: list[EntityShape]
    memories: list[WholeMemory]


@with_config(OPEN)
class ToldShape(TypedDict):
    """A memory that an agent was told unasked: when, where, and what became of it."""

    id: str
    at: datetime
    moment: str
    session: str
    host: str
    status: str
    content: str
    touched: NotRequired[list[str]]  # in the story of a session: the memory's files that the session worked on


class ToldListShape(TypedDict):
    told: list[ToldShape]


@with_config(OPEN)
class SeenSessionShape(TypedDict):
    """An observed session of an agent, in figures."""

    id: str
    host: str
    kind: str
    outcome: str
    started: datetime | None
    ended: datetime | None
    prompt: str
    steps: int
    calls: int
    errors: int
    tokens: int
    taint: str
    branch: str


@with_config(OPEN)
class ObserverShape(TypedDict):
    """How much was observed, and the latest sessions."""

    sessions: int
    calls: int
    errors: int
    events: int
    slow_events: int
    tainted_sessions: int
    promoted: int
    last: datetime | None
    latest: list[SeenSessionShape]


@with_config(OPEN)
class SeenErrorShape(TypedDict):
    tool: str
    words: str
    example: str
    steps: list[int]
    times: int
    resolution: str


@with_config(OPEN)
class SeenFileShape(TypedDict):
    path: str
    reads: int
    edits: int
    first: int
    last: int


@with_config(OPEN)
class SeenToolShape(TypedDict):
    tool: str
    words: str
    times: int
    errors: int


@with_config(OPEN)
class SessionStoryShape(TypedDict):
    """One observed session: what it did, what it was told and when, what was learnt from it."""

    session: SeenSessionShape
    told: list[ToldShape]
    saved_tokens: int
    learned: list[WholeMemory]
    errors: list[SeenErrorShape]
    files: list[SeenFileShape]
    tools: list[SeenToolShape]
