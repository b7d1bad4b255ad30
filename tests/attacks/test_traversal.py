"""Names of files come from memory, so they are a stranger's: none may make us open a file outside the project."""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

import recollect
from recollect.agent.prefetch import load_files, name_likely_files
from recollect.config import Settings
from recollect.files.plain import is_inside, read_beneath
from recollect.files.work_tree import GitChanges
from recollect.observer.file_prediction import PredictedFile

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX links")
SOAK = os.environ.get("RECOLLECT_SOAK") == "1"
COUNT = 60_000 if SOAK else 27_500
_UP = (
    "..",
    "...",
    "....",
    "%2e%2e",
    "%252e%252e",
    "..%00",
    ".%2e",
    "\u2025",
    "\uff0e\uff0e",
    "..;",
    "..\\",
    "~",
    ".",
    "",
)
_SLASH = ("/", "\\", "//", "%2f", "%5c", "%252f", "\u2215", "\uff0f", "/./", "\\/", "%c0%af", "%u2215")
_GOALS = (
    "secret.txt",
    "etc/passwd",
    "victim/secret.txt",
    ".ssh/id_rsa",
    "project-sibling/secret.txt",
    "a.py/../../secret.txt",
)
_FRONT = (
    "",
    "/",
    "file://",
    "a.py/",
    "src/",
    "./",
    "C:",
    "\\\\host\\share\\",
    "out/",
    "link/",
    "\0",
    "proc/self/root/",
)
_BACK = ("", "\0.py", "%00", "/.", "?x", "#x", ";.py", " ", ".")


def traversals() -> Iterator[str]:
    """The shapes of the public lists: so many times up, with every spelling of up and of a slash, raw and decoded."""
    every = itertools.product(_FRONT, _UP, _SLASH, range(1, 9), _GOALS, _BACK)
    drawn = random.Random(20).sample(list(every), COUNT // 3)
    for front, up, slash, times, goal, back in drawn:
        text = front + (up + slash) * times + goal.replace("/", slash if slash in ("\\", "%2f") else "/") + back
        yield text
        yield unquote(text)
        yield unquote(unquote(text)) if times % 2 else quote(text)


_opened: list[str] | None = None


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event == "open" and isinstance(arguments[0], str | bytes):
        _opened.append(os.fsdecode(arguments[0]))


sys.addaudithook(_audit)


@contextmanager
def watching() -> Iterator[list[str]]:
    """What is opened meanwhile. Names without a folder are opened below a folder that is open already."""
    global _opened
    _opened = []
    try:
        yield _opened
    finally:
        _opened = None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for folder in (made / "src", tmp_path / "victim", tmp_path / "project-sibling", tmp_path / ".ssh"):
        folder.mkdir(parents=True)
    for file in ("secret.txt", "victim/secret.txt", "project-sibling/secret.txt", ".ssh/id_rsa"):
        (tmp_path / file).write_text("SECRET\n")
    (made / "src" / "a.py").write_text("inside\n")
    (made / "a.py").write_text("inside\n")
    (made / "out").symlink_to(tmp_path / "victim")
    (made / "link").symlink_to(tmp_path)
    return made


def _outside(opened: list[str], root: Path) -> list[str]:
    inside = os.path.realpath(root)
    return [
        name
        for name in opened
        if os.path.isabs(name) and os.path.commonpath([inside, os.path.realpath(name)]) != inside
    ]


def test_no_name_of_many_opens_a_file_outside_the_project(root: Path) -> None:
    names = [*traversals(), "a.py", "src/a.py", "src/../a.py"]
    assert len(names) >= 27_000
    changes = GitChanges(root)
    read = 0
    with watching() as opened:
        for name in names:
            for file in load_files(root, [name]):
                assert "SECRET" not in file.text
                read += 1
            data = read_beneath(str(root), name, max_bytes=1_000)
            assert data is None or b"SECRET" not in data
            named = name_likely_files(root, [PredictedFile(name, 9.0, ())])
            assert not named or os.path.realpath(root / name.replace("\\", "/")).startswith(
                f"{os.path.realpath(root)}/"
            )
            changes.modified(name)
            if is_inside(str(root), name):
                assert os.path.realpath(root / name.replace("\\", "/")).startswith(os.path.realpath(root))
    assert _outside(opened, root) == []
    assert len(opened) > 1_000  # the hook saw the work; without it the claim above would be empty
    assert read == 3  # the last three


_LINKS = [
    (kind, where, to)
    for kind in ("file", "folder", "chain", "loop", "dangling")
    for where in ("top", "below")
    for to in ("absolute", "relative", "sibling", "secret")
]


@pytest.mark.parametrize(("kind", "where", "to"), _LINKS)
def test_no_link_leads_out(root: Path, tmp_path: Path, kind: str, where: str, to: str) -> None:
    goals = {
        "absolute": tmp_path / "victim" / "secret.txt",
        "relative": Path("../" * (1 if where == "top" else 2)) / "victim" / "secret.txt",
        "sibling": tmp_path / "project-sibling" / "secret.txt",
        "secret": tmp_path / ".ssh" / "id_rsa",
    }
    at = root if where == "top" else root / "src"
    goal = goals[to]
    name = "planted.md"
    match kind:
        case "file":
            (at / name).symlink_to(goal)
        case "folder":
            (at / "folder").symlink_to(goal.parent)
            name = f"folder/{goal.name}"
        case "chain":
            (at / "middle").symlink_to(goal)
            (at / name).symlink_to("middle")
        case "loop":
            (at / name).symlink_to(name)
        case "dangling":
            (at / name).symlink_to(tmp_path / "not-there")
    asked = name if where == "top" else f"src/{name}"
    with recollect.open(root, settings=Settings(embedder="none")) as memory:
        with watching() as opened:
            loaded = load_files(root, [asked])
            memory.docs.index()
            memory.code.index()
            memory.recall("secret", files=[asked])
        assert loaded == []
        assert "SECRET" not in "".join(hit.memory.content for hit in memory.recall("SECRET"))
    elsewhere = [
        name for name in _outside(opened, root) if os.path.realpath(name).startswith(f"{os.path.realpath(tmp_path)}/")
    ]
    assert [name for name in elsewhere if "secret" in name or "id_rsa" in name or "not-there" in name] == []


@pytest.mark.parametrize(
    "name", [".env", "src/.ENV.local", ".git/config", ".Git/config", "deploy.pem", "id_rsa", ".ssh/x"]
)
def test_files_that_hold_secrets_are_never_handed_over(root: Path, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True, parents=True)
    (root / name).write_text("SECRET\n")
    assert load_files(root, [name]) == []
