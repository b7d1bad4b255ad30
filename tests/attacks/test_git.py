"""A repository that came in an archive brings its `.git` folder along. None of its programs may run, and none of its
names may make us read elsewhere or wait."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from recollect.files.git import current_commit, identify_project, read_history
from recollect.files.project import find_root_path
from recollect.files.work_tree import GitChanges

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")

PROGRAMS = """
[core]
    fsmonitor = {trap} fsmonitor
    hooksPath = hooks
    pager = {trap} pager
    editor = {trap} editor
    sshCommand = {trap} ssh
    gitProxy = {trap} proxy
    askPass = {trap} askpass
    alternateRefsCommand = {trap} alternates
    attributesFile = {folder}/attributes
[include]
    path = more
[pager]
    diff = {trap} pager-diff
    log = {trap} pager-log
[diff]
    external = {trap} external-diff
[diff "trap"]
    textconv = {trap} textconv
    command = {trap} diff-command
[filter "trap"]
    clean = {trap} clean
    smudge = {trap} smudge
    required = true
[filter "long"]
    process = {trap} process
[log]
    showSignature = true
[gpg]
    program = {trap} gpg
[gpg "ssh"]
    program = {trap} gpg-ssh
    defaultKeyCommand = {trap} gpg-key
[credential]
    helper = !{trap} credential
[interactive]
    diffFilter = {trap} diff-filter
[alias]
    diff = !{trap} alias-diff
    log = !{trap} alias-log
    rev-list = !{trap} alias-rev-list
[remote "origin"]
    url = ext::{trap} remote
    promisor = true
    partialclonefilter = blob:none
    uploadpack = {trap} upload-pack
    vcs = {trap} vcs
[extensions]
    partialClone = origin
[protocol]
    allow = always
[uploadpack]
    packObjectsHook = {trap} pack-objects
[trailer "x"]
    command = {trap} trailer
[submodule]
    recurse = true
[status]
    submoduleSummary = true
[diff]
    submodule = log
"""
HOOKS = ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman")


@pytest.fixture
def ran(tmp_path: Path) -> Callable[[], list[str]]:
    """Which of the planted programs ran."""
    (tmp_path / "ran").mkdir()
    return lambda: sorted(entry.name for entry in (tmp_path / "ran").iterdir())


@pytest.fixture
def planted(tmp_path: Path, ran: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which every setting that can name a program names one that leaves a mark."""
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "x@x")
    trap = tmp_path / "trap.sh"
    trap.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran/$1"\ncat 2>/dev/null\nexit 0\n')
    trap.chmod(0o755)
    inner, root = tmp_path / "inner", tmp_path / "project"
    _repository(inner)
    _repository(root)
    _git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    _git(root, "commit", "-qm", "sub")
    folder = root / ".git"
    (folder / "attributes").write_text("* filter=trap diff=trap\n*.long filter=long\n")
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text("* filter=trap diff=trap\n*.long filter=long\n")
    (root / ".gitattributes").write_text("* filter=trap diff=trap\n*.long filter=long\n")
    for config in (folder / "config", folder / "modules" / "sub" / "config"):
        config.write_text(config.read_text() + PROGRAMS.format(trap=trap, folder=folder))
        (config.parent / "more").write_text(f"[core]\n    fsmonitor = {trap} included\n")
        hooks = config.parent / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in HOOKS:
            (hooks / name).write_text(f"#!/bin/sh\nexec {trap} hook-{name}\n")
            (hooks / name).chmod(0o755)
    for file in (root / "a.py", root / "b.long", root / "sub" / "a.py"):
        file.write_text("changed\n")
    return root


def test_the_traps_work(planted: Path, ran: Callable[[], list[str]]) -> None:
    subprocess.run(["git", "-C", planted, "diff", "--name-only", "HEAD"], capture_output=True, check=False)
    assert {"clean", "included"} <= set(ran())


def test_no_program_of_a_repository_runs_whatever_git_is_asked(planted: Path, ran: Callable[[], list[str]]) -> None:
    head = current_commit(planted)
    assert head is not None
    first = read_history(planted)[0].id
    assert GitChanges(planted).changed(["a.py", "b.long", "c.py"], since=first) == ["a.py", "b.long"]
    assert identify_project(planted) == f"git:{first[:16]}"
    with recollect.open(planted) as memory:
        memory.remember("a.py is delicate", files=["a.py"])
        memory.code.index()
        memory.recall("what is delicate", files=["a.py"])
    assert ran() == []


def test_a_partial_clone_is_read_without_fetching_what_it_lacks(planted: Path, ran: Callable[[], list[str]]) -> None:
    config = planted / ".git" / "config"
    kept = config.read_text()
    config.write_text("[core]\n    repositoryformatversion = 0\n")
    for file in (planted / ".gitattributes", planted / ".git" / "info" / "attributes"):
        file.unlink()
    (planted / "d.py").write_text("c.py, moved\n")
    (planted / "c.py").unlink()
    blob = _git(planted, "rev-parse", "HEAD:c.py")
    _git(planted, "add", "c.py", "d.py")
    _git(planted, "commit", "-qm", "move")
    (planted / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    config.write_text(kept)
    for entry in os.scandir(planted.parent / "ran"):
        os.unlink(entry)
    assert [change.path for change in read_history(planted)[-1].changes] == ["c.py", "d.py"]
    assert ran() == []


def test_the_environment_of_a_caller_cannot_lend_git_a_program(
    planted: Path, tmp_path: Path, ran: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EDITOR"):
        monkeypatch.setenv(name, f"{tmp_path}/trap.sh {name}")
    monkeypatch.setenv("GIT_TRACE", f"{tmp_path}/ran/trace")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='{tmp_path}/trap.sh parameters'")
    assert len(read_history(planted)) == 2
    GitChanges(planted).changed(["a.py"], since=read_history(planted)[0].id)
    assert ran() == []


@pytest.mark.parametrize(
    "head",
    [
        "ref: ../../secret",
        "ref: refs/../../../secret",
        "ref: /nowhere/else",
        "ref: refs/heads/./x",
        "ref: refs/heads/x.lock",
        "ref: refs/heads/\x00x",
        "ref: refs//heads/x",
        "ref: refs/heads/loop",
        "ref: " + "refs/heads/" + "x" * 5_000,
        "not a commit",
        "f" * 39,
        "ref: refs/heads/link",
        "ref: refs/linked/secret",
    ],
)
def test_a_head_that_points_elsewhere_names_no_commit(tmp_path: Path, head: str) -> None:
    root = tmp_path / "project"
    _repository(root)
    (tmp_path / "secret").write_text("a" * 40)
    (root / ".git" / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop")
    (root / ".git" / "refs" / "heads" / "link").symlink_to(tmp_path / "secret")
    (root / ".git" / "refs" / "linked").symlink_to(tmp_path)
    (root / ".git" / "HEAD").write_text(head)
    assert current_commit(root) is None
    assert read_history(root) == []
    assert GitChanges(root).changed(["a.py"], since="a" * 40) == []


@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "refs/heads/main", "index", "config", "shallow"])
@pytest.mark.parametrize("kind", ["fifo", "device", "link", "huge", "folder"])
def test_no_file_of_git_makes_us_wait_or_read_without_end(tmp_path: Path, name: str, kind: str) -> None:
    root = tmp_path / "project"
    _repository(root)
    if name == "packed-refs":
        _git(root, "pack-refs", "--all")
    if name == "shallow":
        (root / ".git" / "shallow").write_text("")
    file = root / ".git" / name
    file.unlink(missing_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "link":
            file.symlink_to(tmp_path / "elsewhere")
        case "huge":
            with open(file, "wb") as made:
                made.truncate(2**36)
        case "folder":
            file.mkdir()
    before = time.monotonic()
    current_commit(root)
    GitChanges(root).changed(["a.py"], since="a" * 40)
    identify_project(root)
    assert time.monotonic() - before < 8.0


def test_a_git_file_that_points_to_a_repository_that_does_not_know_it_is_not_followed(tmp_path: Path) -> None:
    private, hostile = tmp_path / "private", tmp_path / "hostile"
    _repository(private)
    _git(private, "worktree", "add", "-q", str(tmp_path / "side"))
    (private / ".recollect").mkdir()
    (private / ".recollect" / "memory.db").touch()
    hostile.mkdir()
    for target in (private / ".git", private / ".git" / "worktrees" / "side"):
        (hostile / ".git").write_text(f"gitdir: {target}\n")
        assert current_commit(hostile) is None
        assert find_root_path(str(hostile)) == str(hostile)
    assert find_root_path(str(tmp_path / "side")) == str(private)
    assert current_commit(tmp_path / "side") == current_commit(private)


def test_a_submodule_is_read_where_its_repository_keeps_it(planted: Path, ran: Callable[[], list[str]]) -> None:
    assert (
        current_commit(planted / "sub")
        == (planted / ".git" / "modules" / "sub" / "refs" / "heads" / "main").read_text().strip()
    )
    assert ran() == []


def _repository(root: Path) -> None:
    root.mkdir()
    _git(root, "init", "-q", "-b", "main")
    for name in ("a.py", "b.long", "c.py"):
        (root / name).write_text(f"{name}\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")


def _git(root: Path, *args: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@x")
    return subprocess.run(["git", "-C", root, *who, *args], capture_output=True, text=True, check=True).stdout.strip()
