"""Shapes of the review queue and its decisions."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN, WholeMemory
from recollect.interfaces.shapes.memories import EntryShape


@with_config(OPEN)
class ReviewItemShape(TypedDict):
    """A memory that waits for a person. `revisions` goes back with a decision, so that it holds for these words."""

    id: str
    question: Literal["contradiction", "dispute", "stale", "candidate", "tainted"]
    subject: str
    memory: WholeMemory
    rivals: list[WholeMemory]
    revisions: dict[str, int]
    sessions: list[str]
    steps: int
    saves_tokens: int
    tainted: bool
    spoken: bool
    in_others_words: bool


@with_config(OPEN)
class ReviewPageShape(TypedDict):
    items: list[ReviewItemShape]
    total: int
    cursor: str | None
    damaged: list[str]


class ReviewGroupShape(TypedDict):
    by: str
    name: str
    count: int


class ReviewGroupsShape(TypedDict):
    groups: list[ReviewGroupShape]


@with_config(OPEN)
class SightingShape(TypedDict):
    session: NotRequired[str]
    host: NotRequired[str]
    at: NotRequired[datetime]
    steps: NotRequired[list[int]]
    prompt: NotRequired[str]
    taint: NotRequired[str]


@with_config(OPEN)
class ReviewEvidenceShape(TypedDict):
    """What speaks for and against an item, both sides of a contradiction included."""

    item: ReviewItemShape
    times: int
    sightings: list[SightingShape]
    sources: list[WholeMemory]
    history: list[EntryShape]
    rival_histories: dict[str, list[EntryShape]]


@with_config(OPEN)
class DecidedShape(TypedDict):
    decision: str
    memory: WholeMemory
    settled: list[WholeMemory]
    waiting: int
    act: str  # undo it by this id; empty when nothing changed
