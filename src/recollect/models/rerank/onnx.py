"""A cross-encoder on onnxruntime (extra `onnx`): question and text go through the model together, out comes one mark.

The session is made at the first question. Pairs run in small batches of similar length on threads of our own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recollect.core.errors import ExtraMissing
from recollect.embed.packs import VOCABULARY, Pack, location, verify
from recollect.embed.vectors import batches
from recollect.embed.wordpiece import WordPiece
from recollect.models.rerank.errors import RerankerDown, RerankerWrong
from recollect.models.rerank.parallel import each

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

RUNTIME = "onnxruntime"
_BATCH = 8  # pairs at once
_BATCH_TOKENS = 2048  # padded tokens at once
_MOST_THREADS = 4  # a memory is a guest on the machine
_QUESTION_SHARE = 0.5  # of the room, at most, is the question's

Pair = tuple[list[int], list[int]]  # token ids, and which of the two texts each belongs to


class OnnxReranker:
    """A pack with a cross-encoder that gives one logit, or one for no and one for yes. Threads may share it."""

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None) -> None:
        self._pack, self._folder = pack, folder
        self._threads = threads or min(os.cpu_count() or 1, _MOST_THREADS)
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Any, frozenset[str]] | None = None

    @property
    def name(self) -> str:
        return f"onnx:{self._pack.name}"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        words, session, inputs = self._ready()
        encoded = [pair(words, question, text, limit=self._pack.longest) for text in texts]
        sizes = [len(ids) for ids, _ in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        marks = [0.0] * len(texts)

        def run(batch: list[int]) -> None:
            fed = fed_with([encoded[place] for place in batch], pad=words.pad)
            found = self._run(session, {name: fed[name] for name in inputs}, len(batch))
            for place, mark in zip(batch, found, strict=True):
                marks[place] = mark

        each(run, batches(sizes, order, most=_BATCH, room=_BATCH_TOKENS), most=self._threads)
        return marks

    def _run(self, session: Any, fed: dict[str, Any], count: int) -> list[float]:
        try:
            logits: Vectors = session.run(None, fed)[0]
        except Exception as error:  # onnxruntime's errors share no base class
            raise RerankerDown(self.name, f"onnxruntime failed ({error})") from error
        return [float(mark) for mark in marks_of(logits, name=self.name, count=count)]

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
            raise ExtraMissing(self.name, package=RUNTIME, extra="onnx")
        runtime = import_module(RUNTIME)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the threads are ours, one batch each
        options.log_severity_level = 4
        try:
            return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors share no base class
            verify(self._pack, self._folder)
            raise RerankerDown(self.name, f"onnxruntime cannot load it ({error})") from error


def pair(words: WordPiece, question: str, text: str, *, limit: int) -> Pair:
    """[CLS] question [SEP] text [SEP] within `limit` tokens; a long question leaves the text half the room."""
    first, last = words.encode("", limit=2)
    room = max(limit - 3, 2)
    asked = words.encode(question, limit=room, framed=False)
    read = words.encode(text, limit=room, framed=False)
    asked = asked[: max(int(room * _QUESTION_SHARE), room - len(read))]
    read = read[: room - len(asked)]
    return [first, *asked, last, *read, last], [0] * (len(asked) + 2) + [1] * (len(read) + 1)


def fed_with(pairs: Sequence[Pair], *, pad: int) -> dict[str, Any]:
    """The inputs of a BERT cross-encoder, every pair filled up to the longest."""
    import numpy as np

    shape = (len(pairs), max(len(ids) for ids, _ in pairs))
    ids, mask, kinds = np.full(shape, pad, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, (tokens, types) in enumerate(pairs):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
        kinds[row, : len(tokens)] = types
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}


def marks_of(logits: Any, *, name: str, count: int) -> Any:
    """From 0 to 1: the logistic of one logit, or of how far yes is above no."""
    import numpy as np

    if logits.ndim not in (1, 2) or len(logits) != count or (logits.ndim == 2 and logits.shape[1] not in (1, 2)):
        raise RerankerWrong(name, f"its output has the shape {logits.shape}, not ({count}, 1) or ({count}, 2)")
    if not np.isfinite(logits).all():
        raise RerankerWrong(name, "a mark is NaN or infinite")
    wide = logits.reshape(count, -1).astype(np.float64)
    margin = wide[:, 0] if wide.shape[1] == 1 else wide[:, 1] - wide[:, 0]
    return 1 / (1 + np.exp(-np.clip(margin, -60, 60)))
