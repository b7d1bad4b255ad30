"""The commands of conversations, as a person or a program meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interfaces.test_cli import Shell

CHAT = [
    {"session": "a", "role": "user", "content": "I live in Oslo. I met Caroline Smith.", "id": 1},
    {"session": "a", "role": "assistant", "content": "Lovely.", "id": 2},
    {"session": "b", "role": "user", "content": "I moved to Rome. Carrie Smithson came too.", "id": 3},
]


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in CHAT), encoding="utf-8")
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    assert shell.json("import", str(file)) == {
        "messages": 3, "captured": 3, "known": 0, "left_out": 0, "sessions": 2,
    }  # fmt: skip
    assert shell.json("import", str(file))["known"] == 3
    return shell


def test_a_chat_becomes_facts_and_the_logs_tell_of_it(sh: Shell) -> None:
    plan = next(one for one in sh.json("tend", "--dry-run", "--job", "consolidate")["plans"])
    assert [step["what"] for step in plan["steps"]] == ["a", "b"]
    report = sh.json("tend", "--job", "consolidate")["reports"][0]
    assert (report["done"], report["details"]["facts"], report["details"]["superseded"]) == (2, 2, 1)
    assert [fact["content"] for fact in sh.json("facts", "--session", "b")] == ["User said: I moved to Rome."]
    assert len(sh.json("facts", "--all")) == 2
    assert sh.json("logs")[0]["after"]["details"]["facts"] == 2
    assert sh.json("logs", "--job", "reflect") == []
    assert sh("logs") == 0
    assert "consolidate done · 2 done" in sh.out
    assert sh("facts", "--all") == 0
    assert "(superseded) User said: I live in Oslo." in sh.out


def test_status_tells_of_sessions_jobs_and_costs(sh: Shell) -> None:
    sh.json("tend")
    status = sh.json("status")
    assert status["sessions"] == {"consolidated": 2}
    assert {job["name"] for job in status["jobs"]} >= {"consolidate", "enrich", "prune", "reflect"}
    assert (status["spend"]["model"], status["spend"]["today"]) == ("none", 0)
    assert sh("status") == 0
    assert "0 of 200,000 tokens today" in sh.out


def test_status_lists_the_latest_sessions_below_their_count(sh: Shell) -> None:
    assert sh("status") == 0
    heads = [line.split(maxsplit=1)[0] for line in sh.out.splitlines()]
    place = heads.index("sessions")
    assert sorted(heads[place + 1 : place + 3]) == ["a", "b"]
    assert heads[place + 3] == "entities"
    assert "turns      none\n" in sh.out


def test_entities_are_listed_shown_merged_and_split(sh: Shell) -> None:
    assert {one["name"] for one in sh.json("entity", "list", "--type", "person")} >= {"Caroline Smith"}
    merged = sh.json("entity", "merge", "caroline smith", "carrie smithson", "--why", "a nickname")
    assert merged["aliases"] == ["Carrie Smithson"]
    assert sh.json("entity", "show", "Carrie Smithson")["mentions"] == 2
    assert sh("entity", "show", "caroline smith") == 0
    assert "Caroline Smith (person, 2 mentions" in sh.out
    assert sh.json("entity", "split", "caroline smith", "carrie smithson")["mentions"] == 1
    assert sh("entity", "show", "nobody") == 3
    assert sh("entity", "merge", "caroline smith") == 2
    assert sh("entity", "list") == 0


@pytest.mark.parametrize(
    ("words", "code", "say"),
    [
        (["tend", "--job", "nap"], 2, "nap"),
        (["import", "/nonexistent.json"], 2, "no such file"),
        (["entity", "show", "x", "--type", "ghost"], 2, "type"),
    ],
)
def test_bad_input_is_told_in_two_lines(sh: Shell, words: list[str], code: int, say: str) -> None:
    assert sh(*words) == code
    assert say in sh.err
    assert "→" in sh.err


@pytest.mark.parametrize("scheduler", ["cron", "systemd", "launchd"])
def test_an_installer_only_shows_itself_in_a_dry_run(sh: Shell, scheduler: str) -> None:
    shown = sh.json("tend", "--install", scheduler, "--dry-run")
    assert shown["scheduler"] == scheduler
    assert str(sh.store) in json.dumps(shown)
    assert not any(Path(path).exists() for path in shown["files"])
    assert sh("tend", "--install", scheduler, "--dry-run") == 0


def test_a_setting_for_tokens_must_be_a_number(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_TOKENS_PER_DAY", "lots")
    assert sh("status") == 2
    assert "tokens_per_day" in sh.err
