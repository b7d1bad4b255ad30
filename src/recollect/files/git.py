"""What git knows of a project's past: which files changed in which commit, renames followed. No git: an empty past."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_PATIENCE = 60.0  # seconds for a long history
_FORMAT = "--format=%x01%H%x00%ct"


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


def history(root: Path, *, most: int = 5_000) -> list[Commit]:
    """The last commits, oldest first; merges are left out. Paths are below `root`."""
    command = [
        "log",
        "--no-merges",
        f"--max-count={most}",
        _FORMAT,
        "--name-status",
        "-M",
        "-z",
        "--relative",
        "--",
        ".",
    ]
    output = _git(root, *command)
    return list(reversed(list(_commits(output))))


def followed(commits: Iterable[Commit]) -> list[tuple[datetime, tuple[str, ...]]]:
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


def _commits(output: str) -> Iterator[Commit]:
    for entry in output.split("\x01")[1:]:
        id, _, rest = entry.partition("\0")
        stamp, _, names = rest.partition("\0")
        if stamp.strip().isdigit():
            words = iter(names.lstrip("\n").split("\0"))
            yield Commit(id, datetime.fromtimestamp(int(stamp), UTC), tuple(_changes(words)))


def _changes(words: Iterator[str]) -> Iterator[Change]:
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


def _git(root: Path, *args: str) -> str:
    command = ["git", "-C", str(root), "-c", "core.quotepath=off", *args]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
