"""An embedder that remembers: vectors of documents in the store's cache, of recent questions in memory.

The key is a hash of the text as embedded, the model and its dimensions, so no model ever gets another one's vectors.
How long entries live and how many there may be is the store's business.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from recollect.core.errors import RecollectError
from recollect.embed.port import Embedder

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

_QUESTIONS = 256  # kept in memory; at 384 dimensions some 400 kB
_FORM = "<f4"  # how a vector lies in the cache


class VectorCache(Protocol):
    """Keeps bytes under keys. May forget anything at any time."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]: ...

    def put_many(self, items: Mapping[str, bytes]) -> None: ...


class CachedEmbedder:
    """`inner`, asked only for what is not known yet. A broken cache costs time, never the answer."""

    def __init__(self, inner: Embedder, cache: VectorCache, *, questions: int = _QUESTIONS) -> None:
        self._inner, self._cache, self._room = inner, cache, questions
        self._questions: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dims(self) -> int:
        return self._inner.dims

    @property
    def at_hand(self) -> bool:
        return self._inner.at_hand

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            if (known := self._questions.get(text)) is not None:
                self._questions.move_to_end(text)
                return known
        vector = self._inner.embed_query(text)
        vector.flags.writeable = False
        with self._lock:
            self._questions[text] = vector
            while len(self._questions) > self._room:
                self._questions.popitem(last=False)
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        keys = [cache_key(text, model=self.model, dims=self.dims) for text in texts]
        known = self._known(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, self._inner.embed_documents(list(missing.values())), strict=True))
            self._keep({key: vector.astype(_FORM).tobytes() for key, vector in fresh.items()})
            known |= fresh
        return np.array([known[key] for key in keys], dtype=np.float32).reshape(len(texts), self.dims)

    def _known(self, keys: list[str]) -> dict[str, Vectors]:
        """What the cache has and what still looks like a vector of this model."""
        import numpy as np

        try:
            found = self._cache.get_many(keys)
        except (RecollectError, OSError):
            return {}
        size = self.dims * np.dtype(_FORM).itemsize
        rows = {key: np.frombuffer(data, dtype=_FORM) for key, data in found.items() if len(data) == size}
        return {key: row.astype(np.float32) for key, row in rows.items() if np.isfinite(row).all()}

    def _keep(self, items: Mapping[str, bytes]) -> None:
        try:
            self._cache.put_many(items)
        except (RecollectError, OSError):
            return


def cache_key(text: str, *, model: str, dims: int) -> str:
    """A hash of (text, model, dims); lengths are part of it, so that no two triples run together."""
    data, name = text.encode("utf-8", "surrogatepass"), model.encode()
    return sha256(b"%d:%b%d:%b%d" % (len(data), data, len(name), name, dims)).hexdigest()
