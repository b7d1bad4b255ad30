"""A cross-encoder on onnxruntime (extra `onnx`): question and text go through the model together, out comes one mark.

The session is made at the first question. Pairs run in small batches of similar length on threads of our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect.embed.encoder import Encoder, padded, threads_here
from recollect.embed.packs import Pack
from recollect.embed.parallel import each
from recollect.embed.vectors import batches
from recollect.embed.wordpiece import WordPiece
from recollect.models.rerank.errors import RerankerDown, RerankerWrong

_BATCH = 8  # pairs at once
_BATCH_TOKENS = 2048  # padded tokens at once
_QUESTION_SHARE = 0.5  # of the room, at most, is the question's

Pair = tuple[list[int], list[int]]  # token ids, and which of the two texts each belongs to


class OnnxReranker:
    """A pack with a cross-encoder that gives one logit, or one for no and one for yes. Threads may share it."""

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None) -> None:
        self._pack = pack
        self._threads = threads or threads_here()
        self._encoder = Encoder(pack, folder, name=self.name, down=RerankerDown)

    @property
    def name(self) -> str:
        return f"onnx:{self._pack.name}"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        words = self._encoder.words
        encoded = [pair(words, question, text, limit=self._pack.longest) for text in texts]
        sizes = [len(ids) for ids, _ in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        marks = [0.0] * len(texts)

        def run(batch: list[int]) -> None:
            ids, types = zip(*(encoded[place] for place in batch), strict=True)
            logits = self._encoder.run(padded(ids, pad=words.pad, types=types))
            for place, mark in zip(batch, marks_of(logits, name=self.name, count=len(batch)), strict=True):
                marks[place] = float(mark)

        each(run, batches(sizes, order, most=_BATCH, room=_BATCH_TOKENS), most=self._threads)
        return marks


def pair(words: WordPiece, question: str, text: str, *, limit: int) -> Pair:
    """[CLS] question [SEP] text [SEP] within `limit` tokens; a long question leaves the text half the room."""
    first, last = words.encode("", limit=2)
    room = max(limit - 3, 2)
    asked = words.encode(question, limit=room, framed=False)
    read = words.encode(text, limit=room, framed=False)
    asked = asked[: max(int(room * _QUESTION_SHARE), room - len(read))]
    read = read[: room - len(asked)]
    return [first, *asked, last, *read, last], [0] * (len(asked) + 2) + [1] * (len(read) + 1)


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
