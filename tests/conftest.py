"""Fixtures every test may use: a memory that lives in RAM, and a clock that moves only when told to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.app import Recollect


class HandClock:
    """Time that stands still between the steps of a test."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def pass_(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees or touches the memories of whoever runs it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def memory(clock: HandClock) -> Iterator[Recollect]:
    with recollect.open(":memory:", project="test", actor="tester", clock=clock) as opened:
        yield opened
