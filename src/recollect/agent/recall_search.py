"""The whole of recall as a search for what may be told: meaning and graph beside words, for processes that are warm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.agent.context import AgentContext
from recollect.agent.injection import CERTAIN_RELEVANCE
from recollect.core.aptness import APT
from recollect.core.payloads import payload_json
from recollect.core.query import Filter, Hit, Query
from recollect.core.records import Memory
from recollect.core.scope import Phase
from recollect.core.summary import MemorySummary
from recollect.store.codec import to_ms
from recollect.store.hook_reader import HookReader

_MIN_WORDS = 20  # of a request, before its meaning alone is reason enough (benchmarks/moment.py --warm)


class RecallSearch:
    """Searches with all of recall: judged by words as the hook process does, or told because recall is certain."""

    def __init__(
        self,
        context: AgentContext,
        hook_reader: HookReader,
        *,
        phase: Phase | None = None,
        recent_calls: Sequence[str] = (),
    ) -> None:
        self._context = context
        self._hook_reader = hook_reader
        self._phase = phase
        self._recent_calls = tuple(recent_calls)

    def search(self, text: str, kinds: Iterable[str], *, limit: int) -> list[MemorySummary]:
        """What recall finds, each with the share of a short text that it speaks of."""
        hits = self._recall(text, kinds, limit)
        return [
            summarize(hit.memory, confidence=hit.confidence, relevance=share)
            for hit, share in zip(hits, self._hook_reader.shares(text, _texts(hits)), strict=True)
        ]

    def find_apt(self, text: str, kinds: Iterable[str], *, limit: int) -> list[MemorySummary]:
        """What a sentence of a request speaks of by its words, and what recall is certain of where the words differ: of
        a few words nobody can be certain, since "fix the tests" is close in meaning to much."""
        found = {one.id: one for one in self._hook_reader.find_apt(text, kinds, limit=limit)}
        hits = self._recall(text, kinds, limit)
        may_be_certain = len(text.split()) >= _MIN_WORDS
        for hit, relevance in zip(hits, self._hook_reader.rate(text, _texts(hits)), strict=True):
            sure = max(relevance, APT if may_be_certain and _is_certain(hit) else 0.0)
            if hit.memory.id not in found or found[hit.memory.id].relevance < sure:
                found[hit.memory.id] = summarize(hit.memory, confidence=hit.confidence, relevance=sure)
        return sorted(found.values(), key=lambda one: one.relevance < APT)[:limit]  # else in the order they came

    def _recall(self, text: str, kinds: Iterable[str], limit: int) -> Sequence[Hit]:
        query = Query(
            text,
            k=limit,
            filter=Filter(kinds=frozenset(kinds)),
            phase=self._phase,
            recent_calls=self._recent_calls,
            explicit=False,
        )
        return self._context.reader.recall(query).hits


def _texts(hits: Iterable[Hit]) -> list[tuple[str, tuple[str, ...]]]:
    return [(hit.memory.content, (*hit.memory.files, *hit.memory.modules)) for hit in hits]


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
