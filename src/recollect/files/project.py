"""Where the memories of a directory are kept, and our own notes. Reads a few files and starts no process.

Hooks load this at every event, so it deals in plain strings; `pathlib` is loaded by the functions that need it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ".recollect"
STORE = "memory.db"


def find_root_path(start: str) -> str:
    """The directory that owns the memories of `start`: an existing store above it, else the repository, else itself.

    A linked worktree has no memories of its own: it shares those of the main one.
    """
    start = os.path.abspath(start)
    folder = start
    while True:
        if os.path.exists(os.path.join(folder, FOLDER, STORE)):  # False, not an error, where we may not look
            return folder
        if os.path.exists(os.path.join(folder, ".git")):
            return _main_worktree(folder)
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above


def user_folder() -> str:
    """Where the memories are kept that belong to the person, not to a project."""
    if os.name == "nt":
        base = os.environ.get("APPDATA") or os.path.expanduser("~/AppData/Roaming")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "recollect")


def state_folder() -> str:
    """Where logs go."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "recollect")


def _main_worktree(folder: str) -> str:
    """Follow a linked worktree's pointers to the main one; anything unexpected means there is nothing to follow."""
    pointer = os.path.join(folder, ".git")
    if os.path.isdir(pointer):
        return folder
    try:
        with open(pointer, encoding="utf-8") as file:
            private = os.path.realpath(os.path.join(folder, file.read().partition("gitdir:")[2].strip()))
        with open(os.path.join(private, "commondir"), encoding="utf-8") as file:
            common = os.path.realpath(os.path.join(private, file.read().strip()))
    except (OSError, ValueError):
        return folder
    return os.path.dirname(common) if os.path.basename(common) == ".git" and os.path.isdir(common) else folder


def find_root(start: Path) -> Path:
    """The same as `find_root_path`, for those who work with paths."""
    from pathlib import Path

    return Path(find_root_path(str(start)))


def store_path(root: Path) -> Path:
    return root / FOLDER / STORE


def user_store_path() -> Path:
    """The file for memories that belong to the person, not to a project."""
    from pathlib import Path

    return Path(user_folder()) / STORE
