"""What files were called before git renamed them, for a hook that answers before memories have followed them. Light:
git is asked only when its index says that something happened, and about files that were touched since."""

from __future__ import annotations

import os

from recollect.files.project import index_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_TIMEOUT = 0.2  # seconds: a host is waiting


class FormerNames:
    """The earlier names of files of one project. `followed` is the state that memories have followed, as the store
    tells it (`describe_followed`)."""

    def __init__(self, root: str, followed: str | None) -> None:
        self._root = root
        self._stamp, _, self._commit = (followed or "").partition(" ")
        self._known: dict[str, str] | None = None

    def add_to(self, files: Iterable[str]) -> list[str]:
        """Files, with what those were called that were renamed since."""
        listed = list(files)
        if not any(self._is_touched(file) for file in listed):
            return listed
        if self._known is None:
            self._known = self._ask_git()
        return [*listed, *(self._known[file] for file in listed if file in self._known)]

    def _is_touched(self, file: str) -> bool:
        """May a file have been renamed since? A rename moves the time at which its entry last changed."""
        now = index_stamp(self._root)
        if not now or now == self._stamp:
            return False
        try:
            changed = os.stat(os.path.join(self._root, file)).st_ctime_ns
        except (OSError, ValueError):
            return False
        return changed >= int(self._stamp.partition("-")[0] or 0)

    def _ask_git(self) -> dict[str, str]:
        from pathlib import Path

        from recollect.files.git import COMMIT, INERT_DIFF, current_commit, parse_changes, run_git

        root = Path(self._root)
        commit = self._commit if COMMIT.fullmatch(self._commit) else current_commit(root)
        if commit is None:
            return {}
        asked = ("diff", "--name-status", "-z", "-M", "--diff-filter=R", "--relative", *INERT_DIFF, commit, "--")
        changes = parse_changes(iter(run_git(root, *asked, timeout=_TIMEOUT).split("\0")))
        return {change.path: change.before for change in changes if change.before is not None}
