"""A disk that can lose power: a logging VFS, and what may be left of its files at any point of the log.

The VFS passes everything through to the real files and writes down each write, sync, truncation and deletion. After a
cut, what was synced is there; of everything since, each write is kept, dropped or torn at 512 bytes by chance, in no
particular order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import apsw
import pytest

import recollect
import recollect.store.open as opening
from recollect import Recollect, wiring
from recollect.store.sqlite.engine import SqliteEngine

SECTOR = 512

Kind = Literal["open", "write", "truncate", "sync", "delete"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one file."""

    kind: Kind
    file: str
    offset: int = 0
    data: bytes = b""
    durable: bool = False  # of a deletion: the directory was synced


class Disk(apsw.VFS):
    """Logs what SQLite does to its files; `fault`, when set, may raise before it happens."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.log: list[Event] = []
        self.fault: Any = None
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.happen(Event("delete", filename, durable=bool(syncdir)))
        super().xDelete(filename, syncdir)

    def happen(self, event: Event) -> None:
        if self.fault is not None:
            self.fault(event)
        self.log.append(event)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        disk.happen(Event("open", self._name))
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.happen(Event("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.happen(Event("truncate", self._name, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.happen(Event("sync", self._name))
        super().xSync(flags)


class OneConnection(SqliteEngine):
    """The real engine with readers on the writer's connection.

    A VFS written in Python has no shared memory, so its log can only be used by one connection, exclusively.
    """

    def _borrow(self) -> apsw.Connection:
        self._turn.acquire()
        return self._connection_for_writing()

    def _give_back(self, connection: apsw.Connection) -> None:
        self._turn.release()


@contextmanager
def disk(name: str, patch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """A logging disk; stores are opened on it with `open_on`."""
    made = Disk(name)

    def exclusive(connection: apsw.Connection) -> None:
        if connection.open_vfs == name:
            connection.execute("pragma locking_mode = exclusive")

    apsw.connection_hooks.append(exclusive)
    patch.setattr(opening, "SqliteEngine", OneConnection)
    try:
        yield made
    finally:
        apsw.connection_hooks.remove(exclusive)
        made.unregister()


def open_on(disk: Disk, path: Path, *, project: str | None = None) -> Recollect:
    """`recollect.open`, on another disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "open_store", partial(opening.open_store, vfs=disk.name))
        return recollect.open(path, project=project)


# --- what is left after a cut ---------------------------------------------------------------------------------------


@dataclass
class _Durable:
    """One file as it surely is, and what was done to it since."""

    content: bytearray = field(default_factory=bytearray)
    exists: bool = False  # its directory entry is on disk
    pending: list[Event] = field(default_factory=list)

    def settle_name(self) -> None:
        """The directory was synced: the file is surely there, or surely gone."""
        deletions = [place for place, event in enumerate(self.pending) if event.kind == "delete"]
        if deletions:
            self.content, self.exists, self.pending = bytearray(), False, self.pending[deletions[-1] + 1 :]
        self.exists = self.exists or bool(self.pending)


class Replay:
    """Walks along a log; at any point, says what a power cut there may leave."""

    def __init__(self, log: list[Event]) -> None:
        self._log = log
        self._at = 0
        self._files: dict[str, _Durable] = {}
        self._new_logs: set[str] = set()

    def advance(self, to: int) -> None:
        """Everything up to the log position `to` has happened."""
        for event in self._log[self._at : to]:
            one = self._files.setdefault(event.file, _Durable())
            if event.kind == "sync":
                self._sync(event.file, one)
            elif event.kind == "delete" and event.durable:
                self._files[event.file] = _Durable()
            elif event.kind != "open":
                one.pending.append(event)
            elif event.file.endswith(("-wal", "-journal")):
                self._new_logs.add(event.file)
        self._at = to

    def _sync(self, name: str, one: _Durable) -> None:
        for event in one.pending:
            _apply(one.content, event)
        one.pending.clear()
        one.exists = True
        if name in self._new_logs:  # with the first sync of a new log SQLite syncs its directory: all names in it
            self._new_logs.discard(name)
            for other in self._files.values():
                other.settle_name()

    def left(self, rng: random.Random) -> dict[str, bytes]:
        """One possible set of files after a cut here."""
        keep = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        files: dict[str, bytes] = {}
        for name, one in sorted(self._files.items()):
            if not one.exists and (not one.pending or rng.random() < 0.5):
                continue
            content: bytearray | None = bytearray(one.content)
            for event in one.pending:
                if rng.random() >= keep:
                    continue
                content = _after(content, event, rng)
            if content is not None:
                files[name] = bytes(content)
        return files


def _after(content: bytearray | None, event: Event, rng: random.Random) -> bytearray | None:
    if event.kind == "delete":
        return None
    content = bytearray() if content is None else content
    if event.kind == "write" and rng.random() < 0.3:
        for part in _torn(event, rng):
            _apply(content, part)
    else:
        _apply(content, event)
    return content


def _torn(event: Event, rng: random.Random) -> Iterator[Event]:
    """Some of a write's sectors: its beginning, or any of them."""
    first = rng.randrange(len(event.data) // SECTOR + 1) if rng.random() < 0.5 else None
    start = 0
    while start < len(event.data):
        end = min(len(event.data), start + SECTOR - (event.offset + start) % SECTOR)
        if start // SECTOR < first if first is not None else rng.random() < 0.5:
            yield Event("write", event.file, event.offset + start, event.data[start:end])
        start = end


def _apply(content: bytearray, event: Event) -> None:
    if event.kind == "truncate":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
    elif event.kind == "write":
        if len(content) < event.offset:
            content.extend(bytes(event.offset - len(content)))
        content[event.offset : event.offset + len(event.data)] = event.data


def put(files: dict[str, bytes], *, at: Path, instead_of: Path) -> None:
    """Write what is left into the folder of `at`, under its name."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{at}{suffix}").unlink(missing_ok=True)
    for name, content in files.items():
        Path(str(name).replace(str(instead_of), str(at))).write_bytes(content)
