"""A folder for faults that do not need a real disk, and the figures of a run in its summary."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faults.fault_tools import FIGURES

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


@pytest.fixture(autouse=True)
def _figures(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Parallel workers swallow what tests print; properties of a test reach the run that started them."""
    FIGURES.clear()
    yield
    for line in FIGURES:
        record_property("figure", line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = [test for test in terminalreporter.stats.get("", []) if test.when == "teardown"]
    lines = [str(value) for test in ended for name, value in test.user_properties if name == "figure"]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.line(line)
