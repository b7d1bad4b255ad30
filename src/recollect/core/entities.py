"""Who and what is spoken of: a Mention in a text, and the Entity behind it. Values only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType

from recollect.core.text import normal_form

EntityId = NewType("EntityId", str)

NAME_LIMIT = 200  # characters; a longer run is not a name
_POSSESSIVE = re.compile(r"['’]s$")


class EntityType(StrEnum):
    """The closed list of what an entity can be."""

    PERSON = "person"
    PROJECT = "project"
    ORGANIZATION = "organization"
    LOCATION = "location"
    EMAIL = "email"
    URL = "url"
    DATE = "date"
    TAG = "tag"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a text that names something, how sure its finder is, and which finder it was."""

    text: str
    type: EntityType
    start: int
    end: int
    confidence: float
    by: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that is spoken of, under one canonical name. One merged into another points at it."""

    id: EntityId
    project: str
    name: str
    type: EntityType
    created_at: datetime
    aliases: tuple[str, ...] = ()
    summary: str = ""
    merged_into: EntityId | None = None
    mentions: int = 0  # memories that mention it; counted when read

    def having(self, **changes: Any) -> Entity:
        return replace(self, **changes)


def entity_key(text: str) -> str:
    """What all spellings of one name share: case, width, a possessive and the sign before a mention do not count."""
    return _POSSESSIVE.sub("", normal_form(text).strip(" ,;:\"'“”‘’()[]")).lstrip("@#")
