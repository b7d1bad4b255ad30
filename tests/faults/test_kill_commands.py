"""A command killed at any moment loses nothing it acknowledged, leaves nothing half done, and can be finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.fault_tools import SCALE, base_seed, report, run_program, size
from faults.programs.commands import COMMANDS
from recollect.interfaces import cli

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


_JOBS = (
    "docs index",
    "code index",
    "tend --job consolidate",
    "another embedder",
    "backup",
    "upgrade",
    "restore",
    "repair",
)


@pytest.mark.parametrize("job", _JOBS)
def test_a_job_killed_at_its_fail_points_resumes_and_what_was_there_serves_meanwhile(
    quick_path: Path, job: str
) -> None:
    """Twenty times each of its fail-points in a nightly run, a few of them otherwise."""
    result = run_program("kill_commands", folder=quick_path, seed=base_seed(), kills=2, names=[job], rounds=20 * SCALE)
    told = result[job]
    report(
        f"jobs: 1, killed at fail-points: {told['killed']}, lost: 0, duplicated: 0, could not be finished: 0, "
        f"fail-points: {told['points']}, tried: {told['tried']}"
    )


# Commands that write nothing, or only what a person watches; serving is tried by what is served, and a sync by killing
# both of its sides (tests/sync). A demo has a store of its own, which it removes.
_READING = frozenset(
    ["brief", "list", "projects", "show", "why", "history", "doctor", "status", "logs", "providers", "foresee", "facts",
     "models", "completion", "serve", "panel", "sync", "demo", "trend"]
)  # fmt: skip


def test_every_command_that_writes_is_killed() -> None:
    tried = {word for command in COMMANDS for word in command.name.split()}
    assert set(cli.COMMANDS) - _READING <= tried
