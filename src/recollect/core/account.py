"""The answer to `why`. A value only."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.links import Link
from recollect.core.log import Entry
from recollect.core.records import Memory


@dataclass(frozen=True, slots=True)
class Account:
    """Why a memory is believed: the record, its links both ways, all that happened to it."""

    memory: Memory
    confidence: float  # as of now, faded
    points_at: tuple[Link, ...]
    pointed_at_by: tuple[Link, ...]
    history: tuple[Entry, ...]
