"""`chat`, `providers` and `import rules` as a person or a program meets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from interfaces.test_cli import Shell
from recollect.core.conversations import Call, Turn
from recollect.files.project import settings_folder
from recollect.testing.chat_server import Calls, ChatServer, Outage, chat_server


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path / "memory.db", capsys, monkeypatch)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server([Calls([("remember_fact", {"content": "Ada's boat is Argo."})]), "Noted.", "Argo."]) as there:
        yield there


def test_one_message_is_answered_on_stdout(sh: Shell, server: ChatServer) -> None:
    assert sh("chat", "--model", server.setting, "--session", "s", "--once", "My boat is Argo.") == 0
    assert sh.out == "Noted.\n"
    assert server.requests[0]["stream"] is True
    assert sh("chat", "--model", server.setting, "--resume", "--no-stream", "--once", "-", stdin=b"Its name?") == 0
    assert sh.out == "Argo.\n"
    assert "stream" not in server.requests[-1]
    assert sh("facts") == 0
    assert "Ada's boat is Argo." in sh.out


@pytest.mark.parametrize("provider", ["recency", "semantic", "recollect"])
def test_logs_and_status_tell_of_turns_with_any_provider(sh: Shell, server: ChatServer, provider: str) -> None:
    words = ("chat", "--memory", provider, "--model", server.setting, "--session", "s")
    turn = sh.json(*words, "--once", "My boat is Argo.")
    assert (turn["provider"], turn["state"], turn["output"]) == (provider, "done", "Noted.")
    assert [call["name"] for call in turn["calls"]] == ["remember_fact"]
    assert sh.json("logs") == [turn]
    assert sh.json("logs", "--turns", "--session", "s") == [turn]
    assert sh.json("logs", "--job", "consolidate") == []
    status = sh.json("status")["turns"]
    assert (status["states"], status["providers"], status["latest"]) == ({"done": 1}, {provider: 1}, [turn])
    assert sh("logs") == 0
    assert f"s done · {provider} · remember_fact" in sh.out
    assert sh("status") == 0
    assert f"1 done · by 1 {provider}" in sh.out
    assert sh("check") == 0


def test_lines_of_a_pipe_are_messages_and_a_failure_does_not_end_the_talk(sh: Shell) -> None:
    with chat_server(["One.", Outage(400, "no"), "Three."]) as server:
        code = sh("chat", "--json", "--model", server.setting, "--session", "s", stdin=b"a\n\nb\nc\n/quit\nd\n")
    assert code == 2
    told = [json.loads(line) for line in sh.out.splitlines()]
    assert [one.get("output") for one in told] == ["One.", None, "Three."]
    assert told[1]["error"]["code"] == "model-down"
    assert "kept" in sh.err
    assert [one["state"] for one in sh.json("logs")][::-1] == ["done", "failed", "done"]


def test_an_endpoint_that_is_down_is_told_in_two_lines_and_the_message_is_kept(sh: Shell) -> None:
    assert sh("chat", "--model", "http://127.0.0.1:9/v1#m", "--session", "s", "--once", "Hello?") == 2
    assert "does not answer" in sh.err
    assert "→ Is a server running" in sh.err
    assert "Traceback" not in sh.err
    assert sh.json("logs", "--session", "s")[0]["input"] == "Hello?"


@pytest.mark.parametrize(
    ("words", "code", "say"),
    [
        (["chat", "--once", "x"], 4, "needs a language model"),
        (["chat", "--memory", "elephant", "--once", "x"], 2, "recency, recollect, semantic"),
        (["chat", "--model", "gpt", "--once", "x"], 2, "is not one"),
        (["chat", "--model", "pydantic-ai:test", "--once", "x"], 4, "cannot be talked to"),
        (["chat", "--resume", "--once", "x"], 3, "No chat was held yet"),
        (["chat", "--once", "  "], 2, "no visible text"),
        (["chat", "--once", "x", "--session", ""], 2, "session"),
        (["chat", "--once", "x", "--read-only"], 2, "read-only"),
        (["import", "rules", "nope.md"], 2, "no such file"),
        (["import", "a.json", "b.json"], 2, "one at a time"),
    ],
)
def test_bad_input_is_told_with_a_way_out(sh: Shell, words: list[str], code: int, say: str) -> None:
    assert sh(*words) == code
    assert say in sh.err
    assert "→" in sh.err


def test_a_session_nobody_spoke_in_is_not_found(sh: Shell) -> None:
    sh("init")
    assert sh("logs", "--session", "nope") == 3


def test_the_configured_provider_and_model_are_used(sh: Shell, server: ChatServer) -> None:
    sh("init")
    mine = Path(settings_folder())
    mine.mkdir(parents=True)
    (mine / "config.toml").write_text(f'memory = "recency"\nmodel = "{server.setting}"\n')
    assert sh.json("chat", "--once", "Hi")["provider"] == "recency"
    assert sh.json("providers")["default"] == "recency"


def test_providers_are_listed_without_a_store(sh: Shell) -> None:
    told = sh.json("providers")
    assert [one["name"] for one in told["providers"]][:3] == ["recency", "semantic", "recollect"]
    assert told["default"] == "recollect"
    assert sh("providers") == 0
    assert "* recollect" in sh.out
    assert not sh.store.exists()


def test_a_scan_finds_and_mends_secrets_in_turns_of_before(sh: Shell) -> None:
    secret = "ghp_" + "x7K2m9Q4" * 4 + "Zr81"
    sh("init")
    with recollect.open(sh.store) as memory:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        memory.store.turns.put(Turn("turn_1", "s", "w", "recency", "m", at, f"It is {secret}."))
        memory.store.turns.put_call("turn_1", 0, Call("a", "look", "{}", secret))
    assert sh("scan") == 1
    assert [(one["where"], one["fixed"]) for one in sh.json("scan")["findings"]] == [("turn_1", False)]
    assert sh("scan", "--fix") == 0
    assert sh.json("scan")["findings"] == []
    turn = sh.json("logs")[0]
    assert secret not in json.dumps(turn)
    assert turn["input"].startswith("It is [secret:")
    assert sh("check") == 0


def test_terminal_codes_of_a_model_never_reach_the_terminal(sh: Shell) -> None:
    with chat_server(["\x1b[2Jboo\u202e"]) as server:
        assert sh("chat", "--model", server.setting, "--once", "Hi") == 0
    assert sh.out == "[2Jboo\n"


def test_rules_are_imported_twice_with_no_change_and_shown_first_on_request(sh: Shell, tmp_path: Path) -> None:
    sh("init")
    (tmp_path / "AGENTS.md").write_text("- Never push to main.\n- Prefer small commits.\n")
    assert sh("import", "rules", str(tmp_path), "--dry-run") == 0
    assert "2 statements would be added" in sh.out
    assert [one["kind"] for one in sh.json("import", "rules", str(tmp_path))["added"]] == ["requirement", "preference"]
    again = sh.json("import", "rules", str(tmp_path))
    assert (again["added"], again["kept"]) == ([], 2)
    (tmp_path / "AGENTS.md").write_text("- Never push to the main branch.\n")
    assert sh("import", "rules", str(tmp_path)) == 0
    assert "~ AGENTS.md:1 [requirement] Never push to the main branch." in sh.out
    assert "- AGENTS.md:2 [preference] Prefer small commits." in sh.out
    assert "--retire lets them expire" in sh.out
    assert len(sh.json("import", "rules", str(tmp_path), "--retire")["gone"]) == 1
    assert sh.json("list")["total"] == 1
