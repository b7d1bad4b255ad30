"""Files beside the store: a fair lock between processes, and a reserve of disk space for deletions.

SQLite's own busy handler sleeps and retries: measured with 16 writers, someone waited 27 s. A kernel file lock hands
over in turn (0.4 s at worst in the same test). The kernel frees it when its holder dies, so there is nothing to clean.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from recollect.core.errors import StoreBusy, StoreFull, StoreReadOnly

if sys.platform == "win32":
    import msvcrt

    def _take(fd: int, *, wait: bool) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _give_back(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _take(fd: int, *, wait: bool) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give_back(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class FairLock:
    """Held by at most one process. Not for threads: the engine serialises those before it comes here."""

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._fd: int | None = None

    def acquire(self) -> None:
        fd = self._open() if self._fd is None else self._fd
        self._fd = fd
        if not _take(fd, wait=False):
            self._queue(fd)

    def release(self) -> None:
        if self._fd is not None:
            _give_back(self._fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            if error.errno in _FULL:
                raise StoreFull(str(self._path)) from None
            raise StoreReadOnly(str(self._path)) from None

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
                    _give_back(fd)
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


_FULL = frozenset({28, 122})  # ENOSPC, EDQUOT


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
        try:
            if self._path.exists() and self._path.stat().st_size >= SIZE:
                self._is_there = True
                return
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError:
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
