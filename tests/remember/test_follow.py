"""Memories follow the files and symbols they are about, in real repositories."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect import Filter
from recollect.app import Recollect
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.interfaces.hook import run

BODY = "def pay(amount):\n    check(amount)\n    return book(amount)\n\n\ndef check(amount):\n    assert amount > 0\n"
RULE = "Never round amounts before booking them."


def git(root: Path, *words: str) -> str:
    named = ["-c", "user.email=a@example.org", "-c", "user.name=a", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", root, *named, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "pay.py").write_text(BODY)
    (root / "src" / "tax.py").write_text("RATES = {\n" + "".join(f"    'c{n}': {n},\n" for n in range(30)) + "}\n")
    (root / ".gitignore").write_text(".recollect/\n")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    return root


def about_pay(memory: Recollect, **options: str) -> MemoryId:
    return memory.remember(RULE, kind="gotcha", files=["src/pay.py"], **options).id  # type: ignore[arg-type]


def files_now(memory: Recollect, id: str) -> tuple[str, ...]:
    memory.list(limit=1)  # whoever asks anything has memories follow
    return memory.get(id).files


def is_stale(memory: Memory) -> bool:
    return memory.stale_at is not None and memory.needs_review


def test_a_memory_follows_git_mv_at_once_and_keeps_its_old_anchor_in_its_history(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "mv", "src/pay.py", "src/payment.py")
        (hit,) = memory.recall("rounding amounts", filter=Filter(files="src/payment.py"))
        assert (hit.id, hit.memory.files, hit.doubts) == (id, ("src/payment.py",), ())
        moved = memory.history(id)[-1]
        assert moved.change.why == "src/pay.py is src/payment.py now"
        assert moved.change.before is not None
        assert moved.change.before["files"] == ["src/pay.py"]
        assert (moved.actor, moved.door) == ("freshness", "tend")


def test_a_rename_with_edits_and_one_that_was_committed_long_ago_are_followed(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "mv", "src/pay.py", "src/payment.py")
        (tree / "src" / "payment.py").write_text(BODY + "\n\ndef refund():\n    return 0\n")
        commit(tree)
        git(tree, "mv", "src/payment.py", "src/money.py")
        (tree / "src" / "money.py").write_text(BODY.replace("check", "verify") + "\n\ndef refund():\n    return 1\n")
        commit(tree)
        assert files_now(memory, id) == ("src/money.py",)
        (hit,) = memory.recall("rounding amounts")
        assert hit.doubts[0].startswith("changed since")


def test_a_renamed_folder_takes_its_files_and_what_is_said_of_the_folder_along(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        folder = memory.remember("Everything under src is typed.", kind="gotcha", files=["src"]).id
        git(tree, "mv", "src", "lib")
        assert files_now(memory, id) == ("lib/pay.py",)
        assert files_now(memory, folder) == ("lib",)


def test_a_rename_that_only_changes_case_is_followed(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "mv", "src/pay.py", "src/Pay.py")
        assert files_now(memory, id) == ("src/Pay.py",)


def test_a_plain_move_that_git_was_not_told_of_is_found_by_the_chore(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        (tree / "src" / "pay.py").rename(tree / "src" / "payment.py")
        before = git(tree, "--no-optional-locks", "status", "--porcelain")
        plan = memory.tend(job="freshness", dry_run=True).plans[0]
        assert [step.why for step in plan.steps] == ["src/pay.py is src/payment.py now"]
        memory.tend(job="freshness")
        assert memory.get(id).files == ("src/payment.py",)
        assert git(tree, "--no-optional-locks", "status", "--porcelain") == before  # nothing was staged
        assert git(tree, "count-objects").startswith("6 ")
        assert git(tree, "fsck") == ""


def test_a_deleted_file_makes_its_memory_stale_and_a_file_that_is_back_clears_that(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "rm", "-q", "src/pay.py")
        (hit,) = memory.recall("rounding amounts")
        assert is_stale(hit.memory)
        assert hit.doubts[0].startswith("marked stale")
        assert [str(item.question) for item in memory.review.list().items] == ["stale"]
        git(tree, "checkout", "HEAD", "--", "src/pay.py")
        (hit,) = memory.recall("rounding amounts")
        assert (hit.memory.stale_at, hit.memory.needs_review, hit.doubts) == (None, False, ())
        assert memory.review.count() == 0
        assert memory.history(id)[-1].change.why == "its file is back"


def test_a_memory_with_one_of_two_files_left_is_not_stale(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = memory.remember("Tax and pay share the rates.", kind="gotcha", files=["src/pay.py", "src/tax.py"]).id
        git(tree, "rm", "-q", "src/pay.py")
        assert files_now(memory, id) == ("src/pay.py", "src/tax.py")
        assert memory.get(id).stale_at is None
        git(tree, "rm", "-q", "src/tax.py")
        files_now(memory, id)
        assert is_stale(memory.get(id))


def test_what_a_person_marked_stale_or_confirmed_stays_as_they_left_it(tree: Path) -> None:
    with recollect.open(tree) as memory:
        marked = about_pay(memory, stale_at=datetime(2026, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]
        kept = memory.remember("Pay once held the bookings.", kind="decision", files=["src/pay.py"]).id
        git(tree, "rm", "-q", "src/pay.py")
        files_now(memory, kept)
        memory.confirm(kept)
        memory.tend(job="freshness")
        assert memory.get(kept).stale_at is None
        assert not memory.get(kept).needs_review
        git(tree, "checkout", "HEAD", "--", "src/pay.py")
        files_now(memory, kept)
        assert memory.get(marked).stale_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_question_of_another_kind_outlives_the_files_return(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "rm", "-q", "src/pay.py")
        files_now(memory, id)
        memory.dispute(id)
        git(tree, "checkout", "HEAD", "--", "src/pay.py")
        files_now(memory, id)
        assert memory.get(id).stale_at is None
        assert memory.get(id).needs_review


def test_switching_branches_back_and_forth_changes_the_anchor_back_and_forth(tree: Path) -> None:
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        git(tree, "checkout", "-qb", "side")
        git(tree, "mv", "src/pay.py", "src/payment.py")
        commit(tree)
        git(tree, "mv", "src/payment.py", "src/money.py")
        commit(tree)
        seen = []
        for branch in ("side", "main", "side", "main"):
            git(tree, "checkout", "-q", branch)
            seen.append(files_now(memory, id))
        assert seen == [("src/money.py",), ("src/pay.py",)] * 2


def test_a_file_nobody_ever_saw_says_nothing(tree: Path) -> None:
    with recollect.open(tree) as memory:
        ids = [
            memory.remember(f"Plan {name!r}.", files=[name]).id
            for name in ("src/planned.py", "../outside.py", "/etc/hosts", "pay.py", "a//b", ".")
        ]
        commit_after = memory.remember("We deleted src/gone.py because it was slow.", files=["src/gone.py"]).id
        git(tree, "mv", "src/tax.py", "src/taxes.py")
        memory.tend(job="freshness")
        assert not any(is_stale(memory.get(id)) for id in [*ids, commit_after])


def test_without_git_an_index_tells_what_was_renamed_and_deleted(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "src").mkdir(parents=True)
    (root / "src" / "pay.py").write_text(BODY)
    (root / "src" / "tax.py").write_text("def tax():\n    return 'a rate that is long enough to be known again'\n")
    with recollect.open(root) as memory:
        moved = about_pay(memory)
        gone = memory.remember("Tax is a constant.", kind="gotcha", files=["src/tax.py"]).id
        memory.code.index()
        (root / "src" / "pay.py").rename(root / "src" / "payment.py")
        (root / "src" / "tax.py").unlink()
        assert files_now(memory, moved) == ("src/pay.py",)  # nothing tells yet
        memory.code.index()
        assert memory.get(moved).files == ("src/payment.py",)
        assert is_stale(memory.get(gone))


@pytest.mark.both_engines
def test_an_index_follows_files_and_symbols_on_every_engine(place: Path | str, tree: Path) -> None:
    with recollect.open(place) as memory:
        memory.code.index(tree)
        symbol = memory.remember("check is called by auditors.", kind="gotcha", node="src/pay.py:check").id
        file = about_pay(memory)
        git(tree, "mv", "src/pay.py", "src/payment.py")
        memory.code.index(tree)
        assert memory.get(file).files == ("src/payment.py",)
        assert (memory.get(symbol).node or "").startswith("src/payment.py:check@")
        assert {one.id for one in memory.code.impact("src/payment.py").memories} == {file, symbol}
        (tree / "src" / "payment.py").unlink()
        memory.code.index(tree)
        assert is_stale(memory.get(file))
        assert is_stale(memory.get(symbol))


def test_a_symbol_that_is_renamed_moved_or_edited_on_the_way_keeps_its_memory(tree: Path) -> None:
    module = tree / "src" / "pay.py"
    with recollect.open(tree) as memory:
        memory.code.index()
        id = memory.remember("pay books before it answers.", kind="gotcha", node="src/pay.py:pay").id
        digest = (memory.get(id).node or "").partition("@")[2]

        module.write_text(BODY.replace("def pay", "def settle"))  # renamed
        memory.code.index()
        assert memory.get(id).node == f"src/pay.py:settle@{digest}"
        assert memory.recall("books before it answers").hits[0].doubts == ()

        module.write_text(BODY.replace("def pay(amount):", "def settle_all(amount, log):\n    log(amount)"))
        memory.code.index()  # renamed and edited
        assert memory.get(id).node == f"src/pay.py:settle_all@{digest}"
        assert "was changed since" in memory.recall("books before it answers").hits[0].doubts[0]

        module.write_text("def other():\n    return None\n")  # and gone
        memory.code.index()
        assert memory.get(id).node == f"src/pay.py:settle_all@{digest}"
        assert "is gone" in memory.recall("books before it answers").hits[0].doubts[0]


def test_a_file_renamed_while_it_is_indexed_is_found_by_the_next_index(tree: Path) -> None:
    with recollect.open(tree) as memory:
        memory.code.index()
        id = about_pay(memory)
        (tree / "src" / "pay.py").write_text(BODY + "\nX = 1\n")
        renamed: list[bool] = []

        def rename(stage: str, done: int, total: int) -> None:
            if not renamed:
                git(tree, "mv", "src/pay.py", "src/payment.py")
                renamed.append(True)

        memory.code.index(progress=rename)
        memory.code.index()
        assert memory.get(id).files == ("src/payment.py",)


def test_a_moved_document_takes_what_is_said_of_it_along(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "guide.md").write_text("# Guide\n\nTokens live for a day and are renewed at night by the scheduler.\n")
    with recollect.open(root) as memory:
        memory.docs.index()
        id = memory.remember("The guide is out of date on tokens.", kind="gotcha", files=["guide.md"]).id
        (root / "guide.md").rename(root / "handbook.md")
        memory.docs.index()
        assert memory.get(id).files == ("handbook.md",)
        (root / "handbook.md").unlink()
        memory.docs.index()
        assert is_stale(memory.get(id))


def test_a_memory_that_its_file_outgrew_waits_for_review_once(tree: Path) -> None:
    later = (datetime.now(UTC) + timedelta(days=40)).timestamp()
    with recollect.open(tree) as memory:
        id = about_pay(memory)
        os.utime(tree / "src" / "pay.py", (later, later))  # checked out again, but the same
        memory.tend(job="freshness")
        assert memory.review.count() == 0
        (tree / "src" / "pay.py").write_text(BODY + "\nX = 1\n")
        os.utime(tree / "src" / "pay.py", (later, later))
        git(tree, "add", "-A")
        assert memory.tend(job="freshness").reports[0].details == {"followed": 0, "sent to review": 1}
        (item,) = memory.review.list().items
        assert (item.id, str(item.question)) == (id, "stale")
        memory.review.decide(id, "confirm")
        assert memory.review.count() == 0
        assert "outgrown" not in memory.get(id).attributes


def test_an_agent_is_told_of_a_trap_under_the_files_new_name_by_the_hook_and_in_process(tree: Path) -> None:
    with recollect.open(tree) as memory:
        memory.remember("pay.py must not import numpy.", kind="gotcha", files=["src/pay.py"])
    git(tree, "mv", "src/pay.py", "src/payment.py")
    event = {
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(tree), "tool_name": "Read", "tool_use_id": "t1",
        "tool_input": {"file_path": str(tree / "src" / "payment.py")}, "tool_response": "x",
    }  # fmt: skip
    environment = {**os.environ, "RECOLLECT_ARM": "full", "RECOLLECT_HOOK_LEARN": "off"}
    assert "numpy" in run("claude-code", json.dumps(event).encode(), environment)
    commit(tree)
    again = {**event, "session_id": "s2", "tool_use_id": "t2"}
    assert "numpy" in run("claude-code", json.dumps(again).encode(), environment)
    with recollect.open(tree) as memory:
        assert memory.list(Filter(files="src/payment.py")).memories[0].files == ("src/payment.py",)
