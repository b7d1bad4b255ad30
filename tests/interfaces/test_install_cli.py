"""`recollect install`, `uninstall` and what `doctor` says of hosts, through the command line."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.cli import main


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project of one's own, and both programs beside the interpreter."""
    home, project, bin = tmp_path / "person", tmp_path / "project", tmp_path / "bin"
    for folder in (home, project / ".git", bin):
        folder.mkdir(parents=True)
    _program(bin / "recollect", "#!/bin/sh\nexit 0\n")
    _program(bin / "recollect-hook", "#!/bin/sh\ncat >/dev/null\n")
    monkeypatch.setattr(sys, "executable", str(bin / "python"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{bin}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.chdir(project)
    return tmp_path


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_dry_run_prints_a_diff_and_changes_nothing(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "claude-code", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "+++" in told
    assert '+    "recollect@recollect-local": true' in told
    assert list((machine / "person").iterdir()) == []


def test_installing_names_each_file_and_what_is_left_to_a_person(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "codex"]) == 0
    told = capsys.readouterr()
    assert f"+ {machine / 'person' / '.codex' / 'config.toml'}" in told.out
    assert "/hooks" in told.err
    assert main(["install", "codex"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_the_same_is_there_as_json(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "cursor", "--json"]) == 0
    done = said(capsys)
    assert [one["host"] for one in done["hosts"]] == ["cursor"]
    assert {Path(one["path"]).name: one["action"] for one in done["hosts"][0]["changed"]} == {
        "hooks.json": "create",
        "mcp.json": "create",
    }
    assert main(["uninstall", "cursor", "--json"]) == 0
    assert {one["action"] for one in said(capsys)["hosts"][0]["changed"]} == {"remove"}
    assert list((machine / "person").iterdir()) == []


def test_for_a_project_only_the_project_is_touched(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = ["claude-code", "codex", "gemini", "cursor", "opencode", "vscode", "windsurf"]
    assert main(["install", *every, "--project"]) == 0
    assert list((machine / "person").iterdir()) == []
    capsys.readouterr()
    main(["install", "--list", "--project", "--json"])
    assert set(said(capsys)["hosts"].values()) == {"current"}
    assert main(["uninstall", *every, "--project"]) == 0
    assert [path.name for path in (machine / "project").iterdir()] == [".git"]


def test_one_broken_file_stops_the_installation_of_all_hosts(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = machine / "person" / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"a": 1,, }', encoding="utf-8")
    assert main(["install", "cursor", "claude-code"]) == 2
    told = capsys.readouterr().err
    assert "settings.json" in told
    assert "line 1, column 9" in told
    assert sorted(path.name for path in (machine / "person").iterdir()) == [".claude"]
    assert settings.read_text(encoding="utf-8") == '{"a": 1,, }'


def test_no_host_and_an_unknown_host_are_told_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install"]) == 2
    assert "claude-code" in capsys.readouterr().err
    assert main(["uninstall", "emacs"]) == 2
    assert "windsurf" in capsys.readouterr().err


def test_doctor_measures_the_hook_and_says_what_is_wrong_with_a_host(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["init"])
    main(["install", "cursor"])
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 1
    told = said(capsys)
    assert told["facts"]["hosts"] == ["cursor (user): current"]
    assert "p95" in told["facts"]["hook"]
    assert any("MCP server" in worry for worry in told["worries"])  # the stand-in does not answer
    (machine / "person" / ".cursor" / "hooks.json").write_text("{}", encoding="utf-8")
    main(["doctor", "--json"])
    assert any("recollect install cursor" in worry for worry in said(capsys)["worries"])


def test_doctor_shakes_hands_with_a_server_that_answers(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = [{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{}, {}]}}]
    lines = "".join(f"read line\necho '{json.dumps(answer)}'\nread line\n" for answer in answers)
    _program(machine / "bin" / "recollect", f"#!/bin/sh\necho a greeting\n{lines}")
    main(["init"])
    main(["install", "opencode"])
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    assert "2 tools" in said(capsys)["facts"]["server"]


@pytest.mark.parametrize(("trust", "worried"), [("untrusted", True), ("trusted", False)])
def test_doctor_asks_codex_whether_our_hooks_are_trusted(
    machine: Path, capsys: pytest.CaptureFixture[str], trust: str, worried: bool
) -> None:
    hook = {"pluginId": "recollect@recollect-local", "command": "recollect-hook codex", "trustStatus": trust}
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [hook]}]}})
    talk = (
        f"read line\necho '{json.dumps({'id': 1, 'result': {}})}'\nread line\nread line\necho '{answer}'\nread line\n"
    )
    _program(machine / "bin" / "codex", f"#!/bin/sh\n{talk}")
    main(["init"])
    main(["install", "codex"])
    capsys.readouterr()
    main(["doctor", "--json"])
    told = said(capsys)
    assert told["facts"]["hosts"] == [f"codex (user): current, {int(not worried)} of 1 hooks trusted"]
    assert any("/hooks" in worry for worry in told["worries"]) is worried


def test_doctor_finds_a_hook_that_is_gone(
    machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["init"])
    main(["install", "gemini"])
    moved = machine / "elsewhere"
    moved.mkdir()
    for name in ("recollect", "recollect-hook"):
        (machine / "bin" / name).rename(moved / name)
    monkeypatch.setenv("PATH", f"{moved}{os.pathsep}/usr/bin{os.pathsep}/bin")
    capsys.readouterr()
    main(["doctor", "--json"])
    worries = " ".join(said(capsys)["worries"])
    assert "bin/recollect-hook is gone" in worries
    assert "recollect install gemini" in worries
