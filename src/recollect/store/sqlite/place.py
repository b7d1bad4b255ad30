"""The files of a store as the file system has them: which file a name stands for, and whether it may be used.

No symbolic link is followed, a file with a second name or of a stranger is refused, and folders are synced after
renames. Never opens a database that is in use: closing it would drop the locks SQLite holds on it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from recollect.core.errors import StoreFull, StoreReadOnly, UnsafeFile

Identity: TypeAlias = tuple[int, int]  # device and inode
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LINK = "Remove the link. If it is your store, put the file itself there."
_MADE_HERE = "user.recollect.made"
_FULL = frozenset({28, 122})  # ENOSPC, EDQUOT


def file_identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def look(path: str | Path) -> os.stat_result | None:
    """What stands at a name itself; nothing when it is free."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise StoreReadOnly(str(path)) from None


def look_safely(path: str | Path) -> os.stat_result | None:
    """What stands at a name, if it is a plain file that is only ours. Anything else is an error."""
    found = look(path)
    if found is not None:
        require_plain(path, found)
    return found


def require_plain(path: str | Path, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeFile(
            str(path), "a symbolic link", hint="Remove the link. If it is your store, put the file itself there."
        )
    if not stat.S_ISREG(found.st_mode):
        what = "a directory" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise UnsafeFile(str(path), what, hint="Remove it, or name another file.")
    if found.st_nlink > 1:
        raise UnsafeFile(
            str(path),
            "one of several hard links to the same file",
            hint=f"Two names have two logs, and writes would be lost. Make it a file of its own, while nothing "
            f"uses it: `cp {path} {path}.own && mv {path}.own {path}`.",
        )
    if not _is_ours(path, found):
        raise UnsafeFile(
            str(path),
            "owned by another user",
            hint="It belongs neither to you nor to the owner of its folder. Remove it, or take it over with `chown`.",
        )


def _is_ours(path: str | Path, found: os.stat_result) -> bool:
    """Whoever owns the folder could put any file there; nobody else may."""
    if not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0):
        return True
    return found.st_uid == os.stat(os.path.dirname(path) or ".").st_uid


def open_safely(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of a plain file that is only ours; never of what a link leads to."""
    look_safely(path)
    try:
        fd = os.open(path, flags | NOFOLLOW, mode)
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(str(path)) from None
        look_safely(path)  # a link that was put there meanwhile is named as one
        raise StoreReadOnly(str(path)) from None
    try:
        require_plain(path, os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def make_folder(folder: Path) -> Path:
    """A private folder beside the store, that is really there and not elsewhere."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.lstat(folder)
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeFile(str(folder), "a symbolic link", hint="Remove it; a folder of that name is made again.")
    return folder


def mark_made_here(path: Path) -> None:
    """Note on a file that we made it on this machine. No clone, pull or archive carries the note."""
    if hasattr(os, "setxattr"):
        with suppress(OSError):  # a file system without attributes: then nothing is known of any file
            os.setxattr(path, _MADE_HERE, b"1", follow_symlinks=False)


def was_made_here(path: Path) -> bool:
    """Did we make it on this machine, as far as the file system can tell?"""
    if not hasattr(os, "getxattr"):
        return True
    try:
        return bool(os.getxattr(path, _MADE_HERE, follow_symlinks=False))
    except OSError as error:
        return error.errno != errno.ENODATA  # one that keeps no attributes tells nothing


def resolved(path: Path) -> str:
    """The name with the links among its folders followed: SQLite is told to follow none."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def beside(path: Path | str, suffix: str) -> Path:
    """Another file of the same store."""
    return Path(f"{path}{suffix}")


def sync_file(path: Path) -> None:
    """Make sure that a file nobody has open is on the disk."""
    fd = os.open(path, os.O_RDWR | NOFOLLOW)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make renames durable where the platform allows a directory to be synced."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
