"""A clock that jumps to any year and back costs nothing: what is written is there, upkeep runs, nothing is refused."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect
from faults.fault_tools import assert_replays, base_seed, report, size, words
from recollect.config import Settings

_YEARS = (1970, 1999, 2020, 2026, 2037, 2038, 2100, 2200)


class _JumpingClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


def test_acts_and_upkeep_survive_a_clock_that_jumps_decades_in_both_directions(tmp_path: Path) -> None:
    rng, jumps = random.Random(base_seed()), size(16, 400)
    clock, path = _JumpingClock(), tmp_path / "memory.db"
    kept: dict[str, str] = {}
    for number in range(jumps):
        year = _YEARS[number % len(_YEARS)] if number < len(_YEARS) else rng.choice(_YEARS)
        clock.now = datetime(year, rng.randint(1, 12), rng.randint(1, 28), rng.randrange(24), tzinfo=UTC)
        with recollect.open(path, clock=clock, settings=Settings(embedder="none")) as memory:
            text = words(rng)
            id = memory.remember(text, kind="decision").id
            kept[id] = text
            assert [hit.id for hit in memory.recall(text.split()[0])] == [id]
            undone = memory.remember(words(rng)).id
            assert undone in memory.undo(undone).memories
            other = rng.choice(sorted(kept))
            memory.confirm(other)
            if number % 4 == 0:
                memory.forget(other)
                del kept[other]
            assert not [report.notes for report in memory.tend().reports if report.failed]
            memory.maintenance.backup()
            found = {row.id: row.content for row in assert_replays(memory).values()}
            assert kept.items() <= found.items(), year
    report(f"clock jumps: {jumps}, acts refused: 0, lost: 0")
