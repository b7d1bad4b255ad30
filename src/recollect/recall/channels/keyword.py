"""The keyword channel: BM25 over text, names and context; prefixes, then substrings, when no word matches."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.ids import MemoryId
from recollect.core.query import Candidate, Found, Query, Reading
from recollect.recall.gather import hydrate
from recollect.recall.recipes import Recipe
from recollect.store.port import Match
from recollect.store.store import Store

_LEAST_SUBSTRING = 2  # characters: a single letter is in everything


class KeywordChannel:
    """Candidates by the words they share with the question. Keeps nothing between questions.

    Their memories are read later, when it is known which are looked at; those of `another` store than the project's
    come with them, since nobody else can read them.
    """

    def __init__(self, store: Store, recipe: Recipe, *, name: str = "keyword", another: bool = False) -> None:
        self.name = name
        self._store = store
        self._weights = recipe.columns
        self._depth = recipe.depth["keyword"]
        self._another = another

    def candidates(self, query: Query, reading: Reading) -> Found:
        limit = max(self._depth, query.k)
        if best := self._by_words(query, reading, limit, prefix=False):
            return self._found(best, [])
        best, how = self._by_words(query, reading, limit, prefix=True), "prefix"
        if not best and len(text := query.text.strip()) >= _LEAST_SUBSTRING:
            text, how = text.replace("\0", ""), "substring"
            best = self._store.words.containing(text, query.filter, limit=limit)
        return self._found(best, [f"{self.name}: no word matched, found by {how}"] if best else [], ranked=False)

    def _by_words(self, query: Query, reading: Reading, limit: int, *, prefix: bool) -> list[Match]:
        return self._store.words.matching(reading, query.filter, weights=self._weights, limit=limit, prefix=prefix)

    def _found(self, best: Sequence[Match], notes: Sequence[str], *, ranked: bool = True) -> Found:
        found = [
            Candidate(MemoryId(id), score, factors={"bm25": score}) if ranked and score else Candidate(MemoryId(id))
            for id, score in best
        ]
        if not self._another:
            return Found(found, notes)
        whole, damaged = hydrate(found, self._store)
        return Found(whole, [*notes, *damaged])
