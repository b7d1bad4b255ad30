"""Files handed over before an agent asks: only plain ones inside the project, within a count and a budget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.agent.prefetch import MAX_FILES, list_pattern_files, load_files, resolve_inside
from recollect.core.summary import MemorySummary


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("alpha = 1\n")
    (tmp_path / "secret.txt").write_text("outside")
    return project


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "~/x", "", "src/\0a", ".git/config"]
)
def test_a_name_that_leaves_the_project_means_nothing(root: Path, name: str) -> None:
    assert resolve_inside(root, name) is None
    assert load_files(root, [name]) == []


def test_links_are_followed_and_those_that_lead_out_are_not_read(root: Path, tmp_path: Path) -> None:
    os.symlink(tmp_path / "secret.txt", root / "out.txt")
    os.symlink(tmp_path, root / "up")
    os.symlink(root / "src" / "a.py", root / "in.py")
    assert [file.path for file in load_files(root, ["out.txt", "up/secret.txt", "in.py"])] == ["in.py"]


def test_pipes_directories_binaries_and_giants_are_left_out(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "binary").write_bytes(b"a\0b")
    (root / "giant").write_bytes(b"x" * 500_000)
    assert load_files(root, ["pipe", "src", "binary", "giant", "missing"]) == []


def test_files_are_read_in_order_within_count_and_budget(root: Path) -> None:
    for number in range(20):
        (root / f"f{number}.py").write_text("word " * 100)
    names = [f"f{number}.py" for number in range(20)]
    assert [file.path for file in load_files(root, names)] == names[:MAX_FILES]
    few = load_files(root, names, max_tokens=300)
    assert sum(one.tokens for one in few) <= 300
    (root / "long.py").write_text("line of text\n" * 4_000)
    (long,) = load_files(root, ["long.py"])
    assert long.cut
    assert long.text.endswith("line of text")


def test_secrets_in_prefetched_files_are_hidden(root: Path) -> None:
    (root / "env.py").write_text('KEY = "AKIAIOSFODNN7EXAMPLQ"\n')
    (one,) = load_files(root, ["env.py"])
    assert "AKIAIOSFODNN7EXAMPLQ" not in one.text


def pattern(id: str, always: list[str], frequently: list[str]) -> MemorySummary:
    payload = {"module_trigger": "src", "always": always, "frequently": frequently}
    return MemorySummary(id, "prefetch_pattern", "x", confidence=0.9, source="observer_inferred", payload=payload)


def test_always_files_come_before_frequent_ones() -> None:
    assert list_pattern_files([pattern("1", ["a"], ["b"]), pattern("2", ["c"], ["a"])]) == ["a", "c", "b"]
