"""`memory.code`: the room as its users see it. A few lines per question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event, RLock
from typing import TYPE_CHECKING

from recollect.code.impact import DEPTH, MOST, Impact, reach
from recollect.code.index import Indexed, Progress, quiet
from recollect.core.errors import CodeNotIndexed, InvalidField, NoModel
from recollect.core.ports import Identity
from recollect.core.query import Briefing, Hit
from recollect.remember.act import ActContext
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.code.modules import ModuleMap
    from recollect.code.scip import Imported
    from recollect.code.semantic import Analysed
    from recollect.code.workers import Workers
    from recollect.models.port import LanguageModel

_ROOT, _RUNNING, _HEAD = "code-root", "code-indexing", "code-head"


class Code:
    """The code of one project."""

    def __init__(
        self,
        store: Store,
        *,
        root: Path | None,
        hand: Callable[[], ActContext],
        identity: Identity,
        search: Callable[[str, int], Briefing],
        indexed: Callable[[], None],
        model: Callable[[], LanguageModel] | None = None,
    ) -> None:
        self._store, self._root = store, root
        self._model = model
        self._hand, self._identity = hand, identity
        self._search, self._indexed = search, indexed
        self._workers: Workers | None = None
        self._one = RLock()  # an index at a time

    # --- making the graph -----------------------------------------------------------------------------------------

    def index(
        self,
        root: str | Path | None = None,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        passages: bool = True,
        progress: Progress = quiet,
    ) -> Indexed:
        """Bring graph and passages in step with the source tree. Only what changed is read, unless `full`.

        Whoever knows what changed says so with `only` (paths below the root): the tree is then not walked.
        """
        with self._one:
            return self._indexed_now(self._folder(root), full=full, only=only, passages=passages, progress=progress)

    def _indexed_now(
        self, folder: Path, *, full: bool, only: Sequence[str] | None, passages: bool, progress: Progress
    ) -> Indexed:
        from recollect.code.index import index
        from recollect.code.workers import Workers

        hand = self._hand()
        first = not self._store.has_code()
        self._note(root=folder, running=hand.at if first else None)
        self._workers = self._workers or Workers()
        try:
            done = index(
                folder,
                self._store,
                hand,
                identity=self._identity,
                workers=self._workers,
                full=full,
                only=only,
                passages=passages,
                progress=progress,
            )
            self._remember_history(folder)
        finally:
            if first:
                self._note(root=folder, running=None)
        self._indexed()
        return done

    def watch(
        self, root: str | Path | None = None, *, stop: Event | None = None, progress: Progress = quiet
    ) -> Iterator[Indexed]:
        """Index, then again whenever files change and have been quiet for half a second."""
        from recollect.code.watch import watch

        folder = self._folder(root)

        def again(paths: Sequence[str]) -> Indexed:
            return self.index(folder, only=paths, progress=progress)

        yield self.index(folder, progress=progress)
        yield from watch(folder, self._store, again, stop=stop or Event())

    def import_scip(self, path: str | Path, *, below: str = "") -> Imported:
        """Let a SCIP index confirm, complete and correct the edges of the files it covers."""
        from recollect.code.scip import import_scip

        if not self._store.has_code():
            raise CodeNotIndexed
        prefix = below.strip("/") + "/" if below.strip("/") else ""
        return import_scip(Path(path), self._store, below=prefix)

    def analyse(self, *, budget: int = 50_000) -> Analysed:
        """Have the configured language model add the semantic layer, within a budget of tokens."""
        from recollect.code.semantic import analyse

        if not self._store.has_code():
            raise CodeNotIndexed
        if self._model is None:
            raise NoModel("The semantic layer")
        return analyse(self._store, self._model(), budget=budget)

    # --- asking it ------------------------------------------------------------------------------------------------

    def impact(self, target: str, *, depth: int = DEPTH, most: int = MOST, least: float = 0.0) -> Impact:
        """What breaks if `FILE` or `FILE:SYMBOL` changes: all that reaches it, with paths, tests and memories."""
        return reach(self._store, target, direction="dependents", depth=depth, most=most, least=least)

    def deps(self, target: str, *, depth: int = DEPTH, most: int = MOST, least: float = 0.0) -> Impact:
        """What it needs."""
        return reach(self._store, target, direction="dependencies", depth=depth, most=most, least=least)

    def trace(self, target: str, *, depth: int = DEPTH, most: int = MOST, least: float = 0.0) -> Impact:
        """Where its data goes: along calls and flows only."""
        return reach(self._store, target, direction="flow", depth=depth, most=most, least=least)

    def related(self, file: str, *, k: int = 10) -> list[tuple[str, float]]:
        """The files most likely to change together with this one: by the graph in both directions and by history."""
        from recollect.code.related import related

        return related(self._store, file, k=k)

    def map(self) -> ModuleMap:
        """Folders, what they hold and need, their layers, and where programs begin."""
        from recollect.code.modules import module_map

        if not self._store.has_code():
            raise CodeNotIndexed(since=self._store.meta(_RUNNING) or None)
        return module_map(self._store)

    def search(self, text: str, *, k: int = 8) -> list[Hit]:
        """Passages of source code for a question, best first."""
        if not self._store.has_code():
            raise CodeNotIndexed(since=self._store.meta(_RUNNING) or None)
        hits = self._search(text, 3 * max(0, k))
        ours = [hit for hit in hits if hit.memory.span and (hit.memory.span.document or "").startswith("code:")]
        return ours[: max(0, k)]

    def close(self) -> None:
        """End the parsing processes."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    # --- inside ---------------------------------------------------------------------------------------------------

    def _folder(self, given: str | Path | None) -> Path:
        known = self._store.meta(_ROOT)
        folder = Path(given) if given is not None else self._root or (Path(known) if known else None)
        if folder is None:
            raise InvalidField("root", "this store lies in no project", hint="Name the directory to index.")
        if not folder.is_dir():
            raise InvalidField("root", f"{folder} is no directory")
        return folder.resolve()

    def _note(self, *, root: Path, running: datetime | None) -> None:
        stamp = "" if running is None else running.isoformat(timespec="seconds")
        if self._store.meta(_ROOT) != str(root) or (self._store.meta(_RUNNING) or "") != stamp:
            with self._store.engine.write():
                self._store.set_meta(_ROOT, str(root))
                self._store.set_meta(_RUNNING, stamp)

    def _remember_history(self, root: Path) -> None:
        """Co-commits and volatility, when the history has moved on."""
        from recollect.files.git import current_commit

        head = _head(root, current_commit)
        if head is None or head == self._store.meta(_HEAD):
            return
        from recollect.code.cochange import churn, cochange
        from recollect.files.git import follow_renames, read_history

        commits = follow_renames(read_history(root))
        with self._store.engine.write():
            self._store.graph.replace_history(cochange(files for _, files in commits), churn(commits))
            self._store.set_meta(_HEAD, head)


def _head(root: Path, current: Callable[[Path], str | None]) -> str | None:
    """The commit of the repository a folder is in, which may begin above it."""
    return next((found for place in (root, *root.parents) if (found := current(place)) is not None), None)
