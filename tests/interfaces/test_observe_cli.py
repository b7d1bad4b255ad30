"""`observe`, `review` and `status` as a person or a script meets them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from interfaces.test_cli import Shell
from recollect.files.session_file import SessionFile


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell(tmp_path / "p" / ".recollect" / "memory.db", capsys, monkeypatch)
    assert shell("init") == 0
    return shell


def transcript(path: Path, *sessions: str, outside: bool = False) -> Path:
    rows: list[dict[str, Any]] = []
    for number, session in enumerate(sessions):
        at = 1_700_000_000 + 1000 * number
        if outside:
            rows.append({"k": "tool", "s": session, "ts": at, "id": "w", "tool": "WebFetch",
                         "args": {"url": "https://x.example"}, "result": "text"})  # fmt: skip
        rows += [
            {"k": "tool", "s": session, "ts": at + 1, "id": "1", "tool": "Bash", "error": True,
             "args": {"command": "rtk bun run lint"}, "result": "error: unrecognized subcommand 'bun'"},
            {"k": "tool", "s": session, "ts": at + 2, "id": "2", "tool": "Bash", "result": "ok", "error": False,
             "args": {"command": "bun run lint"}},
        ]  # fmt: skip
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_observe_tells_what_was_learnt_and_why_and_status_counts_it(sh: Shell, tmp_path: Path) -> None:
    assert sh("observe", str(transcript(tmp_path / "t.jsonl", "s1", "s2"))) == 0
    assert "2 sessions from 1 file: 1 learnt, 0 seen again." in sh.out
    assert "`rtk bun` does not exist here: run `bun run lint` instead." in sh.out
    assert "seen in 2 sessions" in sh.out
    assert "left out: 1 seen in too few sessions" in sh.out
    status = sh.json("status")
    seen = status["observer"]
    assert (seen["sessions"], seen["calls"], seen["errors"], status["review"]["waiting"]) == (2, 4, 2, 1)
    assert sh("status") == 0
    assert "1 memory needs review: run `recollect review` (1 candidate)" in sh.out
    assert sh("observe", str(tmp_path / "t.jsonl")) == 0
    assert "already known: 2 sessions" in sh.out


def test_observe_without_a_file_or_with_one_that_is_not_there_says_what_to_do(sh: Shell, tmp_path: Path) -> None:
    assert sh("observe") == 2
    assert "--spool" in sh.err
    assert sh("observe", str(tmp_path / "none.jsonl")) == 3
    assert "There is no transcript" in sh.err
    assert sh("observe", str(transcript(tmp_path / "t.jsonl", "s1")), "--type", "party") == 2
    assert "build" in sh.err


def test_the_spool_is_drained_by_the_command_that_hooks_start(sh: Shell) -> None:
    end = {"session_id": "s1", "cwd": "/p", "hook_event_name": "SessionEnd"}
    call = {"session_id": "s1", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "Read",
            "tool_input": {"file_path": "/p/a.py"}, "tool_use_id": "t", "tool_response": {"stdout": "x"}}  # fmt: skip
    kept = SessionFile.of(str(sh.store.parent), "s1", host="claude-code")
    for number, payload in enumerate((call, end)):
        kept.append_event("claude-code", payload, 1_000_000_000 + number)
    kept.close()
    assert sh.json("observe", "--spool")["sessions"] == 1
    assert sh.json("status")["observer"]["calls"] == 1
    assert sh.json("observe", "--spool")["sessions"] == 0


def test_a_session_whose_name_is_no_text_is_learned_from_like_any_other(sh: Shell) -> None:
    for session in ("s1", "\ud800", "s2"):
        end = {"session_id": session, "cwd": "/p", "hook_event_name": "SessionEnd"}
        kept = SessionFile.of(str(sh.store.parent), session, host="claude-code")
        kept.append_event("claude-code", end, 1_000_000_000)
        kept.close()
    assert sh("observe", "--spool") == 0, sh.err
    assert "3 sessions" in sh.out
    assert sh("observe", "--spool") == 0, sh.err
    assert "0 sessions" in sh.out


def test_a_session_that_no_hook_of_this_person_wrote_is_not_learned_from(sh: Shell) -> None:
    spool = sh.store.parent / "spool"
    spool.mkdir(exist_ok=True)
    end = {"session_id": "s1", "cwd": "/p", "hook_event_name": "SessionEnd"}
    (spool / "s.jsonl").write_text(json.dumps({"v": 1, "host": "claude-code", "at": 1000.0, "payload": end}))
    assert sh.json("observe", "--spool")["sessions"] == 0
    assert sh.json("status")["observer"]["calls"] == 0


@pytest.mark.parametrize("words", [["observe"], ["import"], ["import", "rules"]])
def test_a_file_that_is_not_there_makes_no_store(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = Shell(tmp_path / "elsewhere" / ".recollect" / "memory.db", capsys, monkeypatch)
    assert elsewhere(*words, "nosuch.jsonl") in (2, 3)
    assert "nosuch.jsonl" in elsewhere.err
    assert not elsewhere.store.exists()


class Person(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_stderr_to_whoever_watches(
    sh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Person()
    monkeypatch.setattr("sys.stderr", watched)
    assert sh("observe", str(transcript(tmp_path / "t.jsonl", "s1"))) == 0
    assert "100% of" in watched.getvalue()
    assert "%" not in sh.out


RULE = "We never edit generated files in this repository."


def talk(path: Path, *prompts: str) -> Path:
    """A transcript of one session in which a person says some things and an agent runs a command after each."""
    rows: list[dict[str, Any]] = []
    for number, prompt in enumerate(prompts):
        at = 1_700_000_000 + 10 * number
        rows += [
            {"k": "user", "s": "talk", "ts": at, "text": prompt},
            {"k": "tool", "s": "talk", "ts": at + 1, "id": str(number), "tool": "Bash", "result": "ok",
             "args": {"command": "make"}},
        ]  # fmt: skip
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_rules_that_agents_are_told_at_once_are_not_called_untold(sh: Shell, tmp_path: Path) -> None:
    assert sh("observe", str(talk(tmp_path / "t.jsonl", "Fix the till, please.", RULE))) == 0
    assert RULE in sh.out
    assert "Agents are not told" not in sh.out
    assert [one["status"] for one in sh.json("list")["memories"]] == ["active"]
    assert sh("observe", str(transcript(tmp_path / "u.jsonl", "s1", "s2"))) == 0
    assert "Agents are not told these until you confirm them" in sh.out


def test_status_counts_observed_sessions_as_sessions(sh: Shell, tmp_path: Path) -> None:
    assert sh("status") == 0
    assert "sessions   none" in sh.out
    sh("observe", str(transcript(tmp_path / "t.jsonl", "s1", "s2")))
    assert sh("status") == 0
    assert "sessions   2 observed" in sh.out
