"""Files beside the store: a fair lock between processes, and a reserve of disk space for deletions.

SQLite's own busy handler sleeps and retries: measured with 16 writers, someone waited 27 s. A kernel file lock hands
over in turn (0.4 s at worst in the same test). The kernel frees it when its holder dies, so there is nothing to clean.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from time import monotonic

from recollect.core.errors import NoFileLocks, StoreBusy, StoreFull, StoreReadOnly
from recollect.core.file_lock import free_lock, take_lock
from recollect.store.sqlite.place import file_identity, look, look_safely, open_safely


def _take(fd: int, *, wait: bool) -> bool:
    try:
        return take_lock(fd, wait=wait)
    except OSError as error:
        raise NoFileLocks(str(error)) from None


_NOTE = 512  # bytes a note may have


class FairLock:
    """Held by at most one process. Not for threads: the engine serialises those before it comes here."""

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._fd: int | None = None
        self.has_note = False  # was there one when the lock was taken?

    def acquire(self) -> None:
        """Take the lock that the name stands for now: one whose file was removed holds nobody off."""
        end = monotonic() + self._timeout
        while True:
            fd = open_safely(self._path, os.O_RDWR | os.O_CREAT) if self._fd is None else self._fd
            self._fd = fd
            if not _take(fd, wait=False):
                self._queue(fd)
            here, found = os.fstat(fd), look(self._path)
            if found is not None and file_identity(found) == file_identity(here):
                self.has_note = here.st_size > 0
                return
            self.close()
            if monotonic() > end:
                raise StoreBusy(str(self._path), waited=self._timeout)

    def release(self) -> None:
        if self._fd is not None:
            free_lock(self._fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def note(self) -> str:
        """What a holder wrote down for those after it; only for who holds the lock."""
        return "" if self._fd is None else os.pread(self._fd, _NOTE, 0).decode("ascii", "replace")

    def write_note(self, text: str) -> None:
        """Write something down, durably, in the place of what was there."""
        if self._fd is None:
            raise RuntimeError("write_note() without the lock")
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text.encode("ascii"), 0)
        os.fsync(self._fd)

    def _queue(self, fd: int) -> None:
        """Wait in the kernel's queue, but no longer than our timeout.

        A blocking lock call cannot be cancelled, so a thread makes it. If we give up first, the thread frees the lock
        the moment it gets it.
        """
        handover = threading.Lock()
        state = {"taken": False, "abandoned": False}
        arrived = threading.Event()

        def wait() -> None:
            while not _take(fd, wait=True):
                pass
            with handover:
                state["taken"] = True
                if state["abandoned"]:
                    free_lock(fd)
                    os.close(fd)
            arrived.set()

        threading.Thread(target=wait, name="recollect-lock", daemon=True).start()
        arrived.wait(self._timeout)
        with handover:
            if state["taken"]:
                return
            state["abandoned"] = True
        self._fd = None  # the waiting thread owns that descriptor now
        raise StoreBusy(str(self._path), waited=self._timeout)


SIZE = 4 * 2**20  # bytes: enough log for erasing some hundred memories from rows and keyword index


class Reserve:
    """A file of real blocks beside the store. Losing it is harmless; it is refilled when there is room again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_there = False  # as far as this process knows

    def release(self) -> bool:
        """Give the room back to the disk. False when there was none to give."""
        self._is_there = False
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def refill(self) -> None:
        """Set the room aside again. No room for it now is fine: the next write tries again."""
        if self._is_there:
            return
        found = look_safely(self._path)
        if found is not None and found.st_size >= SIZE:
            self._is_there = True
            return
        try:
            fd = open_safely(self._path, os.O_WRONLY | os.O_CREAT)
        except (StoreFull, StoreReadOnly):
            return
        try:
            _allocate(fd)
            self._is_there = True
        except OSError:
            self._path.unlink(missing_ok=True)
        finally:
            os.close(fd)


def _allocate(fd: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, SIZE)
    else:
        os.write(fd, b"\0" * SIZE)
