"""Every tool of every profile with arguments made from its own schema, and with what no schema allows: an answer each
time, soon, in the shape that was promised, and never an internal error."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import validate
from mcp import Client, MCPError

import recollect
from faults.fault_tools import base_seed, report, size
from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build

SLOW = 5.0  # seconds
TEXTS: tuple[Any, ...] = (
    "", "a", "\x00", "x" * 100_000, "../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "..%2f..%2ftmp",
    "a' OR 1=1 --", '" OR *', "NEAR(a b, 5)", "col:val AND NOT", "*", "^x", "{}", "-1", "1e999", "\u202e\u2066",
    "💥" * 500, "a" * 50 + "\n" * 500, "[[[[" * 1_000, "%s%n", "2026-13-45", "9999-12-31T23:59:59Z", "0001-01-01",
    "P1000000Y", "pump", "Pumps need oil in spring.", "docs/a.md", "x.py", "x.py:f", "\ufffd\uffff", "e\u0301",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    *TEXTS, None, True, 0, -1, 2**31, 2**63, 2**70, 1e308, -0.0, [], {}, [["x"]], {"a": {"b": [1]}}, ["../x"] * 500,
    [None], [[[[[[]]]]]], ["\x00"], {"": ""},
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "a.md").write_text("# A\n\nThe pump must run.\n", encoding="utf-8")
    (root / "x.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    (root / ".recollect").mkdir()
    with recollect.open(root) as memory:
        for number in range(12):
            memory.remember(f"Pump {number} needs oil in spring.", tags=["oil"], files=["x.py"])
        memory.docs.index()
        memory.code.index()
    return root


def make(schema: dict[str, Any], chance: random.Random, ids: list[str], depth: int = 0) -> Any:
    """A value that a schema allows, or at times one it does not."""
    if chance.random() < 0.15 or depth > 4:
        return chance.choice(ODD)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return make(chance.choice(schema["anyOf"]), chance, ids, depth + 1)
    match schema.get("type"):
        case "string":
            return chance.choice([*TEXTS, *ids])
        case "integer":
            return chance.choice([schema.get("minimum", 0), schema.get("maximum", 10), 1, 5, -1, 10**9])
        case "number":
            return chance.choice([0.0, 1.0, 0.5, -0.1, 1e308])
        case "boolean":
            return chance.random() < 0.5
        case "array":
            return [make(schema.get("items", {}), chance, ids, depth + 1) for _ in range(chance.randrange(4))]
        case "object":
            return {"a": 1}
        case _:
            return chance.choice(ODD)


def arguments_for(schema: dict[str, Any], chance: random.Random, ids: list[str]) -> dict[str, Any]:
    required = set(schema.get("required", ()))
    given = {
        name: make(part, chance, ids)
        for name, part in schema.get("properties", {}).items()
        if (name in required and chance.random() > 0.05) or chance.random() < 0.5
    }
    if chance.random() < 0.1:
        given[chance.choice(["__class__", "x\n", "self", "args", "", "id\x00"])] = chance.choice(ODD)
    return given


@pytest.mark.parametrize("profile", PROFILES)
def test_every_tool_answers_whatever_it_is_given(project: Path, profile: str) -> None:
    seed = base_seed()
    each = size(25, 1_000)
    counts = {"calls": 0, "refused": 0}

    async def fuzz() -> None:
        async with Client(build(MemoryHandle(str(project)), profile=profile)) as client:
            tools = (await client.list_tools()).tools
            for tool in tools:
                for number in range(each):
                    chance = random.Random(f"{seed} {profile} {tool.name} {number}")
                    if number % 20 == 0:
                        with recollect.open(project, read_only=True) as memory:
                            ids[:] = [one.id for one in memory.list(limit=5).memories]
                    given = arguments_for(tool.input_schema, chance, ids)
                    began = time.monotonic()
                    where = f"seed {seed}, {profile} {tool.name} {number}: {str(given)[:300]}"
                    answer = await client.call_tool(tool.name, given)
                    assert time.monotonic() - began < SLOW, where
                    counts["calls"] += 1
                    told = json.dumps(answer.structured_content)
                    assert "internal-error" not in told, f"{where} -> {told[:300]}"
                    assert "mistake in Recollect" not in told, f"{where} -> {told[:300]}"
                    shown = " ".join(block.text for block in answer.content if block.type == "text")
                    assert "Traceback" not in shown, where
                    assert "Error executing tool" not in shown, f"{where} -> {shown[:300]}"
                    if answer.is_error:
                        counts["refused"] += 1
                        assert answer.structured_content, where
                        assert set(answer.structured_content) == {"error"}, where
                    elif tool.output_schema is not None:
                        validate(answer.structured_content, tool.output_schema)
            for uri in (
                "recollect://memory/../../../etc/passwd", "recollect://memory/%2e%2e%2f", "file:///etc/passwd",
                "recollect://briefing", "recollect://modules", "recollect://memory/" + "x" * 100_000,
                "recollect://memory/a'%20or%201=1", "recollect://memory/%00",
            ):  # fmt: skip
                try:
                    read = str(await client.read_resource(uri))
                except MCPError as error:
                    read = "internal" if error.error.code == -32603 else ""
                assert read != "internal", uri
                assert "root:" not in read

    ids: list[str] = []
    anyio.run(fuzz)
    with recollect.open(project) as memory:
        assert memory.maintenance.check().ok
    report(f"mcp {profile}: calls: {counts['calls']}, refused: {counts['refused']}, internal errors: 0, slow: 0")
