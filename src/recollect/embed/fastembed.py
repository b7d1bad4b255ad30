"""fastembed (extra `fastembed`), for those who have it and a model hub: BAAI/bge-small-en-v1.5."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from recollect.core.errors import ExtraMissing
from recollect.embed.port import EmbedderDown, EmbedderWrong, unit_rows
from recollect.embed.remote import find_prompts

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

BGE_SMALL, BGE_SMALL_DIMS = "BAAI/bge-small-en-v1.5", 384
PACKAGE = "fastembed"
_CACHED = "models--qdrant--bge-small-en-v1.5-onnx-q"  # the weights' folder in fastembed's cache, in some case


def _load(model: str) -> Any:
    if find_spec(PACKAGE) is None:
        raise ExtraMissing(PACKAGE, package=PACKAGE, extra=PACKAGE)
    try:
        return import_module(PACKAGE).TextEmbedding(model)
    except Exception as error:  # it may fail in its own code, onnxruntime or the hub client, which share no base class
        raise EmbedderDown(
            f"{PACKAGE}:{model}", f"it cannot be loaded ({error})", hint="Its weights come from the model hub."
        ) from error


class FastEmbedder:
    """A model of fastembed, loaded at the first text; it has no query prefix for this model, so the prefix is ours.

    A load that failed is not tried again: without a hub it takes fastembed 40 seconds to give up.
    """

    def __init__(
        self, model: str = BGE_SMALL, *, dims: int = BGE_SMALL_DIMS, load: Callable[[str], Any] = _load
    ) -> None:
        self.model, self.dims = f"{PACKAGE}:{model}", dims
        self._name, self._load = model, load
        self._prompts = find_prompts(model)
        self._lock = Lock()
        self._loaded: Any = None
        self._failure: EmbedderDown | None = None

    @property
    def at_hand(self) -> bool:
        return self._loaded is not None

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([self._prompts.query + text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._prompts.document + text for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dims), dtype=np.float32)
        loaded = self._ready()
        try:
            rows = np.asarray(list(loaded.embed(texts)), dtype=np.float32)
        except Exception as error:  # onnxruntime's errors share no base class
            raise EmbedderDown(self.model, f"it failed ({error})") from error
        if rows.shape != (len(texts), self.dims):
            raise EmbedderWrong(self.model, f"its vectors have the shape {rows.shape}, not {(len(texts), self.dims)}")
        if not np.isfinite(rows).all():
            raise EmbedderWrong(self.model, "a vector holds NaN or infinity")
        return unit_rows(rows)

    def _ready(self) -> Any:
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._loaded is None:
                try:
                    self._loaded = self._load(self._name)
                except EmbedderDown as error:
                    self._failure = error
                    raise
            return self._loaded


def has_cached_weights(environment: Mapping[str, str] = os.environ) -> bool:
    """Has fastembed fetched the weights before? Then it works without the hub."""
    cache = environment.get("FASTEMBED_CACHE_PATH") or os.path.join(tempfile.gettempdir(), "fastembed_cache")
    try:
        return any(name.lower() == _CACHED for name in os.listdir(cache))
    except OSError:
        return False
