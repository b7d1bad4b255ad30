"""Shapes of documents and code."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN


@with_config(OPEN)
class ReachShape(TypedDict):
    """What a change reaches, or what something needs."""

    target: str
    direction: str
    nodes: list[dict[str, Any]]
    files: list[dict[str, Any]]
    tests: list[str]
    notes: list[str]


class CodeFoundShape(TypedDict):
    hits: list[dict[str, Any]]


class MatchesShape(TypedDict):
    matches: list[dict[str, Any]]
    notes: list[str]


@with_config(OPEN)
class DocsCheckedShape(TypedDict):
    ok: bool
    conflicts: list[dict[str, Any]]
    broken: list[dict[str, Any]]
    notes: list[str]


@with_config(OPEN)
class DocumentShape(TypedDict):
    id: str
    path: str
    title: NotRequired[str]
    label: NotRequired[str]
    type: NotRequired[str]
    confidence: float
    created_at: datetime
    updated_at: datetime
    accessed_at: NotRequired[datetime]
    access_count: NotRequired[int]
    sha256: NotRequired[str]
    size: NotRequired[int]
    passages: NotRequired[int]
    confidence_now: NotRequired[float]


class DocumentsShape(TypedDict):
    documents: list[DocumentShape]


class RelatedDocumentShape(TypedDict):
    document: DocumentShape
    count: int
    last: datetime


class RelatedDocumentsShape(TypedDict):
    related: list[RelatedDocumentShape]


@with_config(OPEN)
class DocumentLinksShape(TypedDict):
    """What a document links to, what links to it, and its rank as a share of the highest."""

    rank: float
    links_to: list[str]
    linked_from: list[str]


@with_config(OPEN)
class ModuleShape(TypedDict):
    path: str
    files: int
    symbols: int
    layer: int
    role: str
    needs: list[dict[str, Any]]
    needed_by: list[str]
    entries: list[str]
    changes: int
    memories: int


@with_config(OPEN)
class MapShape(TypedDict):
    """The folders of the code, what they need, their layers, and where programs begin."""

    files: int
    nodes: int
    edges: int
    languages: dict[str, int]
    modules: list[ModuleShape]
