"""Fixtures every test may use: a memory that lives in RAM, a clock that moves only when told to, figures of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

import recollect
from faults.fault_tools import FIGURES
from postgres_server import database_dsn, drop_database
from recollect.app import Recollect
from recollect.config import Settings

settings.register_profile("recollect", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recollect")  # how busy the machine is decides no test


class HandClock:
    """Time that stands still between the steps of a test."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def pass_(self, **duration: float) -> None:
        self.now += timedelta(**duration)


_SETTINGS = ("RECOLLECT_MODELS", "RECOLLECT_ARM", *(f"RECOLLECT_{field.name.upper()}" for field in fields(Settings)))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees or touches the memories, the models or the settings of whoever runs it."""
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home" / "state"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home" / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "settings"))
    return tmp_path / "home"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def counted_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers in place of chance: ids of the same moment sort as they were made."""
    numbers = count(1)
    monkeypatch.setattr("recollect.core.ids.os", SimpleNamespace(urandom=lambda size: next(numbers).to_bytes(size)))


@pytest.fixture
def tenant_dsn() -> str:
    """The address of an empty store on PostgreSQL: a tenant of its own in the database of this run."""
    pytest.importorskip("psycopg")
    return f"{database_dsn()}&tenant=t{uuid4().hex}"


ENGINES = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `both_engines` that need a store run once on each engine."""
    if metafunc.definition.get_closest_marker("both_engines") and "engine_name" in metafunc.fixturenames:
        metafunc.parametrize("engine_name", ENGINES)


@pytest.fixture
def engine_name() -> str:
    return "sqlite"


@pytest.fixture
def place(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Path | str:
    """Where an empty store can be made: a file, or an address."""
    return str(request.getfixturevalue("tenant_dsn")) if engine_name == "postgresql" else tmp_path / "m.db"


@pytest.fixture
def memory(clock: HandClock, engine_name: str, request: pytest.FixtureRequest) -> Iterator[Recollect]:
    where = request.getfixturevalue("tenant_dsn") if engine_name == "postgresql" else ":memory:"
    with recollect.open(where, project="test", actor="tester", clock=clock) as opened:
        yield opened


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        drop_database()


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _figures(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Parallel workers swallow what tests print; properties of a test reach the run that started them."""
    FIGURES.clear()
    yield
    for line in FIGURES:
        record_property("figure", line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the tests measured, and leave it in the file that RECOLLECT_FIGURES names."""
    figures: dict[str, list[str]] = {}
    for test in terminalreporter.stats.get("", []):
        if test.when == "teardown":
            figures[test.nodeid] = [str(value) for name, value in test.user_properties if name == "figure"]
    if lines := sorted(line for some in figures.values() for line in some):
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.line(line)
    if file := os.environ.get("RECOLLECT_FIGURES"):
        ended = [
            {"test": test.nodeid, "outcome": outcome, "seconds": test.duration, "figures": figures.get(test.nodeid, [])}
            for outcome in ("passed", "failed", "error", "skipped")
            for test in terminalreporter.stats.get(outcome, [])
        ]
        Path(file).write_text(json.dumps(ended), encoding="utf-8")
