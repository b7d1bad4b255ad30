"""A few megabytes set aside so that forgetting still works on a full disk: deleting needs room to log the deletion."""

from __future__ import annotations

import os
from pathlib import Path

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
