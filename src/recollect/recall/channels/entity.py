"""The entity channel: memories that mention whom or what the question names, by any of their names.

A name that half the memories mention says little, so names count by how rare they are.
"""

from __future__ import annotations

import math

from recollect.core.entities import Entity, entity_key
from recollect.core.query import Candidate, Query, Reading
from recollect.core.text import words
from recollect.recall.recipes import Recipe
from recollect.store.store import Store

_LONGEST = 4  # words of one name in a question
_MOST_WORDS = 60  # of a question that are looked at
_LEAST = 3  # letters of a one-word name: shorter ones are too often just words


class EntityChannel:
    """Candidates by the names in the question."""

    name = "entity"

    def __init__(self, store: Store, recipe: Recipe) -> None:
        self._store = store
        self._depth = recipe.depth["entity"]

    def candidates(self, query: Query, reading: Reading) -> list[Candidate]:
        groups = self._named(query.text)
        if not groups:
            return []
        size = max(1, self._store.words.frequencies(())[1])
        best = self._store.memories.by_facet(
            "entity",
            groups,
            worth=lambda mentions: math.log1p(size / max(1, mentions)),
            limit=4 * max(self._depth, query.k),
        )
        admitted = {one.id: one for one in self._store.memories.admitted([id for id, _ in best], query.filter)}
        found = [Candidate(id, score=worth, memory=admitted[id]) for id, worth in best if id in admitted]
        return found[: self._depth]

    def _named(self, text: str) -> list[list[str]]:
        """The entities a question names, each with all that were merged into it."""
        said = words(text)[:_MOST_WORDS]
        keys = {
            entity_key(" ".join(said[start : start + length]))
            for length in range(1, _LONGEST + 1)
            for start in range(len(said) - length + 1)
        } | {entity_key(word) for word in text.split()[:_MOST_WORDS]}
        found = self._store.entities.named(sorted(k for k in keys if len(k) >= _LEAST))
        roots = dict.fromkeys(_root(entity) for entities in found.values() for entity in entities)
        return [[one.id for one in self._store.entities.group([root])] for root in roots]


def _root(entity: Entity) -> str:
    return entity.merged_into or entity.id
