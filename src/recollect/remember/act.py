"""Whose hand an act is by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.ids import MemoryId


@dataclass(frozen=True, slots=True)
class ActContext:
    """Who acts, when, and under which act: the same for every entry of one act."""

    actor: str
    at: datetime
    act: MemoryId
    why: str = ""
    door: str = ""  # where it came in: cli, mcp, http …; empty where nobody says
