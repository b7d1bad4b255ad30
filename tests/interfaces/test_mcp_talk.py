"""Whole talks with an MCP server as approved: what every tool of every profile answers a program and a model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import recollect
from approval import approve
from code_programs import PROGRAMS
from conftest import HandClock
from interfaces.test_mcp import Held, inside
from recollect.app import Recollect

_MARK = re.compile(r"(?<=recollect.memory )[0-9a-f]{16}|\d{8}T\d{6}\.\d+Z")


@pytest.fixture
def taught(tmp_path: Path, clock: HandClock, counted_ids: None, monkeypatch: pytest.MonkeyPatch) -> Recollect:
    """A project with memories of a person, documents, code and talk, as an agent finds it."""
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    root = tmp_path / "project"
    for name, text in PROGRAMS["python"].files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "guide.md").write_text("# Guide\n\nDeploys run `make ship` from main. See [gone](missing.md).\n")
    memory = recollect.open(root, project="quay", actor="ada", clock=clock)
    memory.remember("Run make gen before the tests.", kind="gotcha", files=["Makefile"], tags=["build"])
    clock.pass_(days=2)
    memory.remember("Every endpoint must answer within 200 ms.", kind="requirement")
    memory.docs.index([root])
    memory.code.index(root)
    memory.sessions.capture("I am Caroline. I moved to Lisbon in March 2024.", session="one", role="user")
    memory.sessions.consolidate("one")
    clock.pass_(days=1)
    return memory


def talk(memory: Recollect, profile: str, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """The answers to some calls; an argument `$name` is the id that the call of that tool answered last."""
    answers: list[Any] = []
    ids: dict[str, str] = {}

    async def ask(client: Client) -> None:
        for name, given in calls:
            sent = {
                key: ids[value] if isinstance(value, str) and value in ids else value for key, value in given.items()
            }
            told = await client.call_tool(name, sent)
            value = told.structured_content or {}
            if isinstance(value.get("id"), str):
                ids[f"${name}"] = value["id"]
            (block,) = told.content
            text = getattr(block, "text", "")
            plain = _MARK.sub("…", text)
            is_the_same = text.startswith("{") and text.endswith("}") and json.loads(text) == value
            answers.append(
                {
                    "call": [name, given],
                    "error": told.is_error,
                    "value": value,
                    "text": "same" if is_the_same else plain,
                }
            )

    inside(ask, Held(memory.through("mcp")), profile)
    return answers


TALKS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "default": [
        ("search", {"query": "why do tests fail", "limit": 1}),
        ("search", {"query": "endpoint", "kinds": ["requirement"], "files": ["api.py"]}),
        ("search", {"query": "zebra", "tags": ["none"]}),
        ("add", {"content": "The parser needs Python 3.11.", "kind": "fact", "tags": ["py"], "why": "seen"}),
        ("add", {"content": "The parser needs Python 3.11."}),
        ("get", {"id": "$add"}),
        ("update", {"id": "$add", "confidence": 0.4, "tags": ["python"], "why": "less sure", "if_revision": 1}),
        ("update", {"id": "$add", "content": "The parser needs Python 3.12.", "why": "it moved"}),
        ("update", {"id": "$update", "content": "x", "if_revision": 1}),
        ("update", {"id": "$update"}),
        ("feedback", {"id": "$update", "verdict": "confirm"}),
        ("feedback", {"id": "$update", "verdict": "dispute", "why": "not sure"}),
        ("context", {"task": "change the endpoint tests", "budget": 400, "phase": "implement"}),
        ("feedback", {"id": "$update", "verdict": "reject", "why": "wrong"}),
        ("forget", {"id": "$update", "why": "gone"}),
        ("get", {"id": "$update"}),
        ("status", {}),
    ],
    "assistant": [
        ("search_memory", {"query": "Where does Caroline live?"}),
        ("remember_fact", {"content": "Caroline has two cats."}),
        ("search_memory", {"query": "cats"}),
        ("correct_fact", {"id": "$remember_fact", "content": "Caroline has three cats.", "why": "one more"}),
        ("confirm_fact", {"id": "$remember_fact"}),
        ("get_entity_info", {"name": "Caroline"}),
        ("get_entity_info", {"name": "Nobody"}),
        ("memory_stats", {}),
        ("remember_fact", {}),
    ],
    "code": [
        ("code_impact", {"target": "src/shop/prices.py", "depth": 2}),
        ("code_deps", {"target": "app.py", "most": 3}),
        ("code_search", {"query": "total price", "limit": 2}),
        ("code_impact", {"target": "nowhere.py"}),
    ],
    "docs": [("docs_search", {"query": "how do deploys run", "limit": 2}), ("docs_check", {})],
    "admin": [("check", {}), ("check", {"quick": True}), ("backup", {})],
}  # fmt: skip


@pytest.mark.parametrize("profile", sorted(TALKS))
def test_a_talk_with_the_server_is_answered_as_approved(taught: Recollect, profile: str, tmp_path: Path) -> None:
    try:
        answers = talk(taught, profile, TALKS[profile])
    finally:
        taught.close()
    text = _MARK.sub("…", json.dumps(answers, default=str))
    approve(f"talk-{profile}", json.loads(text, parse_float=lambda digits: round(float(digits), 6)), root=tmp_path)
