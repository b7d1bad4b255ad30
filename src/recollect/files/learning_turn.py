"""One process at a time learns from what hooks kept, however many sessions end at once.

A hook takes the lock and hands the open file to the process it starts: there is no moment in which a second could
start. Who finds the lock taken touches the file, so that the one who learns looks again before it ends. Light.
"""

from __future__ import annotations

import os

from recollect.core.file_lock import take_lock

LEARNING = "RECOLLECT_LEARNING"  # environment variable: the number of the open file, for the process that learns
MAX_SECONDS = 600  # a process nobody watches ends after this long; the rest waits for the next session's end
_SUFFIX = "-learning"


class LearningTurn:
    """The turn to learn from a store's sessions, held as long as its file is open."""

    __slots__ = ("_fd", "_seen")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._seen = -1

    @classmethod
    def take(cls, store: str) -> LearningTurn | None:
        """The turn, if nobody has it; else ask whoever has it to look again."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        fd = os.open(f"{store}{_SUFFIX}", flags, 0o600)
        try:
            if take_lock(fd, wait=False):
                return cls(fd)
            os.utime(fd)
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None

    @classmethod
    def handed_over(cls, store: str, told: str | None) -> LearningTurn | None:
        """The turn that whoever started this process took for it; none when it was not started that way."""
        try:
            fd = int(told or "")
            mine, there = os.fstat(fd), os.stat(f"{store}{_SUFFIX}")
        except (OSError, ValueError, OverflowError):
            return None
        if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
            return None
        os.set_inheritable(fd, False)
        return cls(fd)

    def __enter__(self) -> str:
        """Hand it to a process that is started now."""
        os.set_inheritable(self._fd, True)
        return str(self._fd)

    def __exit__(self, *failed: object) -> None:
        os.close(self._fd)

    def look(self) -> bool:
        """Was anything asked for since the last look? Always at first."""
        seen, self._seen = self._seen, os.fstat(self._fd).st_mtime_ns
        return seen != self._seen

    def end(self) -> None:
        os.close(self._fd)
