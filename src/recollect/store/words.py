"""Words: which memories hold those of a question, how frequent they are, and texts cut as the keyword index cuts them.

Says which memories and how well they match; the memories themselves are read by `Memories`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from recollect.core.query import Filter, Reading
from recollect.store.filters import where
from recollect.store.memories import Said, said
from recollect.store.port import Engine
from recollect.store.sqlite import keywords
from recollect.store.sqlite.keywords import LIMITS, Limits
from recollect.store.sqlite.match import terms as terms_of

_MOST_CUTS = 10_000  # texts kept as words; some 30 MB of ordinary turns


class Match(NamedTuple):
    """A memory that shares words with a question, and its BM25 score."""

    id: str
    score: float


Cut: TypeAlias = tuple[str, ...]  # a text as the keyword index sees it: its words in order


class Words:
    """Looks up by words. Never writes."""

    def __init__(self, engine: Engine, project: str, limits: Limits = LIMITS) -> None:
        self._engine = engine
        self._project = project
        self._limits = limits
        self._cuts: dict[str, Cut] = {}  # of texts that questions keep coming back to
        self._counts: tuple[int, dict[str, int]] = (0, {})  # how frequent terms are in a large store of that size

    def matching(
        self,
        reading: Reading,
        filter: Filter,
        *,
        weights: tuple[float, float, float],
        limit: int,
        prefix: bool = False,
    ) -> list[Match]:
        """The best memories for what was read, best first."""
        terms = terms_of(reading, prefix=prefix)
        if not terms:
            return []
        condition, params = where(filter, self._project)
        counts = None if prefix else lambda some: self.frequencies(some)[0]
        best = keywords.search(
            self._engine,
            terms,
            counts,
            weights=weights,
            limit=limit,
            where=condition,
            params=params,
            limits=self._limits,
        )
        return [Match(id, score) for _, id, score in best]

    _CONTAINING = """
        select m.id from memories m where instr(lower(m.content), :text) > 0 and {where}
         order by m.created_at desc, m.id desc limit :limit
    """

    def containing(self, text: str, filter: Filter, *, limit: int) -> list[Match]:
        """The newest memories that contain `text` as it stands."""
        condition, params = where(filter, self._project)
        sql = self._CONTAINING.format(where=condition)
        rows = self._engine.rows(sql, {**params, "text": text.lower(), "limit": limit})
        return [Match(id, 0.0) for (id,) in rows]

    def saying_any(self, words: Sequence[str], reading: Reading, *, limit: int) -> list[Said]:
        """What holds any of some words: first, up to the limit, what shares the most with what was read, then the
        newest."""
        terms = terms_of(reading)
        seqs = keywords.with_any_and(self._engine, words, terms, limit=limit) if terms else []
        return said(self._engine, [*seqs, *keywords.with_any(self._engine, words, limit=limit)])

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        """In how many memories each index term stands, and how many memories there are."""
        size = keywords.size(self._engine)
        if size <= self._limits.small:
            return keywords.frequencies(self._engine, terms, self._limits), size
        counted, known = self._counts
        if counted != size or len(known) > _MOST_CUTS:
            known = {}
        new = [term for term in terms if term not in known]
        known = {**known, **dict.fromkeys(new, 0), **keywords.frequencies(self._engine, new, self._limits)}
        self._counts = (size, known)
        return {term: known[term] for term in terms if known[term]}, size

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text as the keyword index sees it."""
        return self._engine.tokens(texts)

    def cuts(self, texts: Sequence[str]) -> list[Cut]:
        """Each text as the keyword index sees it, remembered for the next question."""
        known = self._cuts
        if len(known) > _MOST_CUTS:
            self._cuts = known = {}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            for text, tokens in zip(new, self._engine.tokens(new), strict=True):
                known[text] = tuple(tokens)
        return [known[text] for text in texts]
