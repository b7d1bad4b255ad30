"""Kills commands, and looks what is left: nothing acknowledged is lost, nothing is half done, all can be finished.

Each command runs in a forked process of its own on a copy of a small project. It is killed at a random moment of its
usual duration or at a fail-point: just before one of its changes to a file or to the database. Output, and the end of
the process, are what it acknowledges.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import select
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

import recollect
from faults.fault_tools import assert_replays, readable
from faults.programs import commands
from faults.programs.commands import Command
from faults.programs.fake_model import fake_model
from recollect import Recollect
from recollect.files.session_file import session_files

_LONGEST = 60.0  # seconds a command may take: more is a hang
_OVERTIME = 1.15  # of the usual duration within which a moment is drawn
_WRITES = ("begin", "commit", "savepoint", "release", "rollback", "insert", "update", "delete", "create", "drop",
           "alter", "pragma wal", "pragma user_version", "vacuum", "reindex", "replace")  # fmt: skip
_FILES = frozenset(
    ["os.rename", "os.remove", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.truncate", "os.posix_spawn"]
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

Things = Counter[tuple[Any, ...]]


# --- fail-points ------------------------------------------------------------------------------------------------------


class Points:
    """Counts what a process is about to change; kills it before the change of a given number."""

    def __init__(self, number: int | None) -> None:
        self._number = number
        self.reached = 0

    def arm(self) -> None:
        sys.addaudithook(self._audit)
        apsw.connection_hooks.append(self._watch)
        synced = os.fsync

        def fsync(handle: Any) -> None:
            self._reach()
            synced(handle)

        os.fsync = fsync

    def _reach(self) -> None:
        self.reached += 1
        if self.reached == self._number:
            os.kill(os.getpid(), signal.SIGKILL)

    def _audit(self, event: str, given: tuple[Any, ...]) -> None:
        if event in _FILES or (event == "open" and _opens_for_writing(given)):
            self._reach()

    def _watch(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._statement)

    def _statement(self, event: dict[str, Any]) -> None:
        if str(event.get("sql", "")).lstrip().lower().startswith(_WRITES):
            self._reach()


def _opens_for_writing(given: tuple[Any, ...]) -> bool:
    path, mode, flags = given
    if isinstance(path, int) or str(path).startswith("/dev/") or str(path).endswith((".pyc", ".so")):
        return False
    return bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITING)


# --- one run of a command ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """How a run ended: its exit code (None: it was killed), what it said and complained of, how long it took."""

    code: int | None
    said: str
    errors: str
    seconds: float
    points: int  # that it passed


def run(command: Command, project: Path, model: int, *, after: float | None = None, point: int | None = None) -> Run:
    """Run a command in a process of its own; kill it after some seconds or at a fail-point, if given."""
    given = project.parent / "stdin"
    given.write_text(command.stdin, encoding="utf-8")
    (given.parent / "stderr").write_text("")
    reading, writing = os.pipe()
    counting, counted = os.pipe()
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_command(command, project, model, given, writing, Points(point) if after is None else None, counted)
    os.close(writing)
    os.close(counted)
    said = _listen(reading, None if after is None else began + after, began + _LONGEST)
    if after is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        said += _listen(reading, None, began + _LONGEST)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - began
    with os.fdopen(counting, "rb") as pipe:
        points = int(pipe.read() or b"0")
    code = None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
    assert seconds < _LONGEST, f"{command.name} hung"
    errors = (given.parent / "stderr").read_text(encoding="utf-8", errors="replace")
    return Run(code, said.decode("utf-8", "replace"), errors, seconds, points)


def _be_command(
    command: Command, project: Path, model: int, given: Path, writing: int, points: Points | None, counted: int
) -> None:
    code = 70
    try:
        os.setsid()
        os.chdir(project)
        errors = os.open(given.parent / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, file in ((0, os.open(given, os.O_RDONLY)), (1, writing), (2, errors)):
            os.dup2(file, number)
        sys.stdin, sys.stdout = io.TextIOWrapper(io.FileIO(0)), io.TextIOWrapper(io.FileIO(1, "w"))
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"))
        os.environ.update(commands.environment(project.parent, command, model))
        if points is not None:
            points.arm()
        code = command.run(project)
        sys.stdout.flush()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    if points is not None:
        os.write(counted, str(points.reached).encode())
    os._exit(code)


def _listen(fd: int, until: float | None, hung: float) -> bytes:
    """What is written until a moment, or until nobody can write any more."""
    received = b""
    while True:
        left = (hung if until is None else min(until, hung)) - time.perf_counter()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return received
        some = os.read(fd, 65_536)
        if not some:
            return received
        received += some


# --- what a store holds -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Picture:
    """What a project's memory holds, without ids and times: statements and documents; and how much of the rest."""

    things: Things = field(default_factory=Counter)
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # other files that the command changes


_TABLES = (
    "links", "turns", "code_files", "code_nodes", "code_edges", "sessions", "observed_sessions", "observed_files",
    "observed_errors", "entities", "injections", "document_links", "vectors", "facets",
)  # fmt: skip


def look(command: Command, project: Path, *, sound: bool = True) -> Picture:
    """Open the store and tell what is in it; it must be sound, unless the command is there to mend it."""
    with recollect.open(project, settings=commands.QUIET) as memory:
        rows = assert_replays(memory) if sound and not command.leaves_less else readable(memory)
        things: Things = Counter(
            ("memory", row.kind, row.status, row.source, row.content, tuple(sorted(row.tags)), row.files, row.pinned,
             row.verified, row.superseded_by is not None)
            for row in rows.values()
        )  # fmt: skip
        things.update(("tombstone", *row) for row in _rows(memory, "select fingerprint, reason from tombstones"))
        things.update(("document", *row) for row in _rows(memory, "select path, sha256, state from documents"))
        things.update(("entity", *row) for row in _rows(memory, "select name, type, merged_into is null from entities"))
        counted = [name for name in _TABLES if name not in command.repeats]
        counts = {name: int(_rows(memory, f"select count(*) from {name}")[0][0]) for name in counted}
        if command.same_vectors:
            active = "select model, count(*) from spaces join vectors on space = spaces.id where state = 'active'"
            things.update(("vectors", *row) for row in _rows(memory, active))
    for session in session_files(str(project / ".recollect")):
        things.update(("event", json.loads(line)["payload"].get("hook_event_name")) for line in session.events())
    files = {name: (project.parent / name).read_text(encoding="utf-8") for name in command.files}
    return Picture(things, counts, files)


def _rows(memory: Recollect, sql: str) -> list[tuple[Any, ...]]:
    return list(memory.store.engine.rows(sql))


# --- kills ------------------------------------------------------------------------------------------------------------


class Arena:
    """A project before a command, what the command makes of it, and the folder in which it is tried again and again."""

    def __init__(self, folder: Path, command: Command, model: int) -> None:
        self.command = command
        self._model = model
        self._folder, self._kept = folder / "here", folder / "kept"
        self.project = self._folder / "project"
        for old in (self._folder, self._kept):
            shutil.rmtree(old, ignore_errors=True)
        commands.make_project(self._folder, command, model)
        shutil.copytree(self._folder, self._kept, symlinks=True)
        self.before = look(command, self.project, sound=not command.mends) if command.has_store else Picture()
        self.reset()
        whole = run(command, self.project, model)
        assert whole.code in command.codes, f"{command.name} ended with {whole.code}: {whole.said}{whole.errors}"
        self.points = whole.points
        self.after = look(command, self.project)
        assert command.idle or self.after != self.before, f"{command.name} had nothing to do"
        self.reset()
        self.seconds = run(command, self.project, model, after=_LONGEST).seconds

    def reset(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._kept, self._folder, symlinks=True)
        if self.command.embedder or self.command.model:  # nothing of a copied store is sent to a model unasked
            with recollect.open(self.project, settings=commands.QUIET) as memory:
                memory.adopt()

    def kill(self, rng: random.Random, *, point: int | None) -> bool:
        """Kill the command once, look, finish it, look again; whether it really was killed."""
        self.reset()
        moment = None if point is not None else rng.uniform(0.0, self.seconds * _OVERTIME)
        done = run(self.command, self.project, self._model, after=moment, point=point)
        where = f"{self.command.name}, killed at {f'point {point}' if point else f'{moment:.3f} s'}: "
        if done.code is not None:
            assert done.code in self.command.codes, f"{where}ended with {done.code}: {done.said}{done.errors}"
        found = self._look_after(done, where)
        self._finish(found, where)
        return done.code is None

    def _look_after(self, done: Run, where: str) -> Picture | None:
        command = self.command
        if not command.has_store and not (self.project / ".recollect" / "memory.db").exists():
            assert done.code is None, f"{where}acknowledged, but there is no store"
            return None
        found = look(command, self.project, sound=not command.mends)
        acknowledged = done.code is not None or (command.whole and bool(done.said))
        if acknowledged and not command.acks:
            assert found == self.after, f"{where}acknowledged, but {_difference(found, self.after)}"
        for content in command.acks(done.said) if command.acks else ():
            assert any(content in thing for thing in found.things), f"{where}{content!r} was acknowledged and is gone"
        if command.whole:
            assert found.things in (self.before.things, self.after.things), (
                f"{where}half done: {_difference(found, self.before)}"
            )
            assert not command.files or found.files in (self.before.files, self.after.files), f"{where}half a file"
        else:
            lost = (self.before.things & self.after.things) - found.things
            strange = found.things - (self.before.things | self.after.things)
            assert not lost, f"{where}lost {list(lost)[:3]}"
            assert not strange or command.passes_through, f"{where}neither before nor after: {list(strange)[:3]}"
        return found

    def _finish(self, found: Picture | None, where: str) -> None:
        """Run it again to its end, unless it was through and has no second time."""
        if found is not None and self.command.once and found.things == self.after.things:
            return
        if not self.command.resumes:
            return
        if found is not None:
            commands.expire_leases(self.project)
        again = run(self.command, self.project, self._model, after=_LONGEST)
        assert again.code in self.command.codes, f"{where}again: ended with {again.code}: {again.said}{again.errors}"
        final = look(self.command, self.project)
        assert final == self.after, f"{where}finished later, but {_difference(final, self.after)}"
        self._require_gone(where)

    def _require_gone(self, where: str) -> None:
        """Of what was to be erased no byte is left in any file of ours."""
        gone = self.command.gone.encode()
        files = [path for name in (".recollect",) for path in (self.project / name).rglob("*") if path.is_file()]
        left = [path.name for path in files if gone and gone in path.read_bytes()]
        assert not left, f"{where}finished later, but it is still in {left}"


def _difference(found: Picture, expected: Picture) -> str:
    more, less = list(found.things - expected.things)[:3], list(expected.things - found.things)[:3]
    counts = {n: (found.counts.get(n), v) for n, v in expected.counts.items() if found.counts.get(n) != v}
    files = [name for name in expected.files if found.files.get(name) != expected.files[name]]
    return f"there is {more} instead of {less}; found and expected {counts}; files that differ {files}"


def main(folder: Path, seed: int, kills: int, names: list[str], rounds: float | None = None) -> dict[str, Any]:
    """Kill each of some commands so many times: half at moments, half at fail-points, each point in its turn. Or, if
    `rounds` are given, so often at each of its fail-points, and nowhere else."""
    told: dict[str, Any] = {}
    chosen = [command for command in commands.COMMANDS if command.name in names]
    with fake_model() as model:
        commands.warm_up(model)
        for command in chosen:
            rng = random.Random(f"{seed} {command.name}")
            arena = Arena(folder, command, model)
            turn = rng.sample(range(1, arena.points + 1), arena.points)
            if rounds is not None:
                visits = max(kills, round(arena.points * rounds))
                aims: list[int | None] = [turn[number % len(turn)] for number in range(visits)]
            else:
                aims = [turn[number // 2 % len(turn)] if number % 2 else None for number in range(kills)]
            killed = sum(arena.kill(rng, point=aim) for aim in aims)
            tried = len({aim for aim in aims if aim is not None})
            told[command.name] = {"killed": killed, "runs": len(aims), "points": arena.points, "tried": tried}
    return told


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(main(Path(given["folder"]), given["seed"], given["kills"], given["names"], given.get("rounds"))))  # noqa: T201
