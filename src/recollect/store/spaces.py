"""Vector spaces: which there are, which one answers, and the grid of cells each is searched by.

A space belongs to one model and one number of dimensions. Spaces coexist: another model fills a new one while the old
one answers, and the change from one to the other is a single transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.core.errors import SpaceNotFound, StoreDamaged, WrongSpaceState
from recollect.store.codec import from_ms, to_ms
from recollect.store.engine import Engine
from recollect.store.sqlite import ivf

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import Matrix
    from recollect.store.sqlite.ivf import Grid

State: TypeAlias = Literal["building", "active", "retired"]
STEP = 2_000  # rows per transaction of long work: others wait a few hundredths of a second
SWAP = "update spaces set grid = :grid, change = random() where id = :id"
TOUCH = "update spaces set change = random() where id = :id"


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


class Spaces:
    """Reads and changes spaces. Safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._centroids: dict[tuple[int, int], Matrix | None] = {}

    _SPACES = """
        select id, model, dims, state, created_at, grid, change from spaces where state <> 'dropped' order by id
    """

    def spaces(self) -> list[Space]:
        rows = self.engine.rows(self._SPACES)
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
        with self.engine.write():
            known = [space for space in self.spaces() if (space.model, space.dims) == (model, dims)]
            if known and known[0].state == "retired":
                self.engine.execute(self._SET_STATE, {"id": known[0].id, "state": "building"})
            if known:
                return self.fresh(known[0])
            row = self.engine.row(self._NEXT)
            id = int(row[0]) if row else 1
            grid = ivf.add_grid(self.engine, id, "serving")
            self.engine.execute(self._BEGIN, {"id": id, "model": model, "dims": dims, "at": to_ms(at), "grid": grid})
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
