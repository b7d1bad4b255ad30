"""`recollect export`, `import` and `migrate` as people type them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

import recollect
from recollect.interfaces.cli import main


class Shell:
    """Runs commands as a program without a terminal would, on `a.db` unless another store is named."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        own = () if "--store" in words or "migrate" in words else ("--store", "a.db")
        code = main([*words, *own])
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)
    shell("remember", "The staging database resets every night.", "--kind", "gotcha", "--as-person")
    shell("remember", "My own wish", "--visibility", "personal", "--as-person")
    return shell


def test_an_export_comes_back_through_the_command_line(sh: Shell, tmp_path: Path) -> None:
    assert sh("export", "-o", "e.zip", "--with-personal", "--as-person") == 0
    assert "2 memories exported to e.zip." in sh.out
    assert stat.S_IMODE((tmp_path / "e.zip").stat().st_mode) == 0o600
    assert sh("--store", "new.db", "import", "e.zip", "--dry-run") == 0
    assert not (tmp_path / "new.db").exists()
    assert "2 memories would be imported from recollect: 2 new." in sh.out
    assert sh("--store", "new.db", "import", "e.zip") == 0
    assert sh("--store", "new.db", "import", "e.zip", "--json") == 0
    assert json.loads(sh.out)["counts"] == {"same": 2}


def test_a_damaged_export_makes_no_store(sh: Shell, tmp_path: Path) -> None:
    sh("export", "-o", "e.jsonl")
    (tmp_path / "e.jsonl").write_bytes((tmp_path / "e.jsonl").read_bytes()[:-40])
    assert sh("--store", "new.db", "import", "e.jsonl") == 2
    assert "cut off" in sh.err
    assert not (tmp_path / "new.db").exists()


def test_lines_go_to_stdout_and_personal_memories_stay(sh: Shell) -> None:
    assert sh("export") == 0
    records = [json.loads(line) for line in sh.out.splitlines()]
    assert [record["record"] for record in records][:2] == ["header", "memory"]
    assert "My own wish" not in sh.out


def test_a_file_that_no_export_wrote_is_not_replaced(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("mine\n")
    assert sh("export", "-o", "mine.jsonl") == 2
    assert (tmp_path / "mine.jsonl").read_text() == "mine\n"
    assert sh("export", "-o", "e.jsonl") == 0
    assert sh("export", "-o", "e.jsonl") == 0


@pytest.mark.parametrize("words", [["--format", "archive"], ["--format", "markdown"], ["--json"]])
def test_what_needs_a_place_to_go_says_so(sh: Shell, words: list[str]) -> None:
    assert sh("export", *words) == 2
    assert "-o PATH" in sh.err


def test_only_a_person_says_that_a_file_is_theirs(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Tea at four\n")
    assert sh("import", "notes.txt", "--format", "table", "--trust") == 4
    assert sh("import", "notes.txt", "--format", "table", "--trust", "--as-person") == 0
    with recollect.open(tmp_path / "a.db") as memory:
        assert [one.source for one in memory.list() if one.content == "Tea at four"] == ["user_taught"]


def test_a_table_is_mapped_on_the_command_line(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("note\nTea at four\n")
    assert sh("import", "t.csv", "--map", "content=note") == 0
    assert "1 memory imported from table: 1 new." in sh.out
    assert sh("import", "t.csv", "--map", "nonsense") == 2
    assert sh("import", "t.csv", "--map", "colour=note") == 2


def test_a_store_moves_on_the_command_line(sh: Shell, tmp_path: Path) -> None:
    assert sh("migrate", "a.db", "b.db") == 0
    assert "Verified on both sides: 2 memories" in sh.out
    assert sh("migrate", "a.db", "b.db", "--json") == 0
    (told,) = json.loads(sh.out)
    assert told["census"]["memories"] == {"source": 2, "target": 2}
    assert sh("migrate", "missing.db", "c.db") == 5
    assert not (tmp_path / "c.db").exists()


def test_an_encrypted_archive_takes_its_passphrase_from_the_environment(
    sh: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyrage")
    assert sh("export", "-o", "e.zip", "--encrypt") == 2
    monkeypatch.setenv("RECOLLECT_PASSPHRASE", "correct horse battery")
    assert sh("export", "-o", "e.zip", "--encrypt") == 0
    assert sh("--store", "new.db", "import", "e.zip") == 0


def test_an_agent_exports_nothing_personal_and_nothing_of_users(sh: Shell, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "a.db") as memory:
        memory.remember("Ada likes granite.", user="ada")
    assert sh("export", "-o", "e.jsonl", "--with-personal") == 4
    assert "Only a person can export personal memories" in sh.err
    assert sh("export", "-o", "e.jsonl", "--user", "ada") == 4
    assert not (tmp_path / "e.jsonl").exists()
    for words in (("export",), ("export", "--kind", "fact")):
        assert sh(*words) == 0
        assert "granite" not in sh.out
    assert sh("export", "--as-person") == 0
    assert "granite" in sh.out


@pytest.mark.parametrize("kept", [200, 1_000])
def test_an_archive_that_is_cut_off_is_said_to_be(sh: Shell, tmp_path: Path, kept: int) -> None:
    assert sh("export", "-o", "e.zip") == 0
    (tmp_path / "e.zip").write_bytes((tmp_path / "e.zip").read_bytes()[:kept])
    assert sh("--store", "new.db", "import", "e.zip") == 2
    assert "cut off" in sh.err
    assert not (tmp_path / "new.db").exists()


def test_a_date_that_cannot_be_read_is_told(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("content,created_at\nAda likes tea.,31.03.2026\nBen likes rum.,2026-03-31\n")
    assert sh("import", "t.csv") == 0
    assert "1 dates for created_at that cannot be read" in sh.out + sh.err
