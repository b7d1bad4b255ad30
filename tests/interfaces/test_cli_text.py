"""What commands say to a person: the same facts as in JSON, in plain lines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from interfaces.test_cli import Shell
from recollect.app import Recollect
from recollect.interfaces.cli.console import Console
from recollect.interfaces.cli.status import _lock_holder
from recollect.tend.runner import Tended


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    shell = Shell(tmp_path / "memory.db", capsys, monkeypatch)
    assert shell("init") == 0
    return shell


def lines(sh: Shell, *words: str, code: int = 0) -> list[str]:
    assert sh(*words) == code, sh.err
    return sh.out.splitlines()


def test_show_tells_the_text_first_then_every_field(sh: Shell) -> None:
    id = sh.json("remember", "Use tabs.", "--kind", "preference", "--file", "a.py", "--file", "b.py", "--tag", "style")[
        "id"
    ]
    said = lines(sh, "show", id)
    assert said[:2] == ["Use tabs.", ""]
    told = dict(line.strip().split("  ", 1) for line in said[2:])
    assert (told["kind"], told["files"], told["tags"]) == ("preference", "a.py, b.py", "style")
    assert float(told["confidence now"]) == pytest.approx(sh.json("show", id)["confidence_now"], abs=1e-3)
    assert "content" not in told


def test_why_tells_where_a_belief_comes_from_what_it_hangs_on_and_what_became_of_it(sh: Shell) -> None:
    old = sh.json("remember", "The port is 80.")["id"]
    new = sh.json("edit", old, "The port is 81.")["id"]
    other = sh.json("correct", new, "The port is 8080.", "--why", "it moved")["id"]
    said = lines(sh, "why", other)
    assert said[0].startswith(f"{other}  [")
    assert said[0].endswith("The port is 8080.")
    assert re.match(r"  learnt \d{4}-\d\d-\d\d \d\d:\d\d from \w+$", said[1])
    assert re.match(r"  confidence \d\.\d\d, worth \d\.\d\d today; used 0 times$", said[2])
    account = sh.json("why", other)
    assert account["history"]
    assert len([line for line in said if line.startswith("  #")]) == len(account["history"])
    assert any(re.match(rf"  supersedes {new} \(\d\.\d\d\)", line) for line in said)
    assert any(re.match(rf"  {other} supersedes this \(\d\.\d\d\)", line) for line in lines(sh, "why", new))


def test_history_is_one_line_an_entry_with_who_did_what_and_why(sh: Shell) -> None:
    id = sh.json("remember", "Deploys are on Tuesdays.")["id"]
    sh("dispute", id, "--why", "it was a Monday")
    entries = sh.json("history", id)
    said = lines(sh, "history", id)
    assert len(said) == len(entries) >= 2
    assert any(re.match(rf"  #\d+ [\d-]+ [\d:]+ \S+ dispute {id} — it was a Monday$", line) for line in said)
    assert lines(sh, "history", "--limit", "1") != said


def test_list_marks_what_is_special_and_counts_the_rest(sh: Shell) -> None:
    for number in range(3):
        sh.json("remember", f"Fact number {number} of this project.")
    id = sh.json("remember", "The one that matters most.")["id"]
    sh("pin", id)
    said = lines(sh, "list", "--limit", "2")
    assert len(said) == 2
    assert sh.err.strip() == "2 of 4"
    assert said[0].startswith(id)
    rest = lines(sh, "list", "--skip", "2")
    assert sh.err.strip() == "2 of 4"
    assert not {line[:20] for line in said} & {line[:20] for line in rest}
    plain = next(line for line in rest if "Fact number" in line)
    assert "(pinned)" in said[0]
    assert "(pinned)" not in plain


def test_a_brief_in_plain_text_is_the_fenced_text_and_says_when_there_is_none(sh: Shell) -> None:
    assert lines(sh, "brief", "how to deploy") == ["Nothing remembered about that."]
    sh.json("remember", "Deploys run `make ship` from main.", "--kind", "gotcha")
    said = lines(sh, "brief", "how to deploy with make ship")
    assert "   Deploys run `make ship` from main." in said
    told = sh.json("brief", "how to deploy with make ship", "--no-track")["text"].splitlines()
    assert said[1:-1] == told[1:-1], "but for the mark of the fence, which is drawn again"


def test_forget_in_plain_text_names_what_is_gone(sh: Shell) -> None:
    id = sh.json("remember", "My number is 555-0100.")["id"]
    assert any(id in line for line in lines(sh, "forget", id))
    assert sh("show", id) == 3


# --- upkeep ---------------------------------------------------------------------------------------------------------


def test_tend_says_what_it_did_and_with_a_dry_run_what_it_would_do(sh: Shell) -> None:
    sh.json("remember", "Deploys run from main.")
    planned = sh.json("tend", "--dry-run")["plans"]
    said = lines(sh, "tend", "--dry-run")
    for plan in planned:
        (line,) = [line for line in said if line.startswith(f"{plan['job']}: ")]
        assert line.startswith(f"{plan['job']}: {plan['total'] or 'nothing'} to do")
        assert all(f"  {step['what']} — {step['why']}" in said for step in plan["steps"])
    assert sh("tend") == 0
    assert "No embedding model is at hand." in sh.err
    job = planned[0]["job"]
    again = lines(sh, "tend", "--job", job)
    assert any(re.match(rf"{job}: \d+ done, \d+ waiting", line) for line in again)
    assert "No embedding model" not in sh.err


def test_tend_keeps_quiet_about_jobs_that_had_nothing_to_do(sh: Shell) -> None:
    sh("tend")
    reports = sh.json("tend")["reports"]
    idle = {report["job"] for report in reports if not (report["done"] or report["waiting"] or report["failed"])}
    assert idle
    said = lines(sh, "tend")
    assert not [line for line in said if line.split(":")[0] in idle]


def test_repair_of_a_torn_index_names_what_was_rebuilt(sh: Shell) -> None:
    sh.json("remember", "Deploys run from main.")
    assert lines(sh, "repair") == ["Nothing to repair."]
    (said,) = lines(sh, "repair", "--rebuild")
    assert said.startswith("Rebuilt from the rows: ")
    assert said.removeprefix("Rebuilt from the rows: ").rstrip(".")


def test_repair_of_a_damaged_file_tells_where_the_old_one_is_and_how_much_was_saved(sh: Shell) -> None:
    with recollect.open(sh.store) as memory:
        for number in range(12):
            memory.remember(f"Statement number {number} of the old quarry.")
    with sh.store.open("r+b") as file:
        file.write(b"\xff" * 64)
    said = lines(sh, "repair")
    kept = re.fullmatch(r"The damaged file is kept, untouched, at (.+)\.", said[0])
    assert kept is not None
    assert Path(kept[1]).read_bytes().startswith(b"\xff" * 64)
    assert said[1] == "12 memories were carried into a new one; 0 could not be read."
    assert "recollect restore" in said[2]


def test_check_and_backup_and_restore_speak_plainly(sh: Shell, tmp_path: Path) -> None:
    sh.json("remember", "Deploys run from main.")
    assert lines(sh, "check")
    copy = tmp_path / "copy.db"
    assert any(str(copy) in line for line in lines(sh, "backup", str(copy)))
    assert copy.exists()
    sh.json("remember", "Nobody backed this up.")
    assert any(str(copy) in line for line in lines(sh, "restore", str(copy)))
    with recollect.open(sh.store) as memory:
        assert [one.content for one in memory.list()] == ["Deploys run from main."]


def test_restoring_a_copy_made_by_hand_says_that_the_store_is_foreign_now(sh: Shell, tmp_path: Path) -> None:
    sh.json("remember", "Deploys run from main.")
    with recollect.open(sh.store) as memory:
        memory.store.engine.checkpoint()
    (tmp_path / "hand.db").write_bytes(sh.store.read_bytes())
    assert sh("restore", str(tmp_path / "hand.db")) == 0
    assert "The store is foreign now" in sh.err
    assert "recollect trust adopt" in sh.err


# --- code -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "tax.py").write_text(f"# {'What the state takes. ' * 20}\ndef rate():\n    return 3\n", encoding="utf-8")
    (root / "cart.py").write_text("from tax import rate\n\ndef total():\n    return rate()\n", encoding="utf-8")
    (root / "test_cart.py").write_text("from cart import total\n\ndef test_total():\n    total()\n", encoding="utf-8")
    return root


def test_the_code_commands_tell_in_plain_text_what_they_tell_in_json(sh: Shell, tree: Path) -> None:
    said = lines(sh, "code", "index", str(tree))
    assert re.fullmatch(r"3 added, 0 updated, 0 removed, 0 unchanged; [1-9] new passages\.", said[0])
    assert re.fullmatch(r"3 files, \d+ nodes, \d+ edges\.", said[1])
    for action, direction in (("impact", "depend on"), ("deps", "are needed by"), ("trace", "are reached from")):
        target = "tax.py:rate" if action == "impact" else "test_cart.py:test_total"
        found = sh.json("code", action, target)
        said = lines(sh, "code", action, target)
        assert found["nodes"], action
        assert said[0].startswith(f"{len(found['nodes'])} nodes in ")
        assert f" {direction} {target} (score " in said[0]
        for node in found["nodes"]:
            assert any(re.match(rf"  {node['depth']}  \d\.\d\d  \S+ +{re.escape(node['node'])}", line) for line in said)
    assert "tests: test_cart.py" in "\n".join(lines(sh, "code", "impact", "tax.py:rate"))
    (tree / "tax.py").rename(tree / "duty.py")
    (tree / "cart.py").write_text("from duty import rate\n\ndef total():\n    return rate()\n", encoding="utf-8")
    again = lines(sh, "code", "index", str(tree))
    assert again[0].startswith("1 added, 1 updated, 1 removed, 1 unchanged;")
    assert "  renamed: tax.py → duty.py" in again


def test_logs_say_when_nothing_happened_and_else_what_did(sh: Shell) -> None:
    assert lines(sh, "logs") == ["Nothing was said or done by itself yet. `recollect tend` does what is due."]
    sh.json("remember", "Deploys run from main.")
    sh("tend")
    entries = sh.json("logs")
    assert entries
    assert len(lines(sh, "logs")) >= len(entries)
    assert len(sh.json("logs", "--limit", "1")) == 1


def test_the_lock_is_held_by_the_process_that_holds_it_and_by_no_other(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours-lock", tmp_path / "theirs-lock"
    ours.touch()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(theirs)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert _lock_holder(theirs) == holder.pid
        assert _lock_holder(ours) is None
        assert _lock_holder(tmp_path / "no such lock") is None
        holder.communicate("")


_HOLD = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_tend_counts_towards_all_there_is_to_do(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int | None]] = []
    monkeypatch.setattr(Console, "progress", lambda self, *told: seen.append(told))
    monkeypatch.setattr(Recollect, "tend", lambda self, *, progress, **_: progress(2, 3) or Tended((), (), ()))
    assert sh("tend", "--json") == 0, sh.err
    assert seen == [("done", 2, 5)]


def test_a_forgotten_memory_is_told_with_the_backups_that_may_still_hold_it(sh: Shell) -> None:
    id = sh.json("remember", "My number is 555-0100.")["id"]
    assert sh("backup") == 0, sh.err
    gone = sh.json("forget", id)
    assert gone["forgotten"] == id
    assert len(gone["backups"]) >= 1
    assert all(Path(file).exists() for file in gone["backups"])
