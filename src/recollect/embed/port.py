"""The port every embedder fills. Its vectors are only ever compared with vectors that carry the same model id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


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
