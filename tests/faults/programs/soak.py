"""Uses one memory for some time the way a long session does, then rests: what it costs in bytes, handles and CPU."""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import recollect
from faults.fault_tools import words
from recollect import Draft, Recollect
from recollect.config import Settings

_SEEDED = 200  # memories the store holds all the time
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_WARM_UP = 0.4  # of the time, before anything is measured: caches fill
_REST = 2.0  # seconds without a call, to see what an idle memory costs


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def _handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def use(memory: Recollect, path: Path, rng: random.Random, ids: list[str], *, everything: bool = False) -> None:
    """One round: as much goes as comes; `everything` also does what a round does only now and then."""
    receipt = memory.remember(words(rng), tags=["soak"])
    ids.append(receipt.id)
    memory.recall(receipt.memory.content.split()[0])
    memory.edit(ids[0], tags=[f"t{rng.getrandbits(20)}"])
    memory.brief(words(rng, 2))
    memory.forget(ids.pop(rng.randrange(len(ids))))
    if everything or rng.random() < 0.05:
        with recollect.open(path, read_only=rng.random() < 0.5, settings=Settings(embedder="none")) as other:
            other.list(limit=5)
    if everything or rng.random() < 0.02:
        memory.tend()


def main(folder: Path, seed: int, seconds: float) -> dict[str, Any]:
    rng, path = random.Random(seed), folder / "memory.db"
    points: list[tuple[float, int, int]] = []
    rounds = 0
    with recollect.open(path, settings=Settings(embedder="none")) as memory:
        ids = [receipt.id for receipt in memory.remember_all([Draft(words(rng)) for _ in range(_SEEDED)])]
        use(memory, path, rng, ids, everything=True)  # what is loaded once is loaded before anything is measured
        began = time.monotonic()
        while (gone := time.monotonic() - began) < seconds:
            use(memory, path, rng, ids)
            rounds += 1
            if gone > seconds * _WARM_UP and (not points or gone - points[-1][0] > seconds / 50):
                gc.collect()
                points.append((gone, _resident(), _handles()))
        spent, moment = time.process_time(), time.monotonic()
        time.sleep(_REST)
        idle = (time.process_time() - spent) / (time.monotonic() - moment)
        size = path.stat().st_size
    return {
        "rounds": rounds, "measured": points[-1][0] - points[0][0], "grown": _slope(points), "resident": points[-1][1],
        "handles": [points[0][2], points[-1][2]], "threads": threading.active_count(), "idle": idle, "size": size,
    }  # fmt: skip


def _slope(points: list[tuple[float, int, int]]) -> float:
    """Bytes a second, by least squares."""
    times, sizes = [point[0] for point in points], [point[1] for point in points]
    middle, mean = sum(times) / len(times), sum(sizes) / len(sizes)
    spread = sum((at - middle) ** 2 for at in times)
    return sum((at - middle) * (size - mean) for at, size in zip(times, sizes, strict=True)) / spread if spread else 0.0


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(main(Path(given["folder"]), given["seed"], given["seconds"])))  # noqa: T201
