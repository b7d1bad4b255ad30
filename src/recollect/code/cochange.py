"""Which files change together, and how often each changes, by the commits of the past. Pure.

A commit of many files says little about any two of them, and one of very many (a reformat, a move) nothing. The recent
past counts more than the distant one, by commits and not by days, because projects sleep.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from recollect.privacy.scan import scan

MAX_COMMIT_FILES = 60  # files in a commit above which it tells nothing
HALF_LIVES = (60.0, 600.0)  # commits after which one counts half: what is worked on now, and what belongs together
HEAT_HALF_LIFE = 20.0  # commits after which a file that was touched is half as hot
MIN_WEIGHT = 0.02  # weight below which a pair is not kept
SMOOTH = 1.0  # commits a file is given on top, so that a single common one is no certainty
_RECENT_DAYS = 180  # days that make the present rate of change

# What each word is worth beside that of the past, which counts whole. Chosen on flask and click (benchmarks/code.py).
GRAPH_WEIGHT = 0.03
HEAT_WEIGHT = 0.05


class _Counts:
    """Weighted counts of commits with one half-life. New weights grow instead of old ones shrinking."""

    def __init__(self, half: float) -> None:
        self._half = half
        self._grown = 1.0
        self.pairs: dict[str, dict[str, float]] = {}
        self.touched: dict[str, float] = {}

    def add(self, files: Sequence[str], number: int) -> None:
        self._grown = 2.0 ** (number / self._half)
        if not 1 <= len(files) <= MAX_COMMIT_FILES:
            return
        weight = self._grown / math.log2(1 + len(files))
        for file in files:
            self.touched[file] = self.touched.get(file, 0.0) + self._grown / math.log2(1 + max(2, len(files)))
            known = self.pairs.setdefault(file, {})
            for other in files:
                if other != file:
                    known[other] = known.get(other, 0.0) + weight

    def with_(self, file: str) -> dict[str, float]:
        whole = self.touched.get(file, 0.0) + SMOOTH * self._grown
        return {other: min(1.0, weight / whole) for other, weight in self.pairs.get(file, {}).items()}

    def rename(self, before: str, after: str) -> None:
        if before not in self.pairs:
            return
        self.touched[after] = self.touched.pop(before) + self.touched.get(after, 0.0)
        mine = self.pairs.setdefault(after, {})
        for other, weight in self.pairs.pop(before).items():
            if other != after:
                mine[other] = mine.get(other, 0.0) + weight
            theirs = self.pairs.get(other, {})
            if (shared := theirs.pop(before, None)) is not None and other != after:
                theirs[after] = theirs.get(after, 0.0) + shared


class History:
    """Counts over commits, taken one at a time, oldest first."""

    def __init__(self) -> None:
        self._now = 0
        self._counts = tuple(_Counts(half) for half in HALF_LIVES)
        self._last: dict[str, int] = {}

    def add(self, files: Sequence[str]) -> None:
        """One more commit."""
        self._now += 1
        for counts in self._counts:
            counts.add(files, self._now)
        self._last.update(dict.fromkeys(files, self._now))

    def rename(self, before: str, after: str) -> None:
        """From now on a file is known by another name, with its past."""
        for counts in self._counts:
            counts.rename(before, after)
        if before in self._last:
            self._last[after] = self._last.pop(before)

    def files(self) -> list[str]:
        return sorted(self._counts[0].pairs)

    def with_(self, file: str) -> dict[str, float]:
        """How likely each other file changes when this one does, from 0 to 1."""
        found: dict[str, float] = {}
        for counts in self._counts:
            for other, weight in counts.with_(file).items():
                found[other] = found.get(other, 0.0) + weight / len(self._counts)
        return found

    def heat(self) -> dict[str, float]:
        """How lately each file was touched, from 0 to 1."""
        return {file: 2.0 ** ((last - self._now) / HEAT_HALF_LIFE) for file, last in self._last.items()}


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
    near: Mapping[str, float], together: Mapping[str, float], heat: Mapping[str, float] = MappingProxyType({})
) -> dict[str, float]:
    """One likelihood from what the graph, the past and the present say; each may speak alone."""
    return {
        file: min(1.0, together.get(file, 0.0) + GRAPH_WEIGHT * near.get(file, 0.0) + HEAT_WEIGHT * heat.get(file, 0.0))
        for file in sorted({*near, *together, *heat})
    }
