"""Copies that are edited, cut off, killed, delayed and misdated end up the same: nothing lost, nothing back.

500 stories of 30 steps here; `RECOLLECT_SYNC_SEEDS` and `RECOLLECT_SYNC_STEPS` ask for more and longer ones (`make
soak` has 20,000). A fault names its seed: `simulate(seed, steps)` tells the same story again.
"""

from __future__ import annotations

import os

import pytest

from recollect.sync.rules import MergedState
from sync import simulation
from sync.simulation import World, simulate

SEEDS = int(os.environ.get("RECOLLECT_SYNC_SEEDS", "500"))
STEPS = int(os.environ.get("RECOLLECT_SYNC_STEPS", "30"))
PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_every_story_ends_well(part: int) -> None:
    found = {seed: faults[:3] for seed in range(part, SEEDS, PARTS) if (faults := simulate(seed, STEPS))}
    assert found == {}


def test_long_stories_end_well() -> None:
    assert {seed: faults[:3] for seed in (1, 2) if (faults := simulate(seed, 800))} == {}


def test_the_same_seed_is_the_same_story() -> None:
    ends = []
    for _ in range(2):
        world = World(7)
        world.run(60)
        world.settle()
        ends.append(world.server.memories)
    assert ends[0] == ends[1]


def test_a_merge_that_drops_our_words_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle can fail: without the fork, words are lost, and it says so."""
    from recollect.sync import pulling

    real = pulling.merge_states
    monkeypatch.setattr(pulling, "merge_states", lambda *states: MergedState(real(*states).state))
    told = [fault for seed in range(30) for fault in simulate(seed, 60)]
    assert any("are lost" in fault for fault in told)


def test_a_server_that_applies_a_batch_twice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.sync import server

    monkeypatch.setattr(server.SyncServer, "_applied", lambda self, batch: None)
    monkeypatch.setattr(server._Applying, "_apply_state", _apply_blindly)
    assert any(fault for seed in range(12) for fault in simulate(seed, 60))


def _apply_blindly(self: object, record: object, state: object) -> object:
    """As a server would that compares no versions."""
    self._edits.put(record.key, state)  # type: ignore[attr-defined]
    return simulation.RecordResult(record.key, "applied", 1)  # type: ignore[attr-defined]
