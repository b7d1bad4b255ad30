"""Many processes share one store: nobody meets a lock, nothing is lost, nobody waits long."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import SOAK, assert_sound, base_seed, environment, report, run_program, size, tally
from recollect.config import Settings
from recollect.core.errors import StoreBusy

_P99, _MOST = 0.250, 2.0  # seconds a write may take with sixteen processes at it


def test_sixteen_processes_that_read_then_write_meet_no_lock_and_lose_nothing(tmp_path: Path) -> None:
    processes, operations, seed = 16, size(200, 10_000), base_seed()
    result = run_program(
        "crowd",
        what="read_then_write",
        path=tmp_path / "memory.db",
        seed=seed,
        processes=processes,
        operations=operations,
    )
    report(
        f"read-then-write: {processes} x {operations}, errors: {len(result['errors'])}, rows: {result['rows']}, "
        f"p99: {result['p99'] * 1000:.0f} ms, max: {result['max'] * 1000:.0f} ms, seed: {seed}"
    )
    assert not result["errors"], tally(result["errors"])
    assert result["rows"] == result["expected"]
    assert result["edits"] == result["expected_edits"]
    assert result["expected"] - 1 + result["expected_edits"] == processes * operations
    if SOAK:
        assert result["p99"] <= _P99
        assert result["max"] <= _MOST


def test_eight_processes_that_edit_one_memory_lose_no_update(tmp_path: Path) -> None:
    processes, operations, seed = 8, size(25, 500), base_seed()
    result = run_program(
        "crowd", what="edit_one", path=tmp_path / "memory.db", seed=seed, processes=processes, operations=operations
    )
    report(
        f"edits of one memory: {processes} x {operations}, errors: {len(result['errors'])}, "
        f"lost: {processes * operations - sum(result['counts'].values())}, "
        f"conflicts seen and retried: {result['conflicts']}"
    )
    assert not result["errors"], tally(result["errors"])
    assert result["counts"] == {f"p{n}": operations for n in range(processes)}
    assert result["tags"] == sorted(f"p{n}-{number}" for n in range(processes) for number in range(5))
    assert round(result["confidence"]) == processes * operations
    assert result["entries"] == processes * operations


def test_readers_that_open_and_close_beside_a_writer_meet_no_error_and_see_every_acknowledged_write(
    tmp_path: Path,
) -> None:
    readers, writes, seed = 32, size(120, 5_000), base_seed()
    result = run_program("crowd", what="storm", path=tmp_path / "memory.db", seed=seed, readers=readers, writes=writes)
    report(
        f"open/close storm: {readers} readers, {result['opened']} openings beside {writes} writes, "
        f"errors: {len(result['errors'])}, slowest visit: {result['slowest'] * 1000:.0f} ms, seed: {seed}"
    )
    assert not result["errors"], tally(result["errors"])
    assert result["rows"] == writes + 1


def test_processes_that_find_no_store_at_the_same_moment_make_one_together(tmp_path: Path) -> None:
    rounds, processes, seed = size(6, 100), 12, base_seed()
    for number in range(rounds):
        path = tmp_path / f"{number}" / "project" / "memory.db"
        result = run_program("crowd", what="start_together", path=path, seed=seed + number, processes=processes)
        assert not result["errors"], tally(result["errors"])
        assert result["projects"] == ["dir:project"], f"round {number}"
        assert result["shown"] == processes, f"round {number}"
    report(f"simultaneous starts: {rounds} x {processes}, errors: 0, stores: 1 each, lost: 0, seed: {seed}")


_HOLD = """
import sys, recollect
memory = recollect.open(sys.argv[1])
with memory.store.engine.write():
    print("holding", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _holder(path: Path) -> Iterator[Callable[[], None]]:
    """Another process within a write, until told to end it."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
    ) as holder:  # fmt: skip
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        try:
            yield holder.stdin.close
        finally:
            holder.stdin.close()


def test_opening_and_reading_wait_for_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    impatient = Settings(busy_timeout=0.001)  # whoever asked for the writer's lock would report a busy store
    with recollect.open(path) as memory:
        id = memory.remember("readers do not queue").id
    with _holder(path):
        began = time.perf_counter()
        for read_only in (False, True):
            with recollect.open(path, settings=impatient, read_only=read_only) as memory:
                assert memory.get(id).content == "readers do not queue"
                assert [hit.id for hit in memory.recall("queue", track=False)] == [id]
                assert memory.count() == 1
        report(f"opened and read twice beside a held lock in {(time.perf_counter() - began) * 1000:.0f} ms")


def test_a_writer_that_gave_up_waiting_changed_nothing_and_leaves_no_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path) as memory:
        memory.remember("the first of many")
    with _holder(path) as release, recollect.open(path, settings=Settings(busy_timeout=0.5)) as impatient:
        for number in range(3):
            with pytest.raises(StoreBusy):
                impatient.remember(f"never{number} written")
        release()
        with recollect.open(path) as patient:
            patient.remember("somebody else goes on")
            impatient.remember("and so do I")
            patient.remember("in turns")
            assert {row.content for row in assert_sound(patient).values()} == {
                "the first of many", "somebody else goes on", "and so do I", "in turns",
            }  # fmt: skip


# --- reading writes nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_only", [False, True])
def test_opening_and_reading_write_nothing_to_the_file_or_its_log(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "memory.db"
    files = [path, Path(f"{path}-wal")]
    openings = size(5, 200)
    with recollect.open(path) as memory:  # stays open: closing the last one settles the log, which is writing
        id = memory.remember("readers leave no trace").id
        before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
        for _ in range(openings):
            with recollect.open(path, read_only=read_only) as reader:
                assert reader.get(id).content == "readers leave no trace"
                assert [hit.id for hit in reader.recall("trace", track=False)] == [id]
                assert reader.count() == len(reader.list().memories) == 1
                assert len(reader.history()) == 1
        assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before
    report(f"openings: {openings}, bytes written by opening and reading: 0")


# --- lost updates beside slow work ------------------------------------------------------------------------------------


def test_edits_beside_a_slow_consolidation_of_the_same_memory_are_not_lost(tmp_path: Path) -> None:
    processes, operations, seed = 8, size(6, 100), base_seed()
    result = run_program(
        "crowd",
        what="edit_beside_consolidation",
        path=tmp_path / "memory.db",
        seed=seed,
        processes=processes,
        operations=operations,
        pause=0.1 if operations < 50 else 1.0,
    )
    report(
        f"edits beside a slow consolidation: {processes * operations}, errors: {len(result['errors'])}, "
        f"lost: {processes * operations - sum(result['counts'].values())}, conflicts seen and retried: "
        f"{result['conflicts']}, consolidations: {result['consolidations']}"
    )
    assert not result["errors"], tally(result["errors"])
    assert result["counts"] == {f"p{n}": operations for n in range(processes)}
    assert result["consolidations"] > 0
    assert result["facts"] == 1, "the fact was drawn twice, or got lost"


# --- everything at once -----------------------------------------------------------------------------------------------


def test_writers_beside_upkeep_indexing_checks_and_backups_lose_nothing(tmp_path: Path) -> None:
    writers, seconds, seed = size(4, 12), size(4, 300), base_seed()
    result = run_program("crowd", what="busy_project", path=tmp_path, seed=seed, writers=writers, seconds=seconds)
    report(
        f"busy project: {seconds} s, writers: {writers}, writes: {result['writes']}, lost: {result['lost']}, "
        f"forgotten yet there: {result['back']}, upkeep runs: {result['upkeep']}, errors: {len(result['errors'])}, "
        f"p99: {result['p99'] * 1000:.0f} ms"
    )
    assert not result["errors"], tally(result["errors"])
    assert result["writes"] > 0
    assert result["upkeep"] > 0
    assert (result["lost"], result["back"]) == (0, 0)
