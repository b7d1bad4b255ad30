"""A project's own Python files are never imported: a clone may hold `json.py`, `apsw.py` or a folder `recollect`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from recollect.code.workers import Wanted, Workers
from recollect.interfaces import hook

PLANTED = ("json", "apsw", "tree_sitter", "tree_sitter_python", "sqlite3", "pip", "recollect")
SOURCE = Path(recollect.__file__).parent


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose root holds a module for everything we import; each leaves a file when it runs."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in PLANTED:
        folder = root / name
        folder.mkdir()
        trap = f"open({str(tmp_path / 'sprung')!r}, 'a').write({name!r})\nraise ImportError('planted')\n"
        (folder / "__init__.py").write_text(trap)
        (folder / "__main__.py").write_text(trap)
    (root / "main.py").write_text("def start():\n    return 1\n")
    monkeypatch.chdir(root)
    return root


def test_parsing_a_clone_runs_none_of_its_modules(clone: Path, tmp_path: Path) -> None:
    with Workers(1) as workers:
        (parsed,) = workers.parse([Wanted("main.py", clone, "python")])
    assert not (tmp_path / "sprung").exists()
    assert getattr(parsed, "clean", False), parsed


def test_learning_after_a_session_in_a_clone_runs_none_of_its_modules(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / ".recollect").mkdir()
    (clone / ".recollect" / "memory.db").touch()
    started: list[list[str]] = []
    monkeypatch.setattr(os, "posix_spawn", lambda path, command, environment, **how: started.append(command))
    hook.start_learning(str(clone), {})
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*started[0], "--help"], cwd=clone, env=environment, capture_output=True, timeout=60, check=False)
    assert not (tmp_path / "sprung").exists()


def test_no_program_of_ours_starts_python_with_the_current_folder_on_its_path() -> None:
    unsafe = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            words = [part.value if isinstance(part, ast.Constant) else None for part in getattr(node, "elts", [])]
            if isinstance(node, ast.List) and "-m" in words and words[words.index("-m") - 1] != "-P":
                unsafe.append(f"{file.relative_to(SOURCE)}:{node.lineno}")
    assert unsafe == []


def test_the_trap_springs_for_a_program_that_is_careless(clone: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "recollect"], cwd=clone, capture_output=True, timeout=60, check=False)
    assert (tmp_path / "sprung").exists()
