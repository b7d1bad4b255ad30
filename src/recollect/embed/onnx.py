"""Small transformers on onnxruntime (extra `onnx`): the embedder, and the encoder it shares with the reranker.

Nothing is loaded before the first text. Knows nothing of questions, memories or the store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.core.errors import ExtraMissing
from recollect.embed.packs import VOCABULARY, Pack, locate_pack, verify_pack
from recollect.embed.port import EmbedderDown, EmbedderWrong, unit_rows
from recollect.embed.wordpiece import WordPiece

if TYPE_CHECKING:
    from recollect.embed.port import Vectors
    from recollect.net.http import ErrorType

Item = TypeVar("Item")

RUNTIME = "onnxruntime"
_MAX_THREADS = 4  # a memory is a guest on the machine
_ALONE = 1  # texts in a batch; eight are half as fast again, for those who can do without repeatable vectors
_BATCH_TOKENS = 4096  # padded tokens in a batch: 8 × 512 keeps the attention matrices near 100 MB


class OnnxEmbedder:
    """A pack with an ONNX encoder whose first token carries the meaning (CLS pooling). Threads may share it.

    Texts run one by one on several threads, because the scales of a dynamically quantised model are taken over the
    whole batch: in one, a text's vector shifts with its neighbours (cosine .96 to 1).
    """

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None, batch: int = _ALONE) -> None:
        self._pack = pack
        self._threads = threads or count_threads()
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
        encoded = words.encode_batch(texts, limit=self._pack.max_tokens)
        sizes = [len(ids) for ids in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        out = np.zeros((len(texts), self.dims), dtype=np.float32)

        def run(batch: list[int]) -> None:
            hidden = self._encoder.run(pad_batch([encoded[place] for place in batch], pad=words.pad))
            out[batch] = first_token_states(self._checked(hidden))

        run_each(run, split_batches(sizes, order, limit=self._batch, max_tokens=_BATCH_TOKENS), threads=self._threads)
        if not np.isfinite(out).all():
            raise EmbedderWrong(self.model, "a vector holds NaN or infinity")
        return unit_rows(out)

    def _checked(self, hidden: Any) -> Vectors:
        if hidden.ndim != 3 or hidden.shape[2] != self.dims:
            raise EmbedderWrong(self.model, f"its output has the shape {hidden.shape}, not (…, …, {self.dims})")
        found: Vectors = hidden
        return found


def first_token_states(hidden: Vectors) -> Vectors:
    """The state of the first token, [CLS], of each text."""
    return hidden[:, 0]


def split_batches(sizes: Sequence[int], order: Sequence[int], *, limit: int, max_tokens: int) -> Iterator[list[int]]:
    """Runs of `order` with at most `limit` members, whose count × largest size stays within `max_tokens`."""
    batch: list[int] = []
    largest = 0
    for place in order:
        widest = max(largest, sizes[place])
        if batch and (len(batch) == limit or widest * (len(batch) + 1) > max_tokens):
            yield batch
            batch, widest = [], sizes[place]
        batch.append(place)
        largest = widest
    if batch:
        yield batch


def count_threads() -> int:
    return min(os.cpu_count() or 1, _MAX_THREADS)


class Encoder:
    """Tokenizer and session of a BERT-like model, loaded when first needed. Threads may share it.

    `down` is the error of whoever works with it: an embedder or a reranker.
    """

    def __init__(self, pack: Pack, folder: Path, *, name: str, down: ErrorType) -> None:
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
                home = locate_pack(self._pack, self._folder)
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
            verify_pack(self._pack, self._folder)
            raise self._down(self._name, f"onnxruntime cannot load it ({error})") from error


def pad_batch(
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


def run_each(act: Callable[[Item], None], items: Iterable[Item], *, threads: int) -> None:
    """`act` on every item, up to so many at a time. After the first failure no further item is begun; it is raised.

    The threads are daemons: an answer nobody waits for any more must not keep a process alive.
    """
    waiting: SimpleQueue[Item] = SimpleQueue()
    count = 0
    for item in items:
        waiting.put(item)
        count += 1
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not failures:
                act(waiting.get_nowait())
        except Empty:
            return
        except BaseException as error:  # carried over to the caller, whatever it is
            failures.append(error)

    helpers = [Thread(target=work, name="model", daemon=True) for _ in range(min(threads, count) - 1)]
    for thread in helpers:
        thread.start()
    work()
    for thread in helpers:
        thread.join()
    if failures:
        raise failures[0]
