"""The keyword channel: BM25 over text, names and context; prefixes, then substrings, when no word matches."""

from __future__ import annotations

from recollect.core.query import Candidate, Found, Query, Reading
from recollect.core.records import Memory
from recollect.recall.recipes import Recipe
from recollect.store.memories import Page
from recollect.store.store import Store

_LEAST_SUBSTRING = 2  # characters: a single letter is in everything


class KeywordChannel:
    """Candidates by the words they share with the question."""

    def __init__(self, store: Store, recipe: Recipe, *, name: str = "keyword") -> None:
        self.name = name
        self._store = store
        self._weights = recipe.columns
        self._depth = recipe.depth["keyword"]

    def candidates(self, query: Query, reading: Reading) -> Found:
        limit = max(self._depth, query.k)
        found = self._by_words(query, reading, limit, prefix=False)
        if found:
            return found
        found = self._by_words(query, reading, limit, prefix=True)
        how = "prefix"
        if not found and len(text := query.text.strip()) >= _LEAST_SUBSTRING:
            best, page = self._store.memories.by_substring(
                text.replace("\0", ""), query.filter, self._store.project, limit=limit
            )
            found = self._taken(best, page)
            how = "substring"
        told = [f"{self.name}: no word matched, found by {how}"] if found else []
        return Found(found, [*told, *found.notes])

    def _by_words(self, query: Query, reading: Reading, limit: int, *, prefix: bool) -> Found:
        best, page = self._store.memories.by_keyword(
            reading, query.filter, self._store.project, weights=self._weights, limit=limit, prefix=prefix
        )
        return self._taken([(memory, 0.0 if prefix else score) for memory, score in best], page)

    def _taken(self, best: list[tuple[Memory, float]], page: Page) -> Found:
        return Found(
            (
                Candidate(memory.id, score=score, memory=memory, factors={"bm25": score} if score else {})
                for memory, score in best
            ),
            [f"{id} is damaged and was left out; run `recollect check`" for id in page.damaged],
        )
