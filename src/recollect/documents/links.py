"""What a document points at, resolved to other documents, and the network this makes.

External addresses and links within the document are no links. What leads out of the root, or to nothing, is told apart,
so that `docs check` can report it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal, TypeAlias
from urllib.parse import unquote

from recollect.core.documents import Document, DocumentLink
from recollect.documents.context import DocumentsContext
from recollect.documents.parse import Reference, ReferenceKind
from recollect.graph.rank import normalised, pagerank

Fate: TypeAlias = Literal["document", "moved", "file", "external", "self", "outside", "broken"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|//")
_PAGES = ("", ".md", ".markdown", ".mdx", "/index.md", "/README.md", "/readme.md", ".txt")
_NOT_A_PATH = re.compile(r"[{}<>\\]|\$\(")  # a template, not an address
_MAX_ADDRESS = 1_000  # characters of an address


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of one reference."""

    reference: Reference
    fate: Fate
    target: str | None = None  # the path of the document it names


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The documents there are, by path and by name, and where the moved ones used to be."""

    paths: frozenset[str]
    former: Mapping[str, str] = field(default_factory=dict)  # old path → the path it has now
    specs: str = "specs"  # the directory that bare `specs/NAME` stands for
    _names: dict[str, list[str]] = field(default_factory=dict)

    def named(self, name: str) -> list[str]:
        """The documents a wiki link may mean: by file name, ignoring case, spaces and suffix."""
        if not self._names:
            for path in sorted(self.paths):
                for key in _keys(path):
                    self._names.setdefault(key, []).append(path)
        return self._names.get(_folded(name), [])


def resolve_all(
    references: Iterable[Reference], source: str, catalogue: Catalogue, *, exists: Mapping[str, bool] | None = None
) -> list[Resolved]:
    """What each reference of the document at `source` comes to. `exists` knows of files that are no documents."""
    return [_resolve(reference, source, catalogue, exists or {}) for reference in references]


def file_candidates(reference: Reference, source: str) -> list[str]:
    """The paths a link to an ordinary file may mean, the likeliest first; none for what is no such link."""
    if reference.kind not in ("link", "image") or (path := _address(reference.target)) is None:
        return []
    return [place for place in _places(path, source) if not place.startswith("../")]


def is_local(reference: Reference) -> bool:
    """Whether a reference can be about a file of the project at all."""
    return reference.kind not in ("link", "image") or bool(_address(reference.target))


def _resolve(reference: Reference, source: str, catalogue: Catalogue, exists: Mapping[str, bool]) -> Resolved:
    match reference.kind:
        case "wiki":
            return _wiki(reference, source, catalogue)
        case "spec" | "refs":
            return _spec(reference, source, catalogue)
        case _:
            return _link(reference, source, catalogue, exists)


def _link(reference: Reference, source: str, catalogue: Catalogue, exists: Mapping[str, bool]) -> Resolved:
    path = _address(reference.target)
    if path is None:
        return Resolved(reference, "external")
    if path == "":
        return Resolved(reference, "self")
    places = list(_places(path, source))
    for place in places:
        for page in _pages(place):
            if page in catalogue.paths:
                return Resolved(reference, "self" if page == source else "document", page)
    inside = [place for place in places if not place.startswith("../") and place != ".."]
    if not inside:
        return Resolved(reference, "outside")
    if any(exists.get(place, False) for place in inside):
        return Resolved(reference, "file")
    for place in inside:
        for page in _pages(place):
            if page in catalogue.former:
                return Resolved(reference, "moved", catalogue.former[page])
    return Resolved(reference, "broken")


def _wiki(reference: Reference, source: str, catalogue: Catalogue) -> Resolved:
    found = catalogue.named(reference.target)
    if not found:
        return Resolved(reference, "broken")
    near = sorted(found, key=lambda path: (-len(posixpath.commonprefix([path, source])), path))
    return Resolved(reference, "self" if near[0] == source else "document", near[0])


def _spec(reference: Reference, source: str, catalogue: Catalogue) -> Resolved:
    """Bare `specs/NAME` and the names after `Refs:`. Words after Refs that name no spec are just words."""
    name = reference.target.removeprefix("specs/").removesuffix("/spec.md").strip("/")
    for place in (f"{catalogue.specs}/{name}/spec.md", f"{catalogue.specs}/{name}.md", *_pages(reference.target)):
        if place in catalogue.paths:
            return Resolved(reference, "self" if place == source else "document", place)
        if place in catalogue.former:
            return Resolved(reference, "moved", catalogue.former[place])
    return Resolved(reference, "external" if reference.kind == "refs" else "broken")


def _address(target: str) -> str | None:
    """The path part of an address; empty for the document itself, nothing for what is no path here."""
    target = target.strip()
    if _SCHEME.match(target) or _NOT_A_PATH.search(target) or len(target) > _MAX_ADDRESS:
        return None
    path = unquote(target.partition("#")[0].partition("?")[0])
    return None if "\0" in path or "\n" in path else path


def _places(path: str, source: str) -> Iterator[str]:
    """Where a path may lead: from the file, from the root, or for a site's absolute path from any directory above."""
    folder = posixpath.dirname(source)
    if path.startswith("/"):
        bare = path.lstrip("/")
        above = [""]
        for part in folder.split("/") if folder else []:
            above.append(posixpath.join(above[-1], part))
        for start in above:
            yield posixpath.normpath(posixpath.join(start, bare or "."))
        return
    yield posixpath.normpath(posixpath.join(folder, path))
    if folder and not path.startswith("."):
        yield posixpath.normpath(path)


def _pages(place: str) -> Iterator[str]:
    """The files a place may stand for: itself, with a suffix, as the index of a directory, as the page of a site."""
    bare = place.removesuffix(".html")
    for page in _PAGES:
        yield posixpath.normpath(f"{bare}{page}" if place != "." else page.lstrip("/") or ".")
    if bare != place:
        yield place


def _keys(path: str) -> list[str]:
    """The names a document answers to in wiki links: its path, and its file name; an index also by its directory."""
    stem = path.rsplit(".", 1)[0]
    name = posixpath.basename(stem)
    keys = [_folded(stem), _folded(name)]
    if name.lower() in ("index", "readme", "spec"):
        keys.append(_folded(posixpath.basename(posixpath.dirname(stem))))
    return list(dict.fromkeys(key for key in keys if key))


def _folded(name: str) -> str:
    stem = re.sub(r"\.(md|markdown|mdx|txt)$", "", name.strip(), flags=re.IGNORECASE)
    return re.sub(r"[\s_-]+", "-", stem.strip("/ ").casefold())


def edges(resolved: Mapping[str, Sequence[Resolved]]) -> set[tuple[str, str]]:
    """The links between documents, each once, without those to oneself."""
    return {
        (source, one.target)
        for source, found in resolved.items()
        for one in found
        if one.target is not None and one.fate in ("document", "moved") and one.target != source
    }


# --- the network in the store: references resolved, ranks computed again ---------------------------------------------

_KINDS: dict[str, ReferenceKind] = {
    "link": "link", "image": "image", "wiki": "wiki", "spec": "spec", "refs": "refs",
}  # fmt: skip
_LOOSE = "documents.loose"  # whether something was written since the references were last resolved
_STAMP = "documents.network"  # what the ranks were computed from


def mark_loose(room: DocumentsContext) -> None:
    """Write down that references wait to be resolved; part of the transaction that made them so."""
    room.put_note(_LOOSE, "yes")


def is_loose(room: DocumentsContext) -> bool:
    return room.note(_LOOSE) == "yes"


def relink(room: DocumentsContext, specs: str, *, everything: bool) -> bool:
    """Resolve references again — all, or only those not resolved yet — and rank again if that changed any link.

    Whether the ranks were computed again."""
    documents = room.documents.every()
    known = {document.id: document for document in documents}
    links = [link for link in room.documents.links() if everything or link.resolved is None]
    changed = resolve_links(links, documents, specs)
    with room.writer.transaction():
        room.documents.resolve([link for link, before in zip(changed, links, strict=True) if link != before])
        room.put_note(_LOOSE, "no")
        return _rank(room, sorted(known))


def resolve_links(links: Sequence[DocumentLink], documents: Sequence[Document], specs: str) -> list[DocumentLink]:
    """Each link with the document it comes to now."""
    catalogue = make_catalogue(documents, specs)
    ids = {document.path: document.id for document in documents}
    paths = {document.id: document.path for document in documents}
    found: list[DocumentLink] = []
    for link in links:
        one = resolve_all([as_reference(link)], paths[link.source], catalogue)[0]
        target = ids.get(one.target) if one.target and one.fate in ("document", "moved") else None
        found.append(replace(link, resolved=target))
    return found


def make_catalogue(documents: Sequence[Document], specs: str) -> Catalogue:
    former = {old: document.path for document in documents for old in document.former}
    return Catalogue(frozenset(document.path for document in documents), former, specs)


def as_reference(link: DocumentLink) -> Reference:
    return Reference(link.target, _KINDS[link.kind], link.line)


def _rank(room: DocumentsContext, ids: Sequence[str]) -> bool:
    edges = room.documents.edges()
    stamp = sha256(repr((list(ids), edges)).encode()).hexdigest()
    if room.note(_STAMP) == stamp:
        return False
    numbers = {id: number for number, id in enumerate(ids)}
    ranks = pagerank(len(ids), [(numbers[one], numbers[other]) for one, other in edges if other in numbers])
    room.documents.put_ranks(dict(zip(ids, normalised(ranks), strict=True)))
    room.put_note(_STAMP, stamp)
    return True
