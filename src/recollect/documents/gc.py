"""Garbage collection: passages that repeat others, and documents nobody needs. First a plan, which `--dry-run` shows as
it is; then its application, in small transactions.

What differs in a number or says the opposite is no repetition, however near its vector. The file is never touched: a
pruned document comes back when its file changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.core.documents import Document
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.documents.context import DocumentsContext
from recollect.documents.search import effective_confidence
from recollect.remember.act import ActContext
from recollect.remember.passages import DocumentChunks

SAME = 0.95  # cosine from which two passages say the same
UNTRUSTED = 0.15  # effective confidence at or below which an unused document goes
OLD = timedelta(days=30)
_STEP = 500  # rows per transaction
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
_DENIALS = re.compile(r"\b(?:not|no|never|none|cannot|without|\w+n't)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A passage that says what a newer document says."""

    passage: MemoryId
    document: str  # path
    of: MemoryId
    kept: str  # path of the document whose passage stays
    cosine: float

    @property
    def reason(self) -> str:
        return f"repeats a passage of {self.kept} (cosine {self.cosine:.3f})"


@dataclass(frozen=True, slots=True)
class Stale:
    """A document nobody has needed."""

    document: Document
    confidence: float
    days: int

    @property
    def reason(self) -> str:
        return f"confidence {self.confidence:.2f}, never found, unchanged for {self.days} days"


@dataclass(frozen=True, slots=True)
class GcPlan:
    """What would go, and what could not be judged."""

    repeats: tuple[Repeat, ...] = ()
    stale: tuple[Stale, ...] = ()
    notes: tuple[str, ...] = ()


def plan_gc(room: DocumentsContext, *, now: datetime) -> GcPlan:
    """What is to go. Changes nothing."""
    documents = [one for one in room.documents.every() if one.state == "live"]
    stale = [one for document in documents if (one := _judge_stale(document, now)) is not None]
    leaving = {one.document.id for one in stale}
    repeats, notes = _find_repeats(room, [document for document in documents if document.id not in leaving])
    return GcPlan(tuple(repeats), tuple(stale), tuple(notes))


def _judge_stale(document: Document, now: datetime) -> Stale | None:
    worth = effective_confidence(document, now)
    age = now - document.updated_at
    if worth > UNTRUSTED or document.access_count > 0 or age <= OLD:
        return None
    return Stale(document, worth, age.days)


def _find_repeats(room: DocumentsContext, documents: Sequence[Document]) -> tuple[list[Repeat], list[str]]:
    rank = {
        one.id: place
        for place, one in enumerate(sorted(documents, key=lambda document: (_newest(document), document.path)))
    }
    paths = {document.id: document.path for document in documents}
    home = room.reader.passage_documents()
    order = sorted((id for id, document in home.items() if document in rank), key=lambda id: rank[home[id]])
    found: list[Repeat] = []
    dropped: set[str] = set()
    pairs = room.reader.repeats(order, minimum=SAME)
    if pairs is None:
        return [], ["no vectors yet, so no near-duplicates were looked for; `recollect tend` makes them"]
    for start in range(0, len(pairs), _STEP):
        some = pairs[start : start + _STEP]
        ids = list(dict.fromkeys(id for one, other, _ in some for id in (one, other)))
        memories: dict[str, Memory] = {memory.id: memory for memory in room.reader.get_many(ids).memories}
        for one, other, cosine in some:
            if one not in memories or other not in memories or other in dropped:
                continue
            if _says_the_same(memories[one], memories[other]):
                dropped.add(one)
                found.append(Repeat(memories[one].id, paths[home[one]], memories[other].id, paths[home[other]], cosine))
    return found, []


def _newest(document: Document) -> float:
    return -document.updated_at.timestamp()


def _says_the_same(one: Memory, other: Memory) -> bool:
    """A person's word on a passage protects it; another figure or another denial makes it another statement."""
    if one.pinned or one.verified:
        return False
    return _figures_and_denials(one.content) == _figures_and_denials(other.content)


def _figures_and_denials(text: str) -> tuple[list[str], int]:
    return sorted(_FIGURES.findall(text)), len(_DENIALS.findall(text))


def apply_gc(
    planned: GcPlan,
    room: DocumentsContext,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Do what was planned. What changed meanwhile is left alone."""
    act, total = room.writer.act(), len(planned.repeats) + len(planned.stale)
    for start in range(0, len(planned.repeats), _STEP):
        _drop(planned.repeats[start : start + _STEP], room, act)
        progress(min(start + _STEP, total), total)
    for number, one in enumerate(planned.stale, start=1):
        _prune(one, room, act)
        progress(len(planned.repeats) + number, total)


def _drop(repeats: Sequence[Repeat], room: DocumentsContext, act: ActContext) -> None:
    with room.writer.transaction():
        there = {memory.id: memory for memory in room.reader.get_many([one.passage for one in repeats]).memories}
        kept = {memory.id for memory in room.reader.get_many([one.of for one in repeats]).memories}
        gone = [there[one.passage] for one in repeats if one.passage in there and one.of in kept]
        lost = room.writer.drop_passages(gone, act=act)
        documents = room.documents.by_ids(lost)
        room.documents.put(
            [
                replace(document, passages=max(0, document.passages - lost[document.id]))
                for document in documents.values()
            ]
        )


def _prune(one: Stale, room: DocumentsContext, act: ActContext) -> None:
    with room.writer.transaction():
        now = room.documents.by_ids([one.document.id]).get(one.document.id)
        if now != one.document:
            return
        room.writer.replace_passages([DocumentChunks(now.id, ())], act=act)
        room.documents.put([replace(now, state="pruned", passages=0)])
