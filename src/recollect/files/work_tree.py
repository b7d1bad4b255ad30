"""What happened to the files of a work tree: which of them changed since a commit, and where those went that are gone.

The disk is asked first, and git only about what is missing. A file counts as deleted when something tells that it was
there: one that nobody ever saw may be a plan, or a name that means something else.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.files.git import COMMIT, INERT_DIFF, Change, current_commit, parse_changes, run_git
from recollect.files.project import index_stamp

_DIFF_TIMEOUT = 1.0  # seconds: recall is waiting
_MOVES_TIMEOUT = 5.0  # seconds for each question about files that are missing
_MAX_COMMITS = 64  # remembered answers; a process that lives long asks about many
_MAX_HISTORY = 5_000  # commits in which a rename is looked for
_MAX_PAIRS = "-l2000"  # files that git compares to find a rename with edits
_AS_IT_WAS = "R100"  # git's word for a rename without any edit


class GitChanges:
    """What happened to the files of one work tree since a commit: asked of git once per commit, and of the disk.

    For a commit git does not know nothing is known to have changed: doubt needs a reason. A file that was only renamed
    did not change, under neither name.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def changed(self, files: Sequence[str], *, since: str) -> list[str]:
        """Those of `files` that differ from what they were at a commit, in the order given."""
        if not COMMIT.fullmatch(since):
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
        except (OSError, ValueError, OverflowError):  # not there, or a name or a time that no file can have
            return None

    def _differing(self, since: str) -> frozenset[str]:
        key = (since, index_stamp(str(self._root)))
        if key not in self._known:
            if len(self._known) >= _MAX_COMMITS:
                self._known.clear()
            asked = ("diff", "--name-status", "-z", "-M", _MAX_PAIRS, "--relative", *INERT_DIFF, since, "--")
            words = run_git(self._root, *asked, timeout=_DIFF_TIMEOUT).split("\0")
            self._known[key] = frozenset(_edited(words))
        return self._known[key]


def _edited(words: Sequence[str]) -> Iterable[str]:
    """The files whose words differ, under both names, of what `--name-status -z` prints."""
    place = 0
    while place < len(words) and words[place]:
        status = words[place]
        count = 2 if status[0] in "RC" else 1
        if status != _AS_IT_WAS:
            yield from words[place + 1 : place + 1 + count]
        place += 1 + count


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a file: where it is now, or nothing when it was deleted."""

    path: str | None


class WorkTree:
    """The files below one folder. `renamed` and `removed` are what an index has just seen for itself."""

    def __init__(self, root: Path, *, renamed: Mapping[str, str] | None = None, removed: Collection[str] = ()) -> None:
        self.root = root
        self._renamed = dict(renamed or {})
        self._removed = frozenset(removed)
        self._head = current_commit(root)
        self._listed: dict[str, frozenset[str]] = {}
        self._history: dict[str, list[Change]] = {}
        self._now: dict[str, list[Change]] = {}

    def has(self, file: str) -> bool:
        """Is a file or folder there, under exactly this name? Systems that ignore case would say yes to others."""
        folder, _, name = file.rstrip("/").rpartition("/")
        return name in self._list(folder)

    def is_inside(self, file: str) -> bool:
        """Is it the name of something below the folder?"""
        parts = file.rstrip("/").split("/")
        return bool(file) and not os.path.isabs(file) and "\0" not in file and not {"", ".", ".."}.intersection(parts)

    def _list(self, folder: str) -> frozenset[str]:
        if folder not in self._listed:
            try:
                found = frozenset(os.listdir(os.path.join(self.root, folder)))
            except (OSError, ValueError):
                found = frozenset()
            self._listed[folder] = found
        return self._listed[folder]

    def find(self, file: str, *, since: str | None, at: datetime, before: Sequence[str] = ()) -> Fate | None:
        """What became of a file that is missing, as far as it is known; it was there at the commit `since`, or else at
        a time. `before` are names it had earlier: on another branch it has one of them still."""
        known = self._follow([Change(new, "R", old) for old, new in self._renamed.items()], file)
        if known is not None and known.path is not None:
            return known
        found = self._ask_git(file, since, at)
        if found is not None and found.path is not None:
            return found
        if earlier := next((name for name in before if self.has(name)), None):
            return Fate(earlier)
        if found is None and file in self._removed:
            return Fate(None)
        return found

    def _ask_git(self, file: str, since: str | None, at: datetime) -> Fate | None:
        if self._head is None:
            return None
        start = since if since is not None and COMMIT.fullmatch(since) else ""
        found = self._follow([*self._changes_since(start or _day(at)), *self._changes_now(self._head)], file)
        if (found is None or found.path is None) and start:  # another branch, or moved in two steps
            straight = self._follow(self._changes_now(start), file)
            return straight if straight is not None else found
        return found

    def _follow(self, changes: Sequence[Change], file: str) -> Fate | None:
        """Where a file, or most files of a folder, went by changes in the order they happened."""
        name, is_gone = file.rstrip("/"), False
        for change in changes:
            if change.before == name:
                name, is_gone = change.path, False
            elif change.path == name and change.status == "D":
                is_gone = True
        if name != file.rstrip("/") and self.has(name):
            return Fate(name)
        if is_gone:
            return Fate(None)
        return self._follow_folder(changes, file.rstrip("/") + "/")

    def _follow_folder(self, changes: Sequence[Change], folder: str) -> Fate | None:
        places: Counter[str] = Counter()
        for change in changes:
            if change.before is not None and change.before.startswith(folder):
                rest = change.before[len(folder) :]
                if change.path.endswith("/" + rest):
                    places[change.path[: -len(rest) - 1]] += 1
        best = min(places, key=lambda place: (-places[place], place), default=None)
        if best is not None and self.has(best):
            return Fate(best)
        return Fate(None) if any(one.status == "D" and one.path.startswith(folder) for one in changes) else None

    def _changes_since(self, start: str) -> list[Change]:
        """Renames and deletions in the commits after one, or after a day, oldest first."""
        if start not in self._history:
            span = [f"{start}..{self._head}"] if COMMIT.fullmatch(start) else [f"--since={start}", str(self._head)]
            asked = ("log", "--no-merges", f"--max-count={_MAX_HISTORY}", "--format=", "--name-status", "-z", "-M")
            told = run_git(
                self.root,
                *(*asked, _MAX_PAIRS, "--diff-filter=RD", "--reverse", "--relative", *INERT_DIFF, *span, "--", "."),
                timeout=_MOVES_TIMEOUT,
            )
            self._history[start] = list(parse_changes(iter(told.split("\0"))))
        return self._history[start]

    def _changes_now(self, commit: str) -> list[Change]:
        """Renames and deletions between a commit and the files as they are, whether git was told of them or not."""
        if commit not in self._now:
            asked = ("diff", "--name-status", "-z", "-M", _MAX_PAIRS, "--diff-filter=RD", "--relative", *INERT_DIFF)
            told = run_git(self.root, *asked, commit, "--", timeout=_MOVES_TIMEOUT, with_untracked=True)
            self._now[commit] = list(parse_changes(iter(told.split("\0"))))
        return self._now[commit]


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT00:00:00Z}"
