"""What every vector index shares: spaces that coexist, what is missing or stale in them, vectors in full precision.

A space belongs to one model and one number of dimensions, and a vector is compared only within its own. Another model
fills a new space while the old one answers, and the change from one to the other is a single transaction. How the
nearest are found is the engine's own affair.
"""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.errors import SpaceNotFound, WrongSpaceState
from recollect.core.query import Filter
from recollect.store.codec import from_ms, to_ms
from recollect.store.codes import means
from recollect.store.port import Engine, Item, Near, Space, chunks
from recollect.store.views import decoded, question

if TYPE_CHECKING:
    from recollect.store.codes import Matrix

RESCORED = 2  # candidates per wanted result that are compared in full precision; 1.5 already lost none in 3,000
CHECKED = 1.2  # candidates per wanted result that are held against the filter where codes decide
STEP = 2_000  # rows per transaction of long work: others wait a few hundredths of a second


def new_change() -> int:
    """A number that no earlier state of a space had."""
    return int.from_bytes(os.urandom(8)) >> 1


class Spaces(ABC):
    """Reads and changes spaces, and reads vectors. Safe to share between threads."""

    def __init__(self, engine: Engine, project: str) -> None:
        self.engine = engine
        self.project = project

    # --- spaces ---------------------------------------------------------------------------------------------------

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
        values (:project, :model, :dims, 'building', :at, 0, :change) returning id
    """
    _SET_STATE = "update spaces set state = :state, change = :change where id = :id"
    _SET_GRID = "update spaces set grid = :grid, change = :change where id = :id"
    _TOUCH = "update spaces set change = :change where id = :id"

    def begin(self, model: str, dims: int, at: datetime) -> Space:
        """The space of this model to be filled: the one there is, whatever its state was, or a new one.

        The active one is returned as it is; a retired one is filled further, since its vectors are still true.
        """
        with self.engine.write():
            known = [space for space in self.spaces() if (space.model, space.dims) == (model, dims)]
            if known and known[0].state == "retired":
                self._set_state(known[0], "building")
            if known:
                return self.fresh(known[0])
            given = {"project": self.project, "model": model, "dims": dims, "at": to_ms(at), "change": new_change()}
            id = int(self.engine.rows(self._BEGIN, given)[0][0])
            self.prepare(id)
            return self._by_id(id)

    @abstractmethod
    def prepare(self, id: int) -> None:
        """Make what the engine needs to search a new space, inside the current write."""

    def activate(self, space: Space) -> Space:
        """Let this space answer from now on. The one that did is retired in the same transaction."""
        with self.engine.write():
            former = self.active()
            if former is not None and former.id == space.id:
                return former
            self.fresh(space)
            if former is not None:
                self._set_state(former, "retired")
            self._set_state(space, "active")
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
            self._set_state(space, "dropped")
        self.sweep()

    _DROPPED = "select id from spaces where state = 'dropped' order by id"
    _END = "delete from spaces where id = :id"
    _CLEAR = "delete from vectors where space = :space and seq > :after and seq <= :upto"
    _LAST = "select max(seq) from (select seq from vectors where seq > :after order by seq limit :step) page"

    def sweep(self) -> None:
        """Clear away dropped spaces, in small transactions."""
        for (space,) in self.engine.rows(self._DROPPED):
            after = 0
            while (row := self.engine.row(self._LAST, {"after": after, "step": STEP})) and row[0] is not None:
                with self.engine.write(durable=False):
                    self.engine.execute(self._CLEAR, {"after": after, "upto": row[0], "space": space})
                after = row[0]
            self.end(space)

    def end(self, id: int) -> None:
        """Remove a space that holds nothing any more."""
        with self.engine.write():
            self.engine.execute(self._END, {"id": id})

    def touch(self, space: Space) -> None:
        """Say that a space has changed, inside the current write."""
        self.engine.execute(self._TOUCH, {"id": space.id, "change": new_change()})

    def set_grid(self, id: int, grid: int) -> None:
        """Let another index of a space answer, inside the current write."""
        self.engine.execute(self._SET_GRID, {"id": id, "grid": grid, "change": new_change()})

    def _set_state(self, space: Space, state: str) -> None:
        self.engine.execute(self._SET_STATE, {"id": space.id, "state": state, "change": new_change()})

    def _by_id(self, id: int) -> Space:
        for space in self.spaces():
            if space.id == id:
                return space
        raise SpaceNotFound(id)

    def fresh(self, space: Space) -> Space:
        """The space as it is now: its state and its grid may have changed since the caller read them."""
        return self._by_id(space.id)

    # --- memories -------------------------------------------------------------------------------------------------

    _SEQS = "select id, seq from memories where id = any(:ids) and project = :project"

    def seqs(self, ids: Sequence[str]) -> dict[str, int]:
        """The row of each of some memories that are there."""
        found: dict[str, int] = {}
        for some in chunks(ids):
            found.update(self.engine.rows(self._SEQS, {"ids": some, "project": self.project}))
        return found

    _MISSING = """
        select m.id from memories m
         where m.project = :project
           and (cast(:before as text) is null or m.seq < (select seq from memories where id = :before))
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
         where m.id = any(:ids)
    """

    def stale(self, space: Space, stamps: Mapping[str, str]) -> list[str]:
        """Those of some memories whose vector was made from another text than the one stamped here, or is missing."""
        found: dict[str, str] = {}
        for some in chunks(list(stamps)):
            found.update(self.engine.rows(self._STAMPS, {"space": space.id, "ids": some}))
        return sorted(id for id, stamp in stamps.items() if found.get(id) != stamp)

    _WAITING = "select count(*) from memories where project = :project"

    def waiting(self, space: Space) -> int:
        """How many memories have no vector yet."""
        row = self.engine.row(self._WAITING, {"project": self.project})
        return max(0, (int(row[0]) if row else 0) - self.count(space))

    # --- vectors --------------------------------------------------------------------------------------------------

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

    def search(self, space: Space, query: Any, *, limit: int, filter: Filter | None = None) -> list[tuple[str, float]]:
        """The memories nearest to a query vector among those a filter admits, best first, each with the cosine of the
        query and the mean of its views. All that the filter lets through are found however few they are."""
        return [(near.id, near.cosine) for near in self.nearest(space, query, limit=limit, filter=filter)]

    def nearest(self, space: Space, query: Any, *, limit: int, filter: Filter | None = None) -> list[Near]:
        """What `search` finds, each with the cosine of every view of it."""
        asked = question(space, query)
        if limit < 1:
            return []
        with self.engine.read():
            now = self.fresh(space)
            ids = self.candidates(now, asked, limit, filter, spare=RESCORED)
            scored = self._rescored(now, list(ids), asked)
        best = sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]
        return [Near(ids[seq], cosine, views) for seq, cosine, views in best]

    def about(self, space: Space, query: Any, *, limit: int, filter: Filter) -> list[str]:
        """What `search` finds, roughly and cheaply, best first, for those who measure the best of them later."""
        asked = question(space, query)
        if limit < 1:
            return []
        with self.engine.read():
            ids = self.candidates(self.fresh(space), asked, limit, filter, spare=CHECKED)
        return list(ids.values())[:limit]

    @abstractmethod
    def candidates(
        self, space: Space, query: Matrix, limit: int, filter: Filter | None, *, spare: float
    ) -> dict[int, str]:
        """Enough memories to find the nearest `limit` among them, all admitted by the filter, with their ids, the
        likeliest first: `spare` times as many."""

    _VIEWS_OF = """
        select m.id, cast(v.views as bytea) from memories m join vectors v on v.seq = m.seq and v.space = :space
         where m.id = any(:ids)
    """

    def _views_of(self, space: Space, ids: Sequence[str]) -> dict[str, Matrix]:
        """The sound views of some memories, in the order given."""
        rows = [
            row for some in chunks(ids) for row in self.engine.rows(self._VIEWS_OF, {"space": space.id, "ids": some})
        ]
        found = decoded(rows, space.dims)
        return {id: views for id in ids if (views := found.get(id)) is not None}

    def items(self, space: Space, ids: Sequence[str]) -> list[Item]:
        """The sound vectors of some memories, as `put` takes them, in the order given."""
        stamps: dict[str, str] = {}
        for some in chunks(ids):
            stamps.update(self.engine.rows(self._STAMPS, {"space": space.id, "ids": some}))
        return [(id, views, stamps[id]) for id, views in self._views_of(space, ids).items() if id in stamps]

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

    _VIEWS = """
        select seq, cast(views as bytea) from vectors
         where seq = any(:seqs) and space = :space
    """

    def stored(self, space: Space, seqs: Sequence[int]) -> dict[int, Matrix]:
        found: dict[int, Matrix] = {}
        for some in chunks(seqs):
            rows = self.engine.rows(self._VIEWS, {"space": space.id, "seqs": some})
            found.update((seq, views) for seq, views in decoded(rows, space.dims).items() if views is not None)
        return found

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
