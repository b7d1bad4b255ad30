"""A command killed at any moment loses nothing it acknowledged, leaves nothing half done, and can be finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.fault_tools import base_seed, report, run_program, size
from faults.programs.commands import COMMANDS

_SHARDS = 6  # so that parallel runs share the work
_NAMES = [command.name for command in COMMANDS]


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_a_killed_command_loses_nothing_leaves_nothing_half_done_and_can_be_finished(
    quick_path: Path, shard: int
) -> None:
    kills, seed = size(2, 20_000 // len(_NAMES) + 1), base_seed()
    result = run_program("kill_commands", folder=quick_path, seed=seed, kills=kills, names=_NAMES[shard::_SHARDS])
    assert sorted(result) == sorted(_NAMES[shard::_SHARDS])
    for name, told in result.items():
        assert told["runs"] == kills, name
    killed = sum(told["killed"] for told in result.values())
    assert killed > 0
    report(
        f"commands: {len(result)}, killed: {killed}, ended before the kill: {len(result) * kills - killed}, lost: 0, "
        f"half done: 0, could not be finished: 0, fail-points: {sum(told['points'] for told in result.values())}, "
        f"tried: {sum(told['tried'] for told in result.values())}, seed: {seed}"
    )
