"""Real clients are run only when asked for (`make hosts`): they are large, and each run takes seconds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ASKED = os.environ.get("RECOLLECT_HOSTS") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="real clients run with `make hosts`")
    for item in items:
        if Path(__file__).parent in Path(item.fspath).parents and not ASKED:
            item.add_marker(skip)
