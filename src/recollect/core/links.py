"""How memories bear on one another and on files, and the answer to `why`. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.ids import MemoryId
from recollect.core.log import Entry
from recollect.core.records import Memory
from recollect.core.scope import Relation


@dataclass(frozen=True, slots=True)
class Link:
    """A relation from a memory to exactly one target: another memory or a file."""

    source: MemoryId
    relation: Relation
    target: MemoryId | None
    file: str | None
    confidence: float
    automatic: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Account:
    """Why a memory is believed: the record, its links both ways, all that happened to it."""

    memory: Memory
    confidence: float  # as of now, faded
    points_at: tuple[Link, ...]
    pointed_at_by: tuple[Link, ...]
    history: tuple[Entry, ...]
