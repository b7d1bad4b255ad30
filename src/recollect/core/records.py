"""The record: one Memory for everything that can be recalled.

Values only. What a memory may hold is checked in `remember/shape`; how it is kept is `store`'s affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from recollect.core.decay import Decay
from recollect.core.ids import MemoryId
from recollect.core.scope import Scope, Source, Status, Visibility

if TYPE_CHECKING:
    from recollect.core.payloads import Payload

CITATION_LIMIT = 40  # characters: it has to fit a chip in the agent's output

ChunkType: TypeAlias = Literal["function", "class", "module", "prose"]


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """The piece of work a memory belongs to, in its methodology's own hierarchy."""

    methodology: str
    hierarchy: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Span:
    """Where a passage was cut from its document."""

    type: ChunkType
    start: int
    end: int
    context: str = ""
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement, with all that is known about how it was learnt."""

    id: MemoryId
    project: str
    kind: str
    content: str
    confidence: float
    created_at: datetime
    updated_at: datetime
    accessed_at: datetime
    source: Source
    scope: Scope
    visibility: Visibility
    status: Status
    fingerprint: str
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    event_at: datetime | None = None
    access_count: int = 0
    streak: int = 0  # accesses since the last correction or dispute
    session: str | None = None
    commit: str | None = None
    work_unit: WorkUnit | None = None
    source_role: str | None = None
    provenance: tuple[str, ...] = ()  # sessions that taught or confirmed it
    node: str | None = None
    impacted: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    citation: str | None = None
    needs_review: bool = False
    verified: bool = False
    pinned: bool = False
    flagged: bool = False  # the secret scanner redacted something: stays on this machine
    stale_at: datetime | None = None
    valid_until: datetime | None = None
    superseded_by: MemoryId | None = None
    decay: Decay | None = None  # None: as its kind does
    span: Span | None = None
    embedding_model: str | None = None
    payload: Payload | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 1
    user: str | None = None  # the one user of an assistant it belongs to; None: nobody in particular
    team: str | None = None  # the team that sees it, where `visibility` is team; None: all that work on the project

    @property
    def happened_at(self) -> datetime:
        """When it happened, as far as that is known; else when it was written."""
        return self.event_at or self.created_at

    def having(self, **changes: Any) -> Memory:
        """This memory with some fields changed."""
        return replace(self, **changes)
