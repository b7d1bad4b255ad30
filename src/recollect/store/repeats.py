"""Memories whose vectors repeat another's: found by their codes, confirmed in full precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.store.directions import chunks
from recollect.store.spaces import STEP, Space
from recollect.store.sqlite import alike, ivf
from recollect.store.sqlite.codes import cluster, decode, means, units
from recollect.store.training import ROUNDS
from recollect.store.vectors import NARROW, SMALL

if TYPE_CHECKING:
    from recollect.store.vectors import Vectors

_SLACK = 0.02  # how far a code may be off: candidates are compared again in full precision


def repeats(vectors: Vectors, space: Space, order: Sequence[int], *, least: float) -> list[tuple[int, int, float]]:
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
        pairs = alike.repeats(codes, centres, least=least - _SLACK)
        named = [(int(codes["seq"][one]), int(codes["seq"][other])) for one, other in pairs]
        return _confirmed(vectors, now, named, least)


def _confirmed(
    vectors: Vectors, space: Space, pairs: Sequence[tuple[int, int]], least: float
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
