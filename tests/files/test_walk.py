from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.files.ignore import Ignores
from recollect.files.walk import Found, Skipped, walk


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")


def names(root: Path, **options: object) -> list[str]:
    return [one.relative for one in walk(root, **options) if isinstance(one, Found)]  # type: ignore[arg-type]


def skipped(root: Path) -> dict[str, str]:
    return {one.relative: one.reason for one in walk(root) if isinstance(one, Skipped)}


def test_files_come_in_a_total_order_with_size_and_time(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.md", "a/b/c.md", "c.md")
    found = [one for one in walk(tmp_path) if isinstance(one, Found)]
    assert [one.relative for one in found] == ["b.md", "c.md", "a/z.md", "a/b/c.md"]
    assert found[0].size == 4
    assert found[0].mtime_ns == (tmp_path / "b.md").stat().st_mtime_ns


def test_only_what_is_wanted_comes(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "a.py", "b/c.md")
    assert names(tmp_path, wanted=lambda name: name.endswith(".md")) == ["a.md", "b/c.md"]


def test_packages_caches_and_version_control_are_never_walked(tmp_path: Path) -> None:
    put(tmp_path, "node_modules/x/readme.md", ".git/description", ".recollect/memory.db", ".mypy_cache/x", "a.md")
    assert names(tmp_path) == ["a.md"]


def test_rules_of_a_directory_hold_below_it_and_deeper_ones_overrule(tmp_path: Path) -> None:
    put(tmp_path, "a.log", "keep/a.log", "keep/b.log", "build/x.md", "src/build/x.md", "src/x.md")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n# a comment\n\n")
    (tmp_path / "keep" / ".gitignore").write_text("!a.log\n")
    found = [name for name in names(tmp_path) if not name.endswith(".gitignore")]
    assert found == ["keep/a.log", "src/x.md", "src/build/x.md"]


def test_rules_of_the_repository_above_the_root_hold_too(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", "docs/drafts/b.md", "docs/c.tmp")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("docs/drafts/\n*.tmp\n")
    assert names(tmp_path / "docs") == ["a.md"]


def test_extra_rules_are_those_of_the_root(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "old/a.md", "b/old/a.md")
    assert names(tmp_path, extra_ignores=["/old/"]) == ["a.md", "b/old/a.md"]


def test_links_are_named_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "a.md", "b/c.md")
    put(tmp_path, "secret.md")
    (root / "b" / "up").symlink_to(root)
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "twice.md").symlink_to(root / "a.md")
    (root / "nowhere.md").symlink_to(root / "gone.md")
    (root / "ring.md").symlink_to(root / "ring.md")
    assert names(root) == ["a.md", "b/c.md"]
    assert skipped(root) == {
        "b/up": "a loop of links",
        "out.md": "a link out of the root",
        "twice.md": "a link; what it names is read where it lies",
        "nowhere.md": "a link that leads nowhere",
        "ring.md": "a loop of links",
    }


@pytest.fixture
def powerless() -> Iterator[None]:
    """Without the rights of the superuser, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_directory_that_may_not_be_read_is_named_and_the_rest_is_walked(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    root = tmp_path_factory.mktemp("open")
    put(root, "a.md", "shut/b.md", "z/c.md")
    for folder in (root, *root.parents):
        if folder.stat().st_uid == os.geteuid() and str(folder).startswith(os.path.realpath("/tmp") + "/"):
            folder.chmod(0o755)
    (root / "shut").chmod(0)
    try:
        request.getfixturevalue("powerless")
        assert names(root) == ["a.md", "z/c.md"]
        assert skipped(root) == {"shut": "may not be read"}
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        (root / "shut").chmod(0o755)


def test_a_directory_that_vanishes_during_the_walk_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "b/c.md", "d/e.md")
    steps = walk(tmp_path)
    assert isinstance(next(steps), Found)
    shutil.rmtree(tmp_path / "b")
    assert [(step.relative, getattr(step, "reason", "")) for step in steps] == [
        ("b", "it vanished during the run"),
        ("d/e.md", ""),
    ]


def test_pipes_and_odd_names_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("x")
    assert skipped(tmp_path) == {"pipe.md": "not a regular file", "bad\\udcff.md": "its name is not UTF-8"}


def test_a_root_that_is_not_there_is_one_skipped_thing(tmp_path: Path) -> None:
    assert list(walk(tmp_path / "none")) == [Skipped(".", "it vanished during the run")]


def test_a_hostile_pattern_costs_nothing() -> None:
    rules = Ignores().with_rules("", ["*a" * 200 + "b", "**/" * 20 + "x"])
    start = time.process_time()
    assert not rules.ignored("a" * 2_000)
    assert time.process_time() - start < 5  # exponential would be never


PATTERNS = [
    "*.md", "/a", "a/", "b/*", "**/c", "a/**", "a/**/b", "!a.md", "!b/", "?.md", "[ab].md", "[!a].md", "[]a]", "\\!x",
    "a\\*", "foo*bar*", "**", "/**/x", "a**b", "x ", "#no", "/", "b/c", "[[:alpha:]].md", "*", "!*/", "!c", "\\#x",
    "[a", "a/*/c", "/*/b", "*b*", "[a-c].md", "c/**/", "**/a/**",
]  # fmt: skip
PATHS = [
    "a", "a.md", "b.md", "b/a.md", "b/c/a", "a/b", "a/b/c", "a/x/b", "c", "b/c", "x", "!x", "a*", "foobar", "fooxbarx",
    "aXb", "d/aab", "#x", "]", "1.md", "c/a/b", "x/y/c/z",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=5), st.sampled_from(PATHS))
def test_rules_mean_what_they_mean_to_git(
    tmp_path_factory: pytest.TempPathFactory, patterns: list[str], path: str
) -> None:
    root = tmp_path_factory.mktemp("repo")
    subprocess.run(["git", "init", "-q", str(root)], check=True, capture_output=True)
    put(root, path)
    (root / ".gitignore").write_text("\n".join(patterns) + "\n")
    told = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-o", "--exclude-standard", "-z"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    expected = {name for name in told.split("\0") if name}
    assert set(names(root)) == expected
