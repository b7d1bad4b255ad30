"""On a full or failing disk nothing acknowledged is lost, reading and forgetting work, writing resumes by itself."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import recollect
from faults.fault_tools import State, assert_sound, base_seed, environment, report, size, state, words
from faults.power import Disk, Event, disk, open_on
from recollect import Draft, Recollect
from recollect.core.errors import StoreError, StoreFull, Tombstoned

# --- a fault at every write of every act ------------------------------------------------------------------------------


def _base(path: Path) -> list[str]:
    """A small closed store; its ids."""
    rng = random.Random(7)
    with recollect.open(path, project="full") as memory:
        ids = [receipt.id for receipt in memory.remember_all([Draft(words(rng), tags=["old"]) for _ in range(6)])]
        memory.edit(ids[0], content=words(rng))
        return [str(id) for id in ids]


_ACTS: dict[str, Callable[[Recollect, list[str]], object]] = {
    "remember": lambda memory, ids: memory.remember("one more statement entirely"),
    "batch": lambda memory, ids: memory.remember_all([Draft(f"batch{n} item{n}") for n in range(5)]),
    "same": lambda memory, ids: memory.remember(memory.get(ids[1]).content, tags=["new"]),
    "edit": lambda memory, ids: memory.edit(ids[2], content="edited words altogether", files=["a.py"]),
    "reject": lambda memory, ids: memory.reject(ids[3]),
    "undo": lambda memory, ids: memory.undo(ids[0]),
    "forget": lambda memory, ids: memory.forget(ids[4]),
}


class _Fault:
    """Fails the nth event of some kinds, once or from then on."""

    def __init__(self, kinds: frozenset[str], nth: int, error: type[Exception], *, forever: bool) -> None:
        self._kinds, self._nth, self._error, self._forever = kinds, nth, error, forever
        self._seen = 0
        self.struck = False

    def __call__(self, event: Event) -> None:
        if event.kind not in self._kinds:
            return
        self._seen += 1
        if self._seen == self._nth or (self._forever and self._seen > self._nth):
            self.struck = True
            raise self._error("injected")


_FAULTS = {
    "full once": (frozenset({"write"}), apsw.FullError, False),
    "full from then on": (frozenset({"write"}), apsw.FullError, True),
    "write error": (frozenset({"write", "truncate"}), apsw.IOError, False),
    "sync error": (frozenset({"sync"}), apsw.IOError, False),
}


def _essence(rows: State) -> dict[str, object]:
    """What can be compared between two runs of one act: not ids and times of what it made."""
    return {row.content: (row.status, row.tags, row.files, row.revision) for row in rows.values()}


@pytest.mark.parametrize("fault", _FAULTS)
@pytest.mark.parametrize("act", _ACTS)
def test_an_act_that_fails_at_any_write_changes_nothing_and_succeeds_when_the_fault_is_gone(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, fault: str
) -> None:
    kinds, error, forever = _FAULTS[fault]
    ids = _base(quick_path / "base.db")
    base = (quick_path / "base.db").read_bytes()
    expected: dict[str, object] | None = None
    wrong: list[str] = []
    struck = refused = 0
    with disk(f"full-{act}-{fault}".replace(" ", "-"), monkeypatch) as failing:
        for nth in range(1, 10_000):
            path = quick_path / "memory.db"
            for suffix in ("-wal", "-shm", "-journal"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            path.write_bytes(base)
            one = _Fault(kinds, nth, error, forever=forever)
            raised, before, after, again = _attempt(failing, path, ids, act, one)
            with recollect.open(path) as memory:
                assert _essence(assert_sound(memory)) == again
            if not one.struck:
                expected = again
                break
            struck += 1
            refused += raised is not None
            if raised is not None and after != before:
                wrong.append(f"write {nth}: {type(raised).__name__} was raised, yet the store had changed")
    assert expected is not None
    report(
        f"faults at every write of an act: {struck}, refused: {refused}, carried through: {struck - refused}, "
        f"refused yet done: {len(wrong)}"
    )
    assert struck > 0
    assert not wrong, f"{len(wrong)} of {struck}: " + "; ".join(wrong[:5])


def _attempt(
    failing: Disk, path: Path, ids: list[str], act: str, fault: _Fault
) -> tuple[StoreError | None, dict[str, object], dict[str, object], dict[str, object]]:
    """Try an act under a fault, then without; the error it met, and what was there before, after it, and in the end."""
    raised: StoreError | None = None
    with open_on(failing, path) as memory:
        before = _essence(state(memory))
        memory.count()
        failing.fault = fault
        try:
            _ACTS[act](memory, ids)
        except StoreError as error:
            raised = error
        finally:
            failing.fault = None
        after = _essence(assert_sound(memory))
        if raised is not None and after == before:
            _ACTS[act](memory, ids)  # in the same open memory: nothing has to be restarted
        return raised, before, after, _essence(assert_sound(memory))


# --- a disk that is really full -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _small_disk(folder: Path, megabytes: int, *, files: int = 10_000) -> Iterator[Path]:
    """A disk of its own, if we may have one."""
    folder.mkdir()
    limits = f"size={megabytes}m,nr_inodes={files}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", limits, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs root; the file size limit is tested instead")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(filler: Path, *, leave: int) -> None:
    """Take all the room but some bytes."""
    disk = os.statvfs(filler.parent)
    room = disk.f_bavail * disk.f_frsize - leave
    if room > 0:
        with filler.open("ab") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, filler.stat().st_size + room)
            except OSError as trouble:  # others write meanwhile: what they took is no longer there to take
                if trouble.errno != errno.ENOSPC:
                    raise


def _remember_until_full(memory: Recollect, rng: random.Random) -> State:
    """Everything acknowledged before the disk was full."""
    acknowledged: State = {}
    for _ in range(5_000):
        try:
            receipt = memory.remember(words(rng, 40))
        except StoreFull:
            return acknowledged
        acknowledged[receipt.id] = receipt.memory
    raise AssertionError("the disk never filled up")


_READ = """
import sys, recollect
with recollect.open(sys.argv[1], read_only=sys.argv[2] == "read-only") as memory:
    page = memory.list(limit=100_000)
    assert not page.damaged
    for one in page.memories[:20]:
        assert memory.get(one.id) == one
        assert [hit.id for hit in memory.recall(one.content.split()[0], track=False)] == [one.id]
    print(*sorted(one.id for one in page.memories))
"""


def _ids_seen_by_another_process(path: Path, how: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path), how], capture_output=True, text=True, check=False, env=environment()
    )
    assert done.returncode == 0, f"{how}: {done.stderr[-1500:]}"
    return done.stdout.split()


@pytest.mark.parametrize("leave", [0, 40_000, 400_000])
def test_a_full_disk_costs_nothing_acknowledged_reads_and_forgets_and_resumes_without_a_restart(
    tmp_path: Path, leave: int
) -> None:
    rng = random.Random(base_seed() + leave)
    rounds = size(2, 6)
    forgotten = 0
    with _small_disk(tmp_path / "disk", 24) as folder:
        path, filler = folder / "memory.db", folder / "filler"
        memory = recollect.open(path)
        kept: State = {r.id: r.memory for r in memory.remember_all([Draft(words(rng)) for _ in range(20)])}
        for number in range(rounds):
            _fill(filler, leave=leave)
            kept |= _remember_until_full(memory, rng)
            _fill(filler, leave=0)
            assert state(memory) == kept, f"round {number}: lost or changed while full"
            for how in ("read-write", "read-only"):
                assert _ids_seen_by_another_process(path, how) == sorted(kept), f"round {number}, {how}"
            one = rng.choice(sorted(kept))
            assert [hit.id for hit in memory.recall(kept[one].content.split()[0])] == [one]
            kept[one] = memory.get(one)  # whether the use could be counted or not
            for id in rng.sample(sorted(kept), 5):
                content = kept.pop(id).content
                memory.forget(id)
                forgotten += 1
                assert id not in state(memory)
                with pytest.raises((Tombstoned, StoreFull)):
                    memory.remember(content)
            filler.unlink()
            receipt = memory.remember(words(rng))
            kept[receipt.id] = receipt.memory
            assert assert_sound(memory) == kept, f"round {number}: after there was room again"
        memory.close()
        with recollect.open(path) as memory:
            assert assert_sound(memory) == kept
    report(f"full disks: {rounds}, acknowledged: {len(kept) + forgotten}, lost: 0, forgotten while full: {forgotten}")


_FORGET = """
import sys, recollect
with recollect.open(sys.argv[1]) as memory:
    memory.forget(sys.argv[2])
"""


def test_a_full_disk_can_be_read_and_forgotten_from_by_a_process_that_starts_on_it(tmp_path: Path) -> None:
    rng = random.Random(base_seed())
    with _small_disk(tmp_path / "disk", 24) as folder:
        path, filler = folder / "memory.db", folder / "filler"
        with recollect.open(path) as memory:
            kept = {receipt.id for receipt in memory.remember_all([Draft(words(rng)) for _ in range(20)])}
            _fill(filler, leave=100_000)
            kept |= set(_remember_until_full(memory, rng))
        _fill(filler, leave=0)
        for id in rng.sample(sorted(kept), 5):
            for how in ("read-write", "read-only"):
                assert _ids_seen_by_another_process(path, how) == sorted(kept)
            done = subprocess.run(
                [sys.executable, "-c", _FORGET, str(path), id],
                capture_output=True, text=True, check=False, env=environment(),
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-1500:]
            kept.remove(id)
        assert _ids_seen_by_another_process(path, "read-only") == sorted(kept)
        filler.unlink()
        with recollect.open(path) as memory:
            memory.remember(words(rng))
            assert len(assert_sound(memory)) == len(kept) + 1
    report(f"cold starts on a full disk: 16, acknowledged: {len(kept) + 6}, lost: 0, forgotten: 5")


def test_on_a_full_disk_rows_are_erased_and_the_rest_is_done_when_there_is_room(tmp_path: Path) -> None:
    rng = random.Random(base_seed())
    with _small_disk(tmp_path / "disk", 24) as folder:
        path, filler = folder / "memory.db", folder / "filler"
        with recollect.open(path) as memory:
            memory.remember("Anna Berg has the key of hall two.")
            memory.remember_all([Draft(words(rng, 40)) for _ in range(400)])
            backup = memory.maintenance.backup()
            _fill(filler, leave=0)
            done = memory.erase(subject="Anna Berg", backups="rewrite")
            assert {one.sort for one in done.remaining} >= {"freed pages", "backup"}
            assert not any("Anna" in one.content for one in state(memory).values())
            filler.unlink()
            done = memory.erase()
            assert done.is_complete, done.remaining
            assert backup is not None
            assert b"Anna Berg" not in backup.read_bytes()
            assert not memory.store.engine.contains_bytes("Anna Berg")
            assert len(assert_sound(memory)) == 400
    report("erasures on a full disk: 1, rows left: 0, finished when there was room: 1")


def test_a_disk_without_room_for_another_file_is_told_as_full(tmp_path: Path) -> None:
    rng = random.Random(base_seed())
    with _small_disk(tmp_path / "disk", 24, files=300) as folder:
        path = folder / "memory.db"
        with recollect.open(path) as memory:
            kept = sorted(receipt.id for receipt in memory.remember_all([Draft(words(rng)) for _ in range(20)]))
        with contextlib.suppress(OSError):
            for number in range(1_000):
                (folder / f"filler{number}").touch()
        with pytest.raises(StoreFull), recollect.open(path) as memory:
            memory.list()
        for number in range(10):
            (folder / f"filler{number}").unlink()
        assert _ids_seen_by_another_process(path, "read-write") == kept


_LIMITED = """
import resource, signal, sys, recollect
from faults.fault_tools import words, state, assert_sound
from recollect.core.errors import StoreError
import random
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
rng = random.Random(int(sys.argv[2]))
memory = recollect.open(sys.argv[1])
memory.remember(words(rng))
memory.store.engine.checkpoint()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
kept, met = {id: row for id, row in state(memory).items()}, None
for _ in range(5_000):
    try:
        receipt = memory.remember(words(rng, 40))
    except StoreError as error:
        met = error
        break
    kept[receipt.id] = receipt.memory
assert met is not None, "no limit was met"
assert state(memory) == kept, "lost or changed at the limit"
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
receipt = memory.remember(words(rng))
kept[receipt.id] = receipt.memory
assert assert_sound(memory) == kept, "after the limit was lifted"
memory.close()
with recollect.open(sys.argv[1]) as memory:
    assert assert_sound(memory) == kept, "after reopening"
print(type(met).__name__, len(kept))
"""


def test_a_file_that_may_not_grow_costs_nothing_acknowledged_and_resumes_without_a_restart(tmp_path: Path) -> None:
    seed = base_seed()
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path / "memory.db"), str(seed)],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    met, acknowledged = done.stdout.split()
    report(f"file size limit: acknowledged: {acknowledged}, lost: 0, met as {met}, seed: {seed}")


# --- several processes on a disk that fills and empties -------------------------------------------------------------


def test_processes_on_a_disk_that_fills_and_empties_lose_nothing_and_meet_only_our_errors(tmp_path: Path) -> None:
    seconds, writers, seed = size(4, 120), 4, base_seed()
    rng = random.Random(seed)
    with _small_disk(tmp_path / "disk", 16, files=400) as folder:
        path = folder / "project" / ".recollect" / "memory.db"
        with recollect.open(path) as memory:
            first = memory.remember("the first of many").id
        until = time.monotonic() + seconds
        running = [
            subprocess.Popen(
                [sys.executable, "-c", _WRITE_ON, str(path), str(seed + n), str(seconds)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
            )
            for n in range(writers)
        ]  # fmt: skip
        cycles = 0
        while time.monotonic() < until:
            _fill(folder / "filler", leave=0)
            _take_all_names(folder / "names")
            time.sleep(rng.uniform(0.1, 0.5))
            shutil.rmtree(folder / "names", ignore_errors=True)
            (folder / "filler").unlink(missing_ok=True)
            time.sleep(rng.uniform(0.1, 0.4))
            cycles += 1
        acknowledged: list[str] = []
        refused = 0
        for process in running:
            told, trouble = process.communicate(timeout=120)
            assert process.returncode == 0, trouble[-1500:]
            acknowledged += [line for line in told.splitlines() if not line.startswith("!")]
            refused += told.count("!")
        with recollect.open(path) as memory:
            there = {row.content for row in assert_sound(memory).values()}
            memory.forget(first)
        lost = [text for text in acknowledged if text not in there]
    report(
        f"disk that fills and empties: {cycles} times, writers: {writers}, acknowledged: {len(acknowledged)}, "
        f"refused: {refused}, lost: {len(lost)}"
    )
    assert acknowledged
    assert not lost


_WRITE_ON = """
import random, sys, time, recollect
from faults.fault_tools import words
from recollect.core.errors import RecollectError
path, rng, until = sys.argv[1], random.Random(int(sys.argv[2])), time.monotonic() + float(sys.argv[3])
memory = None
while time.monotonic() < until:
    text = words(rng, 20)
    try:
        memory = memory or recollect.open(path)
        memory.remember(text)
        print(text, flush=True)
    except RecollectError as error:
        print("!", error.code, flush=True)
    time.sleep(0.005)
"""


def _take_all_names(folder: Path) -> None:
    """Use up what files a disk can still have."""
    try:
        folder.mkdir()
        for number in range(5_000):
            (folder / str(number)).touch()
    except OSError:
        return
