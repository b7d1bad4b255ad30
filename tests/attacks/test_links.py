"""Links in the place of the store's own folders and files lead nowhere: nothing elsewhere is read or written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import recollect
from recollect.core.errors import UnsafeFile
from recollect.files.session_file import SessionFile, session_files
from recollect.interfaces.cli import main
from recollect.interfaces.hook import run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_ARM", "full")
    monkeypatch.setenv("RECOLLECT_HOOK_LEARN", "off")
    made = tmp_path / "project"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    made = tmp_path / "victim"
    made.mkdir()
    (made / "bashrc").write_text("precious\n")
    return made


def _event(root: Path, name: str = "SessionStart") -> str:
    given = {"hook_event_name": name, "session_id": "s", "cwd": str(root), "source": "startup"}
    return run("claude-code", json.dumps(given).encode(), os.environ)


def test_a_spool_that_is_a_link_is_neither_written_nor_read(root: Path, victim: Path) -> None:
    with recollect.open(root) as memory:
        memory.remember("The build runs on two cores")
        (root / ".recollect" / "spool").symlink_to(victim)
        with pytest.raises(OSError, match="plain folder"):  # the program logs it, and the host goes on
            _event(root)
        memory.agent("t").system_prompt()
        memory.observer.drain()
        memory.tend()
    assert [entry.name for entry in victim.iterdir()] == ["bashrc"]
    assert session_files(str(root / ".recollect")) == []


def test_an_ignore_file_that_is_a_link_is_left_alone(root: Path, victim: Path) -> None:
    (root / ".recollect").mkdir()
    (root / ".recollect" / ".gitignore").symlink_to(victim / "bashrc")
    assert main(["init"]) == 0
    assert (victim / "bashrc").read_text() == "precious\n"
    (root / ".recollect" / ".gitignore").unlink()
    (root / ".recollect" / ".gitignore").symlink_to(victim / "new")
    assert main(["init"]) == 0
    assert not (victim / "new").exists()


def test_a_folder_of_memories_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with recollect.open(other) as memory:
        memory.remember("What only the other project may know")
    (root / ".recollect").symlink_to(other / ".recollect")
    with pytest.raises(UnsafeFile, match="symbolic link"):
        recollect.open(root)
    assert main(["recall", "other project"]) == 5
    with pytest.raises(OSError, match="plain folder"):
        _event(root)
    assert not (other / ".recollect" / "spool").exists()


def test_a_log_that_is_a_link_is_not_written(root: Path, victim: Path) -> None:
    from recollect.files.project import state_folder
    from recollect.interfaces.hook import log

    os.makedirs(state_folder())
    os.symlink(victim / "bashrc", os.path.join(state_folder(), "hook.log"))
    log("somebody", "something")
    assert (victim / "bashrc").read_text() == "precious\n"


def test_a_session_that_came_with_a_clone_is_not_learnt_from(root: Path, tmp_path: Path) -> None:
    with recollect.open(root) as memory:
        memory.remember("The build runs on two cores")
    _event(root)
    _event(root, "SessionEnd")
    here = root / ".recollect" / "spool"
    (mine,) = here.iterdir()
    assert [file.path for file in session_files(str(root / ".recollect"))] == [str(mine)]
    planted = SessionFile(str(here / "0123456789abcdef.session"))
    shutil.copyfile(mine, planted.path)
    assert not planted.is_sealed
    assert [file.path for file in session_files(str(root / ".recollect"))] == [str(mine)]
