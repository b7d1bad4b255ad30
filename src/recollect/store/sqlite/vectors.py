"""The vector index of a project on SQLite: spaces that coexist, the vectors in them, and the search for the nearest.

A space belongs to one model and one number of dimensions, and a vector is compared only within its own. Another model
fills a new space while the old one answers, and the change from one to the other is a single transaction. Everything
here is a projection: `missing` and `stale` say what has to be embedded (again), `rebuild` rebuilds the index from the
vectors. No model is ever called from here, and numpy is loaded only when a vector is at hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.core.errors import StoreDamaged
from recollect.core.query import Filter
from recollect.store.codes import best, decode, encode, means, nearest, only, scored
from recollect.store.filters import where
from recollect.store.port import Engine, Item, Params, Space
from recollect.store.spaces import STEP, Spaces
from recollect.store.sqlite import ivf
from recollect.store.sqlite.ivf import Walk
from recollect.store.views import checked

if TYPE_CHECKING:
    from recollect.store.codes import Codes, Matrix
    from recollect.store.sqlite.ivf import Grid

SMALL = 20_000  # vectors up to which every code is compared: a few milliseconds, and exact
NARROW = 4_000  # memories that a filter may let through to be compared one by one
_KEPT = 64 * 2**20  # bytes of codes kept in memory for a space of one cell; a larger one is read for each question
_OPEN = 0.8  # share that a filter must let through to hardly matter
_SPARE = 1.5  # how much deeper than that share suggests to look behind a filter that does
_DEEPEST = 1_920  # nearest that cells are looked into for, behind a filter that lets little through
_FILTERS = 63  # filters whose shortcuts are remembered


class SqliteVectors(Spaces):
    """Reads and writes vectors. Safe to share between threads."""

    def __init__(self, engine: Engine, project: str) -> None:
        super().__init__(engine, project)
        self._centroids: dict[tuple[int, int], Matrix | None] = {}
        self._codes: tuple[tuple[int, int, int], Codes] | None = None  # of one whole space, while it is small
        self._shortcuts: dict[str, str] = {}  # by filter: from where an index leads straight to what it lets through

    def prepare(self, id: int) -> None:
        self.set_grid(id, ivf.add_grid(self.engine, self.project, id, "serving"))

    def end(self, id: int) -> None:
        self._sweep_grids()
        super().end(id)

    def sweep(self) -> None:
        """Clear away dropped spaces and cells that no longer answer, in small transactions."""
        super().sweep()
        self._sweep_grids()

    def _sweep_grids(self) -> None:
        for grid in ivf.leftover(self.engine):
            more = True
            while more:
                with self.engine.write(durable=False):
                    more = ivf.sweep(self.engine, grid, most=STEP)

    def serving(self, space: Space) -> Grid:
        for grid in ivf.grids(self.engine, space.id):
            if grid.id == space.grid:
                return grid
        raise StoreDamaged(self.engine.location, f"the vectors of {space.name} have lost their index")

    def centres(self, space: Space, grid: Grid) -> Matrix | None:
        """The centroids of a grid, read once per process. Damaged ones are none: every cell is looked into then."""
        known, key = self._centroids, (grid.id, grid.birth)
        if key not in known:
            try:
                found = ivf.centroids(self.engine, grid, space.dims)
            except ValueError:
                found = None
            self._centroids = known = {**dict(list(known.items())[-3:]), key: found}
        return known[key]

    # --- vectors in -----------------------------------------------------------------------------------------------

    _PUT = """
        insert into vectors (project, space, seq, views, stamp) values (?, ?, ?, ?, ?)
            on conflict (seq, space) do update set views = excluded.views, stamp = excluded.stamp
    """

    def put(self, space: Space, items: Sequence[Item]) -> list[str]:
        """Store the views of some memories and index them, all or none; the memories that are gone, and were left out.

        Compare stamps in the same transaction: a memory may have been edited since its text was embedded.
        """
        given = checked(space, items)
        with self.engine.write():
            now = self.fresh(space)
            seqs = self.seqs([id for id, _, _ in given])
            kept = {seqs[id]: (views, stamp) for id, views, stamp in given if id in seqs}  # the last of two counts
            rows = [
                (self.project, now.id, seq, views.astype("<f2").tobytes(), stamp)
                for seq, (views, stamp) in kept.items()
            ]
            self.engine.execute_many(self._PUT, rows)
            self.place(now, list(kept), [views for views, _ in kept.values()])
            self.touch(now)
        return sorted({id for id, _, _ in given} - seqs.keys())

    def place(self, space: Space, seqs: list[int], views: list[Matrix]) -> None:
        """Code some memories and put them into their cells, in the grid that answers and in the one that is filled."""
        import numpy as np

        if not seqs:
            return
        codes = encode(seqs, means(np.concatenate(views), [len(rows) for rows in views]))
        points = decode(codes)
        for grid in ivf.grids(self.engine, space.id):
            if grid.state != "old":
                ivf.put(self.engine, grid.id, nearest(points, self.centres(space, grid)), codes)

    def forget(self, seqs: Sequence[int]) -> None:
        """Remove all that was made of some rows of `memories`, from every space and grid, inside the current write."""
        ivf.forget(self.engine, seqs)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove all that was made of some memories, from every space."""
        with self.engine.write():
            ivf.forget(self.engine, list(self.seqs(ids).values()))

    # --- search ---------------------------------------------------------------------------------------------------

    def _where(self, filter: Filter | None) -> tuple[str, Params]:
        return ("true", {}) if filter is None else where(filter, self.project)

    def candidates(
        self, space: Space, query: Matrix, limit: int, filter: Filter | None, *, spare: float
    ) -> dict[int, str]:
        condition, params = self._where(filter)
        grid, most = self.serving(space), math.ceil(limit * spare)
        centres = self.centres(space, grid)
        few = self._few(condition, params)
        if few is not None:
            return self._named(self._among(space, grid, query, few, most), "true", {})
        walk = Walk(self.engine, grid, centres, query, lambda: self.whole(space, grid))
        walk.reach(grid.needed(limit))
        first = walk.best(most)
        kept = self._named(first, condition, params)
        if walk.exhausted(first) or len(kept) >= max(limit, len(first) * _OPEN):
            return kept
        depth = min(_DEEPEST, math.ceil(limit * _SPARE * len(first) / max(1, len(kept))))
        walk.reach(grid.needed(depth))
        deeper = walk.best(depth)
        kept = self._named(deeper, condition, params)
        if len(kept) >= limit or walk.exhausted(deeper):
            return dict(list(kept.items())[:most])
        return self._named(
            self._among(space, grid, query, ivf.within(self.engine, condition, params), most), "true", {}
        )

    def _few(self, condition: str, params: Params) -> list[int] | None:
        """All that a filter lets through, if they are few and an index leads straight to them."""
        source = self._shortcuts.get(condition)
        if source is None:
            source = ivf.shortcut(self.engine, condition, params)
            self._shortcuts = {**dict(list(self._shortcuts.items())[-_FILTERS:]), condition: source}
        found = ivf.within(self.engine, condition, params, source=source, most=NARROW + 1) if source else []
        return found if source and len(found) <= NARROW else None

    def _named(self, ranked: Sequence[int], condition: str, params: Params) -> dict[int, str]:
        """Those of some memories that a filter lets through, with their ids, in the order given."""
        there = ivf.admitted(self.engine, ranked, condition, params)
        return {seq: there[seq] for seq in ranked if seq in there}

    def _among(self, space: Space, grid: Grid, query: Matrix, seqs: list[int], most: int) -> list[int]:
        """The nearest of given memories by their codes: asked for one by one while they are few."""
        if len(seqs) <= NARROW:
            pages = iter([ivf.of(self.engine, grid.id, seqs, space.dims)])
        else:
            pages = (only(page, seqs) for page in self.whole(space, grid))
        return best(*scored(pages, query), most)

    def whole(self, space: Space, grid: Grid) -> Iterator[Codes]:
        """Every code of a grid; those of a small one are kept in memory until something changes."""
        import numpy as np

        kept = self._codes
        if kept is not None and kept[0] == (self.engine.generation, space.id, space.change):
            yield kept[1]
            return
        pages: list[Codes] | None = []
        for page in ivf.every(self.engine, grid.id, space.dims):
            yield page
            if pages is not None:
                pages.append(page)
                if sum(page.nbytes for page in pages) > _KEPT:
                    pages = None
        if pages:
            self._codes = ((self.engine.generation, space.id, space.change), np.concatenate(pages))

    # --- training and care ----------------------------------------------------------------------------------------

    def due_for_training(self, space: Space) -> bool:
        """Whether there are twice as many vectors as the cells were made for, or an earlier run was cut short."""
        if len(ivf.grids(self.engine, space.id)) > 1:
            return True
        count = self.count(space)
        return count > SMALL and count >= 2 * self.serving(self.fresh(space)).trained_on

    def train(self, space: Space) -> None:
        """Divide the space into cells that fit its vectors. Killed at any point it leaves a working index."""
        from recollect.store.sqlite.vector_upkeep import Training

        Training(self).run(space)

    def verify(self, space: Space) -> list[str]:
        """What is wrong with a space, if anything."""
        from recollect.store.sqlite.vector_upkeep import VectorCare

        return VectorCare(self).verify(space)

    def rebuild(self, space: Space) -> None:
        """Rebuild the index of a space from its vectors."""
        from recollect.store.sqlite.vector_upkeep import VectorCare

        VectorCare(self).rebuild(space)

    def repeats(self, space: Space, order: Sequence[str], *, least: float) -> list[tuple[str, str, float]]:
        """Memories whose vectors repeat one that stands before them in `order`: which, whom, and their cosine."""
        from recollect.store.sqlite.vector_upkeep import repeats

        seqs = self.seqs(order)
        ids = {seq: id for id, seq in seqs.items()}
        found = repeats(self, space, [seqs[id] for id in order if id in seqs], least=least)
        return [(ids[one], ids[other], cosine) for one, other, cosine in found]
