"""Whole sittings at the command line as approved: every command's words, its JSON, its notes and its exit code.

The clock moves by hand and ids are named by their order, so that two runs of the same code tell the same.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from approval import approve
from code_programs import PROGRAMS
from conftest import HandClock
from interfaces.test_cli import Shell
from recollect import wiring

_DRAWN = re.compile(r"\b[0-9a-f]{64}\b|\b\d{8}T\d{6}\.\d+Z\b")  # links of the log's chain, times in names of folders


class Sitting:
    """One shell, and what was said in it."""

    def __init__(self, shell: Shell, root: Path) -> None:
        self._shell = shell
        self._root = root
        self.lines: list[Any] = []

    def __call__(self, *words: str, stdin: str | None = None) -> None:
        """Run a command as a person reads it and as a program does."""
        for form in ((), ("--json",)):
            self.once(*words, *form, stdin=stdin)

    def once(self, *words: str, stdin: str | None = None) -> Any:
        """Run it once; the value it told as JSON, if it did."""
        code = self._shell(*words, stdin=None if stdin is None else stdin.encode())
        out, err = (_DRAWN.sub("…", text) for text in (self._shell.out, self._shell.err))
        value = (
            json.loads(out, parse_float=lambda digits: round(float(digits), 6))
            if "--json" in words and code < 2
            else None
        )
        self.lines.append(
            {
                "words": list(words),
                "exit": code,
                "out": out.splitlines() if value is None else value,
                "err": err.splitlines(),
            }
        )
        return value

    def id(self, *words: str) -> str:
        return str(self.once(*words, "--json")["id"])

    def approve(self, name: str) -> None:
        approve(f"sitting-{name}", self.lines, root=self._root)


@pytest.fixture
def sit(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    clock: HandClock,
    counted_ids: None,
) -> Sitting:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_ACTOR", "ada")
    monkeypatch.setattr(wiring, "open", partial(wiring.open, clock=clock))
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    assert shell("init", "--project", "quay") == 0
    return Sitting(shell, tmp_path)


def test_a_sitting_with_memories_reads_as_approved(sit: Sitting, clock: HandClock) -> None:
    first = sit.id("remember", "Run make gen before the tests.", "--kind", "gotcha", "--file", "Makefile", "--tag", "b")
    clock.pass_(days=3)
    sit("remember", "Run make gen before the tests.", "--kind", "gotcha")
    second = sit.id("remember", "The cache of sessions expires after 30 minutes.", "--confidence", "0.6")
    third = sit.id("remember", "We chose SQLite because one file is easy to back up.", "--kind", "decision")
    sit("remember", "--jsonl", stdin='{"content": "Deploys run from main."}\n{"content": "Logs rotate at noon."}\n')
    sit("remember", "The token is ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "--tag", "key")
    clock.pass_(days=20)
    sit("recall", "why do tests fail without make gen", "--explain", "-k", "2")
    sit("recall", "zebra", "--no-track")
    sit("brief", "change how sessions are cached", "--budget", "300", "--no-track")
    sit("edit", second, "The cache of sessions expires after 20 minutes.", "--why", "measured", "--tag", "cache")
    sit("edit", second, "x", "--if-revision", "1")
    sit("edit", second)
    sit.once("correct", second, "The cache of sessions expires after 25 minutes.", "--why", "asked Ada")
    sit("confirm", first, "--why", "tried it")
    sit("dispute", third, "--why", "we use PostgreSQL now")
    sit("pin", first)
    sit("list", "--limit", "3", "--skip", "1", "--order", "oldest")
    sit("list", "--kind", "gotcha", "--status", "any", "--min-confidence", "0.5", "--since", "2026-01-01")
    sit("show", third)
    sit("why", first)
    sit("history", first, "--limit", "2")
    sit("pin", first, "--off")
    sit.once("undo")
    sit.once("undo", third, "--why", "too early")
    sit("reject", third, "--why", "moved")
    sit.once("remember", "We chose SQLite because one file is easy to back up.", "--kind", "decision")
    sit.once("forget", third, "--why", "asked to")
    sit("show", third)
    sit("history", "--limit", "4")
    sit.approve("memories")


def test_a_sitting_with_documents_reads_as_approved(sit: Sitting, tmp_path: Path, clock: HandClock) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text(
        "# Guide\n\nDeploys run `make ship` from main.\n\n## Cache\n\nIt expires after an hour.\n"
    )
    (docs / "old.md").write_text("# Old\n\nDeploys run `make ship` from main. See [gone](missing.md).\n")
    (docs / "rules.md").write_text("# Rules\n\n- Always use tabs.\n- Never push on Fridays.\n")
    (docs / "odd.md").write_bytes(b"\xff\xfe\x00broken")
    sit("docs", "index", str(docs))
    clock.pass_(days=2)
    (docs / "guide.md").rename(docs / "manual.md")
    (docs / "old.md").unlink()
    sit("docs", "index", str(docs), "--full")
    sit("docs", "search", "how do deploys run", "--explain", "-k", "2")
    sit("docs", "search", "deploys cache tabs", "--no-dedupe", "--no-track", "--mode", "keyword")
    sit("docs", "search", "zebra")
    sit("docs", "search", "deploys tabs pushed on Fridays")
    sit("docs", "related", "docs/manual.md")
    sit("docs", "list")
    sit("docs", "check")
    sit("docs", "gc", "--dry-run")
    sit("import", "rules", str(docs / "rules.md"), "--dry-run")
    sit.once("import", "rules", str(docs / "rules.md"))
    (docs / "rules.md").write_text("# Rules\n\n- Always use spaces, never tabs.\n")
    sit("import", "rules", str(docs / "rules.md"))
    sit("import", "rules", str(docs / "rules.md"), "--retire")
    sit.approve("documents")


def test_a_sitting_with_code_reads_as_approved(sit: Sitting, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name, text in PROGRAMS["python"].files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    first, *_ = sorted(PROGRAMS["python"].files)
    sit("code", "map")
    sit.once("code", "index", str(tree))
    sit("code", "index", str(tree))
    sit("code", "map")
    for name in sorted(PROGRAMS["python"].files)[:3]:
        sit("code", "impact", name)
        sit("code", "deps", name, "--depth", "1")
    sit("code", "search", "total price", "-k", "2")
    sit("code", "search", "zebra")
    sit("code", "impact", "nowhere.py")
    (tree / first).unlink()
    sit.once("code", "index", str(tree))
    sit.approve("code")


def test_a_sitting_with_talk_and_work_reads_as_approved(sit: Sitting, tmp_path: Path, clock: HandClock) -> None:
    said = [
        ("user", "Hi, I am Caroline. I moved from Berlin to Lisbon in March 2024."),
        ("assistant", "Welcome to Lisbon, Caroline!"),
        ("user", "My sister Melanie works at Initech as a nurse. I prefer tea."),
    ]
    lines = [{"role": role, "content": text, "session": "one"} for role, text in said]
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sit("import", str(tmp_path / "talk.jsonl"))
    sit("import", str(tmp_path / "talk.jsonl"), "--dry-run")
    clock.pass_(days=3)
    sit("tend", "--dry-run")
    sit("tend", "--job", "consolidate")
    sit("facts")
    sit("entity", "list")
    sit("entity", "show", "Caroline")
    sit("entity", "show", "Nobody")
    (tmp_path / "qa.json").write_text(
        json.dumps(
            [{"title": "Login fails", "file": "api/login.py", "severity": "high", "detail": "500 on empty name"}]
        )
    )
    sit("observe", "--qa", str(tmp_path / "qa.json"), "--session", "s1")
    sit("observe", str(tmp_path / "nothing"))
    sit("observe")
    sit("review", "--list")
    sit("foresee", "fix", "the", "login")
    sit("foresee", "--failures")
    sit("trust")
    sit("status")
    sit("logs")
    sit("providers")
    sit.approve("talk-and-work")


def test_a_sitting_of_upkeep_reads_as_approved(sit: Sitting, tmp_path: Path) -> None:
    sit.once("remember", "Deploys run from main.")
    sit("check")
    sit.once("backup", str(tmp_path / "copy.db"))
    sit("scan")
    (tmp_path / "env.txt").write_text("password = 'x7Kp2mQ9vR4t'\n")
    sit("scan", str(tmp_path / "env.txt"))
    sit("repair")
    sit.once("remember", "Logs rotate at noon.")
    sit.once("restore", str(tmp_path / "copy.db"))
    sit("list")
    sit.once("restore", str(tmp_path / "nowhere.db"))
    sit("tend", "--job", "prune")
    sit.approve("upkeep")
