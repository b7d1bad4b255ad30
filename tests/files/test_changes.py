from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.files.git import current_commit
from recollect.files.work_tree import GitChanges


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    _git(root, "init", "-q")
    (root / "a.py").write_text("one")
    (root / "b.py").write_text("two")
    _commit(root)
    return root


def test_the_current_commit_is_what_git_says_also_when_refs_are_packed_or_the_head_is_detached(tree: Path) -> None:
    head = _git(tree, "rev-parse", "HEAD")
    assert current_commit(tree) == head
    _git(tree, "pack-refs", "--all")
    assert current_commit(tree) == head
    _git(tree, "checkout", "-q", "--detach")
    assert current_commit(tree) == head


def test_a_linked_work_tree_has_a_commit_of_its_own(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    _git(tree, "worktree", "add", "-q", str(other), "-b", "side")
    (other / "a.py").write_text("changed")
    _commit(other)
    assert current_commit(other) == _git(other, "rev-parse", "HEAD")
    assert current_commit(other) != current_commit(tree)


def test_outside_a_repository_or_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    assert current_commit(tmp_path) is None
    _git(tmp_path, "init", "-q")
    assert current_commit(tmp_path) is None


def test_files_that_differ_from_a_commit_are_named_committed_or_not(tree: Path) -> None:
    then = _git(tree, "rev-parse", "HEAD")
    changes = GitChanges(tree)
    assert changes.changed(["a.py", "b.py"], since=then) == []
    (tree / "a.py").write_text("changed")
    _commit(tree)
    assert changes.changed(["b.py", "a.py"], since=then) == ["a.py"]


@pytest.mark.parametrize("commit", ["0" * 40, "--output=/tmp/x", "HEAD", "", "not a commit"])
def test_an_unknown_or_hostile_commit_is_no_change(tree: Path, commit: str) -> None:
    (tree / "a.py").write_text("changed")
    assert GitChanges(tree).changed(["a.py"], since=commit) == []


def test_modification_times_are_told_for_files_inside_the_root_only(tree: Path) -> None:
    os.utime(tree / "a.py", (1_700_000_000, 1_700_000_000))
    changes = GitChanges(tree)
    assert changes.modified("a.py") == datetime.fromtimestamp(1_700_000_000, UTC)
    assert changes.modified("missing.py") is None
    assert changes.modified("../tree/../../etc/passwd") is None
    assert changes.modified("a\0b") is None


def _commit(root: Path) -> None:
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "step")


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout.strip()
