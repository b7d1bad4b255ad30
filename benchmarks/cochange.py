"""Which files change with one? Against the later commits of whole repositories, plain counts beside.

    python benchmarks/cochange.py [REPOSITORY …] [--variants]

Histories are read from ../shared/data/history. Commits are taken in order; of the second half of a history 500 commits
of 2 to 30 files are drawn, and each is asked about from up to four of its files that were known before: recall@10 of
its other files. Plain counts follow renames too. Intervals are bootstraps over the commits that were asked about.

`--variants` scores other half-lives and weights of heat as well and shows for every repository what the other eight
would have chosen: each is left out whole.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sets import DATA
from traces import interval, mean

from recollect.code import cochange
from recollect.code.cochange import History, blend

K = 10
_COMMITS, _ASKED = 500, 4  # that are drawn; files of one that are asked about
_FEWEST_FILES, _MOST_FILES = 2, 30  # of a commit that is asked about
_HALF_LIVES = ((16.0,), (4.0, 32.0), (8.0, 32.0))
_HEATS = (0.0, 0.1, 0.3)

Rows = dict[str, list[list[float]]]  # by the way of ranking, the recalls of each commit


def log_of(name: str) -> Iterator[list[tuple[str, str | None]]]:
    """[(path, former name)] of each commit, oldest first."""
    files: list[tuple[str, str | None]] = []
    begun = False
    with gzip.open(DATA / "history" / f"{name}.log.gz", "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("@"):
                if begun:
                    yield files
                files, begun = [], True
            elif line.strip():
                status, *paths = line.rstrip("\n").split("\t")
                if status[0] != "D" and paths:
                    files.append((paths[-1], paths[0] if status[0] == "R" else None))
    yield files


class PlainCounts:
    """The floor: how often two files were in one commit."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._commits: dict[int, list[tuple[int, ...]]] = {}

    def add(self, files: Sequence[str]) -> None:
        if len(files) <= _MOST_FILES:
            for file in files:
                if file not in self._ids:
                    self._ids[file] = len(self._names)
                    self._names.append(file)
            ids = tuple(self._ids[file] for file in files)
            for one in ids:
                self._commits.setdefault(one, []).append(ids)

    def rename(self, before: str, after: str) -> None:
        if before in self._ids:
            self._ids[after] = self._ids.pop(before)
            self._names[self._ids[after]] = after

    def with_(self, file: str) -> Counter[str]:
        found = Counter(one for ids in self._commits.get(self._ids.get(file, -1), ()) for one in ids)
        counts: Counter[str] = Counter()
        for one, n in found.items():
            counts[self._names[one]] += n
        return counts


def run_repository(name: str, variants: Sequence[tuple[tuple[float, ...], float]]) -> tuple[int, Rows]:
    """Commits of the history, and what each way of ranking recalls."""
    rng, commits = random.Random(1), list(log_of(name))
    asked = [at for at in range(len(commits) // 2, len(commits)) if _FEWEST_FILES <= len(commits[at]) <= _MOST_FILES]
    drawn = set(rng.sample(asked, min(_COMMITS, len(asked))))
    past, plain, known = History(), PlainCounts(), set[str]()
    rows: Rows = {}
    for at, changes in enumerate(commits):
        files = list(dict.fromkeys(path for path, _ in changes))
        if at in drawn and (questions := [path for path in files if path in known]):
            if len(questions) > _ASKED:
                questions = rng.sample(questions, _ASKED)
            for how, recalls in _ask(past, plain, questions, files, variants).items():
                rows.setdefault(how, []).append(recalls)
        for path, former in changes:
            if former is not None:
                past.rename(former, path)
                plain.rename(former, path)
        past.add(files)
        plain.add(files)
        known.update(files)
    return len(commits), rows


def _ask(
    past: History,
    plain: PlainCounts,
    questions: Sequence[str],
    files: Sequence[str],
    variants: Sequence[tuple[tuple[float, ...], float]],
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    heat = {file: warm for file, warm in past.heat().items() if warm >= 0.05}
    shipped = (cochange.HALF_LIVES, cochange.HEAT_WEIGHT)
    for path in questions:
        others = set(files) - {path}
        ranked: dict[str, Mapping[str, float]] = {"plain": plain.with_(path), "past": past.with_(path)}
        ranked["all"] = blend({}, ranked["past"], heat, changes=past.changes(path))
        for half_lives, weight in variants:
            cochange.HALF_LIVES, cochange.HEAT_WEIGHT = half_lives, weight
            ranked[_label(half_lives, weight)] = blend({}, past.with_(path), heat, changes=past.changes(path))
        cochange.HALF_LIVES, cochange.HEAT_WEIGHT = shipped
        for how, weights in ranked.items():
            best = sorted(weights, key=lambda one: (-weights[one], one))
            top = [one for one in best if one != path][:K]
            found.setdefault(how, []).append(len(others.intersection(top)) / min(K, len(others)))
    return found


def _label(half_lives: tuple[float, ...], heat: float) -> str:
    return f"half-lives {half_lives}, heat {heat}"


def _rate(rows: Sequence[Sequence[float]]) -> float:
    return mean(one for commit in rows for one in commit)


def _gap_interval(rows: Rows, how: str) -> tuple[float, float]:
    gaps = [
        [mine - floor for mine, floor in zip(*pair, strict=True)] for pair in zip(rows[how], rows["plain"], strict=True)
    ]
    return interval(lambda rng: _rate([gaps[int(rng.random() * len(gaps))] for _ in gaps]), draws=1_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="REPOSITORY")
    parser.add_argument("--variants", action="store_true")
    given = parser.parse_args()
    names = given.names or sorted(one.name.split(".")[0] for one in (DATA / "history").glob("*.log.gz"))
    variants = list(itertools.product(_HALF_LIVES, _HEATS)) if given.variants else []
    print("| repository | commits | questions | plain counts | co-change | with heat | − plain | 95 % | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    every: dict[str, dict[str, float]] = {}
    for name in names:
        began = time.process_time()
        commits, rows = run_repository(name, variants)
        rates = every[name] = {how: _rate(found) for how, found in rows.items()}
        low, high = _gap_interval(rows, "all")
        print(
            f"| {name} | {commits} | {sum(map(len, rows['plain']))} | {rates['plain']:.3f} | {rates['past']:.3f} "
            f"| {rates['all']:.3f} | {rates['all'] - rates['plain']:+.3f} | {low:+.3f} … {high:+.3f} "
            f"| {time.process_time() - began:.0f} |",
            flush=True,
        )
    for name in names if variants else ():
        others = [one for one in names if one != name]
        best = max(
            (_label(*one) for one in variants),
            key=lambda how: mean(every[one][how] - every[one]["plain"] for one in others),
        )
        print(f"left out: {name}: {best}: {every[name][best] - every[name]['plain']:+.3f}")


if __name__ == "__main__":
    main()
