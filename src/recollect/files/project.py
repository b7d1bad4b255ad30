"""Where the memories of a directory are kept, and our own notes. Reads a few files and starts no process.

Hooks load this at every event, so it deals in plain strings; `pathlib` is loaded by the functions that need it.
"""

from __future__ import annotations

import os

from recollect.files.plain import read_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ".recollect"
STORE = "memory.db"
FOLLOWED = "files-followed"  # the name of what the store says of the last time memories followed their files
_MAX_POINTER = 4_096  # bytes of a file that names a folder


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
    return _person_folder("XDG_DATA_HOME", "~/.local/share", windows="APPDATA")


def state_folder() -> str:
    """Where logs go, and the key that marks this person's stores."""
    return _person_folder("XDG_STATE_HOME", "~/.local/state", windows="LOCALAPPDATA")


def settings_folder() -> str:
    """Where the person's own settings are."""
    return _person_folder("XDG_CONFIG_HOME", "~/.config", windows="APPDATA")


def _person_folder(variable: str, usual: str, *, windows: str) -> str:
    """A folder of the person, never one inside whatever project they stand in: a relative path is not heeded."""
    if os.name == "nt":
        variable, usual = windows, {"APPDATA": "~/AppData/Roaming"}.get(windows, "~/AppData/Local")
    base = os.environ.get(variable, "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser(usual), "recollect")


def _main_worktree(folder: str) -> str:
    """Follow a linked worktree's pointers to the main one; anything unexpected means there is nothing to follow."""
    pointer = os.path.join(folder, ".git")
    private = None if os.path.isdir(pointer) else read_git_pointer(pointer)
    shared = None if private is None else _read_line(os.path.join(private, "commondir"))
    if private is None or shared is None:
        return folder
    common = os.path.realpath(os.path.join(private, shared))
    return os.path.dirname(common) if os.path.basename(common) == ".git" and os.path.isdir(common) else folder


def read_git_pointer(pointer: str) -> str | None:
    """The folder that a `.git` file points to, if that folder knows of it.

    Git's own linked worktrees name their `.git` file in turn, and submodules keep theirs inside the repository around
    them. Any other pointer may have come with an archive, to make us read another project.
    """
    line = _read_line(pointer)
    if line is None or not line.startswith("gitdir:"):
        return None
    home = os.path.realpath(os.path.dirname(pointer))
    private = os.path.realpath(os.path.join(home, line[7:].strip()))
    back = _read_line(os.path.join(private, "gitdir"))
    if back is not None and os.path.realpath(os.path.join(private, back)) == os.path.join(home, ".git"):
        return private
    modules = f"{os.sep}.git{os.sep}modules{os.sep}"
    around, found, _ = private.partition(modules)
    return private if found and home.startswith(os.path.join(around, "")) else None


def index_stamp(folder: str) -> str:
    """Changes whenever files of the repository around a folder are staged, renamed by git, committed or checked out;
    empty outside a repository."""
    folder = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    pointer = os.path.join(folder, ".git")
    private = pointer if os.path.isdir(pointer) else read_git_pointer(pointer)
    try:
        found = os.stat(os.path.join(private or pointer, "index"))
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def describe_followed(stamp: str, commit: str | None) -> str:
    """What the store keeps of a state that memories have followed: git's index and the commit it was at."""
    return f"{stamp} {commit or ''}"


def _read_line(file: str) -> str | None:
    found = read_plain_file(file, max_bytes=_MAX_POINTER)
    return None if found is None else found.decode("utf-8", "replace").strip() or None


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
