"""Backups: a verified copy beside the store, the list of them, and putting one back without losing the present."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.core.errors import BackupFailed, BackupNotFound, StoreError
from recollect.store.migrations.latest import APPLICATION_ID
from recollect.store.port import Engine
from recollect.store.sqlite.engine import SqliteEngine

FOLDER = "backups"
_STAMP = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy of the store as it was."""

    path: Path
    made_at: datetime
    size: int
    memories: int


def make_backup(engine: Engine, *, reason: str = "manual", target: Path | None = None) -> Path | None:
    """Copy the last committed state and verify the copy. Nothing for a store in memory without a target."""
    if target is None:
        if engine.folder is None:
            return None
        stamp = datetime.now(UTC).strftime(_STAMP)
        target = engine.folder / FOLDER / f"{stamp}-{reason}.db"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        engine.copy_to(partial)
        verify(partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return target


def verify(path: Path) -> int:
    """Read the whole copy once; how many memories it holds. A copy that cannot be trusted is an error."""
    engine = SqliteEngine(path, read_only=True)
    try:
        owner = engine.row("pragma application_id")
        if owner is None or owner[0] != APPLICATION_ID:
            raise BackupFailed(str(path), "it is not a Recollect store")
        faults = [row[0] for row in engine.rows("pragma integrity_check(5)") if row[0] != "ok"]
        if faults:
            raise BackupFailed(str(path), "; ".join(faults))
        count = engine.row("select count(*) from memories")
        return int(count[0]) if count else 0
    except BackupFailed:
        raise
    except StoreError as error:
        raise BackupFailed(str(path), str(error)) from error
    finally:
        engine.close()


def list_backups(folder: Path | None) -> list[Backup]:
    """The backups beside a store, newest first. Unreadable ones are listed with -1 memories."""
    found = [] if folder is None else sorted((folder / FOLDER).glob("*.db"), reverse=True)
    return [
        Backup(path, datetime.fromtimestamp(path.stat().st_mtime, UTC), path.stat().st_size, _memories_in(path))
        for path in found
    ]


def _memories_in(path: Path) -> int:
    engine = SqliteEngine(path, read_only=True)
    try:
        count = engine.row("select count(*) from memories")
        return int(count[0]) if count else 0
    except StoreError:
        return -1
    finally:
        engine.close()


def put_back(backup: Path, store: Path) -> Path | None:
    """Replace the store by a verified backup; where the replaced files were moved to, if there were any.

    The caller has closed the store and holds no other handle on it. Nothing is deleted: the present state is set aside.
    """
    if not backup.is_file():
        raise BackupNotFound(str(backup))
    verify(backup)
    staged = store.with_name(store.name + ".restoring")
    staged.unlink(missing_ok=True)
    source = SqliteEngine(backup, read_only=True)
    try:
        source.copy_to(staged)
    finally:
        source.close()
    verify(staged)
    aside = set_aside(store, "replaced") if store.exists() else None
    os.replace(staged, store)
    _sync_folder(store.parent)
    return aside


def set_aside(store: Path, why: str) -> Path:
    """Move a store and its log into `quarantine/`, whole and untouched."""
    stamp = datetime.now(UTC).strftime(_STAMP)
    folder = store.parent / "quarantine" / f"{stamp}-{why}"
    folder.mkdir(parents=True)
    for suffix in ("-wal", "-shm", ""):  # the log first: a store must never be seen without it
        part = Path(f"{store}{suffix}")
        if part.exists():
            os.replace(part, folder / part.name)
    _sync_folder(folder)
    return folder / store.name


def _sync_folder(folder: Path) -> None:
    """Make renames durable where the platform allows a directory to be synced."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
