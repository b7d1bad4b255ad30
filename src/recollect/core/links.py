"""How memories bear on one another and on files. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.ids import MemoryId
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
