"""The whole of recall as a search for what may be told: meaning and graph beside words, for processes that are warm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.agent.context import AgentContext
from recollect.agent.injection import CERTAIN_RELEVANCE, MIN_RELEVANCE
from recollect.core.payloads import payload_json
from recollect.core.query import Filter, Hit, Query
from recollect.core.records import Memory
from recollect.core.scope import Phase
from recollect.core.summary import MemorySummary
from recollect.store.codec import to_ms
from recollect.store.sqlite.hook_reader import HookReader

if TYPE_CHECKING:
    from recollect.agent.injection import Search


def make_search(context: AgentContext, hook_reader: HookReader, *, phase: Phase | None = None) -> Search:
    """A search whose relevance is the share of words, or what recall is certain of where the words differ."""

    def search(text: str, kinds: Iterable[str], limit: int) -> list[MemorySummary]:
        query = Query(text, k=limit, filter=Filter(kinds=frozenset(kinds)), phase=phase, explicit=False)
        hits = context.reader.recall(query).hits
        shares = hook_reader.shares(
            text, [(hit.memory.content, (*hit.memory.files, *hit.memory.modules)) for hit in hits]
        )
        return [
            summarize(
                hit.memory, confidence=hit.confidence, relevance=max(share, MIN_RELEVANCE if _is_certain(hit) else 0.0)
            )
            for hit, share in zip(hits, shares, strict=True)
        ]

    return search


def _is_certain(hit: Hit) -> bool:
    """Is recall as good as certain, by meaning? Words alone were judged by their share."""
    return "dense" in hit.factors and hit.factors.get("relevance", 0.0) >= CERTAIN_RELEVANCE


def summarize(memory: Memory, *, confidence: float, relevance: float = 0.0) -> MemorySummary:
    """A memory as an agent is told of it."""
    return MemorySummary(
        memory.id,
        memory.kind,
        memory.content,
        confidence=confidence,
        source=str(memory.source),
        status=str(memory.status),
        files=memory.files,
        modules=memory.modules,
        at=to_ms(memory.happened_at),
        verified=memory.verified,
        pinned=memory.pinned,
        seen=max(1, len(memory.provenance)),
        accesses=memory.access_count,
        citation=memory.citation or "",
        session=memory.session,
        attributes=memory.attributes,
        payload=None if memory.payload is None else payload_json(memory.payload),
        relevance=relevance,
    )
