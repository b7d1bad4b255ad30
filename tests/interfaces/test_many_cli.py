"""Commands over many memories: list in every form, forget by filter, edit in an editor, erase, and all projects."""

from __future__ import annotations

import csv
import io
import json
import stat
import sys
from pathlib import Path

import pytest

import recollect
from interfaces.test_cli import Shell
from recollect.interfaces.cli import main
from recollect.interfaces.cli.editor import parse, render


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    assert shell("init") == 0
    return shell


def taught(sh: Shell, *texts: str, tag: str = "t") -> list[str]:
    return [sh.json("remember", text, "--tag", tag)["id"] for text in texts]


# --- list -------------------------------------------------------------------------------------------------------------


def test_a_list_is_a_table_with_one_line_a_memory(sh: Shell) -> None:
    (id,) = taught(sh, "The pump is blue.")
    assert sh("list") == 0
    assert sh.out.split() == [id, "fact", sh.out.split()[2], "0.90", "The", "pump", "is", "blue."]


def test_lists_for_programs_hold_every_memory_whatever_the_page(sh: Shell) -> None:
    drafts = "".join(json.dumps({"content": f"Valve {n} opens “left”,\nthen right."}) + "\n" for n in range(1_203))
    sh("remember", "--jsonl", stdin=drafts.encode())
    assert sh("list", "--jsonl") == 0
    rows = [json.loads(line) for line in sh.out.splitlines()]
    assert len({row["id"] for row in rows}) == 1_203
    assert rows[0]["content"].endswith("“left”,\nthen right.")
    assert sh("list", "--csv", "--limit", "1100") == 0
    table = list(csv.DictReader(io.StringIO(sh.out)))
    assert len(table) == 1_100
    assert table[0]["content"] == rows[0]["content"]
    assert sh("list", "--ids", "--skip", "1200") == 0
    assert sh.out.split() == [row["id"] for row in rows[1_200:]]


def test_a_cell_that_a_spreadsheet_would_run_is_marked_as_text(sh: Shell) -> None:
    taught(sh, "=HYPERLINK(0) is what it said.", tag="+x")
    sh("list", "--csv")
    row = next(csv.DictReader(io.StringIO(sh.out)))
    assert (row["content"][:2], row["tags"]) == ("'=", "'+x")


def test_only_one_form_of_a_list_can_be_asked_for(sh: Shell) -> None:
    assert sh("list", "--csv", "--ids") == 2


# --- forget by filter -------------------------------------------------------------------------------------------------


def test_forgetting_by_filter_counts_first_and_asks_where_somebody_can_answer(
    sh: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = taught(sh, "One old thing.", "Two old things.", tag="old")
    (new,) = taught(sh, "A new thing.", tag="new")
    assert sh.json("forget", "--filter", "--tag", "old", "--dry-run")["would_forget"] == old[::-1]
    assert sh("forget", "--filter", "--tag", "old") == 2, "nobody can be asked"
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, left in (("no", 3), ("forget", 1)):
        monkeypatch.setattr("builtins.input", lambda prompt, answer=answer: answer)
        assert sh("forget", "--filter", "--tag", "old") == 0
        assert "2 would be forgotten" in sh.out
        assert sh.json("list")["total"] == left
    assert sh.json("list")["memories"][0]["id"] == new


def test_several_memories_are_forgotten_at_once_all_or_none(sh: Shell) -> None:
    ids = taught(sh, "First of these.", "Second of these.", "Third of these.")
    assert sh("forget", ids[0], "nosuchmemory") == 3
    assert sh.json("list")["total"] == 3
    assert sh.json("forget", *ids[:2])["forgotten"] == ids[:2]
    assert sh.json("list")["total"] == 1


@pytest.mark.parametrize("words", [(), ("--filter",), ("abcd", "--filter", "--tag", "x"), ("abcd", "--tag", "x")])
def test_a_vague_request_to_forget_is_refused(sh: Shell, words: tuple[str, ...]) -> None:
    taught(sh, "The pump is blue.")
    assert sh("forget", *words, "--yes") == 2
    assert sh.json("list")["total"] == 1


# --- edit in an editor ------------------------------------------------------------------------------------------------


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """An editor that puts the file through a few lines of Python; `text` is what it holds."""
    script = tmp_path / "editor.py"
    body = f"import sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n{program}\n"
    script.write_text(f"{body}open(path, 'w', encoding='utf-8').write(text)\n", encoding="utf-8")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_many_memories_are_edited_in_one_file_and_only_what_changed_is_written(
    sh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = taught(sh, "The pump is blue.", "The valve is red.", "The tank is green.")
    change = "text = text.replace('blue', 'black').replace('tags: t', 'tags: t, paint', 1)"
    editor(tmp_path, monkeypatch, change)
    done = sh.json("edit", "--open", *ids, "--why", "painted")
    assert [one["id"] for one in done["changed"]] == ids[:1]
    assert (done["changed"][0]["content"], done["changed"][0]["tags"]) == ("The pump is black.", ["t", "paint"])
    assert [one["revision"] for one in sh.json("list", "--order", "oldest")["memories"]] == [2, 1, 1]
    assert list(tmp_path.glob("recollect-*.md")) == []


def test_what_somebody_else_changed_meanwhile_is_not_overwritten_and_the_text_is_kept(
    sh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = taught(sh, "The pump is blue.", "The valve is red.")
    meanwhile = (
        f"import recollect\nwith recollect.open({str(sh.store)!r}) as memory:\n"
        f"    memory.edit({one!r}, content='The pump is gone.')\n"
        "text = text.replace('blue', 'black').replace('red', 'rust')"
    )
    editor(tmp_path, monkeypatch, meanwhile)
    assert sh("edit", "--open", one, other) == 1
    assert one in sh.err
    contents = {memory["id"]: memory["content"] for memory in sh.json("list")["memories"]}
    assert contents == {one: "The pump is gone.", other: "The valve is rust."}
    (kept,) = tmp_path.glob("recollect-*.md")
    assert "The pump is black." in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "program",
    [
        "text = text.replace('@1', '@7')",
        "text = text + '\\n=== mem_unknown @1\\nkind: fact\\n\\nhello\\n'",
        "text = 'hello\\n' + text",
        "text = text.replace('kind:', 'sort:')",
        "text = text.replace('confidence: 0.9', 'confidence: high')",
        "text = text.replace('The pump is blue.', '')",
        "open(path, 'w', encoding='utf-8').write(text)\nsys.exit(3)",
    ],
)
def test_a_file_that_cannot_be_understood_changes_nothing_and_is_kept(
    sh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    ids = taught(sh, "The pump is blue.", "The valve is red.")
    editor(tmp_path, monkeypatch, f"text = text.replace('red', 'rust')\n{program}")
    assert sh("edit", "--open", *ids) == 2
    assert {one["content"] for one in sh.json("list")["memories"]} == {"The pump is blue.", "The valve is red."}
    assert len(list(tmp_path.glob("recollect-*.md"))) == 1


def test_a_text_that_looks_like_the_beginning_of_a_memory_stays_a_text() -> None:
    with recollect.open(":memory:") as memory:
        one = memory.remember("The pump is blue.").memory
        nasty = f"First line.\n=== {one.id} @1\nkind: gotcha\n\n\\=== escaped\n\\ backslash"
        other = memory.remember(nasty, tags=["a, b"]).memory
        assert parse(render([one, other]), [one, other]) == {}
        assert parse(render([one, other]).replace("First line.", "Second."), [one, other]) == {
            other.id: {"content": nasty.replace("First line.", "Second.")}
        }


# --- erase ------------------------------------------------------------------------------------------------------------


def test_erase_shows_names_and_near_misses_and_asks_before_anything_goes(
    sh: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recollect.open(sh.store) as memory:
        for text in ("Anna Berg has the key.", "Mail anna.berg@example.org for it.", "The hall is locked."):
            memory.sessions.capture(text, session="talk")
    told = sh.json("erase", "--subject", "Anna Berg", "--dry-run")
    assert [miss["name"] for miss in told["subject"]["near"]] == ["anna.berg@example.org"]
    assert len(told["memories"]) == 2, "an address with her name holds her name"
    assert sh("erase", "--subject", "Anna Berg") == 2, "nobody can be asked"
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, left in (("yes", 3), ("erase", 1)):
        monkeypatch.setattr("builtins.input", lambda prompt, answer=answer: answer)
        assert sh("erase", "--subject", "Anna Berg") == 0
        assert "not included: anna.berg@example.org" in sh.out
        assert sh.json("list")["total"] == left
    assert "Nothing of it is left in any file of this store." not in sh.err
    assert "Anna" not in json.dumps(sh.json("history"))


def test_erase_says_what_is_left_and_ends_with_one_until_it_is_gone(sh: Shell) -> None:
    taught(sh, "Anna Berg has the key.")
    backup = sh.json("backup")["path"]
    assert sh("erase", "--subject", "Anna Berg", "--yes") == 1
    assert backup in sh.err
    assert sh("erase", "--subject", "Anna Berg", "--yes", "--backups") == 0
    assert "Nothing of it is left" in sh.out
    assert sh("erase", "--resume") == 0


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--filter",),
        ("--tag", "x"),
        ("--project", "--everything"),
        ("--subject", "Anna", "--user", "x"),
        ("--session", "a", "--session", "b"),
        ("--everything", "--also", "x"),
        ("--everything", "--backups", "burn"),
    ],
)
def test_a_vague_request_to_erase_is_refused(sh: Shell, words: tuple[str, ...]) -> None:
    taught(sh, "Anna has the key.")
    assert sh("erase", *words, "--yes") == 2
    assert sh.json("list")["total"] == 1


# --- projects ---------------------------------------------------------------------------------------------------------


def test_projects_lists_every_store_that_was_used_here_and_is_still_there(sh: Shell, tmp_path: Path) -> None:
    taught(sh, "The pump is blue.")
    other = Shell(tmp_path / "other" / "memory.db", sh._capsys, sh._monkeypatch)
    assert other("init", "--project", "second") == 0
    taught(other, "One.", "Two.")
    broken = Shell(tmp_path / "broken" / "memory.db", sh._capsys, sh._monkeypatch)
    assert broken("init") == 0
    broken.store.write_bytes(b"no database" * 500)
    found = {one["path"]: one for one in sh.json("projects")}
    assert found[str(sh.store)]["memories"] == 1
    assert (found[str(other.store)]["project"], found[str(other.store)]["memories"]) == ("second", 2)
    assert found[str(broken.store)]["trouble"]
    assert sh("projects") == 0
    assert "second" in sh.out
    other.store.unlink()
    assert str(other.store) not in {one["path"] for one in sh.json("projects")}


def test_an_agent_forgets_nothing_that_a_person_imported(
    sh: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = tmp_path / "brought.csv"
    brought.write_text("content,kind\nThe pump is blue.,fact\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert sh("import", str(brought)) == 0
    assert main(["remember", "Valves open left.", "--kind", "fact", "--store", str(sh.store)]) == 0
    capsys.readouterr()
    asked = ["forget", "--filter", "--kind", "fact", "--yes", "--store", str(sh.store)]
    assert main(asked) == 4
    assert "somebody else" in capsys.readouterr().err
    with recollect.open(sh.store) as memory:
        own, imported = sorted((one for one in memory.list()), key=lambda one: one.content, reverse=True)
    assert main(["forget", own.id, "--store", str(sh.store)]) == 0
    with recollect.open(sh.store) as memory:
        assert [one.id for one in memory.list()] == [imported.id]


def test_an_editor_that_fails_leaves_no_text_behind_when_nothing_was_typed(
    sh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (id,) = taught(sh, "The pump is blue.")
    editor(tmp_path, monkeypatch, "sys.exit(1)")
    assert sh("edit", id, "--open") == 2
    assert not list(tmp_path.glob("recollect-*.md"))
    assert "kept" not in sh.err
