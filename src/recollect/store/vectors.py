"""Vectors: what an embedder made of the memories, in spaces that coexist, and the search for the nearest.

A space belongs to one model and one number of dimensions, and a vector is compared only within its own. Everything here
is a projection: `missing` and `stale` say what has to be embedded (again), `rebuild` makes the index anew from the
vectors. No model is ever called from here, and numpy is loaded only when a vector is at hand.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from recollect.core.errors import BadVector, EmbeddingMismatch, SpaceNotFound, StoreDamaged, WrongSpaceState
from recollect.store.codec import from_ms, to_ms
from recollect.store.engine import Engine, Params, Row
from recollect.store.sqlite import ivf

if TYPE_CHECKING:
    from recollect.store.sqlite.ivf import Codes, Grid, Matrix, Seqs

State: TypeAlias = Literal["building", "active", "retired"]

SMALL = 20_000  # vectors up to which every code is compared: a few milliseconds, and exact
RECALL = 0.99  # share of the true nearest that the probed cells must hold in trials, for 0.98 with real questions
DEPTHS = (30, 120, 480, 1_920)  # numbers of nearest that this is found out for: the dense channel's, and behind filters
_NOISE = 0.75  # length of the noise added to a stored vector to make a trial question: leaves a cosine of 0.8
_TRIALS = 200  # trial questions
_SAMPLE = 32  # vectors per cell that the centroids are made from
_ROUNDS = 4  # of k-means: the trials ask for as many probes after 2, 4, 8 or 16 (30,000 vectors)
_LEAST = 256  # vectors below which there is nothing to divide
_STEP = 2_000  # rows per transaction of long work: others wait a few hundredths of a second
_KEPT = 64 * 2**20  # bytes of codes kept in memory for a space of one cell; a larger one is read for each question
_NARROW = 4_000  # memories that a filter may let through to be compared one by one
_RESCORED = 2  # candidates per wanted result that are compared in full precision; 1.5 already lost none in 3,000
_FIRST = 4  # candidates per wanted result that are first held against the filter; tells how much it lets through
_OPEN = 0.8  # share of them from which on the filter hardly matters
_SPARE = 1.5  # how much deeper than that share suggests to look behind a filter that does
_SHOWN = 20  # faults that `verify` spells out


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one model. `grid` is the index that answers; `change` is another number after every change."""

    id: int
    model: str
    dims: int
    state: State
    created_at: datetime
    grid: int
    change: int

    @property
    def name(self) -> str:
        return f"{self.model} ({self.dims} dimensions)"


Item: TypeAlias = "tuple[int, Any, str]"  # seq, views (one row each, or a single one), stamp of the embedded texts


@dataclass(frozen=True, slots=True)
class Near:
    """A memory near a query: the cosine with the mean of its views, and with each of them."""

    seq: int
    id: str
    cosine: float
    views: tuple[float, ...]


class Vectors:
    """Reads and writes vectors. Safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._codes: tuple[tuple[int, int], Codes] | None = None  # of one whole space, while it is small
        self._centroids: dict[tuple[int, int], Matrix | None] = {}

    # --- spaces ---------------------------------------------------------------------------------------------------

    _SPACES = """
        select id, model, dims, state, created_at, grid, change from spaces where state <> 'dropped' order by id
    """

    def spaces(self) -> list[Space]:
        rows = self._engine.rows(self._SPACES)
        return [Space(i, model, dims, state, from_ms(at), g, c) for i, model, dims, state, at, g, c in rows]

    def active(self) -> Space | None:
        """The space that answers questions."""
        return next((space for space in self.spaces() if space.state == "active"), None)

    _BEGIN = """
        insert into spaces (id, model, dims, state, created_at, grid, change)
        values (:id, :model, :dims, 'building', :at, :grid, random())
    """
    _NEXT = "select coalesce(max(id), 0) + 1 from spaces"
    _SET_STATE = "update spaces set state = :state, change = random() where id = :id"

    def begin(self, model: str, dims: int, at: datetime) -> Space:
        """The space of this model to be filled: the one there is, whatever its state was, or a new one.

        The active one is returned as it is; a retired one is filled further, since its vectors are still true.
        """
        with self._engine.write():
            known = [space for space in self.spaces() if (space.model, space.dims) == (model, dims)]
            if known and known[0].state == "retired":
                self._engine.execute(self._SET_STATE, {"id": known[0].id, "state": "building"})
            if known:
                return self._fresh(known[0])
            row = self._engine.row(self._NEXT)
            id = int(row[0]) if row else 1
            grid = ivf.add_grid(self._engine, id, "serving")
            self._engine.execute(self._BEGIN, {"id": id, "model": model, "dims": dims, "at": to_ms(at), "grid": grid})
            return self._by_id(id)

    def activate(self, space: Space) -> Space:
        """Let this space answer from now on. The one that did is retired in the same transaction."""
        with self._engine.write():
            former = self.active()
            if former is not None and former.id == space.id:
                return former
            self._fresh(space)
            if former is not None:
                self._engine.execute(self._SET_STATE, {"id": former.id, "state": "retired"})
            self._engine.execute(self._SET_STATE, {"id": space.id, "state": "active"})
            return self._fresh(space)

    def put_back(self, space: Space) -> Space:
        """Go back to a retired space."""
        with self._engine.write():
            if (now := self._fresh(space)).state != "retired":
                raise WrongSpaceState(now.model, now.state, "put back")
            return self.activate(space)

    def drop(self, space: Space) -> None:
        """Remove a space with all its vectors: gone at once, cleared away in small transactions."""
        with self._engine.write():
            if (now := self._fresh(space)).state == "active":
                raise WrongSpaceState(now.model, now.state, "dropped")
            self._engine.execute(self._SET_STATE, {"id": space.id, "state": "dropped"})
        self.sweep()

    # --- vectors in -----------------------------------------------------------------------------------------------

    _PUT = """
        insert into vectors (space, seq, views, stamp) values (?, ?, ?, ?)
            on conflict (seq, space) do update set views = excluded.views, stamp = excluded.stamp
    """
    _TOUCH = "update spaces set change = random() where id = :id"

    def put(self, space: Space, items: Sequence[Item]) -> list[int]:
        """Store the views of some memories and index them, all or none; the memories that are gone, and were left out.

        Compare stamps in the same transaction: a memory may have been edited, or its number given to another, since
        its text was embedded.
        """
        checked = _checked(space, items)
        with self._engine.write():
            now = self._fresh(space)
            there = ivf.admitted(self._engine, [seq for seq, _, _ in checked], "true", {})
            kept = {seq: (views, stamp) for seq, views, stamp in checked if seq in there}  # the last of two counts
            rows = [(now.id, seq, views.astype("<f2").tobytes(), stamp) for seq, (views, stamp) in kept.items()]
            self._engine.execute_many(self._PUT, rows)
            self._place(now, list(kept), [views for views, _ in kept.values()])
            self._engine.execute(self._TOUCH, {"id": now.id})
        return sorted({seq for seq, _, _ in checked} - there)

    def _place(self, space: Space, seqs: list[int], views: list[Matrix]) -> None:
        """Code some memories and put them into their cells, in the grid that answers and in the one that is filled."""
        import numpy as np

        if not seqs:
            return
        codes = ivf.encode(seqs, ivf.means(np.concatenate(views), [len(rows) for rows in views]))
        points = ivf.decode(codes)
        for grid in ivf.grids(self._engine, space.id):
            if grid.state != "old":
                ivf.put(self._engine, grid.id, ivf.nearest(points, self._centres(space, grid)), codes)

    def remove(self, seqs: Sequence[int]) -> None:
        """Remove all that was made of some memories, from every space."""
        with self._engine.write():
            for seq in seqs:
                ivf.forget(self._engine, seq)

    _MISSING = """
        select m.seq from memories m
         where m.seq < :before and not exists (select 1 from vectors v where v.seq = m.seq and v.space = :space)
         order by m.seq desc limit :limit
    """

    def missing(self, space: Space, limit: int, *, before: int = 2**62) -> list[int]:
        """Memories without a vector, newest first; `before` goes on where an earlier call ended."""
        rows = self._engine.rows(self._MISSING, {"space": space.id, "limit": limit, "before": before})
        return [row[0] for row in rows]

    _STAMPS = "select seq, stamp from vectors where seq in (select value from json_each(:seqs)) and space = :space"

    def stale(self, space: Space, stamps: Mapping[int, str]) -> list[int]:
        """Those of some memories whose vector was made from another text than the one stamped here, or is missing."""
        found: dict[int, str] = {}
        for some in _chunks(list(stamps)):
            found.update(self._engine.rows(self._STAMPS, {"space": space.id, "seqs": json.dumps(some)}))
        return sorted(seq for seq, stamp in stamps.items() if found.get(seq) != stamp)

    _WAITING = "select count(*) from memories"

    def waiting(self, space: Space) -> int:
        """How many memories have no vector yet."""
        row = self._engine.row(self._WAITING)
        return max(0, (int(row[0]) if row else 0) - self.count(space))

    _EXTENT = "select max(seq) from vectors"

    def extent(self) -> int:
        """The last row that has a vector: how far the vectors reach, without counting them."""
        row = self._engine.row(self._EXTENT)
        return 0 if row is None or row[0] is None else int(row[0])

    _SOME = "select seq from vectors where space = :space order by seq"

    def centre(self, space: Space, *, sample: int) -> Matrix:
        """The mean of the views of some memories, spread evenly over the space: what everything in it has in common."""
        import numpy as np

        last = self.extent()
        found = self._stored(space, range(last, 0, -max(1, last // sample)))
        if len(found) < min(last, sample) // 2:  # much was forgotten, or another space fills the rows between
            seqs = [row[0] for row in self._engine.rows(self._SOME, {"space": space.id})]
            found = self._stored(space, seqs[:: max(1, len(seqs) // sample)])
        if not found:
            return np.zeros(space.dims, np.float32)
        mean: Matrix = np.mean([rows.mean(axis=0) for rows in found.values()], axis=0).astype(np.float32)
        return mean

    _COUNT = "select count(*) from vectors where space = :space"

    def count(self, space: Space) -> int:
        row = self._engine.row(self._COUNT, {"space": space.id})
        return int(row[0]) if row else 0

    # --- search ---------------------------------------------------------------------------------------------------

    def search(
        self,
        space: Space,
        query: Any,
        *,
        limit: int,
        where: str = "true",
        params: Params | None = None,
        probes: int | None = None,
    ) -> list[tuple[int, float]]:
        """The memories nearest to a query vector among those `where` admits, best first, each with the cosine of the
        query and the mean of its views.

        All that the filter lets through are found however few they are; the more there are, the fewer cells it takes.
        `probes` says how many to look into first, in stead of the number found in training.
        """
        found = self.nearest(space, query, limit=limit, where=where, params=params, probes=probes)
        return [(near.seq, near.cosine) for near in found]

    def nearest(
        self,
        space: Space,
        query: Any,
        *,
        limit: int,
        where: str = "true",
        params: Params | None = None,
        probes: int | None = None,
    ) -> list[Near]:
        """What `search` finds, each with the cosine of every view of it."""
        asked = _query(space, query)
        if limit < 1:
            return []
        with self._engine.read():
            now = self._fresh(space)
            chosen = self._candidates(now, asked, limit, where, params or {}, probes)
            scored = self._rescored(now, chosen, asked)
            best = sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]
            ids = ivf.ids(self._engine, [seq for seq, _, _ in best])
        return [Near(seq, ids[seq], cosine, views) for seq, cosine, views in best if seq in ids]

    def exact(self, space: Space, seqs: Sequence[int], query: Any) -> dict[int, tuple[float, ...]]:
        """The cosine of the query with each view of some memories, in full precision."""
        return {seq: views for seq, _, views in self._rescored(space, seqs, _query(space, query))}

    def mean_of(self, space: Space, seqs: Sequence[int]) -> Matrix | None:
        """The mean direction of some memories; nothing when none of them has a vector."""
        import numpy as np

        stored = self._stored(space, seqs)
        if not stored:
            return None
        means = ivf.means(np.concatenate(list(stored.values())), [len(views) for views in stored.values()])
        middle = means.mean(axis=0)
        length = float(np.linalg.norm(middle))
        return np.asarray(middle / length, np.float32) if length > 0 else None

    def _candidates(
        self, space: Space, query: Matrix, limit: int, where: str, params: Params, probes: int | None
    ) -> list[int]:
        """Enough memories to find the nearest `limit` among them, all admitted by the filter, the likeliest first."""
        grid = self._serving(space)
        centres = self._centres(space, grid)
        few = ivf.few(self._engine, where, params, most=_NARROW)
        if few is not None:
            return self._among(space, grid, query, few, limit)
        walk = ivf.Walk(self._engine, grid, centres, query, lambda: self._whole(space, grid))
        walk.reach(probes or grid.needed(limit))
        first = walk.best(limit * _FIRST)
        kept = self._admitted(first, where, params)
        if walk.exhausted(first) or len(kept) >= max(limit, len(first) * _OPEN):
            return kept[: limit * _RESCORED]
        depth = min(DEPTHS[-1], math.ceil(limit * _SPARE * len(first) / max(1, len(kept))))
        walk.reach(grid.needed(depth))
        deeper = walk.best(depth)
        kept = self._admitted(deeper, where, params)
        if len(kept) >= limit or walk.exhausted(deeper):
            return kept[: limit * _RESCORED]
        return self._among(space, grid, query, ivf.within(self._engine, where, params), limit)

    def _admitted(self, ranked: list[int], where: str, params: Params) -> list[int]:
        there = ivf.admitted(self._engine, ranked, where, params)
        return [seq for seq in ranked if seq in there]

    def _among(self, space: Space, grid: Grid, query: Matrix, seqs: list[int], limit: int) -> list[int]:
        """The nearest of given memories by their codes: asked for one by one while they are few."""
        if len(seqs) <= _NARROW:
            pages = iter([ivf.of(self._engine, grid.id, seqs, space.dims)])
        else:
            pages = (ivf.only(page, seqs) for page in self._whole(space, grid))
        return ivf.best(*ivf.scored(pages, query), limit * _RESCORED)

    def _rescored(self, space: Space, seqs: Sequence[int], query: Matrix) -> list[tuple[int, float, tuple[float, ...]]]:
        """Some memories in full precision: each with the cosine of the mean of its views, and of every view."""
        import numpy as np

        stored = self._stored(space, seqs)
        if not stored:
            return []
        counts = [len(rows) for rows in stored.values()]
        views = np.concatenate(list(stored.values()))
        cosines = (ivf.means(views, counts) @ query).tolist()
        each, ends = (views @ query).tolist(), itertools.accumulate(counts)
        return [
            (seq, cosine, tuple(each[end - count : end]))
            for seq, cosine, count, end in zip(stored, cosines, counts, ends, strict=True)
        ]

    _VIEWS = """
        select seq, cast(views as blob) from vectors
         where seq in (select value from json_each(:seqs)) and space = :space
    """

    def _stored(self, space: Space, seqs: Sequence[int]) -> dict[int, Matrix]:
        found: dict[int, Matrix] = {}
        for some in _chunks(seqs):
            rows = self._engine.rows(self._VIEWS, {"space": space.id, "seqs": json.dumps(some)})
            found.update((seq, views) for seq, views in _decoded(rows, space.dims).items() if views is not None)
        return found

    def _whole(self, space: Space, grid: Grid) -> Iterator[Codes]:
        """Every code of a grid; those of a small one are kept in memory until something changes."""
        import numpy as np

        kept = self._codes
        if kept is not None and kept[0] == (space.id, space.change):
            yield kept[1]
            return
        pages: list[Codes] | None = []
        for page in ivf.every(self._engine, grid.id, space.dims):
            yield page
            if pages is not None:
                pages.append(page)
                if sum(page.nbytes for page in pages) > _KEPT:
                    pages = None
        if pages:
            self._codes = ((space.id, space.change), np.concatenate(pages))

    _ALIKE_SLACK = 0.02  # how far a code may be off: candidates are compared again in full precision

    def repeats(self, space: Space, order: Sequence[int], *, least: float) -> list[tuple[int, int, float]]:
        """Memories whose vectors repeat one that stands before them in `order`: which, whom, and their cosine."""
        import numpy as np

        from recollect.store.sqlite import alike

        with self._engine.read():
            now = self._fresh(space)
            grid = self._serving(now)
            pages = [page for some in _chunks(order) if len(page := ivf.of(self._engine, grid.id, some, now.dims))]
            if not pages:
                return []
            codes = np.concatenate(pages)
            place = {seq: number for number, seq in enumerate(order)}
            codes = codes[np.argsort([place[seq] for seq in codes["seq"].tolist()], kind="stable")]
            centres = self._centres(now, grid)
            if centres is None and len(codes) > _NARROW:
                sample = ivf.units(ivf.decode(codes[:: max(1, len(codes) // SMALL)]))
                centres = ivf.cluster(sample, round(2 * len(codes) ** 0.5), rounds=_ROUNDS, seed=now.id)
            pairs = alike.repeats(codes, centres, least=least - self._ALIKE_SLACK)
            named = [(int(codes["seq"][one]), int(codes["seq"][other])) for one, other in pairs]
            return self._confirmed(now, named, least)

    def _confirmed(self, space: Space, pairs: Sequence[tuple[int, int]], least: float) -> list[tuple[int, int, float]]:
        """Those pairs that are as near as that in full precision."""
        import numpy as np

        confirmed: list[tuple[int, int, float]] = []
        for start in range(0, len(pairs), _STEP):
            some = pairs[start : start + _STEP]
            stored = self._stored(space, sorted({seq for pair in some for seq in pair}))
            means = ivf.means(np.concatenate(list(stored.values())), [len(views) for views in stored.values()])
            unit = dict(zip(stored, means, strict=True))
            for one, other in some:
                if one in unit and other in unit and (cosine := float(unit[one] @ unit[other])) >= least:
                    confirmed.append((one, other, cosine))
        return confirmed

    # --- training -------------------------------------------------------------------------------------------------

    def due_for_training(self, space: Space) -> bool:
        """Whether there are twice as many vectors as the cells were made for, or an earlier run was cut short."""
        if len(ivf.grids(self._engine, space.id)) > 1:
            return True
        count = self.count(space)
        return count > SMALL and count >= 2 * self._serving(self._fresh(space)).trained_on

    def train(self, space: Space) -> None:
        """Divide the space into cells that fit its vectors, and find out how many of them a question must look into.

        Works in small transactions. The former cells answer until the new ones are complete, and whatever is put or
        removed meanwhile lands in both. Killed at any point it leaves a working index; the next call goes on.
        """
        self.sweep()
        now = self._fresh(space)
        grid = self._filling(now) or self._divide(now)
        if grid is None:
            return
        seqs, cells, probes = self._assigned(now, grid)
        self._fill(now, grid, seqs, cells)
        self._swap(now, grid, probes)
        self.sweep()

    def _filling(self, space: Space) -> Grid | None:
        return next((grid for grid in ivf.grids(self._engine, space.id) if grid.state == "filling"), None)

    def _divide(self, space: Space) -> Grid | None:
        """A new grid, still empty, around centroids made from a sample."""
        count = self.count(space)
        if count < _LEAST:
            return None
        wanted = min(ivf.MOST_CELLS, count // 8, round(2 * count**0.5))
        sample = ivf.units(ivf.decode(self._sample(space, wanted * _SAMPLE)))
        centres = ivf.cluster(sample, min(wanted, len(sample)), rounds=_ROUNDS, seed=space.id)
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
        return np.concatenate([ivf.of(self._engine, space.grid, some, space.dims) for some in _chunks(chosen)])

    def _assigned(self, space: Space, grid: Grid) -> tuple[Seqs, Seqs, list[tuple[int, int]]]:
        """The cell of every vector in a new grid, and how many cells a question will have to look into."""
        import numpy as np

        centres = self._centres(space, grid)
        trials = ivf.Trials(self._sample(space, _TRIALS)[:_TRIALS], noise=_NOISE, depths=DEPTHS, seed=space.id)
        seqs, cells = [], []
        for page in ivf.every(self._engine, space.grid, space.dims):
            points = ivf.decode(page)
            seqs.append(page["seq"].astype(np.int64))
            cells.append(ivf.nearest(points, centres))
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
        for start in range(0, len(order), _STEP):
            chosen = order[start : start + _STEP]
            place = dict(zip(seqs[chosen].tolist(), cells[chosen].tolist(), strict=True))
            with self._engine.write(durable=False):  # lost with a power cut it is only done again
                codes = ivf.of(self._engine, space.grid, list(place), space.dims)
                ivf.add(self._engine, grid.id, np.array([place[seq] for seq in codes["seq"].tolist()]), codes)

    _SWAP = "update spaces set grid = :grid, change = random() where id = :id"

    def _swap(self, space: Space, grid: Grid, probes: list[tuple[int, int]]) -> None:
        """Let the new cells answer."""
        with self._engine.write():
            if any(known.id == grid.id and known.state == "filling" for known in ivf.grids(self._engine, space.id)):
                ivf.serve(self._engine, grid, probes=probes)
                self._engine.execute(self._SWAP, {"id": space.id, "grid": grid.id})

    _DROPPED = "select id from spaces where state = 'dropped' order by id"
    _END = "delete from spaces where id = :id"
    _CLEAR = """
        delete from vectors where rowid in
            (select rowid from vectors where seq > :after and seq <= :upto and space = :space)
    """
    _LAST = "select max(seq) from (select seq from vectors where seq > :after order by seq limit :step)"

    def sweep(self) -> None:
        """Clear away dropped spaces and cells that no longer answer, in small transactions."""
        dropped = [row[0] for row in self._engine.rows(self._DROPPED)]
        for space in dropped:
            self._clear(space)
        for grid in ivf.leftover(self._engine):
            more = True
            while more:
                with self._engine.write(durable=False):
                    more = ivf.sweep(self._engine, grid, most=_STEP)
        for space in dropped:
            with self._engine.write():
                self._engine.execute(self._END, {"id": space})

    def _clear(self, space: int) -> None:
        after = 0
        while (row := self._engine.row(self._LAST, {"after": after, "step": _STEP})) and row[0] is not None:
            with self._engine.write(durable=False):
                self._engine.execute(self._CLEAR, {"after": after, "upto": row[0], "space": space})
            after = row[0]

    # --- care -----------------------------------------------------------------------------------------------------

    def verify(self, space: Space) -> list[str]:
        """What is wrong with a space, if anything: every vector must be sound and of a memory that exists, and have
        exactly one code, its own, in the right cell."""
        with self._engine.read():
            now = self._fresh(space)
            try:
                grid = self._serving(now)
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
        codes = ivf.encode(list(sound), ivf.means(np.concatenate(list(sound.values())), [*map(len, sound.values())]))
        places = ivf.places(self._engine, grid.id, list(sound))
        faults += [f"{seq}: a vector, but no code" for seq in sound if seq not in places]
        coded = codes[[seq in places for seq in sound]]
        wrong = ivf.misplaced(coded, [places[seq] for seq in coded["seq"].tolist()], centres)
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
                self._engine.execute(self._TOUCH, {"id": now.id})
        with self._engine.write():
            for each in ivf.grids(self._engine, now.id):
                ivf.remove(self._engine, each.id, ivf.strays(self._engine, each))
            self._engine.execute(self._TOUCH, {"id": now.id})

    def _undamaged(self, space: Space) -> Space:
        """The space with an index that can be filled: one cell, where the cells are damaged or there is no index."""
        with self._engine.write():
            now = self._fresh(space)
            try:
                ivf.centroids(self._engine, self._serving(now), now.dims)
            except StoreDamaged:
                grid = ivf.add_grid(self._engine, now.id, "serving")
                self._engine.execute(self._SWAP, {"id": now.id, "grid": grid})
            except ValueError:
                self._engine.execute(self._UNTRAIN, {"id": now.grid})
            return self._fresh(space)

    def _again(self, space: Space, seqs: list[int]) -> None:
        stored = self._stored(space, seqs)
        self._place(space, list(stored), list(stored.values()))

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
        while rows := self._engine.rows(self._PAGE, {"space": space.id, "after": after, "step": _STEP}):
            yield _decoded(rows, space.dims)
            after = rows[-1][0]

    # --- inside ---------------------------------------------------------------------------------------------------

    def _by_id(self, id: int) -> Space:
        for space in self.spaces():
            if space.id == id:
                return space
        raise SpaceNotFound(id)

    def _fresh(self, space: Space) -> Space:
        """The space as it is now: its state and its grid may have changed since the caller read them."""
        return self._by_id(space.id)

    def _serving(self, space: Space) -> Grid:
        for grid in ivf.grids(self._engine, space.id):
            if grid.id == space.grid:
                return grid
        raise StoreDamaged(self._engine.location, f"the vectors of {space.name} have lost their index")

    def _centres(self, space: Space, grid: Grid) -> Matrix | None:
        """The centroids of a grid, read once per process. Damaged ones are none: every cell is looked into then."""
        known, key = self._centroids, (grid.id, grid.birth)
        if key not in known:
            try:
                found = ivf.centroids(self._engine, grid, space.dims)
            except ValueError:
                found = None
            self._centroids = known = {**dict(list(known.items())[-3:]), key: found}
        return known[key]


def _checked(space: Space, items: Sequence[Item]) -> list[tuple[int, Matrix, str]]:
    """The items with their views as unit rows; an error that says what is wrong with the first bad one."""
    import numpy as np

    given = [(seq, np.atleast_2d(np.asarray(views, np.float32)), stamp) for seq, views, stamp in items]
    for seq, views, _ in given:
        _fits(space, views, f"memory {seq}")
    if not given:
        return []
    ends = np.cumsum([len(views) for _, views, _ in given])
    owners = [seq for seq, views, _ in given for _ in views]
    rows = np.split(_units(np.concatenate([views for _, views, _ in given]), owners), ends[:-1])
    return [(seq, views, stamp) for (seq, _, stamp), views in zip(given, rows, strict=True)]


def _query(space: Space, given: Any) -> Matrix:
    import numpy as np

    asked = np.asarray(given, np.float32).reshape(1, -1)
    _fits(space, asked, "the question")
    found: Matrix = _units(asked, None)[0]
    return found


def _fits(space: Space, views: Matrix, what: str) -> None:
    if views.ndim != 2 or not views.size:
        raise BadVector(what, "is no row of numbers")
    if views.shape[1] != space.dims:
        raise EmbeddingMismatch(stored=space.name, configured=f"one with {views.shape[1]} dimensions")


def _units(rows: Matrix, owners: Sequence[int] | None) -> Matrix:
    """Rows with length one. One without a direction is an error that names its owner."""
    import numpy as np

    longest = np.abs(rows).max(axis=1)  # not a number when one of them is not
    bad = np.flatnonzero(~(np.isfinite(longest) & (longest > 0)))
    if len(bad):
        what = "the question" if owners is None else f"memory {owners[bad[0]]}"
        raise BadVector(what, "is zero" if longest[bad[0]] == 0 else "holds a number that is not finite")
    return ivf.units(rows / longest[:, None])  # first to a middling size: squares of the extremes leave the range


def _decoded(rows: Sequence[Row], dims: int) -> dict[int, Matrix | None]:
    """Stored views as unit rows, by memory; nothing where they are damaged."""
    import numpy as np

    found: dict[int, Matrix | None] = {seq: None for seq, _ in rows}
    whole = [(seq, blob) for seq, blob in rows if blob and len(blob) % (2 * dims) == 0]
    views = np.frombuffer(b"".join(blob for _, blob in whole), "<f2").astype(np.float32).reshape(-1, dims)
    lengths = np.einsum("ij,ij->i", views, views)
    sound = np.abs(lengths - 1) < 0.01  # also false where a number is not finite
    views /= np.sqrt(np.where(sound, lengths, np.float32(1)))[:, None]
    start = 0
    for seq, blob in whole:
        end = start + len(blob) // (2 * dims)
        if sound[start:end].all():
            found[seq] = views[start:end]
        start = end
    return found


def _chunks(seqs: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(seqs), _STEP):
        yield list(seqs[start : start + _STEP])
