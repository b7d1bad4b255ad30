"""The network of documents in step with what they say: references resolved, ranks computed anew when links change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from recollect.core.documents import Document, DocumentLink
from recollect.documents.links import Catalogue, resolve_all
from recollect.documents.parse import Reference, ReferenceKind
from recollect.graph.rank import normalised, pagerank
from recollect.store.store import Store

_KINDS: dict[str, ReferenceKind] = {
    "link": "link", "image": "image", "wiki": "wiki", "spec": "spec", "refs": "refs",
}  # fmt: skip
_LOOSE = "documents.loose"  # whether something was written since the references were last resolved
_STAMP = "documents.network"  # what the ranks were computed from


def mark_loose(store: Store) -> None:
    """Write down that references wait to be resolved; part of the transaction that made them so."""
    store.set_meta(f"{_LOOSE}:{store.project}", "yes")


def is_loose(store: Store) -> bool:
    return store.meta(f"{_LOOSE}:{store.project}") == "yes"


def relink(store: Store, specs: str, *, everything: bool) -> bool:
    """Resolve references anew — all, or only those not resolved yet — and rank again if that changed any link.

    Whether the ranks were computed anew."""
    documents = store.documents.every()
    known = {document.id: document for document in documents}
    links = [link for link in store.documents.links() if everything or link.resolved is None]
    changed = resolved(links, documents, specs)
    with store.engine.write():
        store.documents.resolve([link for link, before in zip(changed, links, strict=True) if link != before])
        store.set_meta(f"{_LOOSE}:{store.project}", "no")
        return _rank(store, sorted(known))


def resolved(links: Sequence[DocumentLink], documents: Sequence[Document], specs: str) -> list[DocumentLink]:
    """Each link with the document it comes to now."""
    catalogue = catalogue_of(documents, specs)
    ids = {document.path: document.id for document in documents}
    paths = {document.id: document.path for document in documents}
    found: list[DocumentLink] = []
    for link in links:
        one = resolve_all([reference_of(link)], paths[link.source], catalogue)[0]
        target = ids.get(one.target) if one.target and one.fate in ("document", "moved") else None
        found.append(replace(link, resolved=target))
    return found


def catalogue_of(documents: Sequence[Document], specs: str) -> Catalogue:
    former = {old: document.path for document in documents for old in document.former}
    return Catalogue(frozenset(document.path for document in documents), former, specs)


def reference_of(link: DocumentLink) -> Reference:
    return Reference(link.target, _KINDS[link.kind], link.line)


def _rank(store: Store, ids: Sequence[str]) -> bool:
    edges = store.documents.edges()
    stamp = sha256(repr((list(ids), edges)).encode()).hexdigest()
    if store.meta(f"{_STAMP}:{store.project}") == stamp:
        return False
    numbers = {id: number for number, id in enumerate(ids)}
    ranks = pagerank(len(ids), [(numbers[one], numbers[other]) for one, other in edges if other in numbers])
    store.documents.put_ranks(dict(zip(ids, normalised(ranks), strict=True)))
    store.set_meta(f"{_STAMP}:{store.project}", stamp)
    return True
