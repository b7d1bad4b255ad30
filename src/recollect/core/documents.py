"""Documents as the store keeps them: what a file is, what it points at, what it is found with. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

DocumentState: TypeAlias = Literal["live", "pruned"]


@dataclass(frozen=True, slots=True)
class Document:
    """One file whose passages are remembered. Its words are the file's; how far it is trusted is ours."""

    id: str
    project: str
    path: str  # below the project's directory, with "/"; absolute when it lies elsewhere
    sha256: str
    title: str
    label: str
    type: str
    confidence: float
    created_at: datetime
    updated_at: datetime  # when its words last changed
    accessed_at: datetime | None = None
    access_count: int = 0
    size: int = 0
    mtime_ns: int = 0
    seen_at: datetime | None = None  # when the file was last read
    passages: int = 0
    state: DocumentState = "live"  # pruned: kept in mind, without passages, until the file changes
    former: tuple[str, ...] = ()  # paths it had before it was moved

    @property
    def last_used(self) -> datetime:
        return max(self.updated_at, self.accessed_at) if self.accessed_at else self.updated_at


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """One reference from a document, as written, and the document it comes to."""

    source: str
    target: str
    kind: str
    line: int
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Where a document stands among the others: its rank as a share of the highest, and the paths on both sides."""

    rank: float
    links_to: tuple[str, ...]
    linked_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """A document that was found together with another."""

    document: Document
    count: int
    last: datetime
