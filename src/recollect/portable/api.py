"""Export, import and move of one open memory: which format, which reader, whose word. The rest is beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypeAlias, get_args

from recollect.core.errors import InvalidField, PersonOnly, StoreForeign, StoreMissing, UnknownChoice
from recollect.core.ports import quiet
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status
from recollect.portable.export import EVERYTHING, ExportCount, ExportReport, ExportStream, write_export
from recollect.portable.package import (
    ArchiveSink,
    ExportFile,
    JsonlSink,
    encrypt_archive,
    is_export,
    new_file,
    require_whole_zip,
)
from recollect.portable.take_in import ImportReport, import_export
from recollect.store.contents import Contents
from recollect.store.exports import Exports

if TYPE_CHECKING:
    from recollect.files.mark import StoreOrigin
    from recollect.portable.move import MoveReport
    from recollect.remember.writer import Writer
    from recollect.store.store import Store

ExportFormat: TypeAlias = Literal["jsonl", "archive", "markdown", "claude"]
Target: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
Progress: TypeAlias = Callable[[int, int], None]


class Portability:
    """What goes out of a store and comes in."""

    def __init__(self, store: Store, writer: Writer, origin: StoreOrigin) -> None:
        self._store = store
        self._writer = writer
        self._origin = origin

    def export(
        self,
        to: Target,
        *,
        format: str,
        filter: Filter | None,
        personal: bool,
        passphrase: str | None,
        budget: int | None,
        progress: Progress = quiet,
    ) -> ExportReport:
        """Write an export, and note where, so that an erasure can name it. One of a foreign store has no seal. Through
        an agent's door nothing personal leaves, and nothing of an assistant's users."""
        if not self._writer.door.is_persons:
            if personal:
                raise PersonOnly("export personal memories")
            filter = self._without_users(filter, format)
        report = self._export(
            to,
            format=format,
            filter=filter,
            personal=personal,
            passphrase=passphrase,
            budget=budget,
            progress=progress,
        )
        if isinstance(to, str | os.PathLike) and not self._store.engine.read_only:
            with self._store.engine.write():
                Exports(self._store.engine).note(os.path.abspath(to), format=format, at=self._writer.now())
        return report

    def _without_users(self, filter: Filter | None, format: str) -> Filter | None:
        """A filter that lets no user's memories through; the very same where there are none."""
        if filter is not None:
            if filter.user not in (None, ANY_USER):
                raise PersonOnly("export the memories of a user")
            return replace(filter, user=None)
        memories = self._store.memories
        everybodys = Filter(statuses=Status, user=None)
        if memories.count(EVERYTHING) == memories.count(everybodys):
            return None
        return Filter(user=None) if format in ("markdown", "claude") else everybodys

    def _export(
        self,
        to: Target,
        *,
        format: str,
        filter: Filter | None,
        personal: bool,
        passphrase: str | None,
        budget: int | None,
        progress: Progress,
    ) -> ExportReport:
        if format not in get_args(ExportFormat):
            raise UnknownChoice("format", format, get_args(ExportFormat))
        if passphrase is not None and format != "archive":
            raise InvalidField("passphrase", "only an archive can be encrypted", hint="Add --format archive.")
        if passphrase is not None and not passphrase.strip():
            raise InvalidField("passphrase", "it is empty")
        if format == "markdown":
            from recollect.portable.markdown import write_vault, write_zipped_vault

            if isinstance(to, str | os.PathLike):
                return write_vault(self._store, Path(to), filter=filter, personal=personal, progress=progress)
            return write_zipped_vault(self._store, to, filter=filter, personal=personal, progress=progress)
        if format == "claude":
            if doubt := self._origin.doubt:
                raise StoreForeign(self._store.engine.location, doubt)
            from recollect.portable.briefing_file import write_briefing

            with _opened(to, shared=True) as stream:
                return write_briefing(
                    self._store, stream, _name(to), filter=filter, personal=personal, budget=budget,
                    now=self._writer.now(),
                )  # fmt: skip
        stream_of = ExportStream(
            self._store, filter=filter, personal=personal, rooms=format == "archive", progress=progress
        )
        with _opened(to) as stream:
            counted = self._write(stream_of, stream, format, passphrase)
        return ExportReport(_name(to), format, dict(counted.counts), counted.personal, counted.redacted, counted.whole)

    def _write(self, source: ExportStream, to: IO[bytes], format: str, passphrase: str | None) -> ExportCount:
        at, sealed = self._writer.now(), not self._origin.is_foreign
        if format == "jsonl":
            return write_export(source, JsonlSink(to), at, sealed=sealed)
        if passphrase is None:
            return write_export(source, ArchiveSink(to), at, sealed=sealed)
        import tempfile

        with tempfile.TemporaryFile() as plain:
            counted = write_export(source, ArchiveSink(plain), at, sealed=sealed)
            plain.seek(0)
            encrypt_archive(plain, to, passphrase)
        return counted

    def take_in(
        self,
        path: Path,
        *,
        format: str,
        trust: bool,
        edited: bool,
        dry_run: bool,
        passphrase: str | None,
        mapping: Mapping[str, str] | None,
        user: str | None,
        progress: Progress = quiet,
    ) -> ImportReport:
        """Take in what a file or folder holds: an export of ours, or memories of another program."""
        if not os.path.lexists(path):
            raise InvalidField(str(path), "there is no such file or directory")
        if trust and not self._writer.door.is_persons:
            raise PersonOnly("say that a file is yours")
        require_whole_zip(path)
        if format == "recollect" or (format == "auto" and path.is_file() and is_export(path)):
            with ExportFile(path, passphrase=passphrase) as file:
                return import_export(
                    file, self._store, self._writer.act, trust=trust, edited=edited, dry_run=dry_run, progress=progress
                )
        from recollect.portable.foreign import import_foreign

        return import_foreign(
            path, self._store, self._writer, format=format, mapping=mapping, user=user, trust=trust, dry_run=dry_run,
            progress=progress,
        )  # fmt: skip

    def projects(self) -> list[str]:
        """Every project that the file holds something of."""
        return Contents(self._store).projects()

    def move_to(
        self,
        other: Portability,
        *,
        filter: Filter | None,
        personal: bool,
        trust: bool,
        dry_run: bool,
        progress: Progress = quiet,
    ) -> MoveReport:
        """Bring what is here into another store, which keeps whose word each memory is if this store is theirs."""
        from recollect.portable.move import move_project

        if trust and not other._writer.door.is_persons:
            raise PersonOnly("say that a store is yours")
        return move_project(
            self._store,
            other._store,
            other._writer.act,
            now=other._writer.now(),
            filter=filter,
            personal=personal,
            trusted=trust or not self._origin.is_foreign,
            dry_run=dry_run,
            progress=progress,
        )


def _opened(to: Target, *, shared: bool = False) -> AbstractContextManager[IO[bytes]]:
    if isinstance(to, str | os.PathLike):
        path = Path(to)
        if path.is_dir():
            raise InvalidField(str(path), "it is a directory", hint="Name a file.")
        if not path.parent.is_dir():
            raise StoreMissing(str(path.parent))
        return new_file(path, shared=shared)
    return nullcontext(to)


def _name(to: Target) -> str:
    return os.fspath(to) if isinstance(to, str | os.PathLike) else "-"
