"""A log that was cut short or altered gives back a prefix of the commits in it, never something else."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import State, assert_sound, base_seed, described, differing, report, size, state, words
from recollect import Draft

_SHARDS = 2
_CASES_PER_STORE = 500
_ACTS = 24
_SECTOR = 512
_DAMAGES = ("truncate", "zero a sector", "flip a bit", "zero the tail", "overwrite a sector")


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_a_damaged_log_gives_back_a_prefix_of_the_commits(quick_path: Path, shard: int) -> None:
    cases = size(2_000, 50_000) // _SHARDS
    seed = base_seed() + shard * 1_000_000
    shorter: Counter[bool] = Counter()
    for first in range(0, cases, _CASES_PER_STORE):
        main, log, states = _store_with_log(quick_path / f"{first}", seed + first)
        for number in range(first, min(cases, first + _CASES_PER_STORE)):
            rng = random.Random(seed + number)
            kind = _DAMAGES[number % len(_DAMAGES)]
            case = f"{kind}, {seed=} + {number}"
            place = _reopened(quick_path / "damaged.db", main, _damaged(log, kind, rng), states, case)
            shorter[place < len(states) - 1] += 1
    assert shorter[True] > 0, "no damage ever cost a commit: the log was not in use"
    report(f"damaged logs: {cases}, not a prefix: 0, shortened: {shorter[True]}, whole: {shorter[False]}, seed: {seed}")


def _store_with_log(folder: Path, seed: int) -> tuple[bytes, bytes, list[State]]:
    """The file and the log of a store with commits that are only in the log; the state after each of them."""
    rng = random.Random(seed)
    path = folder / "memory.db"
    with recollect.open(path) as memory:
        memory.remember_all([Draft(words(rng)) for _ in range(4)])
        assert memory.store.engine.checkpoint()
        states = [state(memory)]
        for _ in range(_ACTS):
            here = [memory.id for memory in memory.list(limit=1_000).memories]
            match rng.randrange(5):
                case 0:
                    memory.remember_all([Draft(words(rng)) for _ in range(rng.randint(2, 4))])
                case 1:
                    memory.edit(rng.choice(here), content=words(rng))
                case 2:
                    memory.reject(rng.choice(here))
                case 3:
                    memory.recall(memory.get(rng.choice(here)).content)
                case _:
                    memory.remember(words(rng))
            states.append(state(memory))
        return path.read_bytes(), Path(f"{path}-wal").read_bytes(), states


def _damaged(log: bytes, kind: str, rng: random.Random) -> bytes:
    at = rng.randrange(len(log))
    sector = at // _SECTOR * _SECTOR
    match kind:
        case "truncate":
            return log[:at]
        case "zero a sector":
            return log[:sector] + bytes(len(log[sector : sector + _SECTOR])) + log[sector + _SECTOR :]
        case "flip a bit":
            return log[:at] + bytes([log[at] ^ 1 << rng.randrange(8)]) + log[at + 1 :]
        case "zero the tail":
            return log[:at] + bytes(len(log) - at)
        case _:
            noise = rng.randbytes(len(log[sector : sector + _SECTOR]))
            return log[:sector] + noise + log[sector + _SECTOR :]


def _reopened(path: Path, main: bytes, log: bytes, states: list[State], case: str) -> int:
    """Which of `states` a store of these two files is in."""
    for suffix in ("-shm", "-wal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(main)
    Path(f"{path}-wal").write_bytes(log)
    with recollect.open(path) as memory:
        found = assert_sound(memory)
    assert found in states, f"{case}: not a prefix; the end differs in {described(differing(states[-1], found))}"
    return states.index(found)
