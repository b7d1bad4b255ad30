"""An embedder and a reranker that are asked only while they may be: nothing of a foreign store leaves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from recollect.core.ports import Reranker
from recollect.embed.port import Embedder

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

Permit = Callable[[], object]  # raises when nothing may leave the store


class PermittedEmbedder:
    """`inner`, asked after `permit`."""

    def __init__(self, inner: Embedder, permit: Permit, *, is_foreign: Callable[[], bool]) -> None:
        self._inner, self._permit, self._is_foreign = inner, permit, is_foreign

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dims(self) -> int:
        return self._inner.dims

    @property
    def at_hand(self) -> bool:
        return self._inner.at_hand and not self._is_foreign()

    def embed_query(self, text: str) -> Vectors:
        self._permit()
        return self._inner.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self._permit()
        return self._inner.embed_documents(texts)


class PermittedReranker:
    """`inner`, asked after `permit`."""

    def __init__(self, inner: Reranker, permit: Permit) -> None:
        self._inner, self._permit = inner, permit

    @property
    def name(self) -> str:
        return self._inner.name

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self._permit()
        return self._inner.rerank(question, texts)
