"""Shapes of memories, hits, briefings, receipts and their history."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN, MemoryShape, WholeMemory


@with_config(OPEN)
class HitShape(TypedDict):
    id: str
    score: float
    confidence: float
    citation: str
    reasons: list[str]
    doubts: list[str]
    memory: MemoryShape


@with_config(OPEN)
class FoundShape(TypedDict):
    """What was found, best first; `notes` say what was skipped and why."""

    query_type: str
    notes: list[str]
    hits: list[HitShape]


@with_config(OPEN)
class BriefingShape(TypedDict):
    """A briefing within its budget: fenced text, and the ids of what is in it."""

    text: str
    ids: list[str]
    tokens: int
    notes: list[str]


@with_config(OPEN)
class ReceiptShape(TypedDict):
    """What became of a statement: new, same, supersedes or contradicts."""

    id: str
    verdict: str
    against: list[str]
    redacted: list[str]
    notes: list[str]
    durable: bool
    memory: MemoryShape


@with_config(OPEN)
class UpdatedShape(TypedDict):
    """The memory as it is now; `supersedes` names the one it took the place of, nothing when it is only proposed."""

    id: str
    memory: MemoryShape
    supersedes: NotRequired[str | None]
    notes: NotRequired[list[str]]


@with_config(OPEN)
class ForgottenShape(TypedDict):
    forgotten: str
    lingering: str
    backups: list[str]


@with_config(OPEN)
class MemoryPage(TypedDict):
    """A page of memories. `cursor` leads to the page after it; `damaged` names rows that could not be read."""

    memories: list[WholeMemory]
    total: NotRequired[int]
    cursor: str | None
    damaged: list[str]


@with_config(OPEN)
class FoundMemory(TypedDict):
    """A memory that was found, with what ranked it and where the words of the question stand in it."""

    id: str
    score: float
    confidence: float
    citation: str
    factors: dict[str, float]
    reasons: list[str]
    doubts: list[str]
    highlights: NotRequired[list[list[int]]]
    memory: WholeMemory


@with_config(OPEN)
class FoundMemories(TypedDict):
    """What was found, best first; `notes` say what was skipped and why."""

    query_type: str
    notes: list[str]
    hits: list[FoundMemory]


@with_config(OPEN)
class PackedBriefing(TypedDict):
    """A briefing within its budget: the fenced text and the memories in it."""

    query_type: str
    tokens: int
    notes: list[str]
    hits: list[FoundMemory]
    text: str


@with_config(OPEN)
class RememberedShape(TypedDict):
    """What became of a statement: new, same, supersedes or contradicts."""

    id: str
    verdict: Literal["new", "same", "supersedes", "contradicts"]
    against: list[str]
    redacted: list[str]
    notes: list[str]
    durable: bool
    memory: WholeMemory


@with_config(OPEN)
class EntryShape(TypedDict):
    """One change in the log: who, when, by which door, what and why."""

    number: int
    act: str
    at: datetime
    actor: NotRequired[str]
    door: NotRequired[str]
    action: str
    memory: NotRequired[str]
    why: NotRequired[str]
    before: NotRequired[dict[str, Any]]
    after: NotRequired[dict[str, Any]]
    undoes: NotRequired[str]
    erased: NotRequired[bool]


@with_config(OPEN)
class HistoryShape(TypedDict):
    entries: list[EntryShape]


@with_config(OPEN)
class LinkShape(TypedDict):
    source: str
    relation: str
    target: NotRequired[str]
    file: NotRequired[str]
    confidence: float
    automatic: NotRequired[bool]
    created_at: datetime


@with_config(OPEN)
class FadingShape(TypedDict):
    """What the confidence will be worth in so many days if nobody uses the memory."""

    day: int
    confidence: float


@with_config(OPEN)
class AccountShape(TypedDict):
    """How we came to believe something: the memory, its links both ways, all that happened to it."""

    memory: WholeMemory
    confidence_now: float
    points_at: list[LinkShape]
    pointed_at_by: list[LinkShape]
    history: list[EntryShape]
    fading: list[FadingShape]


class UndoneShape(TypedDict):
    """What was taken back."""

    act: str
    actions: list[str]
    memories: list[str]


@with_config(OPEN)
class BatchResult(TypedDict):
    """What became of one of several: `ok`, or the code and words of the error."""

    id: str
    ok: bool
    revision: NotRequired[int]  # undo names it, so that it takes back this change and no later one
    code: NotRequired[str]
    detail: NotRequired[str]


class BatchShape(TypedDict):
    results: list[BatchResult]


class CitedSentenceShape(TypedDict):
    text: str
    memories: list[str]


@with_config(OPEN)
class AnswerShape(TypedDict):
    """What is remembered about a question; `sentences` where a language model wrote an answer, each with what it rests
    on."""

    question: str
    model: str | None
    sentences: list[CitedSentenceShape]
    hits: list[FoundMemory]
    notes: list[str]


class MemoriesShape(TypedDict):
    memories: list[WholeMemory]
