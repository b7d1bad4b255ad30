"""No byte of a secret that the scanner knows reaches any file, whichever door it came through; and what came in before
the rules knew it is found and taken out everywhere.

Canaries are made while the test runs, each of its own door and field, and looked for in the raw bytes of every file.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

import recollect
from faults.fault_tools import SOAK, report
from recollect.config import Settings
from recollect.core.conversations import Call, Turn
from recollect.core.errors import RecollectError
from recollect.dialogue.episodes import Message
from recollect.files.session_file import SessionFile
from recollect.interfaces.hook import answer
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.privacy.scan import scan
from recollect.remember import remember as remembering
from recollect.remember.screen import Screened

ROUNDS = 12 if SOAK else 4
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Canaries:
    """Makes secrets of many kinds and remembers where each was put."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.made: dict[str, str] = {}

    def new(self, where: str) -> str:
        body = "".join(self._chance.choice(_LETTERS) for _ in range(36))
        value = self._chance.choice(("ghp_", "sk-proj-", "glpat-", "phc_", "AKIA")) + body
        if value.startswith("AKIA"):
            value = "AKIA" + "".join(self._chance.choice("ABCDEFGHJKLMNPQRSTUVWXYZ234567") for _ in range(16))
        assert scan(value), value
        self.made[f"{where} {len(self.made)}"] = value
        return value

    def password(self, where: str) -> str:
        value = "".join(self._chance.choice(_LETTERS) for _ in range(14)) + "9xQ"
        self.made[f"{where} {len(self.made)}"] = value
        return value

    def found_in(self, *folders: Path) -> dict[str, list[str]]:
        """The canaries whose bytes, or those in small letters, stand in a file, with the files' names."""
        found: dict[str, list[str]] = {}
        for folder in folders:
            for path in (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
                data = path.read_bytes() + str(path.name).encode()
                for where, value in self.made.items():
                    if value.encode() in data or value.lower().encode() in data:
                        found.setdefault(where, []).append(path.name)
        return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    with recollect.open(folder, settings=Settings(embedder="none")):
        pass
    return folder


def environment(tmp_path: Path) -> dict[str, str]:
    home = str(tmp_path / "home")
    return {
        **os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_STATE_HOME": f"{home}/state",
        "XDG_CONFIG_HOME": f"{home}/settings", "RECOLLECT_EMBEDDER": "none", "RECOLLECT_HOOK_LEARN": "off",
    }  # fmt: skip


def command(project: Path, tmp_path: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words],
        cwd=project, env=environment(tmp_path), input=given, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


# --- every door -------------------------------------------------------------------------------------------------------


def through_python(project: Path, canaries: Canaries) -> None:
    new, word = canaries.new, canaries.password
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        for round in range(ROUNDS):
            first = memory.remember(
                f"Deploy {round} uses {new('content')} here.",
                tags=(f"t-{new('tag')}",),
                why=f"since {new('why')}",
                attributes={"note": new("attribute"), "password": word("attribute by name"), new("attribute name"): 1},
                files=(f"cfg/{new('file')}.env",),
                modules=(f"m/{new('module')}",),
                citation=f"see {new('citation')}",
                session=f"s-{new('session')}",
            )
            memory.edit(
                first.id, content=f"Deploy {round} uses {new('edit')} now.", why=f"because {new('why of an edit')}"
            )
            memory.correct(first.id, f"Deploy {round} uses {new('correction')} today.", why=new("why of a correction"))
            other = memory.remember(f"The pump of hall {round} needs oil.")
            memory.relate(other.id, "validates", file=f"etc/{new('file of a link')}.cfg")
            memory.dispute(other.id, why=f"says {new('why of a dispute')}")
            memory.sessions.capture_all(
                [
                    Message(f"My key is {new('chat')} and PW: {word('chat')}", f"talk {new('chat session')}", "user"),
                    Message(f"Bob said the password is {word('spoken')}.", "talk", "user"),
                ]
            )
        memory.tend(seconds=20)
        memory.maintenance.backup()


def through_commands(project: Path, tmp_path: Path, canaries: Canaries) -> None:
    new, word = canaries.new, canaries.password
    docs = project / "docs" / "guides"
    docs.mkdir(parents=True)
    heading = f"# Title {new('heading')}\n\nmysql -u root -p{word('document')} shop\n\n[x](https://h/{new('link')})\n"
    (docs / "deploy.md").write_text(heading)
    (docs / f"{new('document name')}.md").write_text("# Plain\n\nNothing here.\n")
    source = project / "src"
    source.mkdir()
    (source / "app.py").write_text(f'API_KEY = "{new("code")}"\n\n\ndef run() -> None:\n    login("{new("call")}")\n')
    (source / f"{new('source name')}.py").write_text("def other() -> None:\n    pass\n")
    lines = [
        {"role": "user", "content": f"Imported {new('import')}, pw: {word('import')}", "session": new("import session")}
    ]
    (project / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = [command(project, tmp_path, "remember", f"The token is {new('command')}", "--tag", new("command tag"))]
    rest = (("docs", "index", "docs"), ("code", "index"), ("import", "in.jsonl"), ("tend", "--seconds", "20"))
    told += [command(project, tmp_path, *words) for words in rest]
    assert [done.returncode for done in told] == [0] * len(told), [done.stderr for done in told]
    for path in (*docs.iterdir(), *source.iterdir(), project / "in.jsonl"):
        path.unlink()  # what a person's own files say stays theirs


def through_hooks(project: Path, canaries: Canaries) -> None:
    new, word = canaries.new, canaries.password
    session = f"s-{new('hook session')}"

    def event(name: str, **fields: Any) -> Mapping[str, Any]:
        return {"hook_event_name": name, "session_id": session, "cwd": str(project), **fields}

    quiet = {"RECOLLECT_HOOK_LEARN": "off"}
    answer("claude-code", event("SessionStart", source="startup"), quiet)
    for number in range(ROUNDS):
        answer(
            "claude-code", event("UserPromptSubmit", prompt=f"use {new('prompt')} to push, pw: {word('prompt')}"), quiet
        )
        given = {"command": f"sshpass -p {word('command')} ssh h; export K={new('tool input')}"}
        told = {
            "stdout": f"GITHUB_TOKEN={new('tool output')} password={word('tool output')}",
            "password": word("field"),
        }
        call = {"tool_name": "Bash", "tool_use_id": f"toolu_{number}", "tool_input": given}
        answer("claude-code", event("PreToolUse", **call), quiet)
        answer("claude-code", event("PostToolUse", **call, tool_response=told), quiet)
        path = {"file_path": str(project / f"{new('path')}.env")}
        edit = {
            "tool_name": "Read",
            "tool_use_id": f"toolu_r{number}",
            "tool_input": path,
            "error": f"no {new('error')}",
        }
        answer("claude-code", event("PostToolUseFailure", **edit), quiet)
    answer("claude-code", event("SessionEnd", reason="exit"), quiet)


def through_mcp(project: Path, canaries: Canaries) -> None:
    new = canaries.new

    async def talk() -> None:
        handle = MemoryHandle(str(project))
        async with Client(build(handle, profile="default")) as client:

            async def call(tool: str, given: dict[str, Any]) -> Any:
                answered = await client.call_tool(tool, given)
                assert not answered.is_error, answered.content
                return answered

            added = await call(
                "add",
                {
                    "content": f"The agent found {new('mcp')}.",
                    "tags": [new("mcp tag")],
                    "files": [f"x/{new('mcp file')}"],
                    "why": new("mcp why"),
                },
            )
            id = json.loads(added.content[0].text)["id"] if added.content else ""
            changed = await call("update", {"id": id, "content": f"The agent found {new('mcp edit')} later."})
            id = json.loads(changed.content[0].text)["id"]
            await call("feedback", {"id": id, "verdict": "dispute", "why": f"not {new('mcp feedback')}"})
            await call("search", {"query": f"what is {new('mcp question')}"})
        handle.close()

    anyio.run(talk)
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        for tool in memory.sessions.tools():
            given = {name: new(f"tool {tool.name}") for name in list(tool.parameters["properties"])[:1]}
            with suppress(RecollectError):  # a refusal is for the caller; nothing of it may be kept
                tool(**given)


@pytest.mark.parametrize("seed", range(28, 68 if SOAK else 30))
def test_no_byte_of_a_known_secret_reaches_any_file_through_any_door(project: Path, tmp_path: Path, seed: int) -> None:
    canaries = Canaries(seed)
    through_python(project, canaries)
    through_commands(project, tmp_path, canaries)
    through_hooks(project, canaries)
    assert command(project, tmp_path, "observe", "--spool").returncode == 0
    through_mcp(project, canaries)
    found = canaries.found_in(project, tmp_path / "home")
    assert found == {}
    report(f"secrets: {len(canaries.made)}, kept: {len(found)}")


def test_the_hooks_own_log_keeps_no_secret(project: Path, tmp_path: Path) -> None:
    from recollect.interfaces.hook import log

    canaries = Canaries(seed=1)
    log("claude-code", f"ValueError: token={canaries.new('log')} password={canaries.password('log')}")
    assert list((tmp_path / "home").rglob("hook.log"))
    assert canaries.found_in(tmp_path / "home") == {}


# --- what came in before ----------------------------------------------------------------------------------------------


@pytest.fixture
def old_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember as a release did that did not know these secrets."""
    monkeypatch.setattr(remembering, "screen", lambda draft: Screened(draft, ()))


def fill(project: Path, canaries: Canaries) -> None:
    new = canaries.new
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        for number in range(12):
            memory.remember(
                f"Deploy {number} uses the token {new('content')} on host {number}.",
                tags=(f"t-{new('tag')}",),
                why=f"since {new('why')}",
                attributes={"note": new("attribute")},
                files=(f"cfg/{new('file')}.env",),
                citation=f"see {new('citation')}"[:40],
                session=f"s-{new('session')}",
            )
        for number in range(100):
            memory.remember(f"Filler text number {number} with words {number * 7}.")
        at = datetime(2026, 3, 1, tzinfo=UTC)
        memory.store.turns.put(Turn("turn_1", "s", "w", "recency", "m", at, f"It is {new('turn')}."))
        memory.store.turns.put_call("turn_1", 0, Call("a", "look", "{}", new("call")))
        memory.store.working.put("focus", [f"use {new('working memory')}"], at=at)
        memory.maintenance.backup()
        file = SessionFile.of(str(memory.store.engine.folder), "old", host="claude-code")
        file.take_event("k", "prompt", 1, named=True)
        file.append_event("claude-code", {"prompt": f"use {new('spool')}", "n": 1}, 1)
        file.claim(["mem_1"], "prompt", 2)
        file.append_event("claude-code", {"prompt": "and then?"}, 3)
        file.close()


def test_a_scan_finds_and_takes_out_what_an_older_release_kept(
    project: Path, tmp_path: Path, old_release: None
) -> None:
    canaries = Canaries(seed=14)
    fill(project, canaries)
    assert len({where.rpartition(" ")[0] for where in canaries.found_in(project)}) == 11
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        listed = memory.maintenance.find_secrets()
        assert {one.place for one in listed} >= {
            "memory",
            "log",
            "chat turn",
            "working memory",
            "session file",
            "backup",
        }
        assert not any(value in f"{one.where}{one.rule}{one.way}" for value in canaries.made.values() for one in listed)
        fixed = memory.maintenance.find_secrets(fix=True)
        assert {one.place for one in fixed if not one.fixed} == {"backup"}
        assert all("--backups" in one.way for one in fixed if not one.fixed)
    left = {file for files in canaries.found_in(project).values() for file in files}
    assert left == {path.name for path in (project / ".recollect" / "backups").glob("*.db")}
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        memory.maintenance.find_secrets(fix=True, backups=True)
        assert memory.maintenance.find_secrets() == []
        assert memory.maintenance.check().ok
        assert len(list((project / ".recollect" / "backups").glob("*-scanned.db"))) == 1
        file = SessionFile.of(str(memory.store.engine.folder), "old")
        assert [json.loads(line)["payload"].get("n") for line in file.events()] == [1, None]
        assert [told[0] for told in file.told()] == ["mem_1"]
        assert file.is_sealed
        file.close()
    assert canaries.found_in(project, tmp_path / "home") == {}


def test_the_command_says_where_secrets_are_and_never_which(project: Path, tmp_path: Path, old_release: None) -> None:
    canaries = Canaries(seed=3)
    fill(project, canaries)
    seen = command(project, tmp_path, "scan")
    assert seen.returncode == 1
    assert "memory: " in seen.stderr
    assert "backup" in seen.stdout
    assert not any(value in seen.stdout + seen.stderr for value in canaries.made.values())
    assert command(project, tmp_path, "scan", "--fix", "--backups").returncode == 0
    assert command(project, tmp_path, "scan").returncode == 0
    assert canaries.found_in(project) == {}


def test_a_scan_after_fixing_names_nothing(project: Path, old_release: None) -> None:
    chance = random.Random(2)

    def some(*, most: int = 200) -> str:
        body = "".join(chance.choice(_LETTERS) for _ in range(chance.choice((9, 12, 28, 36))))
        before = chance.choice(("t", "", "t-", '"', "(", "a.", "the token ", "pw: ", "key=", "secret: ", "\\n"))
        prefix = chance.choice(("ghp_", "sk-proj-", "xoxb-", "cfg_", "--password ", "postgres://u:", ""))
        return f"{before}{prefix}{body}{chance.choice(('', '…', '.', '}', ' end', '@h/db'))}"[:most]

    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        for number in range(300 if SOAK else 80):
            memory.remember(
                f"Deploy {number} {some()}",
                tags=(some(most=60),),
                why=some(),
                attributes={"note": some(), chance.choice(("password", "token", some(most=40))): [some()]},
                files=(f"cfg/{some()}.env",),
                citation=some(most=40),
                session=some(most=60),
            )
        memory.maintenance.backup()
        assert len(memory.maintenance.find_secrets(fix=True, backups=True)) > 100
        assert memory.maintenance.find_secrets() == []
        assert memory.maintenance.check().ok


def test_a_damaged_row_is_not_called_fixed(project: Path, old_release: None) -> None:
    canaries = Canaries(seed=5)
    fill(project, canaries)
    with recollect.open(project, settings=Settings(embedder="none")) as memory:
        with memory.store.engine.write():
            memory.store.engine.execute("update turns set checksum = checksum + 1 where id = 'turn_1'")
        fixed = memory.maintenance.find_secrets(fix=True)
        assert {(one.place, one.fixed) for one in fixed if one.place in ("memory", "log", "chat turn")} == {
            ("memory", True),
            ("log", True),
            ("chat turn", False),
        }
        assert all("recollect repair" in one.way for one in fixed if one.place == "chat turn")
