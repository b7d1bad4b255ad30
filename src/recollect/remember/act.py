"""Whose hand an act is by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.doors import ActDoor
from recollect.core.ids import MemoryId


@dataclass(frozen=True, slots=True)
class ActContext:
    """Who acts, when, through which door and under which act: the same for every entry of one act."""

    actor: str
    at: datetime
    act: MemoryId
    door: ActDoor
    why: str = ""

    @property
    def is_persons(self) -> bool:
        """Does a person act? Everything that raises trust asks this."""
        return self.door.is_persons
