"""When the power fails, what was acknowledged as durable is there, and the store is sound."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import State, assert_sound, base_seed, described, differing, report, size, state, words
from faults.power import Disk, Event, Replay, disk, open_on, put
from recollect import Draft, Recollect

_SHARDS = 3
_CUTS_PER_RECORDING = 1_000
_ACTS = 45
_PROJECT = "powered"


@dataclass
class _Step:
    """One act: where in the log it began and was acknowledged, whether that promised durability, what it made."""

    began: int
    ended: int
    durable: bool
    after: State


@dataclass
class _Recording:
    path: Path
    opened: int = 0
    steps: list[_Step] = field(default_factory=list)
    log: list[Event] = field(default_factory=list)

    def allowed(self, at: int) -> tuple[int, int]:
        """The first and last step whose outcome may be found after a cut at this log position."""
        kept = max((n for n, step in enumerate(self.steps) if step.durable and step.ended <= at), default=-1)
        begun = max((n for n, step in enumerate(self.steps) if step.began < at), default=-1)
        return kept, max(kept, begun)

    def after(self, step: int) -> State:
        return self.steps[step].after if step >= 0 else {}


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_a_power_cut_anywhere_keeps_every_durable_act_and_a_sound_store(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, shard: int
) -> None:
    cuts = size(3_000, 100_000) // _SHARDS
    seed = base_seed() + shard * 1_000_000
    done = dropped = 0
    while done < cuts:
        recording = _record(quick_path / f"{done}", seed + done, monkeypatch)
        some = min(_CUTS_PER_RECORDING, cuts - done)
        dropped += _cut(recording, quick_path / "after.db", seed + done, some)
        done += some
    assert dropped > 0, "no cut ever lost an unsynced act: the disk is not losing anything"
    report(f"power cuts: {cuts}, acknowledged lost: 0, corrupt: 0, unsynced acts lost: {dropped}, seed: {seed}")


def _record(folder: Path, seed: int, patch: pytest.MonkeyPatch) -> _Recording:
    """Create a store and use it, on a disk that remembers everything."""
    rng = random.Random(seed)
    made = _Recording(folder / "memory.db")
    with disk(f"power-{seed}", patch) as logging:
        memory = open_on(logging, made.path, project=_PROJECT)
        made.opened = len(logging.log)
        for _ in range(_ACTS):
            made.steps.append(_step(memory, logging, rng))
        memory.close()
        made.log = logging.log
    return made


def _step(memory: Recollect, logging: Disk, rng: random.Random) -> _Step:
    began = len(logging.log)
    here = [memory.id for memory in memory.list(limit=10_000).memories]
    act = rng.choices(["remember", "batch", "edit", "reject", "forget", "recall"], [5, 2, 4, 1, 2, 3])[0]
    match act if here else "remember":
        case "remember":
            memory.remember(words(rng), tags=["single"])
        case "batch":
            memory.remember_all([Draft(words(rng)) for _ in range(rng.randint(2, 8))])
        case "edit":
            memory.edit(rng.choice(here), content=words(rng))
        case "reject":
            memory.reject(rng.choice(here))
        case "forget":
            memory.forget(rng.choice(here))
        case "recall":
            memory.recall(memory.get(rng.choice(here)).content)
    return _Step(began, len(logging.log), act != "recall", state(memory))


def _cut(recording: _Recording, path: Path, seed: int, cuts: int) -> int:
    """Cut the power so many times; how often an act that was not yet durable was lost."""
    rng = random.Random(seed)
    replay = Replay(recording.log)
    dropped = 0
    for number, at in enumerate(sorted(rng.randrange(len(recording.log) + 1) for _ in range(cuts))):
        replay.advance(at)
        put(replay.left(random.Random(seed + number)), at=path, instead_of=recording.path)
        kept, begun = recording.allowed(at)
        with recollect.open(path, project=_PROJECT if at < recording.opened else None) as memory:
            found = assert_sound(memory)
        step = next((n for n in range(begun, kept - 1, -1) if recording.after(n) == found), None)
        assert step is not None, (
            f"cut {number} at {at} of seed {seed}: not the state after any of the acts {kept}..{begun}; "
            f"from the last durable one it differs in {described(differing(recording.after(kept), found))}"
        )
        dropped += step < begun
    return dropped
