"""Where are the memories of this directory? Answered by reading a few files; no process is started."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = ".recollect"
STORE = "memory.db"


def find_root(start: Path) -> Path:
    """The directory that owns the memories of `start`: an existing store above it, else the repository, else itself.

    A linked worktree has no memories of its own: it shares those of the main one.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        if os.path.exists(folder / FOLDER / STORE):  # False, not an error, where we may not look
            return folder
        if os.path.exists(folder / ".git"):
            return _main_worktree(folder)
    return start


def store_path(root: Path) -> Path:
    return root / FOLDER / STORE


def user_store_path() -> Path:
    """The file for memories that belong to the person, not to a project."""
    if os.name == "nt":
        base = Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming"))
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "recollect" / STORE


def _main_worktree(folder: Path) -> Path:
    """Follow a linked worktree's pointers to the main one; anything unexpected means there is nothing to follow."""
    pointer = folder / ".git"
    if os.path.isdir(pointer):
        return folder
    try:
        target = pointer.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
        private = (folder / target).resolve()
        common = (private / (private / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return folder
    return common.parent if common.name == ".git" and os.path.isdir(common) else folder
