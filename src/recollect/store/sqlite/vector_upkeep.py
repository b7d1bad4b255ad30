"""The upkeep of vectors: dividing a space into cells, verifying and rebuilding its index, finding repeats.

Works through `SqliteVectors` and its cells, in small transactions; whatever is cut short leaves an index that answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.core.errors import StoreDamaged
from recollect.store.codes import cluster, decode, encode, means, misplaced, nearest, units
from recollect.store.port import Space, chunks
from recollect.store.repeats import SLACK, confirm_pairs, repeating_codes
from recollect.store.spaces import STEP
from recollect.store.sqlite import ivf
from recollect.store.sqlite.ivf import Trials
from recollect.store.sqlite.vectors import NARROW, SMALL
from recollect.store.views import decoded

if TYPE_CHECKING:
    from recollect.store.codes import Codes, Matrix, Seqs
    from recollect.store.sqlite.ivf import Grid
    from recollect.store.sqlite.vectors import SqliteVectors

RECALL = 0.99  # share of the true nearest that the probed cells must hold in trials, for 0.98 with real questions
DEPTHS = (30, 120, 480, 1_920)  # numbers of nearest that this is found out for: the dense channel's, and behind filters
ROUNDS = 4  # of k-means: the trials ask for as many probes after 2, 4, 8 or 16 (30,000 vectors)
_NOISE = 0.75  # length of the noise added to a stored vector to make a trial question: leaves a cosine of 0.8
_TRIALS = 200  # trial questions
_SAMPLE = 32  # vectors per cell that the centroids are made from
_LEAST = 256  # vectors below which there is nothing to divide


class Training:
    """One run over one space."""

    def __init__(self, vectors: SqliteVectors) -> None:
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
                ivf.add_grid(
                    self._engine, self._vectors.project, space.id, "filling", trained_on=count, centroids=centres
                )
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
                self._vectors.set_grid(space.id, grid.id)


_SHOWN = 20  # faults that `verify` spells out


class VectorCare:
    """Looks at one space after another."""

    def __init__(self, vectors: SqliteVectors) -> None:
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
        """Rebuild the index from the vectors, page by page. A vector that is damaged, or whose memory is gone, is
        removed, so that `missing` names what has to be embedded again."""
        now = self._undamaged(space)
        orphans = set(self._orphans(now))
        for page in self._pages(now):
            unusable = [(now.id, seq) for seq, views in page.items() if views is None or seq in orphans]
            with self._engine.write():
                self._engine.execute_many(self._UNUSABLE, unusable)
                self._again(now, list(page))
                self._vectors.touch(now)
        with self._engine.write():
            for each in ivf.grids(self._engine, now.id):
                ivf.remove(self._engine, each.id, ivf.strays(self._engine, each))
            self._vectors.touch(now)

    def _undamaged(self, space: Space) -> Space:
        """The space with an index that can be filled: one cell, where the cells are damaged or there is no index."""
        with self._engine.write():
            now = self._vectors.fresh(space)
            try:
                ivf.centroids(self._engine, self._vectors.serving(now), now.dims)
            except StoreDamaged:
                grid = ivf.add_grid(self._engine, self._vectors.project, now.id, "serving")
                self._vectors.set_grid(now.id, grid)
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


def repeats(
    vectors: SqliteVectors, space: Space, order: Sequence[int], *, least: float
) -> list[tuple[int, int, float]]:
    """Memories whose vectors repeat one that stands before them in `order`: which, whom, and their cosine."""
    import numpy as np

    with vectors.engine.read():
        now = vectors.fresh(space)
        grid = vectors.serving(now)
        pages = [page for some in chunks(order) if len(page := ivf.of(vectors.engine, grid.id, some, now.dims))]
        if not pages:
            return []
        codes = np.concatenate(pages)
        place = {seq: number for number, seq in enumerate(order)}
        codes = codes[np.argsort([place[seq] for seq in codes["seq"].tolist()], kind="stable")]
        centres = vectors.centres(now, grid)
        if centres is None and len(codes) > NARROW:
            sample = units(decode(codes[:: max(1, len(codes) // SMALL)]))
            centres = cluster(sample, round(2 * len(codes) ** 0.5), rounds=ROUNDS, seed=now.id)
        pairs = repeating_codes(codes, centres, least=least - SLACK)
        named = [(int(codes["seq"][one]), int(codes["seq"][other])) for one, other in pairs]
        return confirm_pairs(vectors, now, named, least)
