"""What every contestant of `speed.py` shares: the same texts, vectors and questions, and the way they are timed.

Runs in the contestant's own environment, so it needs nothing but numpy. A contestant fills an empty folder once, then
is opened in fresh processes and asked. Vectors are made beforehand: no model runs while anything is timed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

BEGAN = time.perf_counter()  # this module is imported before the contestant's own library
K = 10
WARM_UP = 10


class Contestant(Protocol):
    """One system, its files in one folder."""

    def fill(self, texts: Sequence[str], vectors: Any, until: float) -> int:
        """Take in texts and vectors, number n under the id n, until the clock says so; how many were taken."""
        ...

    def ask(self, text: str, vector: Any) -> Sequence[int]:
        """The numbers of the best K."""
        ...

    def close(self) -> None: ...


def run(make: Callable[[Path], Contestant]) -> None:
    """Do one step for `speed.py` and print its figures as JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("step", choices=("fill", "ask", "cold"))
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--patience", type=float, default=1e9, help="seconds that filling may take")
    given = options.parse_args()
    steps = {"fill": _fill, "ask": _ask, "cold": _cold}
    print(json.dumps({**steps[given.step](make, given), "rss": _peak_memory()}))


def _fill(make: Callable[[Path], Contestant], given: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    texts = (given.data / "texts.txt").read_text(encoding="utf-8").splitlines()
    vectors = np.load(given.data / "vectors.npy", mmap_mode="r")
    contestant = make(given.folder)
    began = time.perf_counter()
    taken = contestant.fill(texts, vectors, began + given.patience)
    contestant.close()
    return {"taken": taken, "seconds": time.perf_counter() - began}


def _ask(make: Callable[[Path], Contestant], given: argparse.Namespace) -> dict[str, Any]:
    texts, vectors = _questions(given.data)
    contestant = make(given.folder)
    for text, vector in list(zip(texts, vectors, strict=True))[:WARM_UP]:
        contestant.ask(text, vector)
    wall, work, found = [], [], []
    for text, vector in zip(texts, vectors, strict=True):
        began, worked = time.perf_counter(), time.process_time()
        answer = contestant.ask(text, vector)
        work.append((time.process_time() - worked) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
        found.append([int(number) for number in answer])
    more: dict[str, Any] = getattr(contestant, "more", dict)()
    contestant.close()
    return {"wall": wall, "work": work, "found": found, "more": more}


def _cold(make: Callable[[Path], Contestant], given: argparse.Namespace) -> dict[str, Any]:
    """From the start of the imports to the first answer."""
    texts, vectors = _questions(given.data)
    contestant = make(given.folder)
    contestant.ask(texts[0], vectors[0])
    return {"first": (time.perf_counter() - BEGAN) * 1000}


def _questions(data: Path) -> tuple[list[str], Any]:
    import numpy as np

    return (data / "questions.txt").read_text(encoding="utf-8").splitlines(), np.load(data / "questions.npy")


def _peak_memory() -> float:
    """MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform != "darwin" else most / 1024**2
