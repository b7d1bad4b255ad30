"""Tokens counted by tiktoken where it is installed and its vocabulary lies on this machine; the estimate otherwise.

The extra `tiktoken`, imported when a budget is first filled. Nothing is ever downloaded for it: a count is not worth a
connection nobody asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import Protocol

from recollect.core.tokens import ESTIMATE

ENCODING = "o200k_base"  # that of current OpenAI models; others differ by a few parts in a hundred
_ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"  # names the file in its cache
_DIGEST = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # another file would be fetched again
_MAX_BYTES = 16_000_000  # of the vocabulary
_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # where tiktoken looks, the first that is set


class Encoding(Protocol):
    """What is asked of a tokenizer's vocabulary."""

    def encode_ordinary(self, text: str) -> list[int]: ...


class BestTokenizer:
    """The real tokenizer if it is at hand, found out at the first count."""

    def __init__(self, load: Callable[[], Encoding | None] | None = None) -> None:
        self._load = load

    @cached_property
    def _encoding(self) -> Encoding | None:
        return load_encoding() if self._load is None else self._load()

    @property
    def exact(self) -> bool:
        return self._encoding is not None

    def count(self, text: str) -> int:
        return ESTIMATE.count(text) if self._encoding is None else len(self._encoding.encode_ordinary(text))


def load_encoding() -> Encoding | None:
    """tiktoken's vocabulary, if both are here."""
    if find_spec("tiktoken") is None or not _is_sound(find_vocabulary()):
        return None
    import tiktoken

    return tiktoken.get_encoding(ENCODING)


def _is_sound(file: str) -> bool:
    from hashlib import sha256

    if not os.path.isfile(file):
        return False
    with open(file, "rb") as vocabulary:
        return sha256(vocabulary.read(_MAX_BYTES)).hexdigest() == _DIGEST


def find_vocabulary() -> str:
    """The file in which tiktoken keeps the vocabulary once it has it; empty when it was told to keep none."""
    from hashlib import sha1
    from tempfile import gettempdir

    folder = next((os.environ[name] for name in _CACHES if name in os.environ), None)
    if folder == "":
        return ""  # it keeps none
    name = sha1(_ADDRESS.encode(), usedforsecurity=False).hexdigest()
    return os.path.join(folder or os.path.join(gettempdir(), "data-gym-cache"), name)
