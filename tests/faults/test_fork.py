"""A process may fork with an open memory: both sides write, nothing is lost, neither stands in the other's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import assert_sound, environment, report, size
from recollect.config import Settings

_BOTH_WRITE = """
import os, sys, recollect
from recollect import Draft
path, rounds = sys.argv[1], int(sys.argv[2])
memory = recollect.open(path)
memory.remember("before the fork")
memory.recall("fork")
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        for number in range(rounds):
            memory.remember(f"child{child}x{number} says so")
            assert memory.recall(f"child{child}x{number}").hits, "what was written is not found"
        os._exit(0)
    children.append(pid)
for number in range(rounds):
    memory.remember(f"parentx{number} says so")
    memory.forget(memory.remember(f"passing{number} thing").id)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0, "a child met an error"
assert memory.count() == 1 + 5 * rounds, memory.count()
memory.close()
"""

_CHILD_OUTLIVES = """
import os, sys, recollect
path = sys.argv[1]
memory = recollect.open(path)
memory.remember("before the fork")
to_child, from_child = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    memory.remember("child while the parent is open")
    os.write(from_child[1], b"1")
    os.read(to_child[0], 1)
    memory.remember("child after the parent closed")
    assert memory.count() == 3, memory.count()
    if "close" in sys.argv[2]:
        memory.close()
    os._exit(0)
os.read(from_child[0], 1)
memory.close()
os.write(to_child[1], b"1")
assert os.waitpid(pid, 0)[1] == 0, "the child met an error"
"""

_CHILD_CLOSES = """
import os, sys, recollect
path = sys.argv[1]
memory = recollect.open(path)
memory.remember("before the fork")
pid = os.fork()
if pid == 0:
    if "use" in sys.argv[2]:
        memory.remember("by the child")
    memory.close()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0, "the child met an error"
if "use" not in sys.argv[2]:
    memory.remember("by the child")
memory.remember("by the parent after the child closed")
with recollect.open(path) as other:
    assert other.count() == 3, other.count()
memory.close()
"""

_FORK_WITHIN_A_THREAD_THAT_WRITES = """
import os, signal, sys, threading, recollect
path = sys.argv[1]
memory = recollect.open(path)
memory.remember("before the fork")
written, stop = [], threading.Event()
def write():
    while not stop.is_set():
        written.append(memory.remember(f"threadx{len(written)} says so").id)
threads = [threading.Thread(target=write, daemon=True)]
for thread in threads:
    thread.start()
for child in range(int(sys.argv[2])):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # a child that hangs is ended, and counts as an error
        memory.remember(f"child{child} says so")
        memory.count()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, f"child {child} ended with {status}"
stop.set()
for thread in threads:
    thread.join()
assert memory.count() == 1 + len(written) + int(sys.argv[2])
memory.close()
"""

_PARENT_DIES_WITHIN_A_WRITE = """
import os, signal, sys, time, recollect
path = sys.argv[1]
memory = recollect.open(path)
memory.remember("before the fork")
pid = os.fork()
if pid == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
with memory.store.engine.write():
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)],
        capture_output=True, text=True, check=False, env=environment(), timeout=600,
    )  # fmt: skip


def _contents(path: Path) -> set[str]:
    with recollect.open(path) as memory:
        return {row.content for row in assert_sound(memory).values()}


def test_both_sides_of_a_fork_write_and_nothing_is_lost(tmp_path: Path) -> None:
    rounds = size(15, 400)
    done = _run(_BOTH_WRITE, tmp_path / "memory.db", rounds)
    assert done.returncode == 0, done.stderr[-1500:]
    assert len(_contents(tmp_path / "memory.db")) == 1 + 5 * rounds
    report(f"fork: 4 children and their parent, {5 * rounds} writes, errors: 0, lost: 0")


@pytest.mark.parametrize("how", ["close", "just end"])
def test_a_child_that_outlives_its_parents_memory_loses_nothing(tmp_path: Path, how: str) -> None:
    done = _run(_CHILD_OUTLIVES, tmp_path / "memory.db", how)
    assert done.returncode == 0, done.stderr[-1500:]
    assert _contents(tmp_path / "memory.db") == {
        "before the fork", "child while the parent is open", "child after the parent closed",
    }  # fmt: skip


@pytest.mark.parametrize("how", ["use", "leave alone"])
def test_a_child_that_closes_its_memory_takes_nothing_from_its_parent(tmp_path: Path, how: str) -> None:
    done = _run(_CHILD_CLOSES, tmp_path / "memory.db", how)
    assert done.returncode == 0, done.stderr[-1500:]
    assert _contents(tmp_path / "memory.db") == {
        "before the fork", "by the child", "by the parent after the child closed",
    }  # fmt: skip


def test_a_fork_while_another_thread_writes_leaves_a_child_that_can_write(tmp_path: Path) -> None:
    forks = size(30, 1_000)
    done = _run(_FORK_WITHIN_A_THREAD_THAT_WRITES, tmp_path / "memory.db", forks)
    assert done.returncode == 0, done.stderr[-1500:]
    _contents(tmp_path / "memory.db")
    report(f"forks beside a writing thread: {forks}, hung: 0, lost: 0")


def test_a_parent_that_dies_within_a_write_does_not_leave_the_store_locked_by_an_idle_child(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    # The idle child keeps our end of the pipe open, so its number is read line by line.
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT_DIES_WITHIN_A_WRITE, str(path)],
        stdout=subprocess.PIPE, text=True, env=environment(),
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        try:
            parent.wait()
            with recollect.open(path, settings=Settings(busy_timeout=3.0)) as memory:
                memory.remember("after the parent died")
        finally:
            subprocess.run(["kill", "-9", str(child)], check=False)
