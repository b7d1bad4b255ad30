"""A folder for faults that do not need a real disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A private folder in memory where there is one: thousands of reopenings should not wait for a disk."""
    if not os.access(_SHARED_MEMORY, os.W_OK):
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(prefix="recollect-", dir=_SHARED_MEMORY))
    yield made
    shutil.rmtree(made, ignore_errors=True)
