"""A small transformer on onnxruntime (extra `onnx`): arctic-embed-s int8 by default.

The session is made at the first text. Texts run one by one on several threads, because the scales of a dynamically
quantised model are taken over the whole batch: in one, a text's vector shifts with its neighbours (cosine .96 to 1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recollect.core.errors import ExtraMissing
from recollect.embed.errors import EmbedderDown, EmbedderWrong
from recollect.embed.packs import VOCABULARY, Pack, location, verify
from recollect.embed.vectors import batches, unit
from recollect.embed.wordpiece import WordPiece

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

RUNTIME = "onnxruntime"
_ALONE = 1  # texts in a batch; eight are half as fast again, for those who can do without repeatable vectors
_BATCH_TOKENS = 4096  # padded tokens in a batch: 8 × 512 keeps the attention matrices near 100 MB
_MOST_THREADS = 4  # a memory is a guest on the machine


class OnnxEmbedder:
    """A pack with an ONNX encoder whose first token carries the meaning (CLS pooling). Threads may share it."""

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None, batch: int = _ALONE) -> None:
        self._pack, self._folder = pack, folder
        self._threads = threads or min(os.cpu_count() or 1, _MOST_THREADS)
        self._batch = batch
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Any, frozenset[str]] | None = None

    @property
    def model(self) -> str:
        return self._pack.model

    @property
    def dims(self) -> int:
        return self._pack.dims

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([self._pack.prefix + text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        words, session, inputs = self._ready()
        encoded = words.encode_batch(texts, limit=self._pack.longest)
        sizes = [len(ids) for ids in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        out = np.zeros((len(texts), self.dims), dtype=np.float32)

        def run(batch: list[int]) -> None:
            fed = padded([encoded[place] for place in batch], pad=words.pad)
            out[batch] = pooled(self._run(session, {name: fed[name] for name in inputs}))

        self._each(run, list(batches(sizes, order, most=self._batch, room=_BATCH_TOKENS)))
        if not np.isfinite(out).all():
            raise EmbedderWrong(self.model, "a vector holds NaN or infinity")
        return unit(out)

    def _each(self, run: Callable[[list[int]], None], batches: list[list[int]]) -> None:
        """On as many threads as are allowed; the runtime gives up the interpreter while it works."""
        if len(batches) == 1 or self._threads == 1:
            for batch in batches:
                run(batch)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            for _ in pool.map(run, batches):
                pass

    def _run(self, session: Any, fed: dict[str, Any]) -> Vectors:
        try:
            hidden: Vectors = session.run(None, fed)[0]
        except Exception as error:  # onnxruntime's errors share no base class
            raise EmbedderDown(self.model, f"onnxruntime failed ({error})") from error
        if hidden.ndim != 3 or hidden.shape[2] != self.dims:
            raise EmbedderWrong(self.model, f"its output has the shape {hidden.shape}, not (…, …, {self.dims})")
        return hidden

    def _ready(self) -> tuple[WordPiece, Any, frozenset[str]]:
        with self._lock:
            if self._loaded is None:
                home = location(self._pack, self._folder)
                session = self._session(home / self._pack.files[0].name)
                names = frozenset(one.name for one in session.get_inputs())
                self._loaded = (WordPiece.from_file(home / VOCABULARY), session, names)
            return self._loaded

    def _session(self, path: Path) -> Any:
        if find_spec(RUNTIME) is None:
            raise ExtraMissing(self.model, package=RUNTIME, extra="onnx")
        runtime = import_module(RUNTIME)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the threads are ours, one text each
        options.log_severity_level = 4
        try:
            return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors share no base class
            verify(self._pack, self._folder)
            raise EmbedderDown(self.model, f"onnxruntime cannot load it ({error})") from error


def padded(encoded: Sequence[Sequence[int]], *, pad: int) -> dict[str, Any]:
    """The inputs of a BERT encoder, every text filled up to the longest."""
    import numpy as np

    shape = (len(encoded), max(len(ids) for ids in encoded))
    ids = np.full(shape, pad, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    for row, text in enumerate(encoded):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, dtype=np.int64)}


def pooled(hidden: Vectors) -> Vectors:
    """The state of the first token, [CLS], of each text."""
    return hidden[:, 0]
