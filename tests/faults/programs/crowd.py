"""Many processes at work on one store at once: who met an error, how long each waited, what is there afterwards."""

from __future__ import annotations

import json
import mmap
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recollect
from faults.fault_tools import assert_replays, assert_sound, words
from faults.programs.fake_model import fake_model
from faults.programs.kill_loop import warm_up
from recollect import Draft, Recollect
from recollect.config import Settings
from recollect.core.errors import StaleEdit
from recollect.store.check import check

_BAD_NOTES = ("busy", "locked", "not counted")


def crowd(jobs: list[Callable[[], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Run every job in a process of its own, all at once; their answers."""
    running = []
    for job in jobs:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                answer = job()
            except BaseException as error:
                answer = {"errors": [f"{type(error).__name__}: {error} {traceback.format_exc(limit=-3)}"]}
            with os.fdopen(writing, "w") as pipe:
                json.dump(answer, pipe)
            os._exit(0)
        os.close(writing)
        running.append((child, reading))
    answers = []
    for child, reading in running:
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        _, status = os.waitpid(child, 0)
        answers.append(json.loads(text) if text else {"errors": [f"a process ended with status {status}"]})
    return answers


def _errors(answers: list[dict[str, Any]]) -> list[str]:
    return [error for answer in answers for error in answer["errors"]]


# --- read, then write -------------------------------------------------------------------------------------------


def read_then_write(path: Path, seed: int, processes: int, operations: int) -> dict[str, Any]:
    with recollect.open(path) as memory:
        first = memory.remember("the first of many").id
    answers = crowd([lambda n=n: _read_and_write(path, seed + n, operations, first) for n in range(processes)])
    waits = sorted(wait for answer in answers for wait in answer.get("waits", []))
    with recollect.open(path) as memory:
        rows = assert_sound(memory)
    added = sum(answer.get("added", 0) for answer in answers)
    return {
        "errors": _errors(answers),
        "rows": len(rows),
        "expected": 1 + added,
        "edits": rows[first].revision - 1,
        "expected_edits": sum(answer.get("edited", 0) for answer in answers),
        "p99": waits[int(len(waits) * 0.99)] if waits else None,
        "max": waits[-1] if waits else None,
    }


def _read_and_write(path: Path, seed: int, operations: int, shared: str) -> dict[str, Any]:
    rng = random.Random(seed)
    errors: list[str] = []
    waits: list[float] = []
    mine: list[str] = []
    added = edited = 0
    with recollect.open(path) as memory:
        for _ in range(operations):
            try:
                if mine and rng.random() < 0.5:
                    notes = memory.recall(rng.choice(mine)).notes
                    errors += [note for note in notes if any(bad in note for bad in _BAD_NOTES)]
                else:
                    memory.get(shared)
                began = time.perf_counter()
                if rng.random() < 0.2:
                    memory.edit(shared, tags=[f"t{rng.getrandbits(40)}"])
                    edited += 1
                else:
                    text = words(rng)
                    memory.remember(text)
                    mine.append(text.split()[0])
                    added += 1
                waits.append(time.perf_counter() - began)
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
    return {"errors": errors, "waits": waits, "added": added, "edited": edited}


# --- one memory, many editors ---------------------------------------------------------------------------------------


def edit_one(path: Path, seed: int, processes: int, operations: int) -> dict[str, Any]:
    with recollect.open(path) as memory:
        id = memory.remember("the one everybody edits", confidence=0.0).id
    step = 1.0 / (2 * processes * operations)
    answers = crowd([lambda n=n: _edit_one(path, id, f"p{n}", operations, step) for n in range(processes)])
    with recollect.open(path) as memory:
        assert_sound(memory)
        edited = memory.get(id)
        history = memory.history(id, limit=100_000)
    return {
        "errors": _errors(answers),
        "counts": dict(edited.attributes),
        "tags": sorted(edited.tags),
        "confidence": edited.confidence / step,
        "conflicts": sum(answer.get("conflicts", 0) for answer in answers),
        "entries": sum(entry.change.action == "edit" for entry in history),
    }


def _edit_one(path: Path, id: str, me: str, operations: int, step: float) -> dict[str, Any]:
    conflicts = 0
    with recollect.open(path) as memory:
        for number in range(operations):
            while True:
                seen = memory.get(id)
                try:
                    memory.edit(
                        id,
                        if_revision=seen.revision,
                        tags=[*seen.tags, f"{me}-{number}"] if number < 5 else seen.tags,
                        attributes={**seen.attributes, me: seen.attributes.get(me, 0) + 1},
                        confidence=min(1.0, seen.confidence + step),
                    )
                    break
                except StaleEdit:
                    conflicts += 1
    return {"errors": [], "conflicts": conflicts}


# --- readers who come and go ----------------------------------------------------------------------------------------


def storm(path: Path, seed: int, readers: int, writes: int) -> dict[str, Any]:
    """One writer, many readers that open, read and close without end; a reader sees all that was acknowledged."""
    shared = mmap.mmap(-1, 16)  # how many writes are acknowledged; whether the writer is done
    with recollect.open(path) as memory:
        memory.remember("the first of many")
    jobs: list[Callable[[], dict[str, Any]]] = [lambda: _write_alone(path, seed, writes, shared)]
    jobs += [lambda n=n: _come_and_go(path, seed + 1 + n, shared, read_only=n % 2 == 0) for n in range(readers)]
    answers = crowd(jobs)
    with recollect.open(path) as memory:
        rows = assert_sound(memory)
    return {
        "errors": _errors(answers),
        "rows": len(rows),
        "opened": sum(answer.get("opened", 0) for answer in answers),
        "slowest": max(answer.get("slowest", 0.0) for answer in answers),
    }


def _write_alone(path: Path, seed: int, writes: int, shared: mmap.mmap) -> dict[str, Any]:
    rng = random.Random(seed)
    try:
        for number in range(writes):
            with recollect.open(path) as memory:  # the writer comes and goes too: the last to close clears the log
                memory.remember(words(rng))
            shared[:8] = (number + 1).to_bytes(8)
    finally:
        shared[8] = 1
    return {"errors": []}


def _come_and_go(path: Path, seed: int, shared: mmap.mmap, *, read_only: bool) -> dict[str, Any]:
    rng = random.Random(seed)
    errors: list[str] = []
    opened = 0
    slowest = 0.0
    while True:
        last = shared[8] == 1
        acknowledged = int.from_bytes(shared[:8])
        began = time.perf_counter()
        try:
            with recollect.open(path, read_only=read_only) as memory:
                errors += _look_around(memory, rng, acknowledged + 1)
            opened += 1
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error} (read_only={read_only})")
        slowest = max(slowest, time.perf_counter() - began)
        if last or len(errors) > 20:
            return {"errors": errors, "opened": opened, "slowest": slowest}


def _look_around(memory: Recollect, rng: random.Random, least: int) -> list[str]:
    errors = []
    if (found := memory.count()) < least:
        errors.append(f"{least} acknowledged, {found} seen")
    page = memory.list(limit=5)
    if page.damaged:
        errors.append(f"damaged: {page.damaged}")
    one = rng.choice(page.memories)
    if memory.get(one.id).content != one.content:
        errors.append(f"{one.id} differs")
    briefing = memory.recall(one.content.split()[0], track=rng.random() < 0.1)
    errors += [f"note: {note}" for note in briefing.notes if any(bad in note for bad in _BAD_NOTES)]
    return errors


# --- a store that nobody has made yet -------------------------------------------------------------------------------


def start_together(path: Path, seed: int, processes: int) -> dict[str, Any]:
    """Everybody finds no store at about the same moment."""
    start = time.time() + 0.15
    answers = crowd([lambda n=n: _start(path, 1_000 * seed + n, start) for n in range(processes)])
    with recollect.open(path) as memory:
        findings = [finding.problem for finding in check(memory.store).findings]
        shown = memory.count()
    return {
        "errors": _errors(answers) + findings,
        "projects": sorted({answer["project"] for answer in answers if "project" in answer}),
        "shown": shown,
    }


def _start(path: Path, seed: int, start: float) -> dict[str, Any]:
    rng = random.Random(seed)
    time.sleep(max(0.0, start + rng.uniform(0, 0.25) - time.time()))  # some while the first is making it
    with recollect.open(path) as memory:
        memory.remember(words(rng))
        return {"errors": [], "project": memory.project}


# --- one memory, many editors, and a consolidation that takes its time ------------------------------------------------


def edit_beside_consolidation(path: Path, seed: int, processes: int, operations: int, pause: float) -> dict[str, Any]:
    """The memory that is edited is a fact which keeps being said again, so consolidations merge into it meanwhile."""
    done = mmap.mmap(-1, processes)  # one byte for each editor
    with fake_model(pause=pause) as port:
        settings = Settings(embedder="none", model=f"http://127.0.0.1:{port}/v1#slow")
        with recollect.open(path, settings=settings) as memory:
            id = _say_and_consolidate(memory, 0)[0]
        jobs: list[Callable[[], dict[str, Any]]] = [lambda: _consolidate_on(path, settings, done)]
        jobs += [lambda n=n: _edit_and_tell(path, id, n, operations, done) for n in range(processes)]
        answers = crowd(jobs)
    with recollect.open(path) as memory:
        assert_replays(memory)
        facts = [row for row in memory.list(limit=10_000).memories if row.kind == "fact"]
        counts = dict(memory.get(id).attributes)
    return {
        "errors": _errors(answers),
        "counts": {name: count for name, count in counts.items() if name in {f"p{n}" for n in range(processes)}},
        "conflicts": sum(answer.get("conflicts", 0) for answer in answers),
        "consolidations": answers[0].get("rounds", 0),
        "facts": len(facts),
    }


def _say_and_consolidate(memory: Recollect, number: int) -> list[str]:
    memory.sessions.capture("My dog is called Rex.", session=f"s{number}", role="user")
    done = memory.tend(job="consolidate")
    assert not any(report.failed for report in done.reports), done.reports
    return [row.id for row in memory.list(limit=100).memories if row.kind == "fact"]


def _consolidate_on(path: Path, settings: Settings, done: mmap.mmap) -> dict[str, Any]:
    rounds = 0
    with recollect.open(path, settings=settings) as memory:
        while not all(done[:]):
            rounds += 1
            _say_and_consolidate(memory, rounds)
    return {"errors": [], "rounds": rounds}


def _edit_and_tell(path: Path, id: str, number: int, operations: int, done: mmap.mmap) -> dict[str, Any]:
    """Edit, then mark oneself as done; when all are, the consolidation ends."""
    me = f"p{number}"
    try:
        conflicts = 0
        with recollect.open(path) as memory:
            for _ in range(operations):
                while True:
                    seen = memory.get(id)
                    try:
                        counted = {**seen.attributes, me: seen.attributes.get(me, 0) + 1}
                        memory.edit(id, if_revision=seen.revision, attributes=counted)
                        break
                    except StaleEdit:
                        conflicts += 1
        return {"errors": [], "conflicts": conflicts}
    finally:
        done[number] = 1


# --- everything at once -----------------------------------------------------------------------------------------------


def busy_project(path: Path, seed: int, writers: int, seconds: float) -> dict[str, Any]:
    """Writers of all kinds beside upkeep, indexing, checks and backups."""
    (path / "src").mkdir()
    for n in range(20):
        (path / "src" / f"a{n}.py").write_text(f"def f{n}():\n    return {n}\n")
    with recollect.open(path) as memory:
        memory.remember_all([Draft(words(random.Random(seed + n))) for n in range(300)])
    until = time.monotonic() + seconds
    jobs: list[Callable[[], dict[str, Any]]] = [
        lambda n=n: _work(path, seed + 1_000 + n, until) for n in range(writers)
    ]
    answers = crowd([*jobs, lambda: _keep_up(path, until)])
    with recollect.open(path) as memory:
        there = {row.content for row in assert_replays(memory).values()}
    kept = [text for answer in answers for text in answer.get("kept", [])]
    gone = [text for answer in answers for text in answer.get("gone", [])]
    waits = sorted(wait for answer in answers for wait in answer.get("waits", []))
    return {
        "errors": _errors(answers),
        "writes": len(waits),
        "lost": sum(text not in there for text in kept),
        "back": sum(text in there for text in gone),
        "upkeep": sum(answer.get("upkeep", 0) for answer in answers),
        "p99": waits[int(len(waits) * 0.99)] if waits else 0.0,
    }


def _work(path: Path, seed: int, until: float) -> dict[str, Any]:
    rng = random.Random(seed)
    kept: dict[str, str] = {}
    gone: list[str] = []
    waits: list[float] = []
    errors: list[str] = []
    with recollect.open(path) as memory:
        while time.monotonic() < until:
            act, began = rng.random(), time.perf_counter()
            try:
                if act < 0.55 or not kept:
                    receipt = memory.remember(words(rng))
                    kept[receipt.id] = receipt.memory.content
                elif act < 0.65:
                    id = rng.choice(sorted(kept))
                    memory.forget(id)
                    gone.append(kept.pop(id))
                elif act < 0.75:
                    memory.confirm(rng.choice(sorted(kept)))
                else:
                    notes = memory.recall(rng.choice(sorted(kept.values())).split()[0]).notes
                    errors += [note for note in notes if any(bad in note for bad in _BAD_NOTES)]
                    continue
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
            waits.append(time.perf_counter() - began)
    return {"errors": errors, "kept": list(kept.values()), "gone": gone, "waits": waits}


def _keep_up(path: Path, until: float) -> dict[str, Any]:
    errors: list[str] = []
    rounds = 0
    with recollect.open(path) as memory:
        while time.monotonic() < until:
            with (path / "src" / f"a{rounds % 20}.py").open("a") as source:
                source.write(f"\n\ndef g{rounds}():\n    return f{rounds % 20}()\n")
            for job in (memory.tend, memory.code.index, memory.maintenance.check, memory.maintenance.backup):
                try:
                    told = job()
                    if job == memory.maintenance.check and not told.ok:
                        errors.append(f"check: {told.findings[:2]}")
                except Exception as error:
                    errors.append(f"{getattr(job, '__name__', job)}: {type(error).__name__}: {error}")
            rounds += 1
    return {"errors": errors, "upkeep": rounds}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    programs: dict[str, Callable[..., dict[str, Any]]] = {
        "read_then_write": read_then_write, "edit_one": edit_one, "storm": storm, "start_together": start_together,
        "edit_beside_consolidation": edit_beside_consolidation, "busy_project": busy_project,
    }  # fmt: skip
    what = programs[given.pop("what")]
    warm_up()
    print(json.dumps(what(**{**given, "path": Path(given["path"])})))  # noqa: T201
