"""The care of vectors: is every one sound, coded and in its cell, and if not, the index is made anew from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.core.errors import StoreDamaged
from recollect.store.directions import decoded
from recollect.store.spaces import STEP, SWAP, TOUCH, Space
from recollect.store.sqlite import ivf
from recollect.store.sqlite.codes import encode, means, misplaced

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import Matrix
    from recollect.store.sqlite.ivf import Grid
    from recollect.store.vectors import Vectors

_SHOWN = 20  # faults that `verify` spells out


class VectorCare:
    """Looks at one space after another."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._engine = vectors.engine

    def verify(self, space: Space) -> list[str]:
        """What is wrong with a space, if anything: every vector must be sound and of a memory that exists, and have
        exactly one code, its own, in the right cell."""
        with self._engine.read():
            now = self._vectors.fresh(space)
            try:
                grid = self._vectors.serving(now)
                centres = ivf.centroids(self._engine, grid, now.dims)
            except (StoreDamaged, ValueError) as error:
                return [str(error)]
            faults = [f"{seq}: a vector, but no such memory" for seq in self._orphans(now)]
            faults += [f"{seq}: a code, but no vector" for seq in ivf.strays(self._engine, grid)]
            for page in self._pages(now):
                faults += self._faults(now, grid, centres, page)
        more = len(faults) - _SHOWN
        return faults[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])

    def _faults(self, space: Space, grid: Grid, centres: Matrix | None, page: dict[int, Matrix | None]) -> list[str]:
        import numpy as np

        faults = [f"{seq}: the vector is damaged" for seq, views in page.items() if views is None]
        sound = {seq: views for seq, views in page.items() if views is not None}
        if not sound:
            return faults
        codes = encode(list(sound), means(np.concatenate(list(sound.values())), [*map(len, sound.values())]))
        places = ivf.places(self._engine, grid.id, list(sound))
        faults += [f"{seq}: a vector, but no code" for seq in sound if seq not in places]
        coded = codes[[seq in places for seq in sound]]
        wrong = misplaced(coded, [places[seq] for seq in coded["seq"].tolist()], centres)
        faults += [f"{seq}: {problem}" for seq, problem in sorted(wrong.items())]
        return faults

    _UNUSABLE = "delete from vectors where space = ? and seq = ?"
    _UNTRAIN = "update grids set centroids = null, trained_on = 0, probes = '[[1, 1]]', birth = random() where id = :id"

    def rebuild(self, space: Space) -> None:
        """Make the index anew from the vectors, page by page. A vector that is damaged, or whose memory is gone, is
        removed, so that `missing` names what has to be embedded again."""
        now = self._undamaged(space)
        orphans = set(self._orphans(now))
        for page in self._pages(now):
            unusable = [(now.id, seq) for seq, views in page.items() if views is None or seq in orphans]
            with self._engine.write():
                self._engine.execute_many(self._UNUSABLE, unusable)
                self._again(now, list(page))
                self._engine.execute(TOUCH, {"id": now.id})
        with self._engine.write():
            for each in ivf.grids(self._engine, now.id):
                ivf.remove(self._engine, each.id, ivf.strays(self._engine, each))
            self._engine.execute(TOUCH, {"id": now.id})

    def _undamaged(self, space: Space) -> Space:
        """The space with an index that can be filled: one cell, where the cells are damaged or there is no index."""
        with self._engine.write():
            now = self._vectors.fresh(space)
            try:
                ivf.centroids(self._engine, self._vectors.serving(now), now.dims)
            except StoreDamaged:
                grid = ivf.add_grid(self._engine, now.id, "serving")
                self._engine.execute(SWAP, {"id": now.id, "grid": grid})
            except ValueError:
                self._engine.execute(self._UNTRAIN, {"id": now.grid})
            return self._vectors.fresh(space)

    def _again(self, space: Space, seqs: list[int]) -> None:
        stored = self._vectors.stored(space, seqs)
        self._vectors.place(space, list(stored), list(stored.values()))

    _ORPHANS = """
        select v.seq from vectors v
         where v.space = :space and not exists (select 1 from memories m where m.seq = v.seq) order by v.seq
    """

    def _orphans(self, space: Space) -> list[int]:
        return [row[0] for row in self._engine.rows(self._ORPHANS, {"space": space.id})]

    _PAGE = """
        select seq, cast(views as blob) from vectors where space = :space and seq > :after order by seq limit :step
    """

    def _pages(self, space: Space) -> Iterator[dict[int, Matrix | None]]:
        """All vectors of a space by memory; nothing where one is damaged."""
        after = -1
        while rows := self._engine.rows(self._PAGE, {"space": space.id, "after": after, "step": STEP}):
            yield decoded(rows, space.dims)
            after = rows[-1][0]
