"""The command line as a person or a program meets it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.cli import COMMANDS, full_parser, main, parse_arguments
from recollect.testing.fakes import WordEmbedder


class Shell:
    """Runs commands against one store and keeps what they printed."""

    def __init__(self, store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = store
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.out = self.err = ""

    def __call__(self, *words: str, stdin: bytes | None = None) -> int:
        if stdin is not None:
            self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        try:
            code = main(["--as-person", *words, "--store", str(self.store)])
        except SystemExit as stop:
            code = int(stop.code or 0)
        self.out, self.err = self._capsys.readouterr()
        return code

    def forget_output(self) -> None:
        self._capsys.readouterr()

    def json(self, *words: str, stdin: bytes | None = None) -> Any:
        assert self(*words, "--json", stdin=stdin) in (0, 1), self.err
        return json.loads(self.out)


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    assert shell("init") == 0
    return shell


def test_a_session_from_teaching_to_forgetting(sh: Shell) -> None:
    taught = sh.json(
        "remember", "Run make gen before the tests.", "--kind", "gotcha", "--file", "Makefile", "--tag", "build"
    )
    id = taught["id"]
    assert (taught["verdict"], taught["durable"]) == ("new", True)
    assert sh("recall", "why do tests fail without make gen", "--explain") == 0
    assert id in sh.out
    assert "because keyword #1" in sh.out
    assert sh.json("recall", "make gen")["hits"][0]["memory"]["files"] == ["Makefile"]
    assert sh.json("list", "--tag", "BUILD")["total"] == 1
    assert sh.json("edit", id, "Run make generate first.")["content"] == "Run make generate first."
    assert sh.json("confirm", id[-8:], "--why", "tried it")["confidence"] == 1.0
    assert sh.json("why", id)["history"][-1]["why"] == "tried it"
    assert sh.json("dispute", id)["status"] == "disputed"
    assert sh.json("undo")["actions"] == ["dispute"]
    assert sh.json("pin", id)["pinned"] is True
    assert "pinned" not in sh.json("pin", id, "--off")
    assert sh.json("reject", id)["status"] == "rejected"
    assert sh("remember", "Run make generate first.", "--kind", "gotcha") == 4
    assert "--again" in sh.err
    assert sh.json("forget", id)["forgotten"] == id
    assert sh("show", id) == 3
    assert [entry["action"] for entry in sh.json("history", id)][-1] == "forget"
    assert sh.json("check")["ok"] is True


def test_stdin_is_read_when_no_text_is_given(sh: Shell) -> None:
    assert sh.json("remember", stdin="Käse schläft nie.\n".encode())["memory"]["content"] == "Käse schläft nie."
    assert sh.json("recall", "-", stdin=b"kase")["hits"][0]["memory"]["content"] == "Käse schläft nie."


def test_many_drafts_are_taken_from_lines_of_json(sh: Shell) -> None:
    lines = "\n".join(json.dumps({"content": f"Line number{n}.", "kind": "gotcha"}) for n in range(30))
    assert sh.json("remember", "--jsonl", stdin=lines.encode())["verdicts"] == {"new": 30}
    assert sh("remember", "--jsonl", stdin=b'{"content": "ok"}\n{"contents": "typo"}') == 2
    assert "line 2: contents" in sh.err
    assert sh.json("list", "--limit", "1")["total"] == 30


def test_an_argument_too_many_points_to_the_help_of_its_command(sh: Shell) -> None:
    assert sh("chat", "hello") == 2
    assert sh.err.splitlines() == [
        "recollect: unrecognized arguments: hello", "  → `recollect chat --help` shows what it takes.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "say"),
    [
        (["remember", "x", "--kind", "nope"], 2, "kind"),
        (["remember", "x", "--confidence", "1.5"], 2, "confidence"),
        (["remember", "x", "--confidence", "high"], 2, "confidence"),
        (["remember", "x", "--payload", "{"], 2, "payload"),
        (["remember", "x", "--kind", "dead_end", "--payload", '{"tried": 1}'], 2, "payload"),
        (["remember", "x", "--when", "soon"], 2, "when"),
        (["remember", "x", "--source", "rumour"], 2, "source"),
        (["show", "mem_nowhere"], 3, "mem_nowhere"),
        (["confirm", "mem_nowhere"], 3, "mem_nowhere"),
        (["restore"], 3, "backup"),
        (["restore", "/nonexistent/file.db"], 3, "backup"),
        (["undo"], 4, "undo"),
        (["list", "--status", "gone"], 2, "status"),
        (["list", "--kind", "gotchas"], 2, "kind"),
        (["recall", "x", "--phase", "coding"], 2, "phase"),
        (["recall", "x", "--since", "soon"], 2, "since"),
        (["edit", "mem_nowhere"], 2, "nothing to change"),
        (["nonsense"], 2, "nonsense"),
        ([], 2, "COMMAND"),
        (["scan", "/nonexistent/file"], 2, "No such file"),
    ],
)
def test_a_user_error_is_two_lines_and_an_exit_code_never_a_traceback(
    sh: Shell, words: list[str], code: int, say: str
) -> None:
    assert sh(*words) == code
    assert say in sh.err
    assert "Traceback" not in sh.err
    assert "→" in sh.err


def test_errors_are_json_too_when_asked(sh: Shell) -> None:
    assert sh("show", "mem_nowhere", "--json") == 3
    assert json.loads(sh.out)["error"]["code"] == "memory-not-found"


def test_bytes_that_are_not_utf8_are_refused(sh: Shell) -> None:
    assert sh("remember", stdin=b"caf\xe9") == 2
    assert "UTF-8" in sh.err
    assert sh.json("list")["total"] == 0


def test_without_a_store_reading_says_how_to_make_one(sh: Shell, tmp_path: Path) -> None:
    sh.store = tmp_path / "elsewhere" / "memory.db"
    assert sh("recall", "x") == 5
    assert "recollect init" in sh.err


def test_backup_and_restore_bring_a_state_back(sh: Shell) -> None:
    sh.json("remember", "Before.")
    sh.json("backup")
    sh.json("remember", "After.")
    assert sh.json("restore")["set_aside"]
    assert [one["content"] for one in sh.json("list")["memories"]] == ["Before."]


def test_repair_salvages_a_damaged_file(sh: Shell) -> None:
    for number in range(30):
        sh("remember", f"Statement number{number} of the old quarry.")
    with sh.store.open("r+b") as file:
        file.write(b"\xff" * 64)
    assert sh("list") == 5
    assert "recollect repair" in sh.err
    report = sh.json("repair")
    assert report["salvaged"] == 30
    assert Path(report["quarantined"]).exists()
    assert sh.json("list", "--limit", "1")["total"] == 30


def test_repair_of_a_sound_store_does_nothing(sh: Shell) -> None:
    assert sh.json("repair") == {"rebuilt": [], "quarantined": None, "salvaged": 0, "lost": [], "tombstones": 0}
    assert sh.json("repair", "--rebuild")["rebuilt"] == ["keywords", "facets", "names"]


def test_doctor_tries_a_real_write(sh: Shell) -> None:
    health = sh.json("doctor")
    assert health["ok"] is True
    assert health["facts"]["round trip"] == "ok"


def test_doctor_tells_when_vectors_come_from_another_model_and_how_to_make_new_ones(
    sh: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [WordEmbedder("old", 64)]
    monkeypatch.setattr("recollect.wiring._embedder", lambda setting, store, clock: (chosen[-1], ()))
    sh("remember", "The pump runs at night.")
    sh("tend", "--job", "vectors")
    assert sh("doctor") == 0
    for another in (WordEmbedder("new", 64), WordEmbedder("old", 32)):
        chosen.append(another)
        assert sh("doctor") == 1
        assert f"Vectors were made by old (64 dimensions), but {another.model} ({another.dims}) is configured" in sh.out
        assert "recollect tend --job vectors" in sh.out


def test_doctor_tells_what_is_wrong_instead_of_failing(sh: Shell) -> None:
    sh.store.write_bytes(b"nothing like a database" * 100)
    assert sh("doctor") == 1
    assert "not a database" in sh.out


def test_scan_finds_and_redacts_what_slipped_in_before(sh: Shell, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    id = sh.json("remember", "harmless text")["id"]
    _smuggle(sh.store, id, f"use {token} here")
    assert sh("scan") == 1
    assert sh("scan", "--fix") == 0
    assert token not in sh.json("show", id)["content"]
    assert sh("scan") == 0
    assert sh.json("check")["ok"] is True
    assert token.encode() not in sh.store.read_bytes()
    leak = tmp_path / "leak.env"
    leak.write_text(f"A=1\nTOKEN={token}\n")
    assert sh("scan", str(leak)) == 1
    assert "leak.env:2" in sh.out


def _smuggle(store: Path, id: str, text: str) -> None:
    """Put text into a row below the scanner, as an older release might have."""
    import recollect

    with recollect.open(store) as memory, memory.store.engine.write():
        before = memory.get(id)
        memory.store.memories.update(before, before.having(content=text))


def test_every_command_speaks_json_and_has_help(sh: Shell) -> None:
    for name in COMMANDS:
        assert sh(name, "--help") == 0
        assert "--json" in sh.out
        assert COMMANDS[name][1][1:] in sh.out


def test_completion_knows_every_command(sh: Shell) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert sh("completion", shell) == 0
        assert all(name in sh.out for name in COMMANDS)


def test_terminal_output_cannot_carry_escape_sequences(sh: Shell) -> None:
    sh("remember", "evil", "--tag", "a")
    sh("list", "--tag", "\x1b[31m")
    sh("recall", "\x1b]0;title\x07evil")
    assert "\x1b" not in sh.out + sh.err


def test_options_may_stand_before_or_after_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "m.db")
    assert main(["--store", store, "--json", "init"]) == 0
    assert main(["--json", "list", "--store", store]) == 0
    assert main(["list", "--store", store, "--json"]) == 0
    assert all(json.loads(line) for line in capsys.readouterr().out.splitlines())


def test_a_word_that_looks_like_a_command_is_still_text(sh: Shell) -> None:
    assert sh.json("remember", "list")["memory"]["content"] == "list"
    assert len(sh.json("recall", "list")["hits"]) == 1


def test_personal_memories_live_in_the_users_file_and_are_recalled_beside_the_projects(sh: Shell, home: Path) -> None:
    sh.json("remember", "The project likes flint.")
    assert main(["remember", "I like flint in the morning.", "--personal", "--kind", "preference"]) == 0
    sh.forget_output()
    assert (home / "recollect" / "memory.db").exists()
    hits = sh.json("recall", "flint")["hits"]
    assert {hit["memory"]["visibility"] for hit in hits} == {"project", "personal"}
    assert sh.json("list")["total"] == 1
    assert all(hit["memory"].get("access_count", 0) == 1 for hit in sh.json("recall", "flint")["hits"])


def test_a_broken_personal_file_does_not_keep_the_project_from_answering(sh: Shell, home: Path) -> None:
    (home / "recollect").mkdir(parents=True)
    (home / "recollect" / "memory.db").write_bytes(b"rubbish" * 1000)
    sh.json("remember", "The project likes flint.")
    answer = sh.json("recall", "flint")
    assert len(answer["hits"]) == 1
    assert any(note.startswith("personal: ") for note in answer["notes"])


def test_the_installed_command_works_in_a_process_of_its_own(tmp_path: Path) -> None:
    def run(*words: str, input: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "recollect", *words],
            cwd=tmp_path,
            input=input,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("remember", "Granite is hard.").returncode == 0
    assert (tmp_path / ".recollect" / "memory.db").exists()
    assert "Granite" in run("recall", "granite").stdout
    assert run("list", "--json").stdout.startswith("{")


def test_the_whole_parser_can_be_built() -> None:
    assert full_parser().format_help().count("\n") > len(COMMANDS)
    assert full_parser().format_help() == full_parser(outline=True).format_help()


@pytest.mark.parametrize(
    "words", [["docs", "list"], ["docs", "search", "x"], ["code", "map"], ["code", "impact", "a.py"], ["list"]]
)
def test_the_common_options_may_stand_after_any_command_and_its_own_commands(words: list[str]) -> None:
    args = parse_arguments([*words, "--json", "--store", "somewhere", "--read-only", "--actor", "me"])
    assert (args.json, args.store, args.read_only, args.actor) == (True, "somewhere", True, "me")


def test_an_act_without_a_reason_is_logged_without_one(sh: Shell) -> None:
    id = sh.json("remember", "Deploys run from main.")["id"]
    for act in (["confirm"], ["dispute"], ["pin"], ["undo"], ["edit", "--tag", "x"], ["reject"]):
        sh.json(act[0], id, *act[1:])
    entries = sh.json("history", id)
    assert [entry["action"] for entry in entries] == ["add", "confirm", "dispute", "pin", "undo", "edit", "reject"]
    assert not [entry for entry in entries if entry["action"] != "undo" and "why" in entry]


DEEP = "[" * 200_000 + "]" * 200_000
NESTED = '{"a":' * 400 + "1" + "}" * 400


@pytest.mark.parametrize("deep", [DEEP, NESTED, "[" * 200_000], ids=["lists", "objects", "open"])
def test_json_nested_without_end_is_bad_input_at_every_door(sh: Shell, tmp_path: Path, deep: str) -> None:
    line = f'{{"content": "x", "attributes": {{"a": {deep}}}}}'.encode()
    (tmp_path / "deep.json").write_text(deep)
    for words, stdin in (
        (("remember", "--jsonl"), line),
        (("remember", "--jsonl"), b'{"content": "fine"}\n' + line),
        (("remember", "x", "--kind", "recipe", "--payload", deep[:100_000]), None),
        (("import", str(tmp_path / "deep.json"), "--format", "claude"), None),
        (("observe", "--qa", str(tmp_path / "deep.json")), None),
        (("observe", "--ui", str(tmp_path / "deep.json")), None),
    ):
        assert sh(*words, stdin=stdin) == 2, (words[:2], sh.err)
        assert "nested deeper" in sh.err or "not JSON" in sh.err
    assert sh.json("list")["total"] == 0


def test_lines_of_json_are_stored_all_or_none_and_an_error_names_the_line(sh: Shell) -> None:
    good = "".join(json.dumps({"content": f"statement number {i} about thing {i * 7}"}) + "\n" for i in range(1_200))
    for bad, told in (
        ('{"content": "x", "kind": "nonsense"}', "nonsense"),
        ('{"content": "x", "confidence": "high"}', "confidence"),
        ('{"content": "x", "supersedes": "mem_0"}', "mem_0"),
        ('{"content": ""}', "no visible text"),
        ('{"content": "x", "user": " x"}', "user"),
        ("[1]", "object"),
    ):
        assert sh("remember", "--jsonl", stdin=f"\n{good}\n{bad}\n".encode()) in (2, 3), sh.err
        assert "line 1203" in sh.err, sh.err
        assert told in sh.err.lower()
        assert sh.json("list")["total"] == 0
    for nothing in (b"", b"\n \n"):
        assert sh("remember", "--jsonl", stdin=nothing) == 2
        assert "no line" in sh.err
    text = json.dumps({"content": "one\u2028line"}, ensure_ascii=False)
    assert sh.json("remember", "--jsonl", stdin=text.encode())["count"] == 1
