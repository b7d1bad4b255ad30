"""A conversation as the store keeps track of it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

SessionState: TypeAlias = Literal["open", "queued", "consolidated"]


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: when it was seen, how much was said, and how far its facts were drawn."""

    id: str
    project: str
    seen_at: datetime  # when its first message arrived
    last_at: datetime  # the latest event time in it
    episodes: int
    cursor: int = 0  # ordinal of the last episode whose facts were drawn
    queued_at: datetime | None = None
    consolidated_at: datetime | None = None

    @property
    def state(self) -> SessionState:
        if self.consolidated_at is not None:
            return "consolidated"
        return "open" if self.queued_at is None else "queued"
