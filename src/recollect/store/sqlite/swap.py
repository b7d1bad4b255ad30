"""Putting a new file in the place of a store: whole before it is seen, and seen by everybody at once.

The new file is built in a folder beside the store, verified and synced, and gets the name `-next`. A note in the lock
file says which file that is: from this moment on whoever takes the lock finishes the change, and before it nothing has
happened. The old file and its log go to `quarantine/` on the way, so no file ever stands beside another one's log.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from recollect.store.sqlite.lock import FairLock
from recollect.store.sqlite.own_log import LOG, strange_files
from recollect.store.sqlite.place import beside, file_identity, look, look_safely, make_folder, sync_file, sync_folder

STAMP = "%Y%m%dT%H%M%S.%fZ"
QUARANTINE = "quarantine"
STRANGE = "strange-log"  # ends the name of a folder that holds what came from outside
_WORK = "-work-"  # folders in which new files are built
_NEXT = "-next"  # a finished file that waits for the name of the store


@contextmanager
def holding(path: Path, *, timeout: float) -> Iterator[FairLock]:
    """The lock of a store that this process has no need to open. What a dead holder left is finished or removed."""
    make_folder(path.parent)
    lock = FairLock(beside(path, "-lock"), timeout=timeout)
    lock.acquire()
    try:
        finish(path, lock)
        set_strange_aside(path)
        for left in path.parent.glob(f"{path.name}{_WORK}*"):
            shutil.rmtree(left)
        look_safely(path)
        yield lock
    finally:
        lock.release()
        lock.close()


@contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """A private folder beside the store to build in, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"{path.name}{_WORK}", dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def exchange(path: Path, built: Path, lock: FairLock, why: str) -> Path | None:
    """Put a finished file in the place of the store; where what stood there is kept, if anything did."""
    if look(beside(built, "-wal")) is not None:
        raise RuntimeError(f"{built} is still open")
    for name in ("-wal", "-shm", "-reserve"):  # after the note is written there is no way back
        look_safely(beside(path, name))
    make_folder(path.parent / QUARANTINE)
    sync_file(built)
    waiting = beside(path, _NEXT)
    os.replace(built, waiting)
    sync_folder(path.parent)
    lock.write_note(f"{_mark(os.lstat(waiting))} {datetime.now(UTC).strftime(STAMP)}-{why}")
    return finish(path, lock)


def is_unfinished(path: Path) -> bool:
    """Does a file wait for the name of the store?"""
    return look(beside(path, _NEXT)) is not None


def finish(path: Path, lock: FairLock) -> Path | None:
    """Carry out what the note of the lock says, at whatever point an earlier holder died; where the old file is."""
    waiting = beside(path, _NEXT)
    mark, _, name = lock.note().partition(" ")
    found = look(waiting)
    kept: Path | None = None
    if found is not None and mark == _mark(found) and name == Path(name).name:
        if look(path) is not None or look(beside(path, "-wal")) is not None:
            kept = _set_aside(path, make_folder(make_folder(path.parent / QUARANTINE) / name))
        os.replace(waiting, path)
        sync_folder(path.parent)
    elif found is not None:  # never noted: whoever made it died first, or it is not ours
        waiting.unlink()
    if mark:
        lock.write_note("")
    return kept


def _mark(found: os.stat_result) -> str:
    """What tells a file from any that somebody else could put there."""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _set_aside(path: Path, folder: Path) -> Path:
    """Give the old file a second name in quarantine and move its log there; it loses the first by the rename."""
    kept = folder / path.name
    old, known = look(path), look(kept)
    if old is not None and (known is None or file_identity(known) != file_identity(old)):
        kept.unlink(missing_ok=True)
        try:
            os.link(path, kept)
        except OSError:  # a file system without hard links
            shutil.copyfile(path, kept)
            sync_file(kept)
    log = beside(path, "-wal")
    if look(log) is not None:
        os.replace(log, beside(kept, "-wal"))
    beside(path, "-shm").unlink(missing_ok=True)
    sync_folder(folder)
    sync_folder(folder.parent)
    return kept


def set_log_aside(path: Path) -> None:
    """Move the log of a file that somebody replaced by hand out of the way of the new one. The lock is held."""
    _move_aside(path, [f"{path}{LOG}"], "log")


def set_strange_aside(path: Path) -> None:
    """Move a log or a journal that this store's writers did not write out of SQLite's sight. The lock is held."""
    if strange := strange_files(str(path)):
        _move_aside(path, strange, STRANGE)


def _move_aside(path: Path, files: Sequence[str], why: str) -> None:
    name = f"{datetime.now(UTC).strftime(STAMP)}-{why}"
    folder = make_folder(make_folder(path.parent / QUARANTINE) / name)
    for file in files:
        os.replace(file, folder / os.path.basename(file))
    beside(path, "-shm").unlink(missing_ok=True)
    sync_folder(folder)
