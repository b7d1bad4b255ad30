"""Where are the memories of this directory? Answered by reading a few files; no process is started."""

from __future__ import annotations

from pathlib import Path

from recollect.files.root import FOLDER as FOLDER
from recollect.files.root import STORE, root_of, user_folder


def find_root(start: Path) -> Path:
    """The directory that owns the memories of `start`: an existing store above it, else the repository, else itself.

    A linked worktree has no memories of its own: it shares those of the main one.
    """
    return Path(root_of(str(start)))


def store_path(root: Path) -> Path:
    return root / FOLDER / STORE


def user_store_path() -> Path:
    """The file for memories that belong to the person, not to a project."""
    return Path(user_folder()) / STORE
