"""A reader that never ends makes the log grow; when it ends, the log shrinks again, and meanwhile nothing is lost."""

from __future__ import annotations

import json
import random
import shutil
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


# --- many observations ------------------------------------------------------------------------------------------------

_EVENTS = 50  # of one session
_PARTS = 10  # in which sessions are learnt from; the second half is compared with the first
_SETTLED_WITHIN = 60.0  # seconds after the reader ended
_BUDGET = 1.10  # what the second half of equal sessions may take of what the first half took


def _session(number: int, folder: Path) -> str:
    """What an agent did in one session, as Claude Code writes it down."""
    lines = []
    for step in range(_EVENTS // 2):
        common = {"sessionId": f"s{number}", "cwd": str(folder), "uuid": f"{number}-{step}",
                  "timestamp": f"2026-01-{1 + number % 28:02d}T{number % 24:02d}:{step:02d}:00Z"}  # fmt: skip
        call = {"type": "tool_use", "id": f"t{number}-{step}", "name": "Bash",
                "input": {"command": f"pytest tests/t{(number * 7 + step) % 50}.py"}}  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"t{number}-{step}", "is_error": step % 3 == 0,
                  "content": f"ImportError: no module named foo{step % 5}"}  # fmt: skip
        lines.append({"type": "assistant", **common, "message": {"role": "assistant", "content": [call]}})
        lines.append({"type": "user", **common, "message": {"role": "user", "content": [result]}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_many_observations_beside_a_stuck_reader_leave_a_small_log_and_a_file_that_grows_evenly(
    quick_path: Path,
) -> None:
    path, transcripts = quick_path / "memory.db", quick_path / "sessions"
    sessions = size(1_500, 1_000_000) // _EVENTS // _PARTS * _PARTS
    sizes, peak, events = [], 0, 0
    with recollect.open(path) as memory:
        memory.remember("the first of many")
        for part in range(_PARTS):
            transcripts.mkdir()
            for number in range(part * sessions // _PARTS, (part + 1) * sessions // _PARTS):
                (transcripts / f"{number}.jsonl").write_text(_session(number, quick_path), encoding="utf-8")
            if part == _PARTS // 2:
                with _reader(path) as reader:
                    assert _say(reader) > 0
                    done = memory.observer.replay([transcripts])
                    peak = _log(path)
                    _end(reader)
                began = time.perf_counter()
                while _log(path) > _MOST_LOG:  # ordinary writing is enough
                    assert time.perf_counter() - began < _SETTLED_WITHIN
                    memory.remember(words(random.Random(len(sizes))))
            else:
                done = memory.observer.replay([transcripts])
            assert (done.sessions, done.broken) == (sessions // _PARTS, 0)
            events += done.lines
            shutil.rmtree(transcripts)
            memory.store.engine.checkpoint()
            sizes.append(path.stat().st_size)
        assert_sound(memory)
    first, second = sizes[_PARTS // 2 - 1] - sizes[0], sizes[-1] - sizes[_PARTS // 2]
    report(
        f"observed events: {events}, log beside a stuck reader: {peak / 2**20:.1f} MB, log afterwards: "
        f"{_log(path) / 2**20:.1f} MB, file: {sizes[-1] / 2**20:.1f} MB, second half took {second / max(1, first):.2f} "
        "of the first"
    )
    if SOAK:
        assert second <= _BUDGET * first
