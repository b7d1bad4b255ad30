"""The dense channel: memories whose vectors are near the question's, and how near any given memory is.

A similarity means nothing by itself: models put all texts into a narrow cone. It is measured against the background,
the mean similarity of the question to the store, in units of the model's usual spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.errors import EmbeddingMismatch
from recollect.core.ids import MemoryId
from recollect.core.query import Candidate, Query, Reading
from recollect.recall.recipes import SPREAD, USUAL_SPREAD, Recipe
from recollect.store.port import Space
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.embed.port import Embedder

_SIGMAS = 4  # spreads above the background that count as 1
_SAMPLE = 400  # vectors the background is taken from


class DenseChannel:
    """Candidates by meaning. Without vectors of the configured model it finds nothing and says why.

    Where candidates are weighed, it says which are near and `scores` how near, once it is known who is looked at.
    """

    name = "dense"

    def __init__(self, store: Store, embedder: Embedder, recipe: Recipe) -> None:
        self._store = store
        self._embedder = embedder
        self._depth = recipe.depth["dense"]
        self._is_weighed = bool(recipe.evidence)
        self._centre: tuple[tuple[int, int], Any] | None = None  # of a space at a size, cached

    def candidates(self, query: Query, reading: Reading) -> list[Candidate]:
        space = self._space()  # first: without vectors no model need be asked
        if not query.text.strip():
            return []
        asked = self._embedder.embed_query(query.text)
        if query.mode == "dense" or not self._is_weighed:
            return self._near(space, query, asked)
        near = self._store.vectors.about(space, asked, limit=max(self._depth, query.k), filter=query.filter)
        return [Candidate(MemoryId(id)) for id in near]

    def near(self, query: Query, vector: Any) -> list[Candidate]:
        """Candidates by their nearness to a vector."""
        return self._near(self._space(), query, vector)

    def scores(self, ids: Sequence[MemoryId], text: str) -> dict[str, dict[str, float]]:
        """How near some memories are, above the background; those without a vector are left out."""
        space, asked = self._space(), self._embedder.embed_query(text)
        above = self._above(space, asked)
        return {id: above(views) for id, views in self._store.vectors.exact(space, ids, asked).items()}

    def check_model(self) -> None:
        """An error when the store's vectors come from another model than the configured one."""
        if self._store.vectors.active() is not None:
            self._space()

    def asked(self, text: str) -> Any:
        return self._embedder.embed_query(text)

    def said(self, text: str) -> Any:
        return self._embedder.embed_documents([text])[0]

    def mean_of(self, ids: Sequence[str]) -> Any | None:
        """The mean direction of some memories, if any of them has a vector."""
        return self._store.vectors.mean_of(self._space(), ids)

    def _near(self, space: Space, query: Query, asked: Any) -> list[Candidate]:
        near = self._store.vectors.nearest(space, asked, limit=max(self._depth, query.k), filter=query.filter)
        above = self._above(space, asked)
        return [Candidate(MemoryId(one.id), one.cosine, factors=above(one.views)) for one in near]

    def _above(self, space: Space, asked: Any) -> Callable[[Sequence[float]], dict[str, float]]:
        """Turns the cosines of a memory's views, its own texts and last its context, into nearness."""
        background = float(self._background(space) @ asked)
        spread = _SIGMAS * SPREAD.get(space.model, USUAL_SPREAD)
        return lambda views: {"dense": ((max(views[:-1] or views) + views[-1]) / 2 - background) / spread}

    def _space(self) -> Space:
        """The active space, if it is the configured model's: vectors of two models are never compared."""
        active = self._store.vectors.active()
        if active is None:
            raise LookupError("no vectors yet; `recollect tend` makes them")
        if (active.model, active.dims) != (self._embedder.model, self._embedder.dims):
            raise EmbeddingMismatch(
                stored=f"{active.model} ({active.dims} dimensions)",
                configured=f"{self._embedder.model} ({self._embedder.dims})",
            )
        return active

    def _background(self, space: Space) -> Any:
        """The mean vector of a sample of the space, refreshed when the space has grown much."""
        key = (space.id, self._store.vectors.extent().bit_length())
        if self._centre is None or self._centre[0] != key:
            self._centre = (key, self._store.vectors.centre(space, sample=_SAMPLE))
        return self._centre[1]
