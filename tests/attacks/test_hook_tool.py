"""The hook's tool over MCP serves the project it was started for, in its own profile, and writes nothing read-only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

import recollect
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build

SECRET = "The merger with Initech closes in June and is confidential."


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_ARM", "full")
    mine, other = tmp_path / "mine", tmp_path / "other"
    for root in (mine, other):
        (root / ".recollect").mkdir(parents=True)
        with recollect.open(root) as memory:
            memory.remember(SECRET if root is other else "The harbour opens at six.", kind="decision")
    return mine, other


def asked(handle: MemoryHandle, profile: str, cwd: Path) -> tuple[list[str], str]:
    async def talk() -> tuple[list[str], str]:
        async with Client(build(handle, profile=profile)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            event: dict[str, Any] = {"hook_event_name": "SessionStart", "session_id": "z", "cwd": str(cwd)}
            try:
                answer = await client.call_tool("hook", {"host": "claude-code", "source": "startup", **event})
            except Exception as refusal:  # the SDK's own way to say that there is no such tool
                return names, f"refused: {refusal}"
            return names, json.dumps([part.model_dump() for part in answer.content], default=str)

    try:
        return anyio.run(talk)
    finally:
        handle.close()


def test_an_event_of_another_project_is_not_answered(projects: tuple[Path, Path]) -> None:
    mine, other = projects
    names, told = asked(MemoryHandle(str(mine)), "hooks", other)
    assert names == ["hook"]
    assert "Initech" not in told
    assert "harbour" in asked(MemoryHandle(str(mine)), "hooks", mine)[1]


@pytest.mark.parametrize("profile", ["default", "assistant", "code", "docs", "admin"])
def test_a_tool_that_is_not_listed_cannot_be_called(projects: tuple[Path, Path], profile: str) -> None:
    mine, _ = projects
    names, told = asked(MemoryHandle(str(mine)), profile, mine)
    assert "hook" not in names
    assert "harbour" not in told


def test_a_server_that_only_reads_writes_nothing(projects: tuple[Path, Path]) -> None:
    mine, _ = projects
    with recollect.open(mine):
        pass
    before = {path: path.read_bytes() for path in sorted(mine.rglob("*")) if path.is_file()}
    names, told = asked(MemoryHandle(str(mine), read_only=True), "hooks", mine)
    assert names == []
    assert "harbour" not in told
    after = {path for path in sorted(mine.rglob("*")) if path.is_file()}
    assert not [path for path in after - set(before) if "spool" in str(path)]
