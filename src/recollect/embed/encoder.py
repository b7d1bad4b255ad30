"""A BERT-like model of a pack on onnxruntime (extra `onnx`), loaded when first needed: for embedders and rerankers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from recollect.core.errors import ExtraMissing
from recollect.embed.packs import VOCABULARY, Pack, location, verify
from recollect.embed.wordpiece import WordPiece
from recollect.net.http import Trouble

RUNTIME = "onnxruntime"
MOST_THREADS = 4  # a memory is a guest on the machine


def threads_here() -> int:
    return min(os.cpu_count() or 1, MOST_THREADS)


class Encoder:
    """Tokenizer and session of one pack. Threads may share it. `down` is the error of whoever works with it."""

    def __init__(self, pack: Pack, folder: Path, *, name: str, down: Trouble) -> None:
        self._pack, self._folder = pack, folder
        self._name, self._down = name, down
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Any, frozenset[str]] | None = None

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    @property
    def words(self) -> WordPiece:
        return self._ready()[0]

    def run(self, fed: Mapping[str, Any]) -> Any:
        """The first output for some inputs; those the model does not know are left out."""
        _, session, inputs = self._ready()
        try:
            return session.run(None, {name: fed[name] for name in inputs})[0]
        except Exception as error:  # onnxruntime's errors share no base class
            raise self._down(self._name, f"onnxruntime failed ({error})") from error

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
            raise ExtraMissing(self._name, package=RUNTIME, extra="onnx")
        runtime = import_module(RUNTIME)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the threads are ours, one batch each
        options.log_severity_level = 4
        try:
            return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors share no base class
            verify(self._pack, self._folder)
            raise self._down(self._name, f"onnxruntime cannot load it ({error})") from error


def padded(
    encoded: Sequence[Sequence[int]], *, pad: int, types: Sequence[Sequence[int]] | None = None
) -> dict[str, Any]:
    """The inputs of a BERT encoder, every text filled up to the longest. `types`: which of two texts a token is of."""
    import numpy as np

    shape = (len(encoded), max(len(ids) for ids in encoded))
    ids, mask, kinds = np.full(shape, pad, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, text in enumerate(encoded):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
        if types is not None:
            kinds[row, : len(text)] = types[row]
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
