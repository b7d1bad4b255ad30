"""What every embedder over HTTP shares: batches that fit a request, blank texts kept back, answers looked at hard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from recollect.embed.prompts import prompts_of
from recollect.embed.vectors import checked, spread
from recollect.net.http import BRISK, PATIENT, Patience

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

_BATCH = 128  # texts in one request
# A token is at least one byte, and OpenAI takes at most 8,192 tokens in a text and 300,000 in a request.
_TEXT_BYTES = 8_000
_BATCH_BYTES = 250_000


class Wire(Protocol):
    """One protocol spoken to one server."""

    def vectors(self, texts: Sequence[str], patience: Patience) -> Any:
        """Whatever the server sent in the place where a list of vectors, in the order of `texts`, belongs."""
        ...


class RemoteEmbedder:
    """A model behind a wire. `dims` is insisted on when given; otherwise the first answer decides."""

    def __init__(
        self,
        model: str,
        wire: Wire,
        *,
        dims: int | None = None,
        documents: Patience = PATIENT,
        questions: Patience = BRISK,
    ) -> None:
        self.model = model
        self._wire, self._dims = wire, dims
        self._documents, self._questions = documents, questions
        self._prompts = prompts_of(model)

    @property
    def dims(self) -> int:
        """Asks the server once when nobody has said."""
        known = self._dims
        return int(self._request(["dimensions"], self._questions).shape[1]) if known is None else known

    at_hand = False  # somebody has to be asked over a wire

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([self._prompts.query + text if text.strip() else ""], self._questions)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        before = self._prompts.document
        return self._embed([before + text if text.strip() else "" for text in texts], self._documents)

    def _embed(self, texts: Sequence[str], patience: Patience) -> Vectors:
        """Blank texts, which servers refuse, are not sent; their rows stay zero."""
        import numpy as np

        places = [place for place, text in enumerate(texts) if text]
        parts = [self._request(batch, patience) for batch in batched([cut(texts[place]) for place in places])]
        if not parts:
            return np.zeros((len(texts), self.dims), dtype=np.float32)
        return spread(np.concatenate(parts), places, count=len(texts))

    def _request(self, texts: Sequence[str], patience: Patience) -> Vectors:
        rows = self._wire.vectors(texts, patience)
        vectors = checked(rows, model=self.model, count=len(texts), dims=self._dims)
        self._dims = vectors.shape[1]
        return vectors


def cut(text: str) -> str:
    """The beginning of a text, as much as any model with 8,192 tokens can take."""
    data = text.encode("utf-8", "replace")
    return data[:_TEXT_BYTES].decode("utf-8", "ignore")


def batched(texts: Sequence[str]) -> Iterator[list[str]]:
    """Runs of texts that fit one request, by count and by size."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8"))
        if batch and (len(batch) == _BATCH or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch
