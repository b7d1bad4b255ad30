"""Opening files that a stranger may have put there: plain files only, never through a link, never past a size.

A link, a device, a pipe or a folder in a file's place is refused before anything is read or written. Paths below a
root are walked folder by folder, so that no link on the way leads out of it. Light to load: hooks use it.
"""

from __future__ import annotations

import os
import stat

# Never through a link, never waiting for a pipe; and Windows would change line ends.
OPENING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd  # not on Windows
_PRIVATE = 0o700
_MAX_PATH = 1_000  # characters


def open_plain(path: str, flags: int = os.O_RDONLY, *, folder: int | None = None) -> int:
    """A handle on a plain file that has no other name; OSError for whatever else is there.

    Whoever put a link, a pipe or a second name in its place wants us to read or write somewhere else.
    """
    handle = os.open(path, flags | OPENING, 0o600, dir_fd=folder)
    state = os.fstat(handle)
    if stat.S_ISREG(state.st_mode) and (state.st_nlink <= 1 or flags & (os.O_WRONLY | os.O_RDWR) == 0):
        return handle
    os.close(handle)
    raise OSError(f"{path} is not a plain file")


def read_plain_file(path: str, *, max_bytes: int) -> bytes | None:
    """What a plain file holds; nothing when there is none, or when it is larger."""
    try:
        handle = open_plain(path)
    except (OSError, ValueError):  # not there, not plain, or a name no file can have
        return None
    return _read_all(handle, max_bytes)


def read_beneath(root: str, relative: str, *, max_bytes: int) -> bytes | None:
    """What a plain file below `root` holds. No link is followed on the way, and no name leads upwards or elsewhere."""
    try:
        handle = open_beneath(root, relative)
    except (OSError, ValueError):
        return None
    return _read_all(handle, max_bytes)


def open_beneath(root: str, relative: str) -> int:
    """A handle for reading a plain file below `root`; OSError when there is none, or only through a link."""
    names = relative.split("/")
    if any(name in ("", ".", "..") or "\0" in name or (os.sep == "\\" and set(name) & set("\\:")) for name in names):
        raise OSError(f"{relative} does not name a file below a folder")
    if not _BY_FOLDER:
        path = os.path.join(root, *names)
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), *names):
            raise OSError(f"{relative} leads through a link")
        return open_plain(path)
    at = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in names[:-1]:
            below = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        return open_plain(names[-1], folder=at)
    finally:
        os.close(at)


def open_in_own_folder(path: str, flags: int = os.O_RDONLY) -> int:
    """The same as `open_plain` for a file in a folder of ours: that is no link either, and belongs to this person."""
    folder, name = os.path.split(path)
    if not _BY_FOLDER:
        require_own_folder(folder)
        return open_plain(path, flags)
    at = os.open(folder, os.O_RDONLY | _FOLDER)
    try:
        _require_owner(folder, os.fstat(at))
        return open_plain(name, flags, folder=at)
    finally:
        os.close(at)


def is_inside(root: str, relative: str) -> bool:
    """Does a relative path stay below `root`, by its name and by every link on the way? What is not there yet does."""
    if os.path.isabs(relative) or relative.startswith(("~", "\\")) or "\0" in relative or len(relative) > _MAX_PATH:
        return False
    parts = relative.replace("\\", "/").split("/")
    if ".." in parts or any(":" in part for part in parts):
        return False
    base = os.path.realpath(root)
    named = os.path.normpath(os.path.join(base, *parts))
    return os.path.realpath(named) == named


def make_own_folder(path: str) -> None:
    """Make a private folder unless it is there; OSError when what is there is a link, no folder, or another person's.

    Its parent must be there: the way to it is the caller's to vouch for.
    """
    try:
        os.mkdir(path, _PRIVATE)
    except FileExistsError:
        require_own_folder(path)


def require_own_folder(path: str) -> None:
    """OSError unless a folder is there that is no link and belongs to this person (or to the system)."""
    state = os.lstat(path)
    if not stat.S_ISDIR(state.st_mode) or is_junction(path):
        raise OSError(f"{path} is not a plain folder")
    _require_owner(path, state)


def _require_owner(path: str, state: os.stat_result) -> None:
    """Whoever owns the folder around it could put any there; nobody else may."""
    if not hasattr(os, "geteuid") or state.st_uid in (os.geteuid(), 0):
        return
    if state.st_uid != os.stat(os.path.dirname(path) or ".").st_uid:
        raise OSError(f"{path} belongs to another user")


def is_junction(path: str) -> bool:
    """Windows has a second sort of link for folders."""
    found = getattr(os.path, "isjunction", None)
    return bool(found and found(path))


def _read_all(handle: int, max_bytes: int) -> bytes | None:
    try:
        if os.fstat(handle).st_size > max_bytes:
            return None
        found, size = [], 0
        while chunk := os.read(handle, 1 << 20):
            found.append(chunk)
            size += len(chunk)
            if size > max_bytes:
                return None
        return b"".join(found)
    except OSError:
        return None
    finally:
        os.close(handle)
