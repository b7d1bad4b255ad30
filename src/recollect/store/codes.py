"""Vectors as small codes, and the arithmetic of an inverted file: scores, centroids, cells. Pure; numpy loads late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]
    Seqs: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.void]  # seq, scale and code of one memory each

_BLOCK = 256  # codes per product: they stay in the cache, and BLAS starts no threads that would have to be awaited


def dtype(dims: int) -> np.dtype[np.void]:
    import numpy as np

    return np.dtype([("seq", "<u4"), ("scale", "<f2"), ("code", "i1", (dims,))])


def from_blob(blob: bytes, dims: int) -> Codes:
    import numpy as np

    return np.frombuffer(blob, dtype(dims))


def encode(seqs: Sequence[int], units: Matrix) -> Codes:
    """Unit vectors as small codes: one byte a number, and a scale of its own for each vector, which is five times as
    exact as one scale for all (measured at 256 and 384 dimensions)."""
    import numpy as np

    exact = np.abs(units).max(axis=1) / 127
    scale = exact.astype(np.float16)
    scale = np.where(scale < exact, np.nextafter(scale, np.float16(np.inf)), scale)
    codes = np.zeros(len(units), dtype(units.shape[1]))
    codes["seq"], codes["scale"] = seqs, scale
    codes["code"] = np.rint(units / scale.astype(np.float32)[:, None])
    return codes


def decode(codes: Codes) -> Matrix:
    """About the vectors that were encoded."""
    import numpy as np

    vectors: Matrix = codes["code"].astype(np.float32)
    vectors *= codes["scale"].astype(np.float32)[:, None]
    return vectors


def scores(codes: Codes, query: Matrix) -> Matrix:
    """The cosine of each code with a unit query, to about three digits."""
    import numpy as np

    found = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), _BLOCK):
        found[start : start + _BLOCK] = codes["code"][start : start + _BLOCK].astype(np.float32) @ query
    found *= codes["scale"].astype(np.float32)
    return found


def products(rows: Matrix, query: Matrix) -> Matrix:
    """The product of each row with a query, in blocks: a larger one would be shared out among threads that spin."""
    import numpy as np

    found = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        found[start : start + _BLOCK] = rows[start : start + _BLOCK] @ query
    return found


def units(vectors: Matrix) -> Matrix:
    """The same directions with length one."""
    import numpy as np

    lengths: Matrix = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / lengths[:, None]


def means(views: Matrix, counts: Sequence[int]) -> Matrix:
    """The direction of the mean of each memory's views. Views that cancel out leave the first: the text itself."""
    import numpy as np

    starts = np.cumsum([0, *counts[:-1]])
    if len(set(counts)) == 1:  # as nearly always, and four times as fast
        sums: Matrix = views.reshape(len(counts), -1, views.shape[1]).sum(axis=1)
    else:
        sums = np.add.reduceat(views, starts, axis=0)
    cancelled = np.einsum("ij,ij->i", sums, sums) < 1e-6
    sums[cancelled] = views[starts[cancelled]]
    return units(sums)


def nearest(points: Matrix, centres: Matrix | None) -> Seqs:
    """The cell of each point."""
    import numpy as np

    cells = np.zeros(len(points), np.int64)
    if centres is not None:
        for start in range(0, len(points), 2048):
            cells[start : start + 2048] = (points[start : start + 2048] @ centres.T).argmax(axis=1)
    return cells


def scored(pages: Iterable[Codes], query: Matrix) -> tuple[Seqs, Matrix]:
    """The memories of some pages of codes with their scores."""
    import numpy as np

    seqs, found = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for page in pages:
        seqs.append(page["seq"].astype(np.int64))
        found.append(scores(page, query))
    return np.concatenate(seqs), np.concatenate(found)


def only(codes: Codes, seqs: Sequence[int]) -> Codes:
    """The codes of given memories."""
    import numpy as np

    kept: Codes = codes[np.isin(codes["seq"], np.array(seqs, np.int64))]
    return kept


def best(seqs: Seqs, found: Matrix, most: int) -> list[int]:
    """The memories with the highest scores, best first, equal ones by number."""
    import numpy as np

    if len(found) > most:
        chosen = np.argpartition(-found, most)[:most]
        seqs, found = seqs[chosen], found[chosen]
    ranked: list[int] = seqs[np.lexsort((seqs, -found))].tolist()
    return ranked


def cluster(sample: Matrix, cells: int, *, rounds: int, seed: int) -> Matrix:
    """Centroids of unit vectors by spherical k-means. The same sample and seed give the same centroids."""
    import numpy as np

    chance = np.random.default_rng(seed)
    centres = sample[chance.choice(len(sample), cells, replace=False)]
    for _ in range(rounds):
        labels = nearest(sample, centres)
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        centres = sample[chance.choice(len(sample), cells, replace=False)]  # a cell left empty starts again
        sums: Matrix = np.add.reduceat(sample[order], starts, axis=0)
        alive = np.einsum("ij,ij->i", sums, sums) > 1e-6
        centres[present[alive]] = units(sums[alive])
    return centres.astype(np.float16).astype(np.float32)


# A vector on the border of two cells may fall to either side, depending on how many were multiplied at once.
_BORDER = 1e-4


def misplaced(wanted: Codes, places: Sequence[tuple[int, bytes]], centres: Matrix | None) -> dict[int, str]:
    """What is wrong with stored codes and their cells, by memory, given the codes they should be."""
    import numpy as np

    size = wanted.dtype.itemsize
    pairs = list(zip(wanted, places, strict=True))
    faults = {int(code["seq"]): "the code has the wrong size" for code, (_, blob) in pairs if len(blob) != size}
    whole = [(code, *place) for code, place in pairs if len(place[1]) == size]
    if not whole:
        return faults
    stored = np.frombuffer(b"".join(blob for _, _, blob in whole), wanted.dtype)
    wanted, cells = np.array([code for code, _, _ in whole], wanted.dtype), np.array([cell for _, cell, _ in whole])
    apart = np.abs(stored["code"].astype(np.int16) - wanted["code"]).max(axis=1)
    scales = np.abs(stored["scale"].astype(np.float32) / wanted["scale"].astype(np.float32) - 1)
    other = (stored["seq"] != wanted["seq"]) | (apart > 1) | ~(scales < 0.01)
    near = decode(stored) @ (np.zeros((1, stored["code"].shape[1]), np.float32) if centres is None else centres).T
    here = near[np.arange(len(near)), np.minimum(cells, near.shape[1] - 1)]
    astray = (cells >= near.shape[1]) | (here < near.max(axis=1) - _BORDER)
    faults |= {int(seq): "the code is in the wrong cell" for seq in wanted["seq"][astray]}
    return faults | {int(seq): "the code is not that of the vector" for seq in wanted["seq"][other]}
