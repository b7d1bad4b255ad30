"""The few sums every embedder shares: length one, mean over tokens, and a hard look at what strangers send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.embed.errors import EmbedderWrong

if TYPE_CHECKING:
    from recollect.embed.port import Vectors


def unit(rows: Vectors) -> Vectors:
    """Every row at length one; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def checked(rows: Any, *, model: str, count: int, dims: int | None) -> Vectors:
    """What a server sent, as unit rows, or an error that says what is wrong with it."""
    import numpy as np

    if not isinstance(rows, list) or len(rows) != count:
        found = f"{len(rows)} vectors" if isinstance(rows, list) else "no list of vectors"
        raise EmbedderWrong(model, f"{count} were asked for, {found} came")
    try:
        exact = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise EmbedderWrong(model, "the vectors differ in length or hold something else than numbers") from None
    _insist_on_shape(exact, model=model, dims=dims)
    if not np.isfinite(exact).all():
        raise EmbedderWrong(model, "a vector holds NaN or infinity")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbedderWrong(model, "a vector has no direction")
    return np.asarray(exact / lengths, dtype=np.float32)


def _insist_on_shape(exact: Any, *, model: str, dims: int | None) -> None:
    if exact.ndim != 2 or exact.shape[1] == 0:
        raise EmbedderWrong(model, "the vectors are empty or nested")
    if dims is not None and exact.shape[1] != dims:
        raise EmbedderWrong(
            model,
            f"the vectors have {exact.shape[1]} dimensions, not {dims}",
            hint=f"Name {exact.shape[1]} dimensions in the setting, or a model that can give {dims}.",
        )


def spread(rows: Vectors, places: Sequence[int], *, count: int) -> Vectors:
    """`rows` at their places among `count`; the places nobody filled are zero."""
    import numpy as np

    out = np.zeros((count, rows.shape[1]), dtype=np.float32)
    out[list(places)] = rows
    return out


def batches(sizes: Sequence[int], order: Sequence[int], *, most: int, room: int) -> Iterator[list[int]]:
    """Runs of `order` with at most `most` members, whose count × largest size stays within `room`."""
    batch: list[int] = []
    largest = 0
    for place in order:
        widest = max(largest, sizes[place])
        if batch and (len(batch) == most or widest * (len(batch) + 1) > room):
            yield batch
            batch, widest = [], sizes[place]
        batch.append(place)
        largest = widest
    if batch:
        yield batch
