"""Indexing, told as a story: walk → plan → read and cut → replace → link → rank.

A file that cannot be taken is skipped with its reason and never stops the others; a document whose file cannot be read
today is kept. Each batch is one durable transaction, so a run that is killed loses only what it had not yet said.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from recollect.core.documents import Document, DocumentLink
from recollect.core.errors import RootNotFound
from recollect.core.likeness import containment
from recollect.core.text import clean, fingerprint
from recollect.documents.context import DocumentsContext
from recollect.documents.layout import Layout, Place
from recollect.documents.links import is_local, is_loose, mark_loose, relink
from recollect.documents.pages import Page, Unreadable, file_digest, read_page
from recollect.files.walk import Found, Skipped, walk
from recollect.files.work_tree import WorkTree
from recollect.privacy.scan import redact, scan
from recollect.recall.reader import Reader
from recollect.remember.passages import DocumentChunks, Kept

_BATCH = 500  # passages written in one transaction: others wait a fifth of a second for it
_GC_THRESHOLD = 200_000  # objects made between two searches for garbage
_RACY_NS = 2_000_000_000  # a file changed so shortly before we looked may have changed again within its time stamp

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Summary:
    """What one run did."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    moved: list[tuple[str, str]] = field(default_factory=list)  # from, to
    relabelled: int = 0
    passages: int = 0  # rewritten
    redacted: int = 0  # documents a secret was taken out of
    skipped: list[Skipped] = field(default_factory=list)
    simplified: list[Skipped] = field(default_factory=list)  # documents of which some was read plainly, and what

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated or self.removed or self.moved)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is to be read, and what is known of it."""

    file: Found
    path: str
    place: Place
    known: Document | None


def index(
    roots: Sequence[Path],
    room: DocumentsContext,
    *,
    base: Path,
    layout: Layout,
    full: bool = False,
    pruned: bool = False,
    progress: Progress = lambda done, total: None,
) -> Summary:
    """Bring the documents under some roots in step with their files. `full` trusts no time stamp; `pruned` also takes
    back what gc had pruned."""
    for root in roots:
        if not os.path.isdir(root):
            raise RootNotFound(str(root))
    run = _Run(room, layout, Summary())
    loose = is_loose(room)  # an earlier run was cut short before it had linked what it wrote
    known = {document.path: document for document in room.documents.every()}
    wanted = run.look(roots, base, known, full=full, pruned=pruned)
    gone = run.gone([_path(Path(os.path.realpath(root)), base) for root in roots], known)
    moves = MoveDetector(room.reader, gone)
    if gone:
        wanted = [moves.matched(one) for one in wanted]
    with _rare_garbage_collection():
        run.take(wanted, moves, progress)
    left = moves.left()
    run.remove(left)
    if left or run.summary.moved:
        removed = [document.path for document in left]
        room.writer.follow_files(WorkTree(base, renamed=dict(run.summary.moved), removed=removed))
    if run.summary.changed or loose:
        others = bool(loose or run.summary.added or run.summary.removed or run.summary.moved)
        relink(room, layout.specs, everything=others)
    return run.summary


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Parsing makes and drops objects by the million, none of them in circles: looking for circles less often saves a
    fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _GC_THRESHOLD), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Run:
    """One run over the roots: what it has seen and what it will say."""

    def __init__(self, room: DocumentsContext, layout: Layout, summary: Summary) -> None:
        self._room = room
        self._act = room.writer.act()
        self._layout = layout
        self.summary = summary
        self._seen: set[str] = set()
        self._unknown: list[str] = []  # what could not be looked at: nothing is concluded about it
        self._removed: list[Document] = []

    # --- walk and plan --------------------------------------------------------------------------------------------

    def look(
        self, roots: Sequence[Path], base: Path, known: dict[str, Document], *, full: bool, pruned: bool
    ) -> list[Wanted]:
        """The files that have to be read."""
        wanted: list[Wanted] = []
        fresh: list[Document] = []
        for root in roots:
            for one in self._walk(root, base):
                document = known.get(one.path)
                if document is None or (document.state == "pruned" and pruned):
                    wanted.append(replace(one, known=document))
                elif not full and self._is_settled(one, document):
                    self._same(one, document, document.seen_at, fresh)
                elif document.size == one.file.size and file_digest(one.file.path) == document.sha256:
                    self._same(one, document, self._act.at, fresh)
                else:
                    wanted.append(replace(one, known=document))
        if fresh:
            with self._room.writer.transaction():
                there = self._room.documents.by_ids(one.id for one in fresh)
                self._room.documents.put([_sync(there[one.id], one) for one in fresh if one.id in there])
        return wanted

    def _walk(self, root: Path, base: Path) -> Iterator[Wanted]:
        top = Path(os.path.realpath(root))
        prefix = _path(top, base)
        ruled = top.name if prefix.startswith("/") else prefix  # rules know no absolute paths

        places: dict[str, Place | None] = {}

        def wanted(relative: str) -> bool:
            places[relative] = self._layout.place(_join(ruled, relative))
            return places[relative] is not None

        for one in walk(top, extra_ignores=self._layout.ignore, wanted=wanted):
            path = _join(prefix, one.relative)
            if path in self._seen:
                continue
            if isinstance(one, Skipped):
                self.summary.skipped.append(Skipped(path, one.reason))
                if not one.lasting:
                    self._unknown.append(path)
            elif scan(path):
                self.summary.skipped.append(Skipped(redact(path).text, "its name holds a secret"))
            elif (found := places[one.relative]) is not None:
                self._seen.add(path)
                yield Wanted(one, path, found, None)

    def _is_settled(self, one: Wanted, document: Document) -> bool:
        """Can the time stamp be trusted to tell that nothing changed?"""
        if document.size != one.file.size or document.mtime_ns != one.file.mtime_ns or document.seen_at is None:
            return False
        return one.file.mtime_ns + _RACY_NS < _ns(document.seen_at)

    def _same(self, one: Wanted, document: Document, seen_at: datetime | None, fresh: list[Document]) -> None:
        """Count a document that did not change; what its path says of it may have."""
        self.summary.unchanged += 1
        before = (document.label, document.type)
        if before == (one.place.label, one.place.type) and seen_at == document.seen_at:
            return
        self.summary.relabelled += before != (one.place.label, one.place.type)
        fresh.append(
            replace(document, label=one.place.label, type=one.place.type, mtime_ns=one.file.mtime_ns, seen_at=seen_at)
        )

    def gone(self, prefixes: Sequence[str], known: dict[str, Document]) -> list[Document]:
        """Documents under the roots whose files were not found, though we could look."""
        return [
            document
            for path, document in known.items()
            if path not in self._seen
            and any(_is_under(path, prefix) for prefix in prefixes)
            and not any(path == place or path.startswith(f"{place}/") or place == "." for place in self._unknown)
        ]

    # --- read, cut, replace ---------------------------------------------------------------------------------------

    def take(self, wanted: Sequence[Wanted], moves: MoveDetector, progress: Progress) -> None:
        """Read, cut and write every file that changed, batch by batch."""
        batch: list[tuple[Wanted, Page]] = []
        for number, one in enumerate(wanted, start=1):
            try:
                page = read_page(one.file.path, one.path)
            except Unreadable as trouble:
                self.summary.skipped.append(Skipped(one.path, trouble.reason))
                if one.known is not None and trouble.lasting:
                    self._removed.append(one.known)
            else:
                self.summary.simplified += [Skipped(one.path, note) for note in page.notes]
                batch.append((moves.recognised(one, page), page))
            if sum(len(page.chunks) for _, page in batch) >= _BATCH:
                self._write(batch)
                batch = []
            if number % 20 == 0:
                progress(number, len(wanted))
        self._write(batch)
        progress(len(wanted), len(wanted))

    def _write(self, batch: Sequence[tuple[Wanted, Page]]) -> None:
        if not batch:
            return
        with self._room.writer.transaction():
            there = self._room.documents.by_ids(one.known.id for one, _ in batch if one.known is not None)
            batch = [(self._known(one, there), page) for one, page in batch]
            documents = [self._document(one, page) for one, page in batch]
            both = list(zip(documents, batch, strict=True))
            chunked = [
                DocumentChunks(document.id, tuple(page.drafts(document.path, document.id)))
                for document, (_, page) in both
            ]
            kept = self._room.writer.replace_passages(chunked, act=self._act)
            self._room.documents.put(
                [replace(document, passages=len(one.passages)) for document, one in zip(documents, kept, strict=True)]
            )
            for document, (_, page) in both:
                local = (reference for reference in page.references if is_local(reference))
                self._room.documents.put_links(
                    document.id,
                    [DocumentLink(document.id, redact(one.target).text, one.kind, one.line + 1) for one in local],
                )
            mark_loose(self._room)
        for (one, _), done in zip(batch, kept, strict=True):
            self._count(one, done)

    def _known(self, one: Wanted, there: Mapping[str, Document]) -> Wanted:
        """With what is known of the file now, under the lock: others index and search meanwhile."""
        if one.known is not None:
            return replace(one, known=there.get(one.known.id, one.known))
        return replace(one, known=self._room.documents.by_path(one.path))

    def _count(self, one: Wanted, done: Kept) -> None:
        self.summary.passages += done.added
        self.summary.redacted += bool(done.redacted)
        if one.known is None:
            self.summary.added += 1
        elif one.known.path != one.path:
            self.summary.moved.append((one.known.path, one.path))
        else:
            self.summary.updated += 1

    def _document(self, one: Wanted, page: Page) -> Document:
        at = self._act.at
        changed = Document(
            id=str(self._room.writer.identity("doc", at)) if one.known is None else one.known.id,
            project=self._room.writer.project,
            path=one.path,
            sha256=page.sha256,
            title=redact(page.title).text,
            label=one.place.label,
            type=one.place.type,
            confidence=page.starting_confidence if one.known is None else one.known.confidence,
            created_at=at if one.known is None else one.known.created_at,
            updated_at=at,
            size=page.size,
            mtime_ns=one.file.mtime_ns,
            seen_at=at,
        )
        if one.known is None:
            return changed
        moved = one.known.path != one.path
        return replace(
            changed,
            accessed_at=one.known.accessed_at,
            access_count=one.known.access_count,
            updated_at=one.known.updated_at if one.known.sha256 == page.sha256 else at,
            former=tuple(dict.fromkeys((*one.known.former, one.known.path))) if moved else one.known.former,
        )

    def remove(self, gone: Sequence[Document]) -> None:
        """Take out the documents whose files are no more."""
        leaving = [*gone, *self._removed]
        for start in range(0, len(leaving), 100):
            some = leaving[start : start + 100]
            with self._room.writer.transaction():
                self._room.writer.replace_passages([DocumentChunks(one.id, ()) for one in some], act=self._act)
                for one in some:
                    self._room.documents.remove(one.id)
                mark_loose(self._room)
        self.summary.removed += len(leaving)


def _sync(now: Document, seen: Document) -> Document:
    """The document as it is now, with what the path and the file's time say of it."""
    return replace(now, label=seen.label, type=seen.type, mtime_ns=seen.mtime_ns, seen_at=seen.seen_at)


def _path(file: Path, base: Path) -> str:
    """A file or directory as documents name it: below the base, or absolute."""
    return file.relative_to(base).as_posix() if file.is_relative_to(base) else file.as_posix()


def _join(prefix: str, relative: str) -> str:
    if prefix == ".":
        return relative
    return prefix if relative == "." else f"{prefix}/{relative}"


def _is_under(path: str, prefix: str) -> bool:
    return (prefix == "." and not path.startswith("/")) or path.startswith(f"{prefix}/")


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1e9)


# --- moved files ----------------------------------------------------------------------------------------------------

_MIN_SHARED = 0.5  # share of a document's passages that must be in the new file word for word
_MAX_COMPARED = 200  # documents gone in one run that are compared by their words


class MoveDetector:
    """Hands the documents that are gone to the new files that turn out to be theirs: they keep their history."""

    def __init__(self, reader: Reader, gone: Sequence[Document]) -> None:
        self._reader = reader
        self._gone = {document.id: document for document in gone}
        self._by_digest: dict[str, list[Document]] = {}
        for document in gone:
            self._by_digest.setdefault(document.sha256, []).append(document)
        self._words: dict[str, set[str]] | None = None

    def matched(self, one: Wanted) -> Wanted:
        """`one` with the document it was before, if its bytes are those of one that is gone."""
        if one.known is not None:
            return one
        same = self._by_digest.get(file_digest(one.file.path), [])
        if not same:
            return one
        best = min(same, key=lambda document: (not _same_name(document.path, one.path), document.path))
        same.remove(best)
        self._gone.pop(best.id)
        return replace(one, known=best)

    def recognised(self, one: Wanted, page: Page) -> Wanted:
        """`one` with the document it was before, if it holds half of the passages of one that is gone."""
        if one.known is not None or not self._gone or len(self._gone) > _MAX_COMPARED:
            return one
        new = {fingerprint(clean(chunk.text)[0]) for chunk in page.chunks}
        shares = {id: containment(words, new) for id, words in self._passages().items() if id in self._gone and words}
        if not shares:
            return one
        best = min(shares, key=lambda id: (-shares[id], self._gone[id].path))
        return replace(one, known=self._gone.pop(best)) if shares[best] >= _MIN_SHARED else one

    def left(self) -> list[Document]:
        """Those that are really gone."""
        return list(self._gone.values())

    def _passages(self) -> dict[str, set[str]]:
        if self._words is None:
            self._words = {id: {memory.fingerprint for memory in self._reader.passages(id)} for id in self._gone}
        return self._words


def _same_name(one: str, other: str) -> bool:
    return one.rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
