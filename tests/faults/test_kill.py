"""A process that dies at any moment loses nothing it acknowledged and leaves nothing half done."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import assert_sound, base_seed, environment, report, run_program, size

_SHARDS = 4  # so that parallel runs share the waiting


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_a_killed_process_loses_nothing_acknowledged_and_leaves_nothing_half_applied(
    quick_path: Path, shard: int
) -> None:
    kills = size(1_000, 20_000) // _SHARDS
    seed = base_seed() + shard * 1_000_000
    result = run_program("kill_loop", folder=quick_path / "store", seed=seed, kills=kills)
    assert result["kills"] == kills
    assert result["acked"] > 0
    assert result["in_flight"] > 0
    report(
        f"kills: {kills}, acknowledged acts: {result['acked']}, killed within an act: {result['in_flight']}, "
        f"lost: 0, half-applied: 0, seed: {seed}"
    )


_KILLED_WHILE_CREATING = """
import os, signal, sys
from contextlib import contextmanager
import recollect
from recollect.store.sqlite.engine import SqliteEngine
path, after = sys.argv[1], int(sys.argv[2])
write, count = SqliteEngine.write, 0
@contextmanager
def counted(engine, **how):
    global count
    with write(engine, **how):
        yield
    if engine._writing is None:
        count += 1
        if count == after:
            os.kill(os.getpid(), signal.SIGKILL)
SqliteEngine.write = counted
recollect.open(path).close()
"""


def test_a_store_whose_creation_was_killed_between_any_two_commits_becomes_the_same_store(tmp_path: Path) -> None:
    whole = tmp_path / "whole" / "here"
    with recollect.open(whole / "memory.db") as memory:
        project = memory.project
    kills = 0
    for after in range(1, 20):
        path = tmp_path / str(after) / "here" / "memory.db"
        done = subprocess.run(
            [sys.executable, "-c", _KILLED_WHILE_CREATING, str(path), str(after)],
            capture_output=True, text=True, check=False, env=environment(),
        )  # fmt: skip
        with recollect.open(path) as memory:
            memory.remember("after an unlucky start")
            assert_sound(memory)
            assert memory.project == project, f"killed after commit {after} of the creation"
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0, done.stderr
            break
        kills += 1
    assert kills > 0
    report(f"killed creations: {kills}, other stores: 0")
