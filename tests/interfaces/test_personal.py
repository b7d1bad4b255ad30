"""A memory that recall handed out can be shown, judged, changed and forgotten, whichever store it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

import recollect
from recollect.app import Recollect
from recollect.core.errors import MemoryNotFound
from recollect.interfaces.cli import main
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.wiring import PERSONAL

MINE = "I like flint in the morning."


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a memory, beside a person's own store with another."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    with recollect.open(PERSONAL) as own:
        own.remember(MINE, kind="preference", visibility="personal")
    with recollect.open(root) as memory:
        memory.remember("The project likes granite.")
    return root


def own_id(memory: Recollect) -> str:
    [hit] = [hit for hit in memory.recall("flint morning") if hit.memory.visibility == "personal"]
    return hit.id


# --- Python --------------------------------------------------------------------------------------------------------


@pytest.fixture
def memory(project: Path) -> Iterator[Recollect]:
    with recollect.open(project, personal=True) as opened:
        yield opened


def test_a_personal_memory_is_got_and_explained(memory: Recollect) -> None:
    id = own_id(memory)
    assert memory.get(id).content == MINE
    assert memory.why(id).memory.id == id
    assert [entry.change.memory for entry in memory.history(id)] == [id]
    assert memory.get(id[-8:]).id == id


@pytest.mark.parametrize(
    ("act", "seen"),
    [
        (lambda memory, id: memory.confirm(id), lambda one: one.verified),
        (lambda memory, id: memory.reject(id), lambda one: one.status == "rejected"),
        (lambda memory, id: memory.dispute(id), lambda one: one.status == "disputed"),
        (lambda memory, id: memory.pin(id), lambda one: one.pinned),
        (lambda memory, id: memory.edit(id, tags=["stone"]), lambda one: one.tags == ("stone",)),
    ],
    ids=["confirm", "reject", "dispute", "pin", "edit"],
)
def test_an_act_on_a_personal_memory_is_kept_in_the_persons_store(
    memory: Recollect, act: Callable[[Recollect, str], object], seen: Callable[[Any], bool]
) -> None:
    id = own_id(memory)
    act(memory, id)
    assert seen(memory.get(id))
    with recollect.open(PERSONAL) as own:
        assert seen(own.get(id))
    memory.undo(id)
    assert not seen(memory.get(id))


def test_a_corrected_personal_memory_stays_personal(memory: Recollect) -> None:
    id = own_id(memory)
    receipt = memory.correct(id, "I like flint in the evening.")
    assert receipt.verdict == "supersedes"
    assert memory.get(receipt.id).visibility == "personal"
    with recollect.open(PERSONAL) as own:
        assert [one.content for one in own.list()] == ["I like flint in the evening."]


def test_a_forgotten_personal_memory_is_gone_from_the_persons_store(memory: Recollect) -> None:
    id = own_id(memory)
    assert memory.forget(id).id == id
    with recollect.open(PERSONAL) as own, pytest.raises(MemoryNotFound):
        own.get(id)


# --- the command line ----------------------------------------------------------------------------------------------


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def ran(*words: str) -> Any:
        assert main(["--as-person", *words, "--json"]) == 0, capsys.readouterr()
        return json.loads(capsys.readouterr().out)

    return ran


def test_every_command_takes_the_id_of_a_personal_memory(run: Callable[..., Any]) -> None:
    [hit] = [hit for hit in run("recall", "flint", "morning")["hits"] if hit["memory"]["visibility"] == "personal"]
    id = hit["id"]
    assert run("show", id)["content"] == MINE
    assert run("why", id)["memory"]["id"] == id
    assert run("confirm", id)["verified"]
    assert run("pin", id)["pinned"]
    assert run("edit", id, "--tag", "stone")["tags"] == ["stone"]
    assert run("dispute", id)["status"] == "disputed"
    better = run("correct", id, "I like flint at noon.")["id"]
    assert run("reject", better)["status"] == "rejected"
    assert run("forget", better)["forgotten"] == better
    assert main(["show", better]) == 3


# --- MCP -----------------------------------------------------------------------------------------------------------


def test_every_tool_takes_the_id_of_a_personal_memory(project: Path) -> None:
    handle = MemoryHandle(str(project))

    async def talk() -> None:
        async with Client(build(handle)) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer
                return answer.structured_content

            hits = (await call("search", query="flint morning"))["hits"]
            [id] = [hit["id"] for hit in hits if hit["memory"]["visibility"] == "personal"]
            assert (await call("get", id=id))["content"] == MINE
            assert "verified" not in await call("feedback", id=id, verdict="confirm")
            assert (await call("feedback", id=id, verdict="dispute"))["status"] == "disputed"
            proposed = await call("update", id=id, content="I like flint at noon.")
            assert (proposed["supersedes"], proposed["memory"]["status"]) == (None, "candidate")
            better = proposed["id"]
            assert (await call("update", id=better, tags=["stone"]))["memory"]["tags"] == ["stone"]
            assert (await call("feedback", id=better, verdict="reject"))["status"] == "rejected"
            assert (await call("forget", id=better))["forgotten"] == better

    try:
        anyio.run(talk)
    finally:
        handle.close()
