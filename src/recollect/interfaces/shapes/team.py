"""Shapes of people, tokens and talk about memories."""

from __future__ import annotations

from datetime import datetime

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN, WholeMemory


@with_config(OPEN)
class PersonShape(TypedDict):
    id: str
    name: str
    role: str
    teams: list[str]
    joined_at: datetime


@with_config(OPEN)
class TeamTokenShape(TypedDict):
    name: str
    person: str
    scope: str
    for_person: bool
    made_at: datetime
    until: datetime


@with_config(OPEN)
class NewTeamTokenShape(TypedDict):
    name: str
    token: str  # shown once


@with_config(OPEN)
class TeamTokensShape(TypedDict):
    tokens: list[TeamTokenShape]


@with_config(OPEN)
class InvitationShape(TypedDict):
    team: str
    role: str
    made_by: str
    until: datetime


@with_config(OPEN)
class InvitedShape(TypedDict):
    code: str  # shown once


@with_config(OPEN)
class TeamShape(TypedDict):
    name: str
    projects: list[str]


@with_config(OPEN)
class TeamStatusShape(TypedDict):
    teams: list[TeamShape]
    people: list[PersonShape]
    invitations: list[InvitationShape]
    disputed: int
    me: str | None


@with_config(OPEN)
class PeopleShape(TypedDict):
    people: list[PersonShape]


@with_config(OPEN)
class CommentShape(TypedDict):
    actor: str
    at: datetime
    words: str
    action: str  # comment, or what it was the reason of


@with_config(OPEN)
class ThreadShape(TypedDict):
    comments: list[CommentShape]


@with_config(OPEN)
class WelcomedShape(TypedDict):
    memory: WholeMemory
    weight: float


@with_config(OPEN)
class WelcomeShape(TypedDict):
    memories: list[WelcomedShape]


@with_config(OPEN)
class RevokedShape(TypedDict):
    revoked: str


@with_config(OPEN)
class RemovedShape(TypedDict):
    removed: str
