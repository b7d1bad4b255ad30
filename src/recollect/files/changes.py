"""What happened to a project's files since a commit: asked of git once per commit, and of the disk.

Without git, or for a commit it does not know, nothing is known to have changed: doubt needs a reason.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_PATIENCE = 1.0  # seconds git may take: recall is waiting
_MOST_COMMITS = 64  # remembered answers; a process that lives long asks about many


class GitChanges:
    """The files of one work tree."""

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
        key = (since, self._version())
        if key not in self._known:
            if len(self._known) >= _MOST_COMMITS:
                self._known.clear()
            self._known[key] = self._asked(since)
        return self._known[key]

    def _version(self) -> str:
        """Changes whenever files are staged, committed or checked out."""
        try:
            return str(os.stat(self._root / ".git" / "index").st_mtime_ns)
        except OSError:
            return ""

    def _asked(self, since: str) -> frozenset[str]:
        command = ["git", "-C", str(self._root), "diff", "--name-only", "-z", "--no-renames", "--relative", since, "--"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return frozenset()
        if done.returncode != 0:
            return frozenset()
        return frozenset(name for name in done.stdout.decode(errors="replace").split("\0") if name)
