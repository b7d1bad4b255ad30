"""A small transformer on onnxruntime (extra `onnx`): arctic-embed-s int8 by default.

The session is made at the first text. Texts run one by one on several threads, because the scales of a dynamically
quantised model are taken over the whole batch: in one, a text's vector shifts with its neighbours (cosine .96 to 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.embed.encoder import Encoder, padded, threads_here
from recollect.embed.errors import EmbedderDown, EmbedderWrong
from recollect.embed.packs import Pack
from recollect.embed.parallel import each
from recollect.embed.vectors import batches, unit

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

_ALONE = 1  # texts in a batch; eight are half as fast again, for those who can do without repeatable vectors
_BATCH_TOKENS = 4096  # padded tokens in a batch: 8 × 512 keeps the attention matrices near 100 MB


class OnnxEmbedder:
    """A pack with an ONNX encoder whose first token carries the meaning (CLS pooling). Threads may share it."""

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None, batch: int = _ALONE) -> None:
        self._pack = pack
        self._threads = threads or threads_here()
        self._batch = batch
        self._encoder = Encoder(pack, folder, name=pack.model, down=EmbedderDown)

    @property
    def model(self) -> str:
        return self._pack.model

    @property
    def dims(self) -> int:
        return self._pack.dims

    @property
    def at_hand(self) -> bool:
        return self._encoder.loaded

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([self._pack.prefix + text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        words = self._encoder.words
        encoded = words.encode_batch(texts, limit=self._pack.longest)
        sizes = [len(ids) for ids in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        out = np.zeros((len(texts), self.dims), dtype=np.float32)

        def run(batch: list[int]) -> None:
            hidden = self._encoder.run(padded([encoded[place] for place in batch], pad=words.pad))
            out[batch] = pooled(self._checked(hidden))

        each(run, batches(sizes, order, most=self._batch, room=_BATCH_TOKENS), most=self._threads)
        if not np.isfinite(out).all():
            raise EmbedderWrong(self.model, "a vector holds NaN or infinity")
        return unit(out)

    def _checked(self, hidden: Any) -> Vectors:
        if hidden.ndim != 3 or hidden.shape[2] != self.dims:
            raise EmbedderWrong(self.model, f"its output has the shape {hidden.shape}, not (…, …, {self.dims})")
        found: Vectors = hidden
        return found


def pooled(hidden: Vectors) -> Vectors:
    """The state of the first token, [CLS], of each text."""
    return hidden[:, 0]
