"""The port every embedder fills, and what can go wrong between text and vector. Loads nothing but the core.

Vectors are only ever compared with vectors that carry the same model id. Recall catches every error here, goes on by
keywords and says so in its notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.core.errors import NotFound, RecollectError, Refused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


INSTALL = "recollect models install"  # the command that fetches a pack


class Embedder(Protocol):
    """Turns text into vectors of length one. May raise; whoever recalls then goes on without the dense channel."""

    @property
    def model(self) -> str:
        """Stamped on every vector; changes whenever the same text would get another vector."""
        ...

    @property
    def dims(self) -> int: ...

    @property
    def at_hand(self) -> bool:
        """Would a few texts be embedded at once, with nothing to load and nobody to ask over a network?"""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row for each text. A row is all zeros when the model has nothing to say of the text."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """One vector, with the prefix the model wants before questions."""
        ...


def unit_rows(rows: Vectors) -> Vectors:
    """Every row at length one; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class EmbedderDown(RecollectError):
    """The embedder gave no answer; asking again later may help."""

    code = "embedder-down"

    def __init__(self, model: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"The embedder {model} does not answer: {why}.",
            hint=hint or "Recall goes on by keywords. Try again later, or choose another embedder.",
        )
        self.why = why


class EmbedderWrong(RecollectError):
    """The embedder answered with something that is not the vectors asked for."""

    code = "embedder-wrong"

    def __init__(self, model: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"The embedder {model} gave a wrong answer: {problem}.",
            hint=hint or "Nothing was stored. Check that the setting names the model and dimensions the server has.",
        )
        self.problem = problem


class PackMissing(NotFound):
    code = "pack-missing"

    def __init__(self, pack: str) -> None:
        super().__init__(f"The model pack {pack} is not installed.", hint=f"`{INSTALL} {pack}` fetches it.")


class PackCorrupt(Refused):
    """Bytes that are not the pinned ones. They are never put in place."""

    code = "pack-corrupt"

    def __init__(self, pack: str, file: str, problem: str, *, where: str) -> None:
        super().__init__(
            f"{file} of the model pack {pack} is refused: {problem} ({where}).",
            hint=f"Nothing was changed. Try another source, or `{INSTALL} {pack}` to fetch it again.",
        )


class PackNotFetched(NotFound):
    """No source had the pack; the message says what each of them answered."""

    code = "pack-not-fetched"

    def __init__(self, pack: str, reasons: Iterable[str]) -> None:
        super().__init__(
            f"The model pack {pack} could not be fetched. " + " ".join(f"{reason}." for reason in reasons),
            hint=f"Fetch its files elsewhere and run `{INSTALL} {pack} --from FOLDER`. Keyword recall works without.",
        )
