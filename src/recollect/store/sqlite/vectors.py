"""The vector index of a project on SQLite: spaces that coexist, the vectors in them, and the search for the nearest.

A space belongs to one model and one number of dimensions, and a vector is compared only within its own. Another model
fills a new space while the old one answers, and the change from one to the other is a single transaction. Everything
here is a projection: `missing` and `stale` say what has to be embedded (again), `rebuild` makes the index anew from the
vectors. No model is ever called from here, and numpy is loaded only when a vector is at hand.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.errors import BadVector, EmbeddingMismatch, SpaceNotFound, StoreDamaged, WrongSpaceState
from recollect.core.query import Filter
from recollect.store.codec import from_ms, to_ms
from recollect.store.filters import where
from recollect.store.port import Engine, Item, Near, Params, Row, Space, chunks
from recollect.store.sqlite import ivf
from recollect.store.sqlite.codes import best, decode, encode, means, nearest, only, scored, units
from recollect.store.sqlite.ivf import Walk

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import Codes, Matrix
    from recollect.store.sqlite.ivf import Grid

STEP = 2_000  # rows per transaction of long work: others wait a few hundredths of a second
SWAP = "update spaces set grid = :grid, change = random() where id = :id"
TOUCH = "update spaces set change = random() where id = :id"


class Spaces:
    """Reads and changes spaces. Safe to share between threads."""

    def __init__(self, engine: Engine, project: str) -> None:
        self.engine = engine
        self.project = project
        self._centroids: dict[tuple[int, int], Matrix | None] = {}

    _SPACES = """
        select id, model, dims, state, created_at, grid, change from spaces
         where project = :project and state <> 'dropped' order by id
    """

    def spaces(self) -> list[Space]:
        rows = self.engine.rows(self._SPACES, {"project": self.project})
        return [Space(i, model, dims, state, from_ms(at), g, c) for i, model, dims, state, at, g, c in rows]

    def active(self) -> Space | None:
        """The space that answers questions."""
        return next((space for space in self.spaces() if space.state == "active"), None)

    _BEGIN = """
        insert into spaces (project, model, dims, state, created_at, grid, change)
        values (:project, :model, :dims, 'building', :at, 0, random()) returning id
    """
    _SET_STATE = "update spaces set state = :state, change = random() where id = :id"

    def begin(self, model: str, dims: int, at: datetime) -> Space:
        """The space of this model to be filled: the one there is, whatever its state was, or a new one.

        The active one is returned as it is; a retired one is filled further, since its vectors are still true.
        """
        with self.engine.write():
            known = [space for space in self.spaces() if (space.model, space.dims) == (model, dims)]
            if known and known[0].state == "retired":
                self.engine.execute(self._SET_STATE, {"id": known[0].id, "state": "building"})
            if known:
                return self.fresh(known[0])
            given = {"project": self.project, "model": model, "dims": dims, "at": to_ms(at)}
            id = int(self.engine.rows(self._BEGIN, given)[0][0])
            grid = ivf.add_grid(self.engine, self.project, id, "serving")
            self.engine.execute(SWAP, {"id": id, "grid": grid})
            return self._by_id(id)

    def activate(self, space: Space) -> Space:
        """Let this space answer from now on. The one that did is retired in the same transaction."""
        with self.engine.write():
            former = self.active()
            if former is not None and former.id == space.id:
                return former
            self.fresh(space)
            if former is not None:
                self.engine.execute(self._SET_STATE, {"id": former.id, "state": "retired"})
            self.engine.execute(self._SET_STATE, {"id": space.id, "state": "active"})
            return self.fresh(space)

    def put_back(self, space: Space) -> Space:
        """Go back to a retired space."""
        with self.engine.write():
            if (now := self.fresh(space)).state != "retired":
                raise WrongSpaceState(now.model, now.state, "put back")
            return self.activate(space)

    def drop(self, space: Space) -> None:
        """Remove a space with all its vectors: gone at once, cleared away in small transactions."""
        with self.engine.write():
            if (now := self.fresh(space)).state == "active":
                raise WrongSpaceState(now.model, now.state, "dropped")
            self.engine.execute(self._SET_STATE, {"id": space.id, "state": "dropped"})
        self.sweep()

    _DROPPED = "select id from spaces where state = 'dropped' order by id"
    _END = "delete from spaces where id = :id"
    _CLEAR = """
        delete from vectors where rowid in
            (select rowid from vectors where seq > :after and seq <= :upto and space = :space)
    """
    _LAST = "select max(seq) from (select seq from vectors where seq > :after order by seq limit :step)"

    def sweep(self) -> None:
        """Clear away dropped spaces and cells that no longer answer, in small transactions."""
        dropped = [row[0] for row in self.engine.rows(self._DROPPED)]
        for space in dropped:
            self._clear(space)
        for grid in ivf.leftover(self.engine):
            more = True
            while more:
                with self.engine.write(durable=False):
                    more = ivf.sweep(self.engine, grid, most=STEP)
        for space in dropped:
            with self.engine.write():
                self.engine.execute(self._END, {"id": space})

    def _clear(self, space: int) -> None:
        after = 0
        while (row := self.engine.row(self._LAST, {"after": after, "step": STEP})) and row[0] is not None:
            with self.engine.write(durable=False):
                self.engine.execute(self._CLEAR, {"after": after, "upto": row[0], "space": space})
            after = row[0]

    def _by_id(self, id: int) -> Space:
        for space in self.spaces():
            if space.id == id:
                return space
        raise SpaceNotFound(id)

    def fresh(self, space: Space) -> Space:
        """The space as it is now: its state and its grid may have changed since the caller read them."""
        return self._by_id(space.id)

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


def checked(space: Space, items: Sequence[Item]) -> list[tuple[str, Matrix, str]]:
    """The items with their views as unit rows; an error that says what is wrong with the first bad one."""
    import numpy as np

    given = [(id, np.atleast_2d(np.asarray(views, np.float32)), stamp) for id, views, stamp in items]
    for id, views, _ in given:
        _fits(space, views, f"memory {id}")
    if not given:
        return []
    ends = np.cumsum([len(views) for _, views, _ in given])
    owners = [id for id, views, _ in given for _ in views]
    rows = np.split(_units(np.concatenate([views for _, views, _ in given]), owners), ends[:-1])
    return [(id, views, stamp) for (id, _, stamp), views in zip(given, rows, strict=True)]


def question(space: Space, given: Any) -> Matrix:
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


def _units(rows: Matrix, owners: Sequence[str] | None) -> Matrix:
    """Rows with length one. One without a direction is an error that names its owner."""
    import numpy as np

    longest = np.abs(rows).max(axis=1)  # not a number when one of them is not
    bad = np.flatnonzero(~(np.isfinite(longest) & (longest > 0)))
    if len(bad):
        what = "the question" if owners is None else f"memory {owners[bad[0]]}"
        raise BadVector(what, "is zero" if longest[bad[0]] == 0 else "holds a number that is not finite")
    return units(rows / longest[:, None])  # first to a middling size: squares of the extremes leave the range


def decoded(rows: Sequence[Row], dims: int) -> dict[Any, Matrix | None]:
    """Stored views as unit rows, by memory; nothing where they are damaged."""
    import numpy as np

    found: dict[Any, Matrix | None] = {seq: None for seq, _ in rows}
    whole = [(seq, blob) for seq, blob in rows if blob and len(blob) % (2 * dims) == 0]
    views = np.frombuffer(b"".join([blob for _, blob in whole]), "<f2").astype(np.float32).reshape(-1, dims)
    lengths = np.einsum("ij,ij->i", views, views)
    sound = np.abs(lengths - 1) < 0.01  # also false where a number is not finite
    views /= np.sqrt(np.where(sound, lengths, np.float32(1)))[:, None]
    all_sound, start = bool(sound.all()), 0
    for seq, blob in whole:
        end = start + len(blob) // (2 * dims)
        if all_sound or sound[start:end].all():
            found[seq] = views[start:end]
        start = end
    return found


SMALL = 20_000  # vectors up to which every code is compared: a few milliseconds, and exact
NARROW = 4_000  # memories that a filter may let through to be compared one by one
_KEPT = 64 * 2**20  # bytes of codes kept in memory for a space of one cell; a larger one is read for each question
_RESCORED = 2  # candidates per wanted result that are compared in full precision; 1.5 already lost none in 3,000
_CHECKED = 1.2  # candidates per wanted result that are held against the filter where codes decide
_OPEN = 0.8  # share that a filter must let through to hardly matter
_SPARE = 1.5  # how much deeper than that share suggests to look behind a filter that does
_DEEPEST = 1_920  # nearest that cells are looked into for, behind a filter that lets little through
_FILTERS = 63  # filters whose shortcuts are remembered


class SqliteVectors(Spaces):
    """Reads and writes vectors. Safe to share between threads."""

    def __init__(self, engine: Engine, project: str) -> None:
        super().__init__(engine, project)
        self._codes: tuple[tuple[int, int, int], Codes] | None = None  # of one whole space, while it is small
        self._shortcuts: dict[str, str] = {}  # by filter: from where an index leads straight to what it lets through

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
            self.engine.execute(TOUCH, {"id": now.id})
        return sorted({id for id, _, _ in given} - seqs.keys())

    _SEQS = "select id, seq from memories where id = any(:ids) and project = :project"

    def seqs(self, ids: Sequence[str]) -> dict[str, int]:
        """The row of each of some memories that are there."""
        found: dict[str, int] = {}
        for some in chunks(ids):
            found.update(self.engine.rows(self._SEQS, {"ids": some, "project": self.project}))
        return found

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
        for seq in seqs:
            ivf.forget(self.engine, seq)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove all that was made of some memories, from every space."""
        with self.engine.write():
            for seq in self.seqs(ids).values():
                ivf.forget(self.engine, seq)

    _MISSING = """
        select m.id from memories m
         where m.project = :project and (:before is null or m.seq < (select seq from memories where id = :before))
           and not exists (select 1 from vectors v where v.seq = m.seq and v.space = :space)
         order by m.seq desc limit :limit
    """

    def missing(self, space: Space, limit: int, *, before: str | None = None) -> list[str]:
        """Memories without a vector, newest first; `before`, the last of an earlier call, goes on where that ended."""
        asked = {"project": self.project, "space": space.id, "limit": limit, "before": before}
        rows = self.engine.rows(self._MISSING, asked)
        return [row[0] for row in rows]

    _STAMPS = """
        select m.id, v.stamp from memories m join vectors v on v.seq = m.seq and v.space = :space
         where m.id in (select value from json_each(:ids))
    """

    def stale(self, space: Space, stamps: Mapping[str, str]) -> list[str]:
        """Those of some memories whose vector was made from another text than the one stamped here, or is missing."""
        found: dict[str, str] = {}
        for some in chunks(list(stamps)):
            found.update(self.engine.rows(self._STAMPS, {"space": space.id, "ids": json.dumps(some)}))
        return sorted(id for id, stamp in stamps.items() if found.get(id) != stamp)

    _WAITING = "select count(*) from memories where project = :project"

    def waiting(self, space: Space) -> int:
        """How many memories have no vector yet."""
        row = self.engine.row(self._WAITING, {"project": self.project})
        return max(0, (int(row[0]) if row else 0) - self.count(space))

    _EXTENT = "select max(seq) from vectors"

    def extent(self) -> int:
        """About how many vectors there are, without counting them."""
        row = self.engine.row(self._EXTENT)
        return 0 if row is None or row[0] is None else int(row[0])

    _SOME = "select seq from vectors where space = :space order by seq"

    def centre(self, space: Space, *, sample: int) -> Matrix:
        """The mean of the views of some memories, spread evenly over the space: what everything in it has in common."""
        import numpy as np

        last = self.extent()
        found = self.stored(space, range(last, 0, -max(1, last // sample)))
        if len(found) < min(last, sample) // 2:  # much was forgotten, or another space fills the rows between
            seqs = [row[0] for row in self.engine.rows(self._SOME, {"space": space.id})]
            found = self.stored(space, seqs[:: max(1, len(seqs) // sample)])
        if not found:
            return np.zeros(space.dims, np.float32)
        mean: Matrix = np.mean([rows.mean(axis=0) for rows in found.values()], axis=0).astype(np.float32)
        return mean

    _COUNT = "select count(*) from vectors where space = :space"

    def count(self, space: Space) -> int:
        row = self.engine.row(self._COUNT, {"space": space.id})
        return int(row[0]) if row else 0

    # --- search ---------------------------------------------------------------------------------------------------

    def search(self, space: Space, query: Any, *, limit: int, filter: Filter | None = None) -> list[tuple[str, float]]:
        """The memories nearest to a query vector among those a filter admits, best first, each with the cosine of the
        query and the mean of its views.

        All that the filter lets through are found however few they are; the more there are, the fewer cells it takes.
        """
        return [(near.id, near.cosine) for near in self.nearest(space, query, limit=limit, filter=filter)]

    def nearest(self, space: Space, query: Any, *, limit: int, filter: Filter | None = None) -> list[Near]:
        """What `search` finds, each with the cosine of every view of it."""
        asked = question(space, query)
        if limit < 1:
            return []
        with self.engine.read():
            now = self.fresh(space)
            ids = self._candidates(now, asked, limit, *self._where(filter), spare=_RESCORED)
            scored = self._rescored(now, list(ids), asked)
        best = sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]
        return [Near(ids[seq], cosine, views) for seq, cosine, views in best]

    def about(self, space: Space, query: Any, *, limit: int, filter: Filter) -> list[str]:
        """The memories nearest to a query vector by their codes, which tell cosines to about three digits, best first.
        A third of the work of `nearest`, for those who measure the best of them later."""
        asked = question(space, query)
        if limit < 1:
            return []
        with self.engine.read():
            ids = self._candidates(self.fresh(space), asked, limit, *self._where(filter), spare=_CHECKED)
        return list(ids.values())[:limit]

    def _where(self, filter: Filter | None) -> tuple[str, Params]:
        return ("true", {}) if filter is None else where(filter, self.project)

    _VIEWS_OF = """
        select m.id, cast(v.views as blob) from memories m join vectors v on v.seq = m.seq and v.space = :space
         where m.id in (select value from json_each(:ids))
    """

    def _views_of(self, space: Space, ids: Sequence[str]) -> dict[str, Matrix]:
        """The sound views of some memories, in the order given."""
        rows = [
            row
            for some in chunks(ids)
            for row in self.engine.rows(self._VIEWS_OF, {"space": space.id, "ids": json.dumps(some)})
        ]
        found = decoded(rows, space.dims)
        return {id: views for id in ids if (views := found.get(id)) is not None}

    def exact(self, space: Space, ids: Sequence[str], query: Any) -> dict[str, tuple[float, ...]]:
        """The cosine of the query with each view of some memories, in full precision."""
        import numpy as np

        asked, stored = question(space, query), self._views_of(space, ids)
        if not stored:
            return {}
        each = (np.concatenate(list(stored.values())) @ asked).tolist()
        ends = itertools.accumulate(len(views) for views in stored.values())
        return {id: tuple(each[end - len(views) : end]) for (id, views), end in zip(stored.items(), ends, strict=True)}

    def mean_of(self, space: Space, ids: Sequence[str]) -> Matrix | None:
        """The mean direction of some memories; nothing when none of them has a vector."""
        import numpy as np

        stored = self._views_of(space, ids)
        if not stored:
            return None
        each = means(np.concatenate(list(stored.values())), [len(views) for views in stored.values()])
        middle = each.mean(axis=0)
        length = float(np.linalg.norm(middle))
        return np.asarray(middle / length, np.float32) if length > 0 else None

    def _candidates(
        self, space: Space, query: Matrix, limit: int, condition: str, params: Params, *, spare: float
    ) -> dict[int, str]:
        """Enough memories to find the nearest `limit` among them, all admitted by the filter, with their ids, the
        likeliest first: `spare` times as many."""
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

    def _rescored(self, space: Space, seqs: Sequence[int], query: Matrix) -> list[tuple[int, float, tuple[float, ...]]]:
        """Some memories in full precision: each with the cosine of the mean of its views, and of every view."""
        import numpy as np

        stored = self.stored(space, seqs)
        if not stored:
            return []
        counts = [len(rows) for rows in stored.values()]
        views = np.concatenate(list(stored.values()))
        cosines = (means(views, counts) @ query).tolist()
        each, ends = (views @ query).tolist(), itertools.accumulate(counts)
        return [
            (seq, cosine, tuple(each[end - count : end]))
            for seq, cosine, count, end in zip(stored, cosines, counts, ends, strict=True)
        ]

    _VIEWS = """
        select seq, cast(views as blob) from vectors
         where seq in (select value from json_each(:seqs)) and space = :space
    """

    def stored(self, space: Space, seqs: Sequence[int]) -> dict[int, Matrix]:
        found: dict[int, Matrix] = {}
        for some in chunks(seqs):
            rows = self.engine.rows(self._VIEWS, {"space": space.id, "seqs": json.dumps(some)})
            found.update((seq, views) for seq, views in decoded(rows, space.dims).items() if views is not None)
        return found

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
        """Make the index of a space anew from its vectors."""
        from recollect.store.sqlite.vector_upkeep import VectorCare

        VectorCare(self).rebuild(space)

    def repeats(self, space: Space, order: Sequence[str], *, least: float) -> list[tuple[str, str, float]]:
        """Memories whose vectors repeat one that stands before them in `order`: which, whom, and their cosine."""
        from recollect.store.sqlite.vector_upkeep import repeats

        seqs = self.seqs(order)
        ids = {seq: id for id, seq in seqs.items()}
        found = repeats(self, space, [seqs[id] for id in order if id in seqs], least=least)
        return [(ids[one], ids[other], cosine) for one, other, cosine in found]
