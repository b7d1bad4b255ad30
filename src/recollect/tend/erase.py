"""Erasing what a person wants gone, everywhere: rows, files of sessions, logs, the write-ahead log, copies, exports.

The rows go first, in one transaction that leaves marks of what was erased (`core.erasing`). Everything after it works
from those marks, each file whole or not at all, so that an erasure that was interrupted goes on with the next call.
At the end every byte of every file is looked at once more, and the report says what was searched and what is left.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recollect.core.erasing import ErasureMarks, marks_from, split_words
from recollect.core.errors import InvalidField, RecollectError, StoreBusy, StoreError, StoreFull, UnknownChoice
from recollect.core.query import Filter, read_user
from recollect.core.text import counted
from recollect.files.session_file import ENDING, SessionFile, replace_file
from recollect.remember.act import ActContext
from recollect.remember.erase import ErasedRows, carry_out, erase_rows, marks_of, planned_rows
from recollect.remember.erase_plan import ErasurePlan
from recollect.store.cache import empty
from recollect.store.meta import FILE, Meta
from recollect.store.migrate import migrate
from recollect.store.migrations.latest import LATEST
from recollect.store.sqlite.backup import memory_ids, rewrite_copy
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.repair import read_erasures
from recollect.store.store import Store
from recollect.store.texts import StoredTexts
from recollect.tend.beside import HOOK_LOGS, copies_beside, remove_copy, texts_beside
from recollect.tend.erasure_report import (
    ErasedPlace,
    ErasureProof,
    ErasureReport,
    RemainingCopy,
    parse_text,
)
from recollect.tend.put_back import apply_erasures

Copies: TypeAlias = Literal["list", "rewrite", "delete"]
COPIES: tuple[Copies, ...] = ("list", "rewrite", "delete")
_PENDING = "erasing"  # the fact that says what is left to do of an erasure, as marks
_TRIES, _PAUSE = 20, 0.25  # how often and after how many seconds a reader in the way is asked to have ended
_BACKUP = "backup"
_TOLD = ("memories", "entities")


@dataclass(frozen=True, slots=True)
class ErasureScope:
    """What to erase; exactly one of these is given."""

    names: tuple[str, ...] = ()  # all names of one subject
    session: str | None = None
    user: str | None = None
    filter: Filter | None = None
    project: bool = False
    everything: bool = False


def make_scope(
    names: Sequence[str],
    also: Sequence[str],
    except_names: Sequence[str],
    session: str | None,
    user: str | None,
    filter: Filter | None,
    project: bool,
    everything: bool,
    copies: str,
) -> ErasureScope | None:
    """What was asked for, checked; nothing when nothing was. More than one thing at once is an error."""
    if copies not in COPIES:
        raise UnknownChoice("backups", copies, COPIES)
    given = [bool(names), session is not None, user is not None, filter is not None, project, everything]
    if sum(given) > 1:
        raise InvalidField("erase", "more than one of subject, session, user, filter, project and everything was named")
    if (also or except_names) and not names:
        raise InvalidField("also", "it needs a subject")
    if not any(given):
        return None
    left_out = {tuple(split_words(name)) for name in except_names}
    chosen = [name for name in (*names, *also) if tuple(split_words(name)) not in left_out]
    if names and not chosen:
        raise InvalidField("except_names", "no name is left")
    for one in (session, user):
        if one is not None and not one.strip():
            raise InvalidField("erase", "the name of a session or a user is empty")
    return ErasureScope(tuple(chosen), session, read_user(user), filter, project, everything)


def erase(
    stores: Sequence[Store],
    scope: ErasureScope,
    act: Callable[[], ActContext],
    *,
    dry_run: bool = False,
    copies: Copies = "list",
    exports: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ErasureReport:
    """Erase what a scope names from the first store, and from the person's own beside it where something is found. What
    an interrupted erasure left is finished first."""
    report = ErasureReport(dry_run)
    for store in stores:
        if not dry_run:
            _resume(store, act, report, progress)
        erasure = _StoreErasure(store, scope, report, copies, exports, progress)
        rows = erasure.erase_rows(act, dry_run=dry_run, always=store is stores[0])
        if dry_run or rows is not None:
            erasure.finish(rows or ErasedRows())
    return report


def resume_erasure(
    stores: Sequence[Store], act: Callable[[], ActContext], progress: Callable[[str], None] | None = None
) -> ErasureReport:
    """Finish what interrupted erasures left to do."""
    report = ErasureReport()
    for store in stores:
        _resume(store, act, report, progress)
    return report


def is_erasure_pending(store: Store) -> bool:
    """Was an erasure interrupted?"""
    return Meta(store.engine, FILE).get(_PENDING) is not None


def _resume(
    store: Store, act: Callable[[], ActContext], report: ErasureReport, progress: Callable[[str], None] | None
) -> None:
    told = Meta(store.engine, FILE).get(_PENDING)
    if told is None:
        return
    left = json.loads(told)
    if left.get("project", store.project) != store.project:
        store = Store(store.engine, store.kinds, project=left["project"])
    erasure = _StoreErasure(store, ErasureScope(), report, left["copies"], left["exports"], progress)
    erasure.marks = marks_from(erasure.marks.key, left["marks"])
    report.notes.append("An interrupted erasure was finished. What it erased was looked for by digests, not in bytes.")
    rows = ErasedRows(traces=tuple(left["traces"]))
    if left.get("rows"):
        erasure.pending = left
        rows = erasure.finish_rows(act(), left["traces"])
    erasure.finish(rows)


class _StoreErasure:
    """One erasure in one store and all that lies beside it."""

    def __init__(
        self,
        store: Store,
        scope: ErasureScope,
        report: ErasureReport,
        copies: Copies,
        exports: bool,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._store = store
        self._scope = scope
        self._report = report
        self._copies = copies
        self._exports = exports
        self._progress = progress or (lambda step: None)
        self.marks = self._make_marks()
        self._traces = ErasureMarks(self.marks.key)
        self._gone: set[str] = set()  # ids of memories that went
        self.pending: dict[str, Any] = {}  # what is left to do, as it is noted
        self._waits = False  # something has to be tried again later

    def _make_marks(self) -> ErasureMarks:
        marks, scope = marks_of(self._store), self._scope
        for name in scope.names:
            marks.add_name(name)
        if scope.session is not None:
            marks.add_session(scope.session)
        if scope.user is not None:
            marks.add_user(scope.user)
        if scope.project:
            marks.add_project(self._store.project)
        marks.everything = scope.everything
        return marks

    # --- rows -----------------------------------------------------------------------------------------------------

    def erase_rows(self, act: Callable[[], ActContext], *, dry_run: bool, always: bool) -> ErasedRows | None:
        """Erase the rows; nothing when there is nothing and it was not asked for `always`. A dry run only plans."""
        self._progress("rows")
        plan = ErasurePlan(self._store, self.marks, self._ids())
        if dry_run:
            rows = planned_rows(plan)
            self._report.memories += rows.memories
        elif plan.is_empty and not always:
            return None
        else:
            rows = carry_out(self._store, plan, act(), begin=self._note_pending, done=self._note_rows)
        self._tell_rows(rows)
        return rows

    def finish_rows(self, act: ActContext, traces: Sequence[str]) -> ErasedRows:
        """Go on with rows that were put out of sight and not all removed."""
        self._progress("rows")
        return erase_rows(self._store, self.marks, (), act, resumed=(traces, self._note_rows))

    def _ids(self) -> list[str]:
        if self._scope.filter is None:
            return []
        page = self._store.memories.page(self._scope.filter, limit=2**31)
        return [*(memory.id for memory in page.memories), *page.damaged]

    def _note_pending(self, plan: ErasurePlan) -> None:
        """What is left to do from now on, for whoever comes after a kill."""
        self.pending = {
            "project": self._store.project,
            "rows": True,  # some are out of sight and still there
            "marks": plan.marks.as_keys(),
            "traces": plan.traces.as_keys(),
            "copies": self._copies,
            "exports": self._exports,
        }
        Meta(self._store.engine, FILE).put(_PENDING, json.dumps(self.pending))

    def _note_rows(self) -> None:
        """The rows are gone; files and copies are left."""
        self.pending["rows"] = False
        Meta(self._store.engine, FILE).put(_PENDING, json.dumps(self.pending))

    def _tell_rows(self, rows: ErasedRows) -> None:
        where = self._store.engine.location
        told: list[tuple[str, int, Literal["removed", "blanked"]]] = [
            ("memories", len(rows.memories), "removed"),
            ("entities", len(rows.entities), "removed"),
            *((table, count, "removed") for table, count in rows.removed.items() if table not in _TOLD),
            *((table, count, "blanked") for table, count in rows.blanked.items()),
        ]  # fmt: skip
        self._report.erased += [ErasedPlace(sort, where, action, count) for sort, count, action in told if count]
        for id in rows.damaged:
            self._remain("row", id, "its row is damaged and could not be read", "Run `recollect repair`, then again.")

    # --- everything else ------------------------------------------------------------------------------------------

    def finish(self, rows: ErasedRows) -> None:
        """Clean the files beside the store and all copies, look through everything, and forget what was left to do."""
        self._traces = marks_from(self.marks.key, rows.traces)
        self._gone = {memory.id for memory in rows.memories}
        proof = ErasureProof(self._store, self.marks, self._report, self._scope.names, self._plain_names(rows), rows)
        self._progress("files")
        for path in texts_beside(self._store.engine.folder):
            self._clean_file(path)
        if not self._report.dry_run:
            self._progress("freed pages")
            self._scrub()
        self._progress("copies")
        self._clean_copies()
        self._clean_exports(proof)
        if self._report.dry_run:
            return
        self._progress("proof")
        proof.search_tables()
        proof.search_files()
        if not self._waits:
            with self._store.engine.write():
                Meta(self._store.engine, FILE).remove(_PENDING)
            self._store.engine.checkpoint()

    def _plain_names(self, rows: ErasedRows) -> list[str]:
        return [name for name in (self._scope.user, self._scope.session, *rows.sessions) if name]

    def _holds(self, value: Any) -> bool:
        return self.marks.hold_any(value) or self._traces.hold_any(value)

    @property
    def _is_whole(self) -> bool:
        return self.marks.has_project(self._store.file_project)

    # --- files that are texts -------------------------------------------------------------------------------------

    def _clean_file(self, path: Path) -> None:
        try:
            if path.name in HOOK_LOGS:
                self._clean_log(path)
            elif path.suffix == ENDING:
                self._clean_session(path)
            elif self._is_whole or self._holds(path.read_bytes().decode("utf-8", "replace")):
                self._done("session file", path, "deleted", path.unlink)
        except OSError as error:
            self._waits = True
            self._remain("file", str(path), f"it could not be rewritten: {error.strerror or error}", _AGAIN)

    def _clean_log(self, path: Path) -> None:
        lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
        kept = [line for line in lines if not (self.marks.everything or self._holds(line))]
        if kept != lines:
            content = "".join(kept).encode("utf-8", "surrogateescape")
            self._done("hook log", path, "rewritten", lambda: replace_file(str(path), lambda _: content))

    def _clean_session(self, path: Path) -> None:
        file = SessionFile(str(path))
        try:
            if self._is_whole or self.marks.has_session(file.session):
                self._done("session file", path, "deleted", file.remove)
            elif any(self._holds(parse_text(line)) for line in file.every_line()):
                self._done("session file", path, "rewritten", lambda: file.reword(self._blank_line))
        finally:
            file.close()

    def _blank_line(self, line: str) -> str:
        value = parse_text(line)
        safe = self._traces.blank_value(self.marks.blank_value(value))
        return line if safe is value else json.dumps(safe, ensure_ascii=True, separators=(",", ":")) + "\n"

    # --- freed pages and the write-ahead log ----------------------------------------------------------------------

    def _scrub(self) -> None:
        """Rewrite the file, without what rows left in the gaps of pages, and empty its log."""
        engine = self._store.engine
        try:
            empty(engine)
            engine.vacuum()
            settled = engine.checkpoint()
            for _ in range(_TRIES):
                if settled:
                    break
                time.sleep(_PAUSE)
                settled = engine.checkpoint()
        except StoreError as error:
            self._waits = True
            way = _MAKE_ROOM if isinstance(error, StoreFull) else _AGAIN
            self._remain("freed pages", engine.location, f"they could not be overwritten: {error}", way)
            return
        if not settled:
            self._waits = True
            self._remain("write-ahead log", f"{engine.location}-wal", "another process is reading from it", _AGAIN)

    # --- copies and exports ---------------------------------------------------------------------------------------

    def _clean_copies(self) -> None:
        folder = self._store.engine.folder
        found = [] if folder is None else list(copies_beside(folder))
        known = self._store.exports.every()
        found += [(_BACKUP, Path(one.path)) for one in known if one.format == _BACKUP and os.path.isfile(one.path)]
        for sort, path in {path: (sort, path) for sort, path in found}.values():
            try:
                self._clean_copy(sort, path)
            except (StoreFull, StoreBusy, OSError) as error:
                self._waits = True
                self._remain(sort, str(path), f"it could not be rewritten: {error}", _MAKE_ROOM)
            except RecollectError as error:
                self._remain(sort, str(path), f"it could not be read: {error}", _DELETE)

    def _clean_exports(self, proof: ErasureProof) -> None:
        """Delete the exports that hold it, where that was asked for, or name them. They are never rewritten."""
        gone = []
        for one in self._store.exports.every():
            path = Path(one.path)
            if not path.exists():
                gone.append(one.path)
            elif one.format != _BACKUP and (why := proof.finds_in_export(path)):
                if self._exports:
                    self._done("export", path, "deleted", partial(_delete_export, path))
                    gone.append(one.path)
                else:
                    self._remain("export", str(path), why, _EXPORTS)
        if gone and not self._report.dry_run:
            with self._store.engine.write():
                self._store.exports.drop(gone)

    def _clean_copy(self, sort: str, path: Path) -> None:
        if self._copies == "delete":
            self._done(sort, path, "deleted", lambda: remove_copy(path))
        elif self._copies == "rewrite" and not self._report.dry_run:
            erasures = read_erasures(_as_sqlite(self._store))

            def change(copy: SqliteEngine) -> bool:
                if copy.schema() < LATEST:
                    migrate(copy)
                again = apply_erasures(copy, self._store.kinds, erasures, judged=False)
                return bool(again.erased or again.forgotten or again.blanked)

            if rewrite_copy(path, change):
                self._report.erased.append(ErasedPlace(sort, str(path), "rewritten"))
        elif (count := self._count_in_copy(path)) and self._copies == "rewrite":
            self._report.erased.append(ErasedPlace(sort, str(path), "rewritten", count))
        elif count:
            self._remain(sort, str(path), f"it holds {counted(count, 'text')} of what was erased", _BACKUPS)

    def _count_in_copy(self, path: Path) -> int:
        """In how many texts of a copy something stands that is erased."""
        engine = SqliteEngine(path, read_only=True)
        try:
            texts = StoredTexts(engine)
            if self.marks.everything:
                return sum(1 for held in texts.every() if held.table == "memories" and held.column == "content")
            held_in = (held for held in texts.every() if held.table != "meta")
            return len(self._gone & memory_ids(engine)) or sum(
                1 for held in held_in if self._stands_in(held.column, held.text)
            )
        finally:
            engine.close()

    def _stands_in(self, column: str, text: str) -> bool:
        if column == "session" and self.marks.has_session(text):
            return True
        if column == "user_id" and self.marks.has_user(text):
            return True
        if column == "project":
            return self.marks.has_project(text)
        return self._holds(parse_text(text))

    # --- telling --------------------------------------------------------------------------------------------------

    def _done(
        self, sort: str, path: Path, action: Literal["rewritten", "deleted"], change: Callable[[], object]
    ) -> None:
        if not self._report.dry_run:
            change()
        self._report.erased.append(ErasedPlace(sort, str(path), action))

    def _remain(self, sort: str, where: str, why: str, way: str) -> None:
        self._report.remaining.append(RemainingCopy(sort, where, why, way))


_AGAIN = "Run `recollect erase --resume`."
_MAKE_ROOM = "Make sure that there is room on the disk, then run `recollect erase --resume`."
_BACKUPS = "Run it again with --backups to rewrite it, or with --backups delete."
_DELETE = "Run it again with --backups delete, or remove the file yourself."
_EXPORTS = "Run it again with --exports to delete it, or remove it yourself."


def _as_sqlite(store: Store) -> SqliteEngine:
    engine = store.engine
    if not isinstance(engine, SqliteEngine):
        raise StoreError(f"{engine.location} keeps no copies beside it.", hint="Erase its backups where they are kept.")
    return engine


def _delete_export(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
