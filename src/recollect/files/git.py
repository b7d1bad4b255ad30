"""What git knows of a project: which commit it is at, what changed since one, its history, and who it is.

Every answer has a fallback: without git, or for a commit it does not know, nothing is known. Where git's own files
tell enough they are read directly; starting git would cost more than remembering does, and `subprocess` loads late.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_HISTORY_TIMEOUT = 60.0  # seconds for a long history
_DIFF_TIMEOUT = 1.0  # seconds: recall is waiting
_IDENTITY_TIMEOUT = 5.0  # seconds; a project can do without git
_MAX_COMMITS = 64  # remembered answers; a process that lives long asks about many
_MAX_HOPS = 5  # symbolic references that point to another
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_FORMAT = "--format=%x01%H%x00%ct"


def current_commit(root: Path) -> str | None:
    """The full name of the commit that is checked out; nothing outside a repository or before the first commit."""
    folder = _git_folder(root)
    if folder is None:
        return None
    shared = _read_text(folder / "commondir")
    common = folder if shared is None else (folder / shared).resolve()
    name = _read_text(folder / "HEAD")
    for _ in range(_MAX_HOPS):
        if name is None or not name.startswith("ref: "):
            return name
        ref = name[5:]
        name = _read_text(folder / ref) or _read_text(common / ref) or _packed_commit(common, ref)
    return None


def _git_folder(root: Path) -> Path | None:
    """`.git` itself, or where a work tree's file of that name points to."""
    folder = root / ".git"
    if folder.is_dir():
        return folder
    pointer = _read_text(folder)
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    return (root / pointer[8:]).resolve()


def _packed_commit(common: Path, ref: str) -> str | None:
    for line in (_read_text(common / "packed-refs") or "").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == ref:
            return commit
    return None


def _read_text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


class GitChanges:
    """What happened to the files of one work tree since a commit: asked of git once per commit, and of the disk.

    For a commit git does not know nothing is known to have changed: doubt needs a reason.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def changed(self, files: Sequence[str], *, since: str) -> list[str]:
        """Those of `files` that differ from what they were at a commit, in the order given."""
        if not _COMMIT.fullmatch(since):
            return []
        differing = self._differing(since)
        return [file for file in files if file in differing]

    def modified(self, file: str) -> datetime | None:
        """When a file inside the root was last written."""
        path = os.path.normpath(os.path.join(self._root, file))
        if not path.startswith(os.path.join(self._root, "")):
            return None
        try:
            return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        except (OSError, ValueError):  # not there, or a name no file can have
            return None

    def _differing(self, since: str) -> frozenset[str]:
        key = (since, self._index_version())
        if key not in self._known:
            if len(self._known) >= _MAX_COMMITS:
                self._known.clear()
            names = _run_git(
                self._root,
                *("diff", "--name-only", "-z", "--no-renames", "--relative", since, "--"),
                timeout=_DIFF_TIMEOUT,
            )
            self._known[key] = frozenset(name for name in names.split("\0") if name)
        return self._known[key]

    def _index_version(self) -> str:
        """Changes whenever files are staged, committed or checked out."""
        try:
            return str(os.stat(self._root / ".git" / "index").st_mtime_ns)
        except OSError:
            return ""


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit. `before` is set when it was renamed."""

    path: str
    status: str  # A, M, D or R
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    at: datetime
    changes: tuple[Change, ...]


def read_history(root: Path, *, limit: int = 5_000) -> list[Commit]:
    """The last commits, oldest first; merges are left out. Paths are below `root`."""
    output = _run_git(
        root,
        *("log", "--no-merges", f"--max-count={limit}", _FORMAT, "--name-status", "-M", "-z", "--relative", "--", "."),
        timeout=_HISTORY_TIMEOUT,
    )
    return list(reversed(list(_parse_commits(output))))


def follow_renames(commits: Iterable[Commit]) -> list[tuple[datetime, tuple[str, ...]]]:
    """Each commit's files under the names they bear today, oldest first; those that are gone today are left out."""
    today: dict[str, str | None] = {}
    found: list[tuple[datetime, tuple[str, ...]]] = []
    for commit in reversed(list(commits)):
        names = []
        for change in commit.changes:
            now = today.get(change.path, change.path)
            if change.status == "D":
                today[change.path] = None
                continue
            if now is not None:
                names.append(now)
            if change.before is not None:
                today[change.before] = now
            if change.status == "A" and change.path in today and change.before is None:
                del today[change.path]  # before this commit the name meant another file, or none
        found.append((commit.at, tuple(dict.fromkeys(names))))
    return list(reversed(found))


def _parse_commits(output: str) -> Iterator[Commit]:
    for entry in output.split("\x01")[1:]:
        commit, _, rest = entry.partition("\0")
        stamp, _, names = rest.partition("\0")
        if stamp.strip().isdigit():
            words = iter(names.lstrip("\n").split("\0"))
            yield Commit(commit, datetime.fromtimestamp(int(stamp), UTC), tuple(_parse_changes(words)))


def _parse_changes(words: Iterator[str]) -> Iterator[Change]:
    for status in words:
        status = status.strip("\n")
        if not status:
            continue
        path = next(words, "")
        if status[0] in "RC":
            after = next(words, "")
            yield Change(after, "R" if status[0] == "R" else "A", path if status[0] == "R" else None)
        elif path:
            yield Change(path, status[0])


def identify_project(root: Path) -> str:
    """A name for the project that all clones share: its first commit. Without history, the directory's name."""
    first = _ask_git(root, "rev-list", "--first-parent", "--max-parents=0", "HEAD")
    if first and _ask_git(root, "rev-parse", "--is-shallow-repository") != "true":
        return f"git:{first.splitlines()[-1][:16]}"
    if remote := _ask_git(root, "remote", "get-url", "origin"):
        from hashlib import sha256

        return f"remote:{sha256(_normal_remote(remote).encode()).hexdigest()[:16]}"
    return f"dir:{root.name or 'root'}"


def _normal_remote(url: str) -> str:
    """One spelling for ssh, https and credentials: host/path."""
    bare = url.strip().removesuffix("/").removesuffix(".git").split("://")[-1].split("@")[-1]
    return bare.replace(":", "/", 1).lower()


def _ask_git(root: Path, *args: str) -> str:
    return _run_git(root, *args, timeout=_IDENTITY_TIMEOUT).strip()


def _run_git(root: Path, *args: str, timeout: float) -> str:
    """What a git command prints; nothing when git is missing, too slow or refuses."""
    import subprocess

    command = ["git", "-C", str(root), "-c", "core.quotepath=off", *args]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
