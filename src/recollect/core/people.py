"""Who works with a shared store: people, the roles they have, and what a request knows of the one who sends it.

A role says what somebody may do. It never widens what they see: that follows from their teams alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.core.errors import InvalidField
from recollect.core.text import clean

_MAX_NAME = 60  # characters of a person's, a team's or a token's name


class Role(StrEnum):
    """What a person may do. Each includes what stands before it."""

    MEMBER = "member"  # add, dispute, comment; change what they added
    STEWARD = "steward"  # change and decide about whatever they see; write for the whole organization
    ADMIN = "admin"  # manage people, teams and invitations


@dataclass(frozen=True, slots=True)
class Member:
    """A person of the organization as a request acts for them."""

    id: str
    name: str  # what the log names
    role: Role
    teams: frozenset[str]
    projects: frozenset[str]  # those that their teams work on
    tenant: str = ""  # whose store it is, where a database holds several

    def is_at_least(self, role: Role) -> bool:
        ranks = list(Role)
        return ranks.index(self.role) >= ranks.index(role)


@dataclass(frozen=True, slots=True)
class Person:
    """What is kept of somebody."""

    id: str
    name: str
    role: Role
    teams: tuple[str, ...]
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class TeamToken:
    """What is known of a person's token: everything but the token."""

    name: str
    person: str  # their name
    scope: str
    is_persons: bool  # what comes in with it is the person's word, not their agent's
    made_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """A code that lets one person in, once, until some moment."""

    team: str
    role: Role
    made_by: str
    until: datetime


def read_name(given: str, field: str) -> str:
    """A name of a person, a team or a token, exactly as given: two that differ must never become one."""
    name = clean(given)[0]
    if not name or name != given or "\n" in name or len(name) > _MAX_NAME:
        raise InvalidField(field, f"it takes 1 to {_MAX_NAME} plain visible characters")
    return name
