"""A question's way through the cells of a vector index, and the trials that tell how far it has to go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.store.engine import Engine
from recollect.store.sqlite.codes import best, decode, products, scored, units
from recollect.store.sqlite.ivf import Grid, scan

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import Codes, Matrix, Seqs


class Walk:
    """A question on its way through a grid: the nearest cells first, further with every call."""

    def __init__(
        self,
        engine: Engine,
        grid: Grid,
        centres: Matrix | None,
        query: Matrix,
        whole: Callable[[], Iterable[Codes]],
    ) -> None:
        import numpy as np

        self._engine = engine
        self._grid = grid
        self._query = query
        self._whole = whole  # every code there is, for a grid of one cell
        self._order: list[int] = []
        if centres is not None:
            self._order = np.argsort(-products(centres, query), kind="stable").tolist()
        self._ahead = 0 if centres is None else len(self._order)
        self._found: tuple[Seqs, Matrix] = (np.empty(0, np.int64), np.empty(0, np.float32))
        self.complete = False

    def __len__(self) -> int:
        return len(self._found[0])

    def reach(self, cells: int) -> None:
        """Go on until so many cells are behind us."""
        import numpy as np

        if self.complete:
            return
        if self._order:
            behind = len(self._order) - self._ahead
            some = self._order[behind : max(behind, cells)]
            more = scored(scan(self._engine, self._grid.id, some, len(self._query)), self._query)
            self._ahead -= len(some)
        else:
            more = scored(self._whole(), self._query)
        self._found = np.concatenate((self._found[0], more[0])), np.concatenate((self._found[1], more[1]))
        self.complete = self._ahead == 0

    def exhausted(self, ranked: Sequence[int]) -> bool:
        """Whether there is nothing in the grid beside these."""
        return self.complete and len(ranked) == len(self)

    def best(self, most: int) -> list[int]:
        return best(*self._found, most)


class Trials:
    """How many cells hold the true nearest? Asked with stored vectors under noise, answered without a single search.

    All vectors pass by once with their cells. What is nearest to each question is then known, and from the rank of the
    cells those lie in, the recall that any number of probes would have.
    """

    def __init__(self, codes: Codes, *, noise: float, depths: Sequence[int], seed: int) -> None:
        import numpy as np

        points = units(decode(codes))
        chance = np.random.default_rng(seed).standard_normal(points.shape).astype(np.float32)
        self._questions = units(points + noise * units(chance))
        self._depths = depths
        self._scores = np.empty((len(points), 0), np.float32)
        self._cells = np.empty((len(points), 0), np.int64)

    def see(self, points: Matrix, cells: Seqs) -> None:
        import numpy as np

        scores = np.concatenate((self._scores, self._questions @ points.T), axis=1)
        owners = np.concatenate((self._cells, np.broadcast_to(cells, (len(scores), len(cells)))), axis=1)
        if scores.shape[1] > (most := max(self._depths)):
            kept = np.argpartition(-scores, most, axis=1)[:, :most]
            scores, owners = np.take_along_axis(scores, kept, 1), np.take_along_axis(owners, kept, 1)
        self._scores, self._cells = scores, owners

    def probes(self, centres: Matrix, recall: float) -> list[tuple[int, int]]:
        """For each depth the fewest cells, nearest first, that hold this share of all that should be found."""
        import numpy as np

        ranks = np.argsort(np.argsort(-(self._questions @ centres.T), axis=1), axis=1)
        nearest = np.argsort(-self._scores, axis=1, kind="stable")
        ranks = np.take_along_axis(ranks, np.take_along_axis(self._cells, nearest, 1), 1)
        found: list[tuple[int, int]] = []
        for depth in self._depths:
            needed = np.sort(ranks[:, :depth], axis=None)
            found.append((depth, int(needed[min(len(needed) - 1, int(len(needed) * recall))]) + 1))
        return found
