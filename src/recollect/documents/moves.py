"""Recognising moved files: a document that is gone and a file that is new may be the same, and keep its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.core.documents import Document
from recollect.core.likeness import containment
from recollect.core.text import clean, fingerprint
from recollect.documents.read import Page, digest_of
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.documents.index import Wanted

_ALIKE = 0.5  # share of a document's passages that must be in the new file word for word
_MOST_COMPARED = 200  # documents gone in one run that are compared by their words


class Moves:
    """The documents that are gone, handed out to the new files that turn out to be theirs."""

    def __init__(self, store: Store, gone: Sequence[Document]) -> None:
        self._store = store
        self._gone = {document.id: document for document in gone}
        self._by_digest: dict[str, list[Document]] = {}
        for document in gone:
            self._by_digest.setdefault(document.sha256, []).append(document)
        self._words: dict[str, set[str]] | None = None

    def matched(self, one: Wanted) -> Wanted:
        """`one` with the document it was before, if its bytes are those of one that is gone."""
        if one.known is not None:
            return one
        same = self._by_digest.get(digest_of(one.file.path), [])
        if not same:
            return one
        best = min(same, key=lambda document: (not _same_name(document.path, one.path), document.path))
        same.remove(best)
        self._gone.pop(best.id)
        return replace(one, known=best)

    def recognised(self, one: Wanted, page: Page) -> Wanted:
        """`one` with the document it was before, if it holds half of the passages of one that is gone."""
        if one.known is not None or not self._gone or len(self._gone) > _MOST_COMPARED:
            return one
        new = {fingerprint(clean(chunk.text)[0]) for chunk in page.chunks}
        shares = {id: containment(words, new) for id, words in self._passages().items() if id in self._gone and words}
        if not shares:
            return one
        best = min(shares, key=lambda id: (-shares[id], self._gone[id].path))
        return replace(one, known=self._gone.pop(best)) if shares[best] >= _ALIKE else one

    def left(self) -> list[Document]:
        """Those that are really gone."""
        return list(self._gone.values())

    def _passages(self) -> dict[str, set[str]]:
        if self._words is None:
            self._words = {
                id: {memory.fingerprint for memory in self._store.memories.of_document(id)} for id in self._gone
            }
        return self._words


def _same_name(one: str, other: str) -> bool:
    return one.rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
