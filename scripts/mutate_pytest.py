"""What `mutate.py` adds to pytest inside its private copy: which test ran which line, and in what order tests run.

`MUTATE_TRACE` names coverage's settings: every test, its child processes included, is then a context of its own.
`MUTATE_TESTS` names a file of test ids: those run, in that order. `MUTATE_REPORT` names the file of outcomes.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_outcomes: dict[str, dict[str, Any]] = {}
_coverage: Any = None


def pytest_configure(config: pytest.Config) -> None:
    global _coverage
    if settings := os.environ.get("MUTATE_TRACE"):
        from coverage import Coverage
        from coverage.exceptions import CoverageWarning

        warnings.simplefilter("ignore", CoverageWarning)
        config.addinivalue_line("filterwarnings", "ignore::coverage.exceptions.CoverageWarning")
        os.environ["MUTATE_CONTEXT"] = ""
        _coverage = Coverage(config_file=settings)
        _coverage.start()
        os.environ["COVERAGE_PROCESS_START"] = settings  # for the children only


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if listed := os.environ.get("MUTATE_TESTS"):
        order = {name: place for place, name in enumerate(Path(listed).read_text("utf-8").splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    started, worked = time.perf_counter(), _cpu()
    if _coverage is not None:
        name = item.nodeid.replace("$", "").replace("|", "")
        os.environ["MUTATE_CONTEXT"] = name  # the settings file names this variable: a child reads it there
        _coverage.switch_context(name)
    try:
        return (yield)
    finally:
        waited = (time.perf_counter() - started) / 4  # a busy machine makes no test slower, but sleeping is not free
        _outcome(item.nodeid)["seconds"] = round(max(waited, _cpu() - worked), 4)
        if _coverage is not None:
            _coverage.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    found = _outcome(report.nodeid)
    if report.outcome != "passed" and found["outcome"] != "failed":
        found["outcome"] = report.outcome
        found["why"] = str(report.longrepr)[-300:] if report.outcome == "failed" else ""


def pytest_sessionfinish() -> None:
    if _coverage is not None:
        _coverage.stop()
        _coverage.save()
    if path := os.environ.get("MUTATE_REPORT"):
        Path(path).write_text(json.dumps(_outcomes), encoding="utf-8")


def _cpu() -> float:
    """Seconds of work so far, that of ended children included."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _outcome(name: str) -> dict[str, Any]:
    return _outcomes.setdefault(name, {"outcome": "passed", "seconds": 0.0})
