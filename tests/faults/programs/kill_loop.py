"""Kills a writer again and again and compares what it acknowledged with what is there afterwards.

The writer announces each act before it begins and acknowledges it, with the rows it touched, after it returned. After a
kill the store must hold exactly what was acknowledged, and of the one act in flight either all or nothing.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import recollect
from faults.fault_tools import State, assert_sound, described, differing, state, words
from recollect import Draft, Memory, Recollect
from recollect.core.errors import CannotUndo, NothingToUndo, Tombstoned

KILLS_PER_STORE = 20
_SHORTEST, _LONGEST = 0.003, 0.050  # seconds a writer lives
_OPEN = ("active", "disputed")


@dataclass
class Known:
    """What the oracle knows: every row, what belongs together, which statements must stay gone."""

    rows: State = field(default_factory=dict)
    batches: dict[str, tuple[str, ...]] = field(default_factory=dict)  # id → all ids added in the same act
    gone: list[str] = field(default_factory=list)  # contents that were forgotten


Intent = tuple[str, dict[str, Any]]
Tell = Callable[[str, Any], None]


# --- the writer -----------------------------------------------------------------------------------------------------


def write_until_killed(path: Path, known: Known, seed: int, tell: Tell) -> None:
    rng = random.Random(seed)
    memory = recollect.open(path)
    while True:
        act = rng.choices(
            ["remember", "batch", "same", "edit", "reject", "undo", "forget", "recall"], [5, 3, 1, 3, 1, 2, 2, 2]
        )[0]
        _ACTS[act](memory, known, rng, tell)


def _remember(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    _add(memory, known, tell, [Draft(words(rng), tags=[f"tag{rng.randrange(5)}"])])


def _batch(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    _add(memory, known, tell, [Draft(words(rng), files=[f"src/f{n}.py"]) for n in range(rng.randint(2, 12))])


def _add(memory: Recollect, known: Known, tell: Tell, drafts: list[Draft]) -> None:
    tell("begin", ("add", {"contents": [draft.content for draft in drafts]}))
    receipts = memory.remember_all(drafts)
    rows = {receipt.id: receipt.memory for receipt in receipts}
    _done(known, tell, rows, tuple(rows))


def _same(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng):
        tag = f"again{rng.getrandbits(30)}"
        tell("begin", ("change", {"id": one.id, "tags": (*one.tags, tag)}))
        receipt = memory.remember(one.content, tags=[tag])
        assert receipt.verdict == "same", receipt
        _done(known, tell, {one.id: memory.get(one.id)})


def _edit(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng):
        content = words(rng)
        tell("begin", ("change", {"id": one.id, "content": content}))
        _done(known, tell, {one.id: memory.edit(one.id, content=content, if_revision=one.revision)})


def _reject(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng):
        tell("begin", ("change", {"id": one.id, "status": "rejected"}))
        _done(known, tell, {one.id: memory.reject(one.id)})


def _forget(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng, any_status=True):
        tell("begin", ("forget", {"id": one.id}))
        memory.forget(one.id)
        known.gone.append(one.content)
        tell("gone", one.content)
        _done(known, tell, {one.id: None})


def _undo(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng, any_status=True):
        tell("begin", ("undo", {"id": one.id}))
        try:
            undone = memory.undo(one.id)
        except (CannotUndo, NothingToUndo):
            _done(known, tell, {})
        else:
            after = state(memory)
            _done(known, tell, {id: after.get(id) for id in undone.memories})


def _recall(memory: Recollect, known: Known, rng: random.Random, tell: Tell) -> None:
    if one := _pick(known, rng):
        tell("begin", ("recall", {"id": one.id}))
        briefing = memory.recall(one.content.split()[0])
        assert [hit.id for hit in briefing] == [one.id], (one, briefing.hits)
        assert not briefing.notes, briefing.notes
        _done(known, tell, {one.id: memory.get(one.id)})


_ACTS: dict[str, Callable[[Recollect, Known, random.Random, Tell], None]] = {
    "remember": _remember, "batch": _batch, "same": _same, "edit": _edit, "reject": _reject, "undo": _undo,
    "forget": _forget, "recall": _recall,
}  # fmt: skip


def _pick(known: Known, rng: random.Random, *, any_status: bool = False) -> Memory | None:
    eligible = [row for row in known.rows.values() if any_status or row.status in _OPEN]
    return rng.choice(eligible) if eligible else None


def _done(known: Known, tell: Tell, rows: dict[str, Memory | None], batch: tuple[str, ...] = ()) -> None:
    _learn(known, rows, batch)
    tell("ack", (rows, batch))


def _learn(known: Known, rows: dict[str, Memory | None], batch: tuple[str, ...]) -> None:
    for id, row in rows.items():
        known.rows.pop(id, None)
        if row is not None:
            known.rows[id] = row
    known.batches.update(dict.fromkeys(batch, batch))


# --- the killer and its oracle --------------------------------------------------------------------------------------


def killed_writer(path: Path, known: Known, seed: int) -> tuple[int, Intent | None]:
    """Let a writer live for some milliseconds; how many acts it acknowledged, and the one it was in the middle of."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_writer(path, known, seed, reading, writing)
    os.close(writing)
    received = _listen(reading, until=time.monotonic() + random.Random(seed).uniform(_SHORTEST, _LONGEST))
    os.kill(child, signal.SIGKILL)
    received += _listen(reading, until=None)
    os.close(reading)
    os.waitpid(child, 0)
    return _follow(known, received)


def _be_writer(path: Path, known: Known, seed: int, reading: int, writing: int) -> None:
    os.close(reading)

    def tell(kind: str, value: Any) -> None:
        text = pickle.dumps((kind, value))
        os.write(writing, len(text).to_bytes(4) + text)

    try:
        write_until_killed(path, known, seed, tell)
    except BaseException as error:
        tell("error", f"{type(error).__name__}: {error}")
    os._exit(1)


def _listen(fd: int, *, until: float | None) -> bytes:
    received = b""
    while until is None or select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
        some = os.read(fd, 65_536)
        received += some
        if not some:
            break
    return received


def _follow(known: Known, received: bytes) -> tuple[int, Intent | None]:
    """Take in every complete message."""
    acked, intent, at = 0, None, 0
    while at + 4 <= len(received):
        length = int.from_bytes(received[at : at + 4])
        if at + 4 + length > len(received):
            break
        kind, value = pickle.loads(received[at + 4 : at + 4 + length])
        at += 4 + length
        if kind == "error":
            raise AssertionError(f"the writer met an error: {value}")
        if kind == "begin":
            intent = value
        elif kind == "gone":
            known.gone.append(value)
        else:
            _learn(known, *value)
            acked, intent = acked + 1, None
    return acked, intent


def verify(path: Path, known: Known, intent: Intent | None) -> None:
    """The store holds what was acknowledged and all or nothing of `intent`; the oracle learns which."""
    with recollect.open(path) as memory:
        rows = assert_sound(memory)
        changed = differing(known.rows, rows)
        if changed:
            assert intent is not None, f"acknowledged, but not there: {described(changed)}"
            _assert_whole(known, intent, changed)
        if intent is not None and intent[0] == "forget" and intent[1]["id"] not in rows:
            known.gone.append(known.rows[intent[1]["id"]].content)
        _learn(known, {id: now for id, (_, now) in changed.items()}, _added(changed))
        _assert_gone(memory, known)


def _assert_whole(known: Known, intent: Intent, changed: dict[str, tuple[Memory | None, Memory | None]]) -> None:
    what, asked = intent
    told = (intent, described(changed))
    match what:
        case "add":
            assert sorted(asked["contents"]) == sorted(now.content for _, now in changed.values()), told
        case "forget":
            assert {id: now for id, (_, now) in changed.items()} == {asked["id"]: None}, told
        case "undo":
            vanished = {id for id, (_, now) in changed.items() if now is None}
            assert not vanished or vanished == set(known.batches[asked["id"]]), told
            assert set(changed) - vanished <= {asked["id"]}, told
        case _:
            assert set(changed) == {asked["id"]}, told
            now = changed[asked["id"]][1]
            assert all(getattr(now, name) == value for name, value in asked.items()), told


def _added(changed: dict[str, tuple[Memory | None, Memory | None]]) -> tuple[str, ...]:
    return tuple(id for id, (was, _) in changed.items() if was is None)


def _assert_gone(memory: Recollect, known: Known) -> None:
    """One forgotten statement per visit: it is refused, so its tombstone was part of the same act."""
    if known.gone:
        try:
            memory.remember(known.gone[-1])
        except Tombstoned:
            return
        raise AssertionError(f"forgotten, but could be said again: {known.gone[-1]}")


def kill_reopening(path: Path, seed: int) -> None:
    """Kill a process in the middle of recovering the log that the last kill left."""
    child = os.fork()
    if child == 0:
        with recollect.open(path) as memory:
            memory.count()
        os._exit(0)
    time.sleep(random.Random(seed).uniform(0, 0.004))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def warm_up() -> None:
    """Load here what is loaded on first use, so that a writer's few milliseconds go into writing."""
    with recollect.open(":memory:") as memory:
        memory.forget(memory.edit(memory.remember("warm").id, content="warmer").id)
        memory.recall("warm")


def main(folder: Path, seed: int, kills: int) -> dict[str, int]:
    warm_up()
    acked = in_flight = 0
    known = Known()
    for number in range(kills):
        if number % KILLS_PER_STORE == 0:
            shutil.rmtree(folder, ignore_errors=True)
            known = Known()
        path = folder / "memory.db"
        now_acked, intent = killed_writer(path, known, seed + number)
        acked += now_acked
        in_flight += intent is not None
        if number % 3 == 0:
            kill_reopening(path, seed + number)
        try:
            verify(path, known, intent)
        except Exception as error:
            raise AssertionError(f"kill {number} of seed {seed}: {error}") from error
    return {"kills": kills, "acked": acked, "in_flight": in_flight}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(main(Path(given["folder"]), given["seed"], given["kills"])))  # noqa: T201
