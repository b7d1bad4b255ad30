"""What all fault tests share: how many, which seed, the state of a memory as a value, and whether it is sound.

Everything is seen through the public API. Nothing here knows which fault was injected.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import recollect
from recollect import Filter, Memory, Recollect, Status
from recollect.remember.replay import replay
from recollect.store.check import check

SCALE = float(os.environ.get("RECOLLECT_SOAK") or 0)  # 1 is a nightly run, 0.2 a fifth of it
SOAK = SCALE > 0
EVERYTHING = Filter(statuses=frozenset(Status))
_NO_LIMIT = 10**9
_MOVING = frozenset(
    ["merge", "edit", "confirm", "reject", "dispute", "supersede", "pin", "unpin", "propagate", "undo"]
)  # log actions that raise the revision of the row they speak of

State = dict[str, Memory]


def size(small: int, large: int) -> int:
    """How often: the small number in every run, the large one under `make soak`, or as much of it as was asked for."""
    return max(small, round(large * SCALE))


def base_seed() -> int:
    """One number from which every iteration's seed follows. Fixed in every run, fresh in a soak, or as given."""
    given = os.environ.get("RECOLLECT_FAULT_SEED")
    if given is not None:
        return int(given)
    return random.SystemRandom().randrange(10**9) if SOAK else 20_261_115


FIGURES: list[str] = []  # of the running test; `tests/conftest.py` hands them on to the summary of the run


def report(line: str) -> None:
    """A figure for the reader of the run: how many, how many lost, which seed.

    Write it as `name: number` pairs: `benchmarks/faults.py` adds up the lines that have the same names.
    """
    print(line, flush=True)  # noqa: T201
    FIGURES.append(line)


def words(rng: random.Random, count: int = 4) -> str:
    """A statement nobody made before: its words share no topic with any other, so nothing is resolved against it."""
    return " ".join(f"{rng.choice('bcdfghjklm')}{rng.getrandbits(40):010x}" for _ in range(count))


def state(memory: Recollect) -> State:
    """Every memory of every status, by id. A row that cannot be read is a failure."""
    page = memory.list(EVERYTHING, order="oldest", limit=_NO_LIMIT)
    assert not page.damaged, page.damaged
    return {memory.id: memory for memory in page.memories}


def readable(memory: Recollect) -> State:
    """Every memory of every status that can be read, by id."""
    return {memory.id: memory for memory in memory.list(EVERYTHING, order="oldest", limit=_NO_LIMIT).memories}


def assert_sound(memory: Recollect) -> State:
    """Rows, keyword entries, facets and log tell the same story; the state they tell.

    `check` compares rows with every projection and verifies the chain. The log alone says which memories exist and
    at which revision, so a row without its entry, or an entry without its row, shows here.
    """
    found = check(memory.store)
    assert found.ok, found.findings
    rows = state(memory)
    entries = [entry for entry in reversed(memory.history(limit=_NO_LIMIT)) if entry.change.memory is not None]
    forgotten = {entry.change.memory for entry in entries if entry.change.action in ("forget", "erase")}
    told: dict[str, int] = {}
    for entry in entries:
        id, action = str(entry.change.memory), entry.change.action
        if id in forgotten:  # its bodies are erased; that it is gone is all there is to tell
            continue
        if action == "add":
            assert id not in told, f"{id} was added twice"
            told[id] = 1
        elif action == "undo" and entry.change.before is None:
            del told[id]
        elif action in _MOVING:
            told[id] += 1
    assert told == {id: row.revision for id, row in rows.items()}, "the log and the rows differ"
    return rows


def assert_replays(memory: Recollect) -> State:
    """Every projection matches the rows, and replaying the log gives exactly the rows; the rows.

    How often a memory was read is no part of the log, so usage is left out.
    """
    found = check(memory.store)
    assert found.ok, found.findings
    rows = {one.id: one for page in memory.store.memories.every() for one in page.memories}
    told = replay(memory.store.log.replayable(), memory.store.kinds)
    changed = differing(_unused(told.memories), _unused(rows))
    assert not changed, f"the log and the rows differ: {described(dict(list(changed.items())[:3]))}"
    return rows


def _unused(rows: Mapping[str, Memory]) -> State:
    usage = {"access_count": 0, "streak": 0}
    return {id: row.having(**usage, accessed_at=row.created_at) for id, row in rows.items()}


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> dict[str, tuple[Memory | None, Memory | None]]:
    """The ids on which two states differ, each with both versions."""
    return {id: (one.get(id), other.get(id)) for id in {*one, *other} if one.get(id) != other.get(id)}


def described(changed: Mapping[str, tuple[Memory | None, Memory | None]]) -> dict[str, Any]:
    """A difference in as few words as possible."""
    return {id: _described(was, now) for id, (was, now) in changed.items()}


def _described(was: Memory | None, now: Memory | None) -> Any:
    if was is None or now is None:
        return f"{was and was.content!r} -> {now and now.content!r}"
    names = [name for name in Memory.__dataclass_fields__ if getattr(was, name) != getattr(now, name)]
    return {name: (getattr(was, name), getattr(now, name)) for name in names}


# --- programs -------------------------------------------------------------------------------------------------------


def environment(**extra: str) -> dict[str, str]:
    """The environment of a helper process: the same Recollect as this one, and this folder."""
    source, tests = Path(recollect.__file__).parents[1], Path(__file__).parents[1]
    return {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{tests}", "PYTHONHASHSEED": "0", **extra}


def run_program(name: str, **arguments: Any) -> dict[str, Any]:
    """Run `faults/programs/<name>.py` in a fresh, single-threaded process that may fork; its answer.

    Forking from the test process itself would copy the test runner's threads.
    """
    script = Path(__file__).parent / "programs" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(script), json.dumps(arguments, default=str)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{name} {arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def tally(errors: list[str]) -> str:
    """Errors by their text, most frequent first, for a readable failure."""
    return "; ".join(f"{count} x {text}" for text, count in Counter(errors).most_common(5))
