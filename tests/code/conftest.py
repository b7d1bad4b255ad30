from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.app import Recollect

Write = Callable[[dict[str, str]], Path]


@pytest.fixture
def tree(tmp_path: Path) -> Write:
    """Writes files into one directory, and again over them."""
    root = tmp_path / "project"
    root.mkdir()

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    return write


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Recollect]:
    with recollect.open(tmp_path / "m.db", project="p", actor="tester") as memory:
        yield memory
