"""Packs of real coding-agent sessions, and the simple floors that what we foresee has to beat.

A pack is one gzip JSON line a session: {"session", "started", "ended", "lines", "files_touched", …}; see the README
beside the packs. They are read from ../shared/data beside the checkout, or from wherever they are, and never committed.
Sessions are taken in the order they began; an earlier session is one that began earlier.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from sets import DATA

from recollect.observer.events import Event, UserText
from recollect.observer.language import is_request
from recollect.observer.readers import detect_format, read_events
from recollect.observer.readers.base import ReadingTally

PACKS = DATA / "traces-wide"
K = 10  # files that are foreseen
LEAST = 5  # sessions or errors of a project below which it does not count in a mean of projects
DRAWS = 4_000  # of a bootstrap
FLOORS = {"recent": "most recent", "frequent": "most frequent", "bm25": "BM25", "path": "BM25 + path words"}
_PROMPT = 6_000  # characters of a request that the floors look at
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass
class Session:
    """One session of a pack: what happened, and which files it truly touched."""

    id: str
    place: int
    row: dict[str, Any]
    tally: ReadingTally = field(default_factory=ReadingTally)

    @cached_property
    def lines(self) -> list[str]:
        return [json.dumps(line, ensure_ascii=False) for line in self.row["lines"]]

    @cached_property
    def host(self) -> str:
        return (detect_format(self.lines) or "").replace("_", "-")

    @cached_property
    def events(self) -> list[Event]:
        read = list(read_events(self.lines, tally=self.tally))
        if {event.session for event in read} - {self.id}:
            for event in read:
                event.session = self.id
        return read

    @cached_property
    def asked(self) -> UserText | None:
        """The first request."""
        said = [event for event in self.events if isinstance(event, UserText)]
        return next((one for one in said if is_request(one.text)), said[0] if said else None)

    @property
    def prompt(self) -> str:
        return self.asked.text if self.asked else ""

    @property
    def branch(self) -> str:
        return self.asked.branch if self.asked else ""

    @property
    def touched(self) -> list[str]:
        return list(dict.fromkeys(self.row["files_touched"]))

    @cached_property
    def ended(self) -> datetime:
        try:
            return datetime.fromisoformat(self.row["ended"].replace("Z", "+00:00")).astimezone(UTC)
        except (AttributeError, KeyError, ValueError):
            return datetime.fromtimestamp(max((one.at for one in self.events if one.at is not None), default=0.0), UTC)


def pack_name(pack: Path) -> str:
    return pack.name.split(".")[0]


def packs(named: Iterable[str | Path] = ()) -> list[Path]:
    """The packs that are asked for, by name or path; all of them when none is."""
    given = [Path(one) if "/" in str(one) or str(one).endswith(".gz") else PACKS / f"{one}.jsonl.gz" for one in named]
    return given or sorted(PACKS.glob("*.jsonl.gz"))


def read_pack(pack: Path) -> list[Session]:
    """The sessions of a pack, the one that began first leading."""
    with gzip.open(pack, "rt", encoding="utf-8") as lines:
        rows = sorted((json.loads(line) for line in lines), key=lambda row: (row["started"], row["session"]))
    return [Session(row["session"], place, row) for place, row in enumerate(rows)]


# --- floors ----------------------------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    return [word for word in _WORD.findall(_HUMP.sub(r"\1 \2", text).lower()) if len(word) > 1]


def bm25(query: Iterable[str], documents: Sequence[Sequence[str]], *, k1: float = 1.2, b: float = 0.75) -> list[float]:
    counts = [Counter(document) for document in documents]
    every, mean = len(documents), sum(map(len, documents)) / max(1, len(documents)) or 1
    holding = Counter(word for count in counts for word in count)
    asked = sorted(set(query))
    return [
        sum(
            math.log(1 + (every - holding[word] + 0.5) / (holding[word] + 0.5))
            * count[word] * (k1 + 1) / (count[word] + k1 * (1 - b + b * len(document) / mean))
            for word in asked
            if word in count
        )
        for count, document in zip(counts, documents, strict=True)
    ]  # fmt: skip


class Floors:
    """What simple rules foresee that are given the true lists of files of every earlier session."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._past: list[tuple[list[str], list[str]]] = []
        self._times: Counter[str] = Counter()
        self._last: dict[str, tuple[int, int]] = {}

    def guess(self, prompt: str) -> dict[str, list[str]]:
        asked, last = words(prompt[:_PROMPT]), self._last
        likeness, votes = bm25(asked, [said for said, _ in self._past]), Counter[str]()
        for place in sorted(range(len(self._past)), key=lambda place: (-likeness[place], -place))[:10]:
            for file in self._past[place][1]:
                votes[file] += likeness[place]  # type: ignore[assignment]  # votes are weights
        named = self._by_path(set(asked))
        most_votes, best_name = max(votes.values(), default=0) or 1, max(named.values(), default=0) or 1
        return {
            "recent": sorted(last, key=lambda file: last[file])[:K],
            "frequent": sorted(self._times, key=lambda file: (-self._times[file], last[file]))[:K],
            "bm25": [file for file, _ in votes.most_common(K)],
            "path": sorted(
                self.known, key=lambda file: (-(votes[file] / most_votes + named[file] / best_name), last[file])
            )[:K],
        }

    def _by_path(self, asked: set[str]) -> dict[str, float]:
        of_path = {file: set(words(file)) for file in self.known}
        holding, every = Counter(word for found in of_path.values() for word in found), len(of_path)
        return {
            file: sum(math.log(1 + every / holding[word]) for word in sorted(found & asked))
            / math.sqrt(len(found) or 1)
            for file, found in of_path.items()
        }

    def learn(self, prompt: str, touched: list[str]) -> None:
        if touched:
            self._past.append((words(prompt[:_PROMPT]), touched))
            self.known |= set(touched)
            for place, file in enumerate(touched):
                self._times[file] += 1
                self._last[file] = (-len(self._past), place)


# --- figures ---------------------------------------------------------------------------------------------------------


def mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held) if held else math.nan


def resampled(values: Sequence[float], rng: random.Random) -> float:
    return sum(values[int(rng.random() * len(values))] for _ in values) / len(values)


def interval(draw: Callable[[random.Random], float], *, draws: int = DRAWS) -> tuple[float, float]:
    """95 % of what a bootstrap draws; always the same draws."""
    rng = random.Random(1)
    drawn = sorted(draw(rng) for _ in range(draws))
    return drawn[int(0.025 * draws)], drawn[min(draws - 1, int(0.975 * draws))]


def shown(value: float, form: str = ".3f") -> str:
    return "–" if math.isnan(value) else format(value, form)
