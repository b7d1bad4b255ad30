"""Whose log stands beside a store. SQLite plays back any log or journal of the right name, and a repository can ship
one: pulling it would put a stranger's pages into the person's own file.

So a store and its log carry the same extended attribute, which no clone, pull or archive makes. A log without it that
no process has open is moved aside before SQLite sees it. Where files have no such attributes (macOS, Windows), nothing
is known and nothing is refused. Never opens the store. Light: hooks ask at every event.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTRIBUTE = "user.recollect.log"
_TOKEN_BYTES = 12
_HAS_ATTRIBUTES = hasattr(os, "getxattr")
LOG, JOURNAL = "-wal", "-journal"


def strange_files(path: str) -> list[str]:
    """The log and the journal of a store, as far as they hold something that this store's own writers did not write."""
    token = _token(path)
    if not token:  # no attributes here, or not yet written by a release that sets them
        return []
    found = [path + JOURNAL] if _size(path + JOURNAL) else []  # we never write one
    log = path + LOG
    if _size(log) and _token(log) != token and not _is_open(log, path + "-shm"):
        found.append(log)
    return found


def claim_log(path: str) -> bool:
    """Mark the log of a store that is about to be written as its own; False when it holds what is not."""
    token = _token(path)
    log = path + LOG
    if not token:  # the first writer that marks it: what stands there was written before any mark
        token = os.urandom(_TOKEN_BYTES).hex()
        if _mark(path, token):
            _mark(log, token)
        return True
    if _token(log) == token:
        return True
    if _size(log) and not _is_open(log, path + "-shm"):
        return False
    _mark(log, token)
    return True


def _token(path: str) -> str:
    if not _HAS_ATTRIBUTES:
        return ""
    try:
        return os.getxattr(path, _ATTRIBUTE, follow_symlinks=False).decode("ascii", "replace")
    except OSError:  # no such file, no such attribute, or a file system without any
        return ""


def _mark(path: str, token: str) -> bool:
    if not _HAS_ATTRIBUTES:
        return False
    try:
        os.setxattr(path, _ATTRIBUTE, token.encode("ascii"), follow_symlinks=False)
    except OSError:
        return False
    return True


def _size(path: str) -> int:
    """Of a plain file; links of either sort and pipes are refused elsewhere."""
    try:
        state = os.lstat(path)
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) and state.st_nlink == 1 else 0


def _is_open(log: str, index: str) -> bool:
    """Does a process that uses the store have this very log open? A release that sets no mark may be running."""
    try:
        wanted, shared = os.lstat(log), os.lstat(index)
    except OSError:
        return False
    return any(
        (state.st_dev, state.st_ino) == (wanted.st_dev, wanted.st_ino)
        for process in _lockers(shared.st_ino)
        for state in _open_files(process)
    )


def _lockers(inode: int) -> set[str]:
    """The processes that hold a lock on a file, where the system tells (Linux)."""
    try:
        with open("/proc/locks", encoding="ascii") as lines:
            parts = [line.split() for line in lines]
    except OSError:
        return set()
    return {one[4] for one in parts if len(one) > 5 and one[1] == "POSIX" and one[5].endswith(f":{inode}")}


def _open_files(process: str) -> Iterator[os.stat_result]:
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.stat(f"{folder}/{name}")
        except OSError:  # closed meanwhile
            continue
