"""Searching documents: the one pipeline over passages, the blend with trust and rank, then the best of each document.

Nothing is written here; what a search means for trust and co-access is in `use`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from recollect.core.decay import Hourly, effective
from recollect.core.documents import Document
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.query import Candidate, Filter, Mode, Query
from recollect.core.ranking import multiply_odds
from recollect.core.records import Memory
from recollect.core.tokens import ESTIMATE
from recollect.documents.context import DocumentsContext
from recollect.recall.pack import pack
from recollect.recall.recipes import UNBOUNDED

DEFAULT_LIMIT = 10
PER_DOCUMENT = 1
_OVERFETCH = 3  # candidates per wanted result: the best passages of one document crowd out other documents
_MAX_FETCHED = 100
MODES: Mapping[str, Mode] = {"hybrid": "hybrid", "keyword": "keyword", "vector": "dense"}


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that answers, with the document it stands in and what made its score."""

    document: Document
    passage: Memory
    score: float
    relevance: float  # what the pipeline said
    confidence: float  # of the document, now
    rank: float  # of the document, as a share of the highest
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, best first, and what was skipped and why."""

    matches: tuple[Match, ...]
    notes: tuple[str, ...] = ()


def search(
    text: str,
    room: DocumentsContext,
    *,
    now: datetime,
    mode: str = "hybrid",
    limit: int = DEFAULT_LIMIT,
    per_document: int | None = PER_DOCUMENT,
    label: str | None = None,
    type: str | None = None,
) -> Found:
    """The best passages for a question, at most so many of each document (`None`: as many as there are)."""
    if mode not in MODES:
        raise UnknownChoice("mode", mode, MODES)
    if limit < 1 or (per_document is not None and per_document < 1):
        raise InvalidField("limit", "at least one result, and one of each document")
    admitted: Iterable[str] = ()
    if label is not None or type is not None:
        admitted = room.documents.placed(label=label, type=type)
        if not admitted:
            return Found((), (f"no document is {' and '.join(one for one in (label, type) if one)}",))
    filter = Filter(kinds=frozenset({Kind.PASSAGE}), documents=frozenset(admitted))
    query = Query(text, k=_fetch_count(limit, per_document), filter=filter, mode=MODES[mode])
    ranking = room.reader.rank(query, plain=True)
    blended, facts = _blend_candidates(ranking.candidates[: query.k], room, now)
    packed = pack(_limit_per_document(blended, per_document), k=limit, budget=UNBOUNDED, tokenizer=ESTIMATE)
    matches = tuple(replace(facts[hit.id], reasons=hit.reasons) for hit in packed.hits)
    return Found(matches, (*ranking.notes, *packed.notes))


def _fetch_count(limit: int, per_document: int | None) -> int:
    wanted = limit * (1 if per_document is None else per_document * _OVERFETCH)
    return max(limit, min(_MAX_FETCHED, wanted))


def _blend_candidates(
    candidates: Sequence[Candidate], room: DocumentsContext, now: datetime
) -> tuple[list[Candidate], dict[MemoryId, Match]]:
    """The candidates of documents we know, by the blend of relevance, trust and rank; and what made each score."""
    ids = [id for candidate in candidates if (id := _document_of(candidate)) is not None]
    documents, ranks = room.documents.by_ids(ids), room.documents.ranks(ids)
    facts: dict[MemoryId, Match] = {}
    for candidate in candidates:
        document = documents.get(_document_of(candidate) or "")
        if document is not None and candidate.memory is not None:
            facts[candidate.id] = _match(candidate, candidate.memory, document, ranks.get(document.id, 0.0), now)
    known = [replace(candidate, score=facts[candidate.id].score) for candidate in candidates if candidate.id in facts]
    order = sorted(
        known, key=lambda one: ("rerank" not in one.factors, -one.score, facts[one.id].document.path, one.id)
    )
    return order, facts


def _document_of(one: Candidate) -> str | None:
    return one.memory.span.document if one.memory is not None and one.memory.span is not None else None


def _match(one: Candidate, passage: Memory, document: Document, rank: float, now: datetime) -> Match:
    relevance = one.factors.get("rerank", one.factors.get("relevance", one.score))
    confidence = effective_confidence(document, now)
    return Match(
        document, passage, blend(relevance, confidence=confidence, rank=rank), relevance, confidence, rank, one.reasons
    )


def _limit_per_document(candidates: Sequence[Candidate], per_document: int | None) -> list[Candidate]:
    """At most so many of each document, the best of them."""
    if per_document is None:
        return list(candidates)
    taken: dict[str | None, int] = {}
    best: list[Candidate] = []
    for candidate in candidates:
        count = taken.get(_document_of(candidate), 0)
        if count < per_document:
            taken[_document_of(candidate)] = count + 1
            best.append(candidate)
    return best


# --- what a search means for the documents it handed out ------------------------------------------------------------

_CO_FOUND = 5  # documents of one answer that count as found together


def note_use(matches: Sequence[Match], room: DocumentsContext, at: datetime) -> None:
    """Count one access of each document and each pair of the first five. Not synced: a lost count harms nobody."""
    ids = list(dict.fromkeys(match.document.id for match in matches))
    if not ids:
        return
    with room.writer.transaction(durable=False):
        documents = room.documents.by_ids(ids)  # as they are now: others may have found them meanwhile
        room.documents.put(
            [
                replace(
                    document,
                    confidence=raise_confidence(document.confidence),
                    access_count=document.access_count + 1,
                    accessed_at=at,
                )
                for document in documents.values()
            ]
        )
        room.documents.count_pairs(combinations([id for id in ids[:_CO_FOUND] if id in documents], 2), at)


# --- how far a document is trusted ----------------------------------------------------------------------------------

_FADING = Hourly(0.995, floor=0.1)  # an hour without use leaves 99.5 %; a document stays findable however old
_GAIN = 1.03  # what being found is worth


def effective_confidence(document: Document, now: datetime) -> float:
    """What a document's stored confidence is worth now. Computed when read, never written back."""
    return effective(document.confidence, _FADING, last_used=document.last_used, now=now, held=False)


def raise_confidence(confidence: float) -> float:
    """The stored confidence after a search has handed the document out."""
    return min(1.0, confidence * _GAIN)


def blend(fused: float, *, confidence: float, rank: float) -> float:
    """How good a passage is, given how far its document is trusted and how much others refer to it (both 0 to 1). They
    weigh on the odds that it answers, so they settle what is about as relevant and lift nothing above what is right."""
    return multiply_odds(fused, (0.7 + 0.3 * confidence) * (0.8 + 0.2 * rank))
