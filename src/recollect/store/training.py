"""Training: a space is divided into cells that fit its vectors, while the former cells go on answering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.store.directions import chunks
from recollect.store.spaces import STEP, SWAP, Space
from recollect.store.sqlite import ivf
from recollect.store.sqlite.codes import cluster, decode, nearest, units
from recollect.store.sqlite.walk import Trials

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import Codes, Seqs
    from recollect.store.sqlite.ivf import Grid
    from recollect.store.vectors import Vectors

RECALL = 0.99  # share of the true nearest that the probed cells must hold in trials, for 0.98 with real questions
DEPTHS = (30, 120, 480, 1_920)  # numbers of nearest that this is found out for: the dense channel's, and behind filters
ROUNDS = 4  # of k-means: the trials ask for as many probes after 2, 4, 8 or 16 (30,000 vectors)
_NOISE = 0.75  # length of the noise added to a stored vector to make a trial question: leaves a cosine of 0.8
_TRIALS = 200  # trial questions
_SAMPLE = 32  # vectors per cell that the centroids are made from
_LEAST = 256  # vectors below which there is nothing to divide


class Training:
    """One run over one space."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._engine = vectors.engine

    def run(self, space: Space) -> None:
        """Divide the space into cells that fit its vectors, and find out how many of them a question must look into.

        Works in small transactions. The former cells answer until the new ones are complete, and whatever is put or
        removed meanwhile lands in both. Killed at any point it leaves a working index; the next call goes on.
        """
        self._vectors.sweep()
        now = self._vectors.fresh(space)
        grid = self._filling(now) or self._divide(now)
        if grid is None:
            return
        seqs, cells, probes = self._assigned(now, grid)
        self._fill(now, grid, seqs, cells)
        self._swap(now, grid, probes)
        self._vectors.sweep()

    def _filling(self, space: Space) -> Grid | None:
        return next((grid for grid in ivf.grids(self._engine, space.id) if grid.state == "filling"), None)

    def _divide(self, space: Space) -> Grid | None:
        """A new grid, still empty, around centroids made from a sample."""
        count = self._vectors.count(space)
        if count < _LEAST:
            return None
        wanted = min(ivf.MOST_CELLS, count // 8, round(2 * count**0.5))
        sample = units(decode(self._sample(space, wanted * _SAMPLE)))
        centres = cluster(sample, min(wanted, len(sample)), rounds=ROUNDS, seed=space.id)
        with self._engine.write():
            if self._filling(space) is None:  # another process may have been faster
                ivf.add_grid(self._engine, space.id, "filling", trained_on=count, centroids=centres)
            return self._filling(space)

    _SEQS = "select seq from vectors where space = :space order by seq"

    def _sample(self, space: Space, size: int) -> Codes:
        """About `size` codes, spread evenly over the memories."""
        import numpy as np

        seqs = [row[0] for row in self._engine.rows(self._SEQS, {"space": space.id})]
        chosen = seqs[:: max(1, len(seqs) // size)]
        return np.concatenate([ivf.of(self._engine, space.grid, some, space.dims) for some in chunks(chosen)])

    def _assigned(self, space: Space, grid: Grid) -> tuple[Seqs, Seqs, list[tuple[int, int]]]:
        """The cell of every vector in a new grid, and how many cells a question will have to look into."""
        import numpy as np

        centres = self._vectors.centres(space, grid)
        trials = Trials(self._sample(space, _TRIALS)[:_TRIALS], noise=_NOISE, depths=DEPTHS, seed=space.id)
        seqs, cells = [], []
        for page in ivf.every(self._engine, space.grid, space.dims):
            points = decode(page)
            seqs.append(page["seq"].astype(np.int64))
            cells.append(nearest(points, centres))
            trials.see(points, cells[-1])
        assert centres is not None  # a grid that is filled has been divided
        probes = trials.probes(centres, RECALL)
        return np.concatenate(seqs), np.concatenate(cells), probes

    def _fill(self, space: Space, grid: Grid, seqs: Seqs, cells: Seqs) -> None:
        """Copy the codes into their new cells, cell after cell so that pages are written once. What was put meanwhile
        has its place already and keeps it."""
        import numpy as np

        done = [page["seq"].astype(np.int64) for page in ivf.every(self._engine, grid.id, space.dims)]
        left = ~np.isin(seqs, np.concatenate(done)) if done else np.ones(len(seqs), bool)
        seqs, cells = seqs[left], cells[left]
        order = np.lexsort((seqs, cells))
        for start in range(0, len(order), STEP):
            chosen = order[start : start + STEP]
            place = dict(zip(seqs[chosen].tolist(), cells[chosen].tolist(), strict=True))
            with self._engine.write(durable=False):  # lost with a power cut it is only done again
                codes = ivf.of(self._engine, space.grid, list(place), space.dims)
                ivf.add(self._engine, grid.id, np.array([place[seq] for seq in codes["seq"].tolist()]), codes)

    def _swap(self, space: Space, grid: Grid, probes: list[tuple[int, int]]) -> None:
        """Let the new cells answer."""
        with self._engine.write():
            if any(known.id == grid.id and known.state == "filling" for known in ivf.grids(self._engine, space.id)):
                ivf.serve(self._engine, grid, probes=probes)
                self._engine.execute(SWAP, {"id": space.id, "grid": grid.id})
