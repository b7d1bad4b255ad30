"""A lock on an open file, held by one process at a time and freed by the system when its holder dies.

`flock` where the file system has it; some network and container file systems have only POSIX record locks, which do the
same between processes. Light: hooks lock their session's file here.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _AT = 2**40  # beyond any byte that is read or written

    def take_lock(fd: int, *, wait: bool) -> bool:
        """Take the lock; False when another process holds it. OSError when the file system has no locks."""
        os.lseek(fd, _AT, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def free_lock(fd: int) -> None:
        os.lseek(fd, _AT, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def take_lock(fd: int, *, wait: bool) -> bool:
        """Take the lock; False when another process holds it. OSError when the file system has no locks."""
        how = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(fd, how)
        except BlockingIOError:
            return False
        except OSError as error:
            if not _has_no_flock(error):
                raise
            return _take_record_lock(fd, how)
        return True

    def _has_no_flock(error: OSError) -> bool:
        import errno  # few file systems ask for it, and every hook would load it

        return error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)

    def _take_record_lock(fd: int, how: int) -> bool:
        try:
            fcntl.lockf(fd, how)
        except (BlockingIOError, PermissionError):  # another process has it
            return False
        return True

    def free_lock(fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_UN)
        except OSError as error:
            if not _has_no_flock(error):
                raise
            fcntl.lockf(fd, fcntl.LOCK_UN)
