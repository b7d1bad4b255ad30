"""OpenAI's embeddings, and every server that speaks the same protocol, over plain HTTP: no client library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from recollect.embed.errors import EmbedderDown, EmbedderWrong
from recollect.embed.remote import RemoteEmbedder
from recollect.net.http import BRISK, PATIENT, Caller, Patience

OPENAI = "https://api.openai.com/v1"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_FIXED = frozenset({"text-embedding-ada-002"})  # refuses to be asked for a number of dimensions


def openai_embedder(
    model: str,
    *,
    dims: int | None = None,
    url: str = OPENAI,
    key: str = "",
    documents: Patience = PATIENT,
    questions: Patience = BRISK,
) -> RemoteEmbedder:
    """A model of OpenAI or of a server like it. Given `dims` are asked for; OpenAI's own models always get theirs."""
    at = url.rstrip("/")
    where = "openai" if at == OPENAI else urlsplit(at).netloc.rpartition("@")[2]
    dims = dims or (DIMENSIONS.get(model) if at == OPENAI else None)
    id = f"{where}:{model}" + (f":{dims}" if dims else "")
    caller = Caller(id, {"Authorization": f"Bearer {key}"} if key else {}, EmbedderDown, EmbedderWrong)
    asked = None if model in _FIXED else dims
    wire = OpenAIWire(caller, f"{at}/embeddings", model, asked)
    return RemoteEmbedder(id, wire, dims=dims, documents=documents, questions=questions)


@dataclass(frozen=True, slots=True)
class OpenAIWire:
    """`POST …/embeddings`, with `dimensions` when some are asked for."""

    caller: Caller
    url: str
    model: str
    dimensions: int | None

    def vectors(self, texts: Sequence[str], patience: Patience) -> Any:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        return self._rows(self.caller.post(self.url, body, patience))

    def _rows(self, answer: Any) -> list[Any]:
        """The vectors in the order of the texts: the protocol numbers them and promises no order."""
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            numbers, vectors = [row["index"] for row in rows], [row["embedding"] for row in rows]
        except (KeyError, TypeError):
            raise EmbedderWrong(self.caller.model, "its answer has no `data` with `index` and `embedding`") from None
        if numbers != list(range(len(rows))):
            raise EmbedderWrong(self.caller.model, "its answer numbers the vectors wrongly")
        return vectors
