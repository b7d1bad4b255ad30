"""Which vectors repeat one another, for those who look for memories that say the same. numpy loads late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.store.codes import decode, means, units
from recollect.store.port import Space
from recollect.store.spaces import STEP, Spaces

if TYPE_CHECKING:
    import numpy as np

    from recollect.store.codes import Codes, Matrix

SLACK = 0.02  # how far a code may be off: candidates are compared again in full precision
_REACH = 3  # cells each code is looked for in: a pair at 0.95 shares one of them in 99.9 % of cases (measured)
_TILE = 512  # codes compared with the leaders at once
_BLOCK = 2_048  # codes whose cells are found at once


def repeating_codes(codes: Codes, centres: Matrix | None, *, least: float) -> list[tuple[int, int]]:
    """Pairs (which repeats, whom) of places in `codes`, which are in order of preference: the later one repeats."""
    found: dict[int, int] = {}
    for members in _groups(codes, centres):
        for later, leader in _within(codes, members, least):
            found.setdefault(later, leader)
    return sorted(found.items())


def _groups(codes: Codes, centres: Matrix | None) -> Iterator[Any]:
    """The places that have a cell in common, cell by cell, in order of preference."""
    import numpy as np

    if centres is None or len(centres) <= _REACH:
        yield np.arange(len(codes))
        return
    cells = np.empty((len(codes), _REACH), np.int64)
    for start in range(0, len(codes), _BLOCK):
        near = decode(codes[start : start + _BLOCK]) @ centres.T
        cells[start : start + _BLOCK] = np.argpartition(-near, _REACH, axis=1)[:, :_REACH]
    order = np.argsort(cells.ravel(), kind="stable")
    bounds = np.flatnonzero(np.diff(cells.ravel()[order])) + 1
    yield from (np.sort(some) for some in np.split(order // _REACH, bounds))


def _within(codes: Codes, members: np.ndarray[Any, Any], least: float) -> Iterator[tuple[int, int]]:
    """Who repeats whom among some places."""
    import numpy as np

    leaders = np.empty(0, np.int64)
    vectors: Matrix = np.empty((0, codes["code"].shape[1]), np.float32)
    for start in range(0, len(members), _TILE):
        tile = members[start : start + _TILE]
        points = units(decode(codes[tile]))
        if len(leaders):
            near = points @ vectors.T
            best = near.argmax(axis=1)
            repeating = near[np.arange(len(tile)), best] >= least
            yield from zip(tile[repeating].tolist(), leaders[best[repeating]].tolist(), strict=True)
            tile, points = tile[~repeating], points[~repeating]
        alike = np.triu(points @ points.T >= least, k=1)
        fresh = np.ones(len(tile), bool)
        for place in np.flatnonzero(alike.any(axis=0)).tolist():
            before = np.flatnonzero(alike[:, place] & fresh)
            if len(before):
                fresh[place] = False
                yield int(tile[place]), int(tile[before[0]])
        leaders = np.concatenate([leaders, tile[fresh]])
        vectors = np.concatenate([vectors, points[fresh]])


def confirm_pairs(
    vectors: Spaces, space: Space, pairs: Sequence[tuple[int, int]], least: float
) -> list[tuple[int, int, float]]:
    """Those pairs that are as near as that in full precision."""
    import numpy as np

    confirmed: list[tuple[int, int, float]] = []
    for start in range(0, len(pairs), STEP):
        some = pairs[start : start + STEP]
        stored = vectors.stored(space, sorted({seq for pair in some for seq in pair}))
        middles = means(np.concatenate(list(stored.values())), [len(views) for views in stored.values()])
        unit = dict(zip(stored, middles, strict=True))
        for one, other in some:
            if one in unit and other in unit and (cosine := float(unit[one] @ unit[other])) >= least:
                confirmed.append((one, other, cosine))
    return confirmed
