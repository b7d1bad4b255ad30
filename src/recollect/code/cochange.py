"""Which files change together, and how often each changes, by the commits of the past. Pure.

A commit of many files says little about any two of them, and one of very many (a reformat, a move) nothing. The recent
past of a file counts more than its distant one, by its own changes and not by days or by commits elsewhere: projects
sleep, and in a large one thousands of commits pass between two changes of a file.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from recollect.privacy.scan import scan

MAX_COMMIT_FILES = 60  # files in a commit above which it tells nothing
HALF_LIVES: tuple[float, ...] = (4.0, 32.0)  # changes of a file after which one counts half: now, and on the whole
OWN_CHANGES = 400  # of a file that are looked at: the others have faded to a thousandth
HEAT_HALF_LIFE = 20.0  # commits after which a file that was touched is half as hot
MIN_WEIGHT = 0.02  # weight below which a pair is not kept
SMOOTH = 1.0  # commits a file is given on top, so that a single common one is no certainty
_RECENT_DAYS = 180  # days that make the present rate of change

# What each word is worth beside that of the past, which counts whole. Heat fills the room that a short past leaves.
# Half-lives and heat were chosen leaving each of nine repositories out whole (benchmarks/cochange.py).
GRAPH_WEIGHT = 0.03
HEAT_WEIGHT = 0.1


class History:
    """Commits, taken one at a time, oldest first, and what they say of each file."""

    def __init__(self) -> None:
        self._commits: list[tuple[int, ...]] = []
        self._ids: dict[str, int] = {}
        self._names: list[str] = []  # of each id, as of today
        self._own: dict[int, list[int]] = {}  # the commits of each file that tell something
        self._last: dict[str, int] = {}

    def add(self, files: Sequence[str]) -> None:
        """One more commit."""
        now = len(self._commits)
        self._last.update(dict.fromkeys(files, now))
        if len(files) > MAX_COMMIT_FILES:
            self._commits.append(())
            return
        ids = tuple(self._id(file) for file in dict.fromkeys(files))
        self._commits.append(ids)
        for one in ids:
            self._own.setdefault(one, []).append(now)

    def _id(self, file: str) -> int:
        if file not in self._ids:
            self._ids[file] = len(self._names)
            self._names.append(file)
        return self._ids[file]

    def rename(self, before: str, after: str) -> None:
        """From now on a file is known by another name, with its past; what bore that name before adds its own."""
        if before in self._last:
            self._last[after] = self._last.pop(before)
        if before not in self._ids or before == after:
            return
        moved = self._ids.pop(before)
        own = self._own[moved]
        if (replaced := self._ids.get(after)) is not None:
            for number in self._own.pop(replaced):
                if number not in own:
                    insort(own, number)
        self._ids[after] = moved
        self._names[moved] = after

    def files(self) -> list[str]:
        return sorted(self._ids)

    def changes(self, file: str) -> int:
        """Commits of a file that tell something."""
        return len(self._own.get(self._ids.get(file, -1), ()))

    def with_(self, file: str) -> dict[str, float]:
        """How likely each other file changes when this one does, from 0 to 1."""
        own = self._own.get(self._ids.get(file, -1), [])[-OWN_CHANGES:]
        found: dict[str, float] = {}
        for half in HALF_LIVES:
            whole, shared = SMOOTH, dict[str, float]()
            for back, number in enumerate(reversed(own)):
                faded = 2.0 ** (-back / half)
                names = {self._names[one] for one in self._commits[number]} - {file}
                weight = faded / max(1, len(names))
                whole += weight
                for other in names:
                    shared[other] = shared.get(other, 0.0) + weight
            for other, weight in shared.items():
                found[other] = found.get(other, 0.0) + weight / whole / len(HALF_LIVES)
        return found

    def heat(self) -> dict[str, float]:
        """How lately each file was touched, from 0 to 1."""
        newest = len(self._commits) - 1
        return {file: 2.0 ** ((last - newest) / HEAT_HALF_LIFE) for file, last in self._last.items()}


def without_secret_names(
    commits: Sequence[tuple[datetime, Sequence[str]]],
) -> Sequence[tuple[datetime, Sequence[str]]]:
    """The commits without the files whose names hold a secret: names are kept."""
    told = {name for name in {file for _, files in commits for file in files} if scan(name)}
    if not told:
        return commits
    return [(at, [file for file in files if file not in told]) for at, files in commits]


def measure_cochange(commits: Iterable[Sequence[str]]) -> list[tuple[str, str, float, int]]:
    """(file, other, weight, commits in common) for every pair worth keeping, in a total order."""
    history = History()
    times: dict[tuple[str, str], int] = {}
    for files in commits:
        history.add(files)
        if len(files) <= MAX_COMMIT_FILES:
            for file in files:
                for other in files:
                    times[file, other] = times.get((file, other), 0) + 1
    return [
        (file, other, round(weight, 4), times[file, other])
        for file in history.files()
        for other, weight in sorted(history.with_(file).items())
        if weight >= MIN_WEIGHT
    ]


def measure_churn(commits: Sequence[tuple[datetime, Sequence[str]]]) -> list[tuple[str, int, float, float]]:
    """(file, commits, changes per day lately, heat) for every file of the past."""
    if not commits:
        return []
    end = commits[-1][0]
    history = History()
    counts: dict[str, int] = {}
    lately: dict[str, int] = {}
    for at, files in commits:
        history.add(files)
        for file in files:
            counts[file] = counts.get(file, 0) + 1
            if (end - at).days <= _RECENT_DAYS:
                lately[file] = lately.get(file, 0) + 1
    heat = history.heat()
    return [
        (file, counts[file], round(lately.get(file, 0) / _RECENT_DAYS, 5), round(heat[file], 5))
        for file in sorted(counts)
    ]


def blend(
    near: Mapping[str, float],
    together: Mapping[str, float],
    heat: Mapping[str, float] = MappingProxyType({}),
    *,
    changes: int = 0,
) -> dict[str, float]:
    """One likelihood from what the graph, the past and the present say; each may speak alone.

    The more often the file was changed, the less counts what is merely being worked on elsewhere.
    """
    warm = HEAT_WEIGHT * SMOOTH / (SMOOTH + changes)
    return {
        file: min(1.0, together.get(file, 0.0) + GRAPH_WEIGHT * near.get(file, 0.0) + warm * heat.get(file, 0.0))
        for file in sorted({*near, *together, *heat})
    }
