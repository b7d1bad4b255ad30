"""The vector index on SQLite: an inverted file of small codes, kept in ordinary rows and so in every transaction.

A *grid* divides a space into cells around centroids; a grid without centroids is one cell. The codes of a cell lie side
by side because grid, cell and memory are one integer key: a clustered table would do the same, but spills every code
past a quarter of a page into a page of its own. Nothing here knows models, or when to train.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.store.codes import best, decode, dtype, from_blob, products, scored, units
from recollect.store.port import Engine, Params

if TYPE_CHECKING:
    from recollect.store.codes import Codes, Matrix, Seqs

_SEQ = 2**32 - 1  # the part of a key that is the memory; above it 16 bits of cell and 15 of grid
MOST_CELLS = 2**16 - 1
_PAGE = 8_192  # codes per read when everything is read
_BATCH = 64  # cells per read, which bounds memory when much is probed

CREATE = (
    """
    create table spaces (
        id          integer primary key,
        project     text not null,
        model       text not null,
        dims        integer not null,
        state       text not null,
        created_at  integer not null,
        grid        integer not null,
        change      integer not null
    )
    """,
    "create unique index spaces_active on spaces (project, state) where state = 'active'",
    "create unique index spaces_by_model on spaces (project, model, dims) where state <> 'dropped'",
    # An ordinary table and not a clustered one: rows past a quarter of a page would each spill into a page of their own
    # there, which trebles the file.
    """
    create table vectors (
        project  text not null,
        space    integer not null,
        seq      integer not null,
        views    blob not null,
        stamp    text not null
    )
    """,
    "create unique index vectors_by_seq on vectors (seq, space)",
    """
    create table grids (
        id          integer primary key,
        project     text not null,
        space       integer not null,
        state       text not null,
        trained_on  integer not null,
        probes      text not null,
        birth       integer not null,
        centroids   blob
    )
    """,
    "create index grids_by_space on grids (space)",
    "create table cells (key integer primary key, project text not null, code blob not null)",
    f"create unique index cells_by_seq on cells (key & {_SEQ}, key >> 48)",
)


def create(engine: Engine) -> None:
    for statement in CREATE:
        engine.execute(statement)


# --- grids ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grid:
    """One division of a space into cells. `birth` is drawn again whenever the centroids change."""

    id: int
    space: int
    state: str  # serving | filling | old
    trained_on: int
    birth: int
    probes: tuple[tuple[int, int], ...]  # how many cells hold how many nearest, rising

    def needed(self, nearest: int) -> int:
        """How many cells to look into for so many nearest."""
        return next((cells for depth, cells in self.probes if depth >= nearest), self.probes[-1][1])


_ADD_GRID = """
    insert into grids (project, space, state, trained_on, probes, birth, centroids)
    values (:project, :space, :state, :trained_on, '[[1, 1]]', random(), :centroids) returning id
"""


def add_grid(
    engine: Engine, project: str, space: int, state: str, *, trained_on: int = 0, centroids: Matrix | None = None
) -> int:
    blob = None if centroids is None else centroids.astype("<f2").tobytes()
    given = {"project": project, "space": space, "state": state, "trained_on": trained_on, "centroids": blob}
    return int(engine.rows(_ADD_GRID, given)[0][0])


_GRIDS = "select id, space, state, trained_on, birth, probes from grids where space = :space order by id"


def grids(engine: Engine, space: int) -> list[Grid]:
    return [
        Grid(id, owner, state, trained_on, birth, _probes(probes))
        for id, owner, state, trained_on, birth, probes in engine.rows(_GRIDS, {"space": space})
    ]


def _probes(text: str) -> tuple[tuple[int, int], ...]:
    """How many cells hold how many nearest. When that is damaged, all of them do."""
    try:
        return tuple((int(depth), int(cells)) for depth, cells in json.loads(text)) or ((1, MOST_CELLS),)
    except (ValueError, TypeError):
        return ((1, MOST_CELLS),)


_RETIRE = "update grids set state = 'old' where space = :space and state = 'serving'"
_SERVE = "update grids set state = 'serving', probes = :probes where id = :id"


def serve(engine: Engine, grid: Grid, *, probes: Sequence[tuple[int, int]]) -> None:
    """Make this the grid of its space that answers."""
    engine.execute(_RETIRE, {"space": grid.space})
    engine.execute(_SERVE, {"id": grid.id, "probes": json.dumps(probes)})


_LEFTOVER = """
    select id from grids where state = 'old' or space in (select id from spaces where state = 'dropped') order by id
"""


def leftover(engine: Engine) -> list[int]:
    """Grids that answer no more, and all those of dropped spaces."""
    return [row[0] for row in engine.rows(_LEFTOVER)]


_CENTROIDS = "select centroids from grids where id = :id"


def centroids(engine: Engine, grid: Grid, dims: int) -> Matrix | None:
    """The centroids as they are stored, so that every process assigns alike; none for a grid of one cell.

    Raises ValueError when they are damaged.
    """
    import numpy as np

    row = engine.row(_CENTROIDS, {"id": grid.id})
    if row is None or row[0] is None:
        return None
    blob = row[0]
    if not isinstance(blob, bytes) or not blob or len(blob) % (2 * dims):
        raise ValueError("the centroids are damaged")
    found: Matrix = np.frombuffer(blob, "<f2").astype(np.float32).reshape(-1, dims)
    if not np.isfinite(found).all():
        raise ValueError("the centroids are damaged")
    return found


# --- codes in and out -----------------------------------------------------------------------------------------------

_ADD = """
    insert into cells (key, project, code) select ?, project, ? from grids where id = ? on conflict do nothing
"""
_REMOVE = f"delete from cells where key & {_SEQ} = ? and key >> 48 = ?"


def put(engine: Engine, grid: int, cells: Seqs, codes: Codes) -> None:
    """Give memories their place in a grid, in stead of any they had."""
    engine.execute_many(_REMOVE, [(seq, grid) for seq in codes["seq"].tolist()])
    add(engine, grid, cells, codes)


def add(engine: Engine, grid: int, cells: Seqs, codes: Codes) -> None:
    """Add codes of memories that have no place in the grid; those that do keep it."""
    engine.execute_many(
        _ADD, [(key, blob, grid) for key, blob in zip(keys(grid, cells, codes["seq"]), blobs(codes), strict=True)]
    )


def keys(grid: int, cells: Seqs, seqs: Any) -> list[int]:
    found: list[int] = ((grid << 48) + (cells.astype("i8") << 32) + seqs.astype("i8")).tolist()
    return found


def blobs(codes: Codes) -> list[bytes]:
    whole, size = codes.tobytes(), codes.dtype.itemsize
    return [whole[start : start + size] for start in range(0, len(whole), size)]


_FORGET = (
    "delete from vectors where seq = any(:seqs)",
    f"delete from cells where key & {_SEQ} = any(:seqs)",
)
_CHANGE = "update spaces set change = random()"


def forget(engine: Engine, seqs: Sequence[int]) -> None:
    """Remove all that was made of some memories, from every space and every grid."""
    for statement in _FORGET:
        engine.execute(statement, {"seqs": list(seqs)})
    engine.execute(_CHANGE)


_SCAN = f"""
    select (select cast(group_concat(c.code, '') as blob) from cells c
             where c.key between j.value and j.value + {_SEQ} and length(c.code) = :size)
      from json_each(:cells) j
"""  # one value per cell: a row per code would cost four times as much


def scan(engine: Engine, grid: int, cells: Sequence[int], dims: int) -> Iterator[Codes]:
    """The codes of some cells. One of the wrong size is damaged and left out; `verify` finds it."""
    for start in range(0, len(cells), _BATCH):
        some = json.dumps([(grid << 48) + (cell << 32) for cell in cells[start : start + _BATCH]])
        rows = engine.rows(_SCAN, {"cells": some, "size": dtype(dims).itemsize})
        yield from_blob(b"".join(row[0] for row in rows if row[0] is not None), dims)


_EVERY = """
    select max(key), cast(group_concat(iif(length(code) = :size, code, ''), '') as blob)
      from (select key, code from cells where key > :after and key <= :last order by key limit :page)
"""


def every(engine: Engine, grid: int, dims: int) -> Iterator[Codes]:
    """All codes of a grid in the order of its cells, in pages, each a read of its own."""
    after, last = (grid << 48) - 1, ((grid + 1) << 48) - 1
    while True:
        row = engine.row(_EVERY, {"after": after, "last": last, "page": _PAGE, "size": dtype(dims).itemsize})
        if row is None or row[0] is None:
            return
        after = row[0]
        yield from_blob(row[1] or b"", dims)


_OF = f"""
    select cast(group_concat(c.code, '') as blob)
      from json_each(:seqs) j cross join cells c on c.key & {_SEQ} = j.value and c.key >> 48 = :grid
     where length(c.code) = :size
"""


def of(engine: Engine, grid: int, seqs: Sequence[int], dims: int) -> Codes:
    """The codes of some memories, as far as they have one."""
    row = engine.row(_OF, {"seqs": json.dumps(list(seqs)), "grid": grid, "size": dtype(dims).itemsize})
    return from_blob(row[0] if row and row[0] else b"", dims)


_PLACES = f"""
    select key & {_SEQ}, (key >> 32) & {MOST_CELLS}, cast(code as blob)
      from cells where key & {_SEQ} in (select value from json_each(:seqs)) and key >> 48 = :grid
"""


def places(engine: Engine, grid: int, seqs: Sequence[int]) -> dict[int, tuple[int, bytes]]:
    """The cell and the raw code of some memories."""
    rows = engine.rows(_PLACES, {"grid": grid, "seqs": json.dumps(list(seqs))})
    return {seq: (cell, code) for seq, cell, code in rows}


_STRAY = f"""
    select key & {_SEQ} from cells c where key > :after and key <= :last
       and not exists (select 1 from vectors v where v.seq = c.key & {_SEQ} and v.space = :space) order by 1
"""


def strays(engine: Engine, grid: Grid) -> list[int]:
    """Memories that have a code but no vector."""
    bounds = {"after": (grid.id << 48) - 1, "last": ((grid.id + 1) << 48) - 1, "space": grid.space}
    return [row[0] for row in engine.rows(_STRAY, bounds)]


def remove(engine: Engine, grid: int, seqs: Sequence[int]) -> None:
    engine.execute_many(_REMOVE, [(seq, grid) for seq in seqs])


_SWEEP = "delete from cells where key in (select key from cells where key > :after and key <= :last limit :most)"
_END = "delete from grids where id = :id"


def sweep(engine: Engine, grid: int, *, most: int) -> bool:
    """Remove some codes of a grid that no longer answers, the grid itself with the last. True while there are more."""
    bounds = {"after": (grid << 48) - 1, "last": ((grid + 1) << 48) - 1, "most": most}
    if engine.execute(_SWEEP, bounds):
        return True
    engine.execute(_END, {"id": grid})
    return False


# --- filters --------------------------------------------------------------------------------------------------------

# Without statistics SQLite takes an index on the project for the best way to anything: it is told the order.
_ADMITTED = """
    select m.seq, m.id from json_each(:seqs) j cross join memories m on m.seq = j.value where {where}
"""


def admitted(engine: Engine, seqs: Sequence[int], where: str, params: Params) -> dict[int, str]:
    """Those of some memories that a filter lets through, with their ids."""
    return dict(engine.rows(_ADMITTED.format(where=where), {**params, "seqs": json.dumps(list(seqs))}))


_WITHIN = "select m.seq from {source} where {where} limit {most:d}"
_SOURCES = ("memories m", "memories m not indexed")
_SHORT = ("USING INTEGER PRIMARY KEY", "USING INDEX memories_by_session", "USING INDEX memories_to_review")


def within(engine: Engine, where: str, params: Params, *, source: str = _SOURCES[0], most: int = -1) -> list[int]:
    """All memories that a filter lets through, or the first few of them."""
    return [row[0] for row in engine.rows(_WITHIN.format(source=source, where=where, most=most), params)]


def shortcut(engine: Engine, where: str, params: Params) -> str:
    """The source from which an index leads straight to what a filter lets through, if one does. SQLite's plan tells,
    and it depends on nothing but the words of the filter."""
    for source in _SOURCES:
        plan = engine.rows("explain query plan " + _WITHIN.format(source=source, where=where, most=-1), params)
        if any(step[3].startswith(f"SEARCH m {way}") for step in plan for way in _SHORT):
            return source
    return ""


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
