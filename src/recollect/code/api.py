"""`memory.code`: the room as its users see it. A few lines per question.

It works on the graph, its own repository, and asks the Reader and the Writer for everything about memories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event, RLock
from typing import TYPE_CHECKING

from recollect.code.impact import DEPTH, MAX_NODES, Direction, Impact, find_reach
from recollect.code.index import Indexed, Progress, no_progress
from recollect.core.errors import CodeNotIndexed, InvalidField, NoModel
from recollect.core.kinds import Kind
from recollect.core.query import Filter, Hit, Query
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.graph import Graph
from recollect.store.meta import Meta

if TYPE_CHECKING:
    from recollect.code.modules import Analysed, ModuleMap
    from recollect.code.scip import Imported
    from recollect.code.workers import Workers
    from recollect.models.port import LanguageModel

_ROOT, _RUNNING, _HEAD = "code-root", "code-indexing", "code-head"


class Code:
    """The code of one project."""

    def __init__(
        self,
        graph: Graph,
        reader: Reader,
        writer: Writer,
        *,
        meta: Meta,
        root: Path | None,
        model: Callable[[], LanguageModel] | None = None,
    ) -> None:
        self._graph, self._reader, self._writer = graph, reader, writer
        self._meta, self._root, self._model = meta, root, model
        self._workers: Workers | None = None
        self._indexing = RLock()  # an index at a time

    # --- making the graph -----------------------------------------------------------------------------------------

    def index(
        self,
        root: str | Path | None = None,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        passages: bool = True,
        progress: Progress = no_progress,
    ) -> Indexed:
        """Bring graph and passages in step with the source tree. Only what changed is read, unless `full`.

        Whoever knows what changed says so with `only` (paths below the root): the tree is then not walked.
        """
        from recollect.code.anchors import SymbolFollower
        from recollect.code.index import index_tree
        from recollect.code.workers import Workers
        from recollect.files.work_tree import WorkTree

        with self._indexing:
            folder = self._folder(root)
            first = self._graph.is_empty()
            self._note(root=folder, running=self._writer.now() if first else None)
            self._workers = self._workers or Workers()
            symbols = SymbolFollower(self._graph, self._reader)
            try:
                done = index_tree(
                    folder,
                    self._graph,
                    self._writer,
                    workers=self._workers,
                    full=full,
                    only=only,
                    passages=passages,
                    progress=progress,
                )
                self._remember_history(folder)
                if self._root is None or self._root.resolve() == folder:
                    self._writer.follow_files(WorkTree(folder, renamed=dict(done.renamed), removed=done.removed))
                    symbols.follow(self._writer, done)
            finally:
                if first:
                    self._note(root=folder, running=None)
            return done

    def watch(
        self, root: str | Path | None = None, *, stop: Event | None = None, progress: Progress = no_progress
    ) -> Iterator[Indexed]:
        """Index, then again whenever files change and have been quiet for half a second."""
        from recollect.code.survey import watch_tree

        folder = self._folder(root)

        def mark_stale(paths: Sequence[str]) -> None:
            with self._writer.transaction():
                self._graph.mark_stale(paths)

        def index_again(paths: Sequence[str]) -> Indexed:
            return self.index(folder, only=paths, progress=progress)

        yield self.index(folder, progress=progress)
        for done in watch_tree(folder, self._graph, mark_stale, index_again, stop=stop or Event()):
            if done.changed:
                yield done

    def import_scip(self, path: str | Path, *, below: str = "") -> Imported:
        """Let a SCIP index confirm, complete and correct the edges of the files it covers."""
        from recollect.code.scip import import_scip

        self._require_index()
        prefix = below.strip("/") + "/" if below.strip("/") else ""
        return import_scip(Path(path), self._graph, self._writer, below=prefix)

    def analyse(self, *, budget: int = 50_000) -> Analysed:
        """Have the configured language model add the semantic layer, within a budget of tokens."""
        from recollect.code.modules import analyse_modules

        self._require_index()
        if self._model is None:
            raise NoModel("The semantic layer")
        return analyse_modules(self._graph, self._writer, self._model(), budget=budget)

    # --- asking it ------------------------------------------------------------------------------------------------

    def impact(self, target: str, *, depth: int = DEPTH, limit: int = MAX_NODES, minimum: float = 0.0) -> Impact:
        """What breaks if `FILE` or `FILE:SYMBOL` changes: all that reaches it, with paths, tests and memories."""
        return self._reach(target, "dependents", depth, limit, minimum)

    def deps(self, target: str, *, depth: int = DEPTH, limit: int = MAX_NODES, minimum: float = 0.0) -> Impact:
        """What it needs."""
        return self._reach(target, "dependencies", depth, limit, minimum)

    def trace(self, target: str, *, depth: int = DEPTH, limit: int = MAX_NODES, minimum: float = 0.0) -> Impact:
        """Where its data goes: along calls and flows only."""
        return self._reach(target, "flow", depth, limit, minimum)

    def related(self, file: str, *, k: int = 10) -> list[tuple[str, float]]:
        """The files most likely to change together with this one: by the graph in both directions and by history."""
        from recollect.code.impact import rank_related

        self._require_index()
        return rank_related(self._graph, file, k=k)

    def map(self) -> ModuleMap:
        """Folders, what they hold and need, their layers, and where programs begin."""
        from recollect.code.modules import module_map

        self._require_index()
        return module_map(self._graph)

    def counts(self) -> tuple[int, int, int]:
        """How many files, nodes and edges the graph has."""
        files, nodes, edges, _ = self._graph.counts()
        return files, nodes, edges

    def search(self, text: str, *, k: int = 8) -> list[Hit]:
        """Passages of source code for a question, best first."""
        self._require_index()
        passages = Filter(kinds=frozenset({Kind.PASSAGE}))
        hits = self._reader.recall(Query(text, k=3 * max(0, k), filter=passages))
        ours = [hit for hit in hits if hit.memory.span and (hit.memory.span.document or "").startswith("code:")]
        return ours[: max(0, k)]

    def close(self) -> None:
        """End the parsing processes."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    # --- inside ---------------------------------------------------------------------------------------------------

    def _reach(self, target: str, direction: Direction, depth: int, limit: int, minimum: float) -> Impact:
        self._require_index()
        return find_reach(
            self._graph,
            target,
            direction=direction,
            depth=depth,
            limit=limit,
            minimum=minimum,
            reader=self._reader,
            indexing_since=self._meta.get(_RUNNING),
        )

    def _require_index(self) -> None:
        if self._graph.is_empty():
            raise CodeNotIndexed(since=self._meta.get(_RUNNING) or None)

    def _folder(self, given: str | Path | None) -> Path:
        known = self._meta.get(_ROOT)
        folder = Path(given) if given is not None else self._root or (Path(known) if known else None)
        if folder is None:
            raise InvalidField("root", "this store lies in no project", hint="Name the directory to index.")
        if not folder.is_dir():
            raise InvalidField("root", f"{folder} is no directory")
        return folder.resolve()

    def _note(self, *, root: Path, running: datetime | None) -> None:
        stamp = "" if running is None else running.isoformat(timespec="seconds")
        if self._meta.get(_ROOT) != str(root) or (self._meta.get(_RUNNING) or "") != stamp:
            with self._writer.transaction():
                self._meta.put(_ROOT, str(root))
                self._meta.put(_RUNNING, stamp)

    def _remember_history(self, root: Path) -> None:
        """Co-commits and volatility, when the history has moved on."""
        from recollect.files.git import current_commit, follow_renames, read_history

        # the repository may begin above the folder
        head = next((found for folder in (root, *root.parents) if (found := current_commit(folder)) is not None), None)
        if head is None or head == self._meta.get(_HEAD):
            return
        from recollect.code.cochange import measure_churn, measure_cochange, without_secret_names

        commits = without_secret_names(follow_renames(read_history(root)))
        with self._writer.transaction():
            self._graph.replace_history(measure_cochange(files for _, files in commits), measure_churn(commits))
            self._meta.put(_HEAD, head)
