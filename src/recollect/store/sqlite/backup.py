"""Backups: a verified copy beside the store, the list of them, and the copy that one is put back from."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.core.errors import BackupFailed, BackupNotFound, StoreError
from recollect.store.migrations.latest import APPLICATION_ID
from recollect.store.port import Engine
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.place import make_folder, mark_made_here, sync_file, sync_folder, was_made_here
from recollect.store.sqlite.swap import STAMP

FOLDER = "backups"
_PARTIAL = ".partial"
_REWRITING = ".rewriting"  # ends the name of a folder in which a copy is rewritten


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
        folder = make_folder(engine.folder / FOLDER)
        target = folder / f"{datetime.now(UTC).strftime(STAMP)}-{reason}.db"
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
    sweep_partial(target.parent)
    partial = target.with_name(f"{target.name}.{os.getpid()}{_PARTIAL}")
    partial.unlink(missing_ok=True)
    try:
        engine.copy_to(partial)
        verify(partial)
        mark_made_here(partial)
        sync_file(partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(target.parent)
    return target


def find_same(engine: Engine, reason: str) -> Path | None:
    """The backup for this reason that holds what the store holds, if there is one: an earlier try left it."""
    from recollect.store.migrate import census

    folder = None if engine.folder is None else engine.folder / FOLDER
    for path in [] if folder is None else sorted(folder.glob(f"*-{reason}.db"), reverse=True):
        try:
            verify(path)
            copy = SqliteEngine(path, read_only=True)
            try:
                if copy.schema() == engine.schema() and census(copy) == census(engine):
                    return path
            finally:
                copy.close()
        except StoreError:
            continue  # not usable: a new one is made
    return None


def sweep_partial(folder: Path) -> None:
    """Remove what backups that died left behind; those of living processes are their own affair."""
    for partial in folder.glob(f"*.db.*{_PARTIAL}"):
        maker = partial.name.removesuffix(_PARTIAL).rpartition(".")[2]
        if maker.isdigit() and not _is_alive(int(maker)):
            partial.unlink(missing_ok=True)
    for work in folder.glob(f"*.db.*{_REWRITING}"):
        maker = work.name.rpartition(".db.")[2].partition(".")[0]
        if maker.isdigit() and not _is_alive(int(maker)):
            shutil.rmtree(work)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


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
    names = [] if folder is None else sorted((folder / FOLDER).glob("*.db"), reverse=True)
    found = [(path, os.lstat(path)) for path in names]
    return [
        Backup(path, datetime.fromtimestamp(seen.st_mtime, UTC), seen.st_size, _memories_in(path))
        for path, seen in found
        if stat.S_ISREG(seen.st_mode)
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


def copy_backup(backup: Path, target: Path) -> int:
    """Copy a verified backup to where a store is built from it; how many memories it holds."""
    if not backup.is_file():
        raise BackupNotFound(str(backup))
    verify(backup)
    source = SqliteEngine(backup, read_only=True)
    try:
        source.copy_to(target)
    finally:
        source.close()
    return verify(target)


def rewrite_copy(path: Path, change: Callable[[SqliteEngine], bool]) -> bool:
    """Put a changed copy in the place of a backup or of a store that was set aside, if `change` says it did something.
    It is whole and verified before it takes the name; killed at any point the old or the new one is there."""
    sweep_partial(path.parent)
    work = Path(tempfile.mkdtemp(prefix=f"{path.name}.{os.getpid()}.", suffix=_REWRITING, dir=path.parent))
    try:
        built = work / path.name
        copy_backup(path, built)
        engine = SqliteEngine(built)
        try:
            if not change(engine):
                return False
            engine.vacuum()
            engine.checkpoint()
        finally:
            engine.close()
        verify(built)
        seen = os.lstat(path)
        if was_made_here(path):
            mark_made_here(built)
        os.utime(built, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        sync_file(built)
        for log in ("-wal", "-shm"):  # of a store that was set aside: what it held is in the copy
            Path(f"{path}{log}").unlink(missing_ok=True)
        os.replace(built, path)
        sync_folder(path.parent)
        return True
    finally:
        shutil.rmtree(work, ignore_errors=True)


def memory_ids(engine: Engine) -> set[str]:
    """The ids of all memories of a file, whichever project they belong to."""
    return {str(row[0]) for row in engine.rows("select id from memories")}
