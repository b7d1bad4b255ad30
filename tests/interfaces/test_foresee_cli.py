"""Reports and what is foreseen, at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interfaces.test_cli import Shell

UNREAD = "File has not been read yet. Read it first before writing to it."


def transcript(folder: Path, number: int) -> Path:
    """A session that edits a file it has not read, reads it and edits it."""

    def tool(place: int, name: str, path: str, result: str, *, error: bool = False) -> dict[str, object]:
        at = f"2026-01-0{number}T10:00:0{place}Z"
        return {"ts": at, "k": "tool", "id": f"{number}.{place}", "tool": name, "args": {"file_path": path},
                "result": result, "error": error, "s": f"s{number}"}  # fmt: skip

    rows = [
        {"ts": f"2026-01-0{number}T09:59:59Z", "k": "user", "text": "mend the login route", "s": f"s{number}"},
        tool(1, "Edit", "api/routes.py", UNREAD, error=True),
        tool(2, "Read", "api/routes.py", "x = 1"),
        tool(3, "Edit", "api/routes.py", "ok"),
    ]
    file = folder / f"{number}.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    folder = tmp_path / "transcripts"
    folder.mkdir()
    for number in (1, 2, 3):
        shell.json("observe", str(transcript(folder, number)))
    return shell


def test_the_files_of_a_task_are_foreseen_with_why(sh: Shell) -> None:
    found = sh.json("foresee", "login", "is", "broken", "again")
    assert found["sessions"] == 3
    assert found["files"][0]["path"] == "api/routes.py"
    assert found["files"][0]["because"]
    assert sh("foresee", "login", "is", "broken") == 0
    assert "api/routes.py" in sh.out


def test_what_tends_to_fail_is_told_with_what_helped(sh: Shell) -> None:
    patterns = sh.json("foresee", "--failures")["patterns"]
    state = next(pattern for pattern in patterns if pattern["sort"] == "state" and pattern["what"] == "unread")
    assert state["likelihood"] > 0.5
    assert "the file had not been read" in state["text"]
    assert sh("foresee", "--failures") == 0
    assert "not read in this session" in sh.out


def test_foresee_needs_a_task_or_failures_and_not_both(sh: Shell) -> None:
    assert sh("foresee") == 2
    assert sh("foresee", "x", "--failures") == 2
    assert sh("foresee", "x", "-k", "0") == 2


def test_findings_of_a_report_are_remembered_and_a_bad_report_changes_nothing(sh: Shell, tmp_path: Path) -> None:
    report = tmp_path / "qa.json"
    report.write_text(json.dumps({"findings": [{"severity": "high", "title": "Race in the cache"}]}), encoding="utf-8")
    (kept,) = sh.json("observe", "--qa", str(report))["remembered"]
    assert kept["memory"]["kind"] == "error_pattern"
    report.write_text("{", encoding="utf-8")
    assert sh("observe", "--qa", str(report)) == 2
    report.write_text('[{"severity": "awful", "title": "x"}]', encoding="utf-8")
    assert sh("observe", "--qa", str(report)) == 2
    assert sh("observe", "--qa", str(tmp_path / "none.json")) == 2


def test_observations_of_an_interface_wait_for_a_review(sh: Shell, tmp_path: Path) -> None:
    told = tmp_path / "ui.json"
    told.write_text(json.dumps([{"type": "timing", "text": "The list loads late"}]), encoding="utf-8")
    assert sh("observe", "--ui", str(told), "--session", "s9") == 0
    assert "need review: `recollect review`" in sh.out
    assert sh("observe", "--ui", str(told), "--spool") == 2


def test_the_commands_that_work_here_are_told_with_their_folder(sh: Shell, tmp_path: Path) -> None:
    rows = [
        {"s": f"run{number}", "k": "tool", "ts": f"2026-01-0{number + 1}T00:00:00Z", "id": "c", "tool": "bash",
         "args": {"command": "cd web && bun test"}, "result": "3 pass", "error": False}
        for number in range(2)
    ]  # fmt: skip
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert sh("observe", str(file)) == 0
    (told,) = sh.json("foresee", "--commands")["commands"]
    assert (told["purpose"], told["command"], told["folder"], told["sessions"]) == ("test", "bun test", "web", 2)
    assert sh("foresee", "--commands") == 0
    assert "cd web && bun test" in sh.out
