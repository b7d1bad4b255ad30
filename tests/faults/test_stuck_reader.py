"""A reader that never ends makes the log grow; when it ends, the log shrinks again, and meanwhile nothing is lost."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import recollect
from faults.fault_tools import SOAK, assert_sound, base_seed, environment, report, size, words
from recollect import Draft, Recollect

_MOST_LOG = 64 * 2**20  # bytes the log may have once the reader is gone
_LONGEST_WAIT = 2.0  # seconds any writer may be kept waiting by another
_KEPT_LOG = 16 * 2**20  # bytes the engine lets it keep

_READER = """
import sys, recollect
memory = recollect.open(sys.argv[1])
with memory.store.engine.read():
    print(memory.count(), flush=True)
    sys.stdin.readline()
    print(memory.count(), flush=True)
"""


@contextmanager
def _reader(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process in the middle of reading."""
    with subprocess.Popen(
        [sys.executable, "-c", _READER, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
    ) as reader:  # fmt: skip
        yield reader


def _say(reader: subprocess.Popen[str]) -> int:
    assert reader.stdout is not None
    return int(reader.stdout.readline())


def _end(reader: subprocess.Popen[str]) -> int:
    """Let the reader finish; what it saw last."""
    assert reader.stdin is not None
    reader.stdin.write("\n")
    reader.stdin.flush()
    seen = _say(reader)
    reader.wait()
    return seen


def _log(path: Path) -> int:
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.exists() else 0


def _write_until_the_log_has(memory: Recollect, path: Path, bytes: int, rng: random.Random) -> int:
    """Small acts, each in its own transaction: every one adds the pages it touches to the log."""
    written = 0
    while _log(path) < bytes:
        memory.remember(words(rng))
        written += 1
    return written


def test_the_log_that_a_stuck_reader_made_grow_shrinks_when_the_reader_ends(quick_path: Path) -> None:
    path, rng = quick_path / "memory.db", random.Random(base_seed())
    grown = size(20, 160) * 2**20
    with recollect.open(path) as memory:
        memory.remember(words(rng))
        with _reader(path) as reader:
            assert _say(reader) == 1
            written = _write_until_the_log_has(memory, path, grown, rng)
            peak = _log(path)
            assert _end(reader) == 1, "a reader sees one state from beginning to end"
        assert peak >= grown > _KEPT_LOG
        for _ in range(3):  # ordinary writing is enough: nobody has to call anything
            memory.remember(words(rng))
        after = _log(path)
        assert after <= _KEPT_LOG + 2**20 <= _MOST_LOG
        assert memory.store.engine.checkpoint()
        assert _log(path) == 0
        assert len(assert_sound(memory)) == 1 + written + 3
    report(f"log beside a stuck reader: {peak / 2**20:.0f} MB, after it ended: {after / 2**20:.1f} MB, settled: 0")


def test_settling_beside_a_stuck_reader_says_that_it_has_to_wait_and_finishes_later(quick_path: Path) -> None:
    path, rng = quick_path / "memory.db", random.Random(base_seed())
    with recollect.open(path) as memory:
        ids = [receipt.id for receipt in memory.remember_all([Draft(words(rng)) for _ in range(5)])]
        with _reader(path) as reader:
            assert _say(reader) == 5
            began = time.perf_counter()
            assert "another process is reading" in memory.forget(ids[0]).lingering
            waited = time.perf_counter() - began
            assert len(memory.list().memories) == 4
            assert _log(path) > 0
            assert _end(reader) == 5
        assert memory.store.engine.checkpoint()
        assert _log(path) == 0
        assert len(assert_sound(memory)) == 4
    report(f"forgetting beside a stuck reader took {waited:.1f} s, all that time under the lock")
    if SOAK:
        assert waited <= _LONGEST_WAIT
