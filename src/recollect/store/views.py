"""Vectors as they come in, are stored and are asked for: unit rows of float32. Pure; numpy loads late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.errors import BadVector, EmbeddingMismatch
from recollect.store.codes import units
from recollect.store.port import Item, Row, Space

if TYPE_CHECKING:
    from recollect.store.codes import Matrix


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
