"""The documents room's door: what `memory.docs` offers. Notes who and when, calls the story, hands back its value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.documents import Document, DocumentPlace, Related
from recollect.core.errors import InvalidField, StoreError
from recollect.core.ports import quiet
from recollect.documents.context import DocumentsContext
from recollect.documents.layout import Layout, read_layout
from recollect.documents.search import DEFAULT_LIMIT, PER_DOCUMENT, Found, effective_confidence, search
from recollect.files.plain import is_inside

if TYPE_CHECKING:
    from recollect.documents.check import Checked
    from recollect.documents.gc import GcPlan
    from recollect.documents.guidance.teach import Lesson
    from recollect.documents.index import Summary
    from recollect.models.port import LanguageModel

_FOLDER = ".recollect"


class Docs:
    """Documents as memory: index, search, related, list, gc, check; and rules files as memories."""

    def __init__(
        self,
        room: DocumentsContext,
        *,
        folder: str | os.PathLike[str] | None,
        settings: Mapping[str, Any],
        model: Callable[[], LanguageModel] | None = None,
    ) -> None:
        self._room = room
        self._folder = folder  # where the store lies
        self._settings = settings
        self._model = model

    @cached_property
    def layout(self) -> Layout:
        """Where documents are and what they are, as configured."""
        return read_layout(self._settings)

    @property
    def base(self) -> Path:
        """The directory that paths of documents are relative to: the project's, or where we are."""
        if self._folder is None:
            return Path(os.path.realpath("."))
        real = Path(os.path.realpath(self._folder))
        return real.parent if real.name == _FOLDER else real

    def index(
        self,
        roots: Sequence[str | os.PathLike[str]] = (),
        *,
        base: str | os.PathLike[str] | None = None,
        full: bool = False,
        pruned: bool = False,
        progress: Callable[[int, int], None] = quiet,
    ) -> Summary:
        """Bring the documents under some directories in step with their files; without any, those configured, or the
        whole project. Found by words at once; `tend` makes their vectors."""
        from recollect.documents.index import index

        home = self.base if base is None else Path(os.path.realpath(base))
        chosen = [Path(root) for root in roots] or [_configured(home, root) for root in self.layout.roots] or [home]
        return index(
            chosen,
            self._room,
            base=home,
            layout=self.layout,
            full=full,
            pruned=pruned,
            progress=progress,
        )

    def search(
        self,
        text: str,
        *,
        mode: str = "hybrid",
        limit: int = DEFAULT_LIMIT,
        max_per_document: int | None = PER_DOCUMENT,
        label: str | None = None,
        type: str | None = None,
        track: bool = True,
    ) -> Found:
        """The best passages for a question, at most so many of each document."""
        found = search(
            text,
            self._room,
            now=self._room.writer.clock(),
            mode=mode,
            limit=limit,
            per_document=max_per_document,
            label=label,
            type=type,
        )
        return self._noted(found) if track and found.matches else found

    def related(self, path: str, *, limit: int = 5) -> list[Related]:
        """The documents most often found together with one."""
        from recollect.documents.check import find_document

        return self._room.documents.related(find_document(path, self.base, self._room).id, limit=max(0, limit))

    def place(self, path: str) -> DocumentPlace:
        """What a document links to, what links to it, and how high that ranks it."""
        from recollect.documents.check import find_document

        documents = self._room.documents
        own = find_document(path, self.base, self._room).id
        edges = documents.edges()
        near = documents.by_ids({id for edge in edges if own in edge for id in edge})

        def paths(ids: Sequence[str]) -> tuple[str, ...]:
            return tuple(sorted(near[id].path for id in ids if id in near and near[id].state == "live"))

        return DocumentPlace(
            documents.ranks([own]).get(own, 0.0),
            paths([target for source, target in edges if source == own]),
            paths([source for source, target in edges if target == own]),
        )

    def list(self, *, label: str | None = None, type: str | None = None) -> list[Document]:
        """The documents that are indexed, by path."""
        return [
            document
            for document in self._room.documents.every()
            if document.state == "live" and label in (None, document.label) and type in (None, document.type)
        ]

    def confidence(self, document: Document) -> float:
        """How far a document is trusted now."""
        return effective_confidence(document, self._room.writer.clock())

    def gc(self, *, dry_run: bool = False, progress: Callable[[int, int], None] = quiet) -> GcPlan:
        """Drop passages that repeat newer ones and prune documents nobody needs; with `dry_run` only tell."""
        from recollect.documents.gc import apply_gc, plan_gc

        planned = plan_gc(self._room, now=self._room.writer.clock())
        if not dry_run and (planned.repeats or planned.stale):
            apply_gc(planned, self._room, progress=progress)
        return planned

    def check(
        self,
        change: str | None = None,
        *,
        between: Sequence[str] = (),
        detector: str | None = None,
        base: str | os.PathLike[str] | None = None,
    ) -> Checked:
        """A change against the specs that hold, or some documents against each other; with neither, every change under
        way and every link."""
        from recollect.documents import check as checks
        from recollect.remember.contradiction import find_judge

        home = self.base if base is None else Path(os.path.realpath(base))
        judge = find_judge(detector or self.layout.detector, self._model)
        if between:
            return checks.check_documents(between, home, judge)
        if change is not None:
            return checks.check_change(change, home, judge)
        parts = [checks.check_change(one, home, judge) for one in checks.changes_under_way(home)]
        links = checks.check_links(self._room, home, self.layout.specs)
        return replace(
            links,
            conflicts=tuple(conflict for part in parts for conflict in part.conflicts),
            pairs=sum(part.pairs for part in parts),
            notes=tuple(note for part in parts for note in part.notes),
        )

    def import_rules(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        base: str | os.PathLike[str] | None = None,
        retire: bool = False,
        dry_run: bool = False,
    ) -> Lesson:
        """Teach what CLAUDE.md, AGENTS.md, .cursorrules, MEMORY.md and their like say, as typed memories; without paths
        those of the whole project. Running it again changes only what the files changed; with `retire`, statements
        that are gone from them expire."""
        from recollect.documents.guidance.find import find_guidance
        from recollect.documents.guidance.teach import teach

        home = self.base if base is None else Path(os.path.realpath(base))
        found = find_guidance(home, [Path(path) for path in paths])
        writer = self._room.teacher or self._room.writer
        return teach(found, self._room.reader, writer, root=home, retire=retire, dry_run=dry_run)

    def _noted(self, found: Found) -> Found:
        """Count the use. A store that cannot be written still answers."""
        from recollect.documents.search import note_use

        if self._room.writer.read_only:
            return found
        try:
            note_use(found.matches, self._room, self._room.writer.now())
        except StoreError as error:
            return replace(found, notes=(*found.notes, f"the access was not counted: {error}"))
        return found


def _configured(home: Path, root: str) -> Path:
    """A configured root. One that is named as part of the project must be: a link may have taken its place."""
    if not os.path.isabs(root) and ".." not in Path(root).parts and not is_inside(os.fspath(home), root):
        raise InvalidField("documents.roots", f"{root!r} leads out of the project through a link")
    return home / root
