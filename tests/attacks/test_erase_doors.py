"""What is erased is told by no door: command line, MCP, Python, HTTP; whichever way it was selected.

Every door is asked everything it can be asked before and after: a sweep that finds nothing before would prove nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from starlette.testclient import TestClient

import recollect
from attacks.erasure_places import AT, HOOK_SESSION, Places, canaries, files_with, told_by_every_reader
from faults.fault_tools import base_seed, report, size
from recollect import Filter, Recollect
from recollect.config import Settings
from recollect.core.conversations import Call, Turn
from recollect.dialogue.episodes import Message
from recollect.interfaces.cli import main
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import Application
from recollect.interfaces.http.stores import ServedStores
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.tend.maintenance import restore_backup

QUIET = Settings(embedder="none")
HOST = "127.0.0.1:7737"
# What the canaries stand beside, so that a question finds them without naming them: an answer may repeat its question.
ASKED = ("valve winch tea rope", "hall cleaned letters", "valve", "tea", "letters", "rope harbour", "greet")[
    : size(2, 7)
]


def in_scope(memory: Recollect, name: str, number: int, session: str, user: str | None, tag: str) -> None:
    """Put a name where a session, a user or a filter selects it."""
    match number % 5:
        case 0:
            memory.remember(f"{name} keeps winch {number} dry.", session=session, user=user, tags=[tag])
        case 1:
            said = f"I am {name} and I like tea {number}."
            memory.sessions.capture_all([Message(said, session, "user", user=user)])
            episode = memory.list(Filter(sessions=session, user="*"), limit=1).memories[0].id
            memory.edit(episode, tags=[tag])
        case 2:
            note = {"note": f"rope of {name}"}
            memory.remember(f"Winch {number} has a rope.", session=session, user=user, tags=[tag], attributes=note)
        case 3:
            id = memory.remember(f"Winch {number} is {name}'s.", session=session, user=user, tags=[tag]).id
            memory.edit(id, content=f"Winch {number} belongs to the harbour.", why=f"{name} sold it")
        case 4:
            first = memory.remember(f"Rope {number} of {name} is red.", session=session, user=user, tags=[tag]).id
            memory.remember(f"{name} has {number} ropes.", derived_from=[first], user=user)


def fill(memory: Recollect, project: Path, scope: str, names: list[str]) -> None:
    memory.remember("The harbour is closed in winter, whoever asks.")
    if scope in ("subject", "project", "everything"):
        places = Places(memory, project)
        places.fill(names)
        places.remove_own_files()
        return
    for number, name in enumerate(names):
        in_scope(memory, name, number, HOOK_SESSION, "ann" if scope == "user" else None, "old")
    if scope == "session":
        turn = Turn("turn_1", HOOK_SESSION, "w", "recency", "m", AT, f"I am {names[0]}.", f"Hello {names[1]}!")
        memory.store.turns.put(turn)
        memory.store.turns.put_call("turn_1", 0, Call("a", "look", json.dumps({"who": names[2]}), f"found {names[3]}"))
        Places(memory, project).in_spool(names[4])


def selected(scope: str, names: list[str]) -> dict[str, Any]:
    return {
        "subject": {"subject": names[0], "also": names[1:]},
        "session": {"session": HOOK_SESSION},
        "user": {"user": "ann"},
        "filter": {"filter": Filter(tags="old", user="*")},
        "project": {"project": True},
        "everything": {"everything": True},
    }[scope]


# --- doors ------------------------------------------------------------------------------------------------------------


def by_python(memory: Recollect, project: Path) -> Iterator[str]:
    yield told_by_every_reader(memory, list(ASKED))
    yield repr([memory.brief(asked) for asked in ASKED])


COMMANDS = (
    "list --jsonl --user *", "list --csv --status superseded --status rejected", "history --limit 9999", "facts",
    "entity list", "told", "logs", "review", "docs list", "status", "doctor", "projects", "export",
    "export --format claude", "list --personal --jsonl",
)  # fmt: skip


def by_command_line(memory: Recollect, project: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    asked = [f"{command} {words!r}" for command in ("recall", "brief", "docs search") for words in ASKED]
    for line in (*COMMANDS, *asked):
        command, _, words = line.partition(" '")
        main([*command.split(), *([words.rstrip("'")] if words else []), "--store", str(project)])
        yield capsys.readouterr().out


def by_mcp(memory: Recollect, project: Path) -> Iterator[str]:
    told: list[str] = []

    async def talk(profile: str) -> None:
        async with Client(build(MemoryHandle(str(project)), profile=profile)) as client:
            for tool in (await client.list_tools()).tools:
                needed = tool.input_schema.get("required", [])
                if (tool.annotations and tool.annotations.read_only_hint) and len(needed) <= 1:
                    told.extend([
                        (await client.call_tool(tool.name, dict.fromkeys(needed, words))).model_dump_json()
                        for words in (ASKED if needed else [""])
                    ])  # fmt: skip
            resources = (await client.list_resources()).resources
            for one in resources:
                try:
                    told.append((await client.read_resource(str(one.uri))).model_dump_json())
                except MCPError as error:  # nothing of that sort is known
                    told.append(str(error))

    for profile in ("default", "code", "docs")[: size(1, 3)]:
        anyio.run(talk, profile)
    yield from told


def by_http(memory: Recollect, project: Path) -> Iterator[str]:
    served = recollect.open(project, settings=QUIET, door="panel")
    stores = ServedStores(served, lambda: recollect.open(":memory:", door="panel", settings=QUIET))
    access = AccessFile(str(project.parent / "access"))
    token = {"Authorization": f"Bearer {access.make_token(os.urandom(4).hex(), scope='admin', is_persons=True)}"}
    application = Application(stores, access, key="key", hosts=[HOST], panel=project)
    with TestClient(application.asgi(), base_url=f"http://{HOST}", raise_server_exceptions=False) as client:
        paths = client.get("/v1/openapi.json", headers=token).json()["paths"]
        listed = client.get("/v1/memories?limit=100&status=active&user=*", headers=token).json()
        ids = [one["id"] for one in listed.get("items", listed.get("memories", []))][: size(2, 20)]
        for path, verbs in paths.items():
            if "get" not in verbs or path == "/v1/events":
                continue
            needed = [one["name"] for one in verbs["get"].get("parameters", []) if one.get("required")]
            values = ids if "id" in needed else ASKED if needed else [""]
            for value in values:
                place = path.replace("{id}", value)
                asked = {name: value for name in needed if f"{{{name}}}" not in path}
                answer = client.get(place, params={**asked, "limit": 100}, headers=token)
                yield answer.text if answer.is_success else client.get(place, params=asked, headers=token).text
    stores.close()


DOORS: dict[str, Callable[..., Iterator[str]]] = {
    "python": by_python,
    "command line": by_command_line,
    "mcp": by_mcp,
    "http": by_http,
}


def told_by_doors(
    memory: Recollect, project: Path, names: list[str], capsys: pytest.CaptureFixture[str]
) -> dict[str, set[str]]:
    """The names each door tells."""
    found: dict[str, set[str]] = {}
    for door, ask in DOORS.items():
        given = (memory, project, capsys) if ask is by_command_line else (memory, project)
        said = "\n".join(ask(*given)).casefold()
        found[door] = {name for name in names if name.casefold() in said}
    return found


SCOPES = ("subject", "session", "user", "filter", "project", "everything")


@pytest.mark.parametrize("scope", SCOPES)
def test_no_door_tells_what_was_erased_whichever_way_it_was_selected(
    tmp_path: Path, scope: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not size(scope in ("subject", "project"), True):
        pytest.skip("the other ways to select are swept in a nightly run")
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    names = canaries(size(29, 1_000), base_seed())
    with recollect.open(project, settings=QUIET) as memory:
        fill(memory, project, scope, names)
        memory.maintenance.backup()
        memory.maintenance.backup(tmp_path / "kept.db")
        before = told_by_doors(memory, project, names, capsys)
        asked = {
            door: len(told) for door, told in before.items() if scope != "user" or door != "mcp"
        }  # it knows no user
        assert min(asked.values()) >= len(names) // 8, f"a door was not asked: {asked}"
        (tmp_path.parent / f"{tmp_path.name}.db").write_bytes((tmp_path / "kept.db").read_bytes())
        done = memory.erase(**selected(scope, names), backups="rewrite", exports=True)
        assert done.remaining == []
        allowed = {"hook log": "project"}  # another project's, too
        assert {door: told for door, told in told_by_doors(memory, project, names, capsys).items() if told} == {}
    left = files_with(names, tmp_path)
    assert set(left) <= (
        {name for name in left if "hook.log" in str(left[name])} if scope in allowed.values() else set()
    )
    old = tmp_path.parent / f"{tmp_path.name}.db"
    try:
        restore_backup(project / ".recollect" / "memory.db", old)
    finally:
        old.unlink()
    with recollect.open(project, settings=QUIET) as memory:
        if size(0, 1):
            assert {door: told for door, told in told_by_doors(memory, project, names, capsys).items() if told} == {}
        told = told_by_every_reader(memory, list(ASKED)).casefold()
        assert [name for name in names if name.casefold() in told] == []
    assert set(files_with(names, project)) == set()
    report(f"erased by {scope}: names {len(names)}, doors {len(DOORS)}, told after: 0, after a restore: 0")
