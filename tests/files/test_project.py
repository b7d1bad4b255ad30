from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import recollect
from recollect.files.git import identify_project
from recollect.files.project import find_root, store_path, user_store_path


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, "-C", str(folder), *args], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("a")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "commit", "-qm", "second", "--allow-empty")
    return folder


def test_clones_and_worktrees_of_a_repository_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "clone"))
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    name = identify_project(repository)
    assert name.startswith("git:")
    assert identify_project(tmp_path / "clone") == identify_project(tmp_path / "tree") == name


def test_a_worktree_shares_the_store_of_the_main_one(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    deep = tmp_path / "tree" / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_root(deep) == repository.resolve()


def test_a_clone_has_its_own_file_with_the_same_project_name(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "clone"))
    with recollect.open(repository) as one, recollect.open(tmp_path / "clone") as other:
        assert one.path != other.path
        assert one.project == other.project


def test_another_repository_is_another_project(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-qm", "unrelated", "--allow-empty")
    assert identify_project(other) != identify_project(repository)


def test_a_shallow_clone_is_named_by_its_remote(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", str(tmp_path / "shallow"))
    assert identify_project(tmp_path / "shallow").startswith("remote:")


def test_without_git_the_directory_names_the_project(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    assert identify_project(folder) == "dir:plain"
    assert find_root(folder) == folder


def test_a_store_above_is_found_before_a_repository(tmp_path: Path) -> None:
    inner = tmp_path / "mono" / "package"
    inner.mkdir(parents=True)
    store_path(tmp_path / "mono").parent.mkdir()
    store_path(tmp_path / "mono").touch()
    assert find_root(inner) == tmp_path / "mono"


def test_a_broken_git_pointer_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert find_root(tmp_path) == tmp_path


def test_the_personal_store_lives_with_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_store_path() == tmp_path / "recollect" / "memory.db"
