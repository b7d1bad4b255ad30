"""Maintenance beside people: what is forgotten while a chore works is no failure of the chore."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.chores import WorkBudget
from recollect.core.errors import MemoryNotFound


@pytest.fixture
def lived_in(tmp_path: Path, clock: Any) -> Iterator[Recollect]:
    with recollect.open(tmp_path / "memory.db", project="p", clock=clock) as memory:
        for number in range(30):
            memory.remember(f"Ann Miller of Acme moved pump {number} to Oslo.", user="u" if number % 3 == 0 else None)
        for number in range(8):
            memory.sessions.capture(f"I am Ann Miller and I like tea number {number}.", session="s", id=str(number))
        clock.pass_(days=900)
        yield memory


def test_no_chore_fails_because_something_was_forgotten_meanwhile(lived_in: Recollect, clock: Any) -> None:
    chores = lived_in._rooms.chores(lived_in.observer)
    assert len(chores) > 5

    def somebody_forgets() -> float:
        for found in lived_in.store.memories.every():
            for memory in found.memories[:2]:
                try:
                    lived_in.forget(memory.id)
                except MemoryNotFound:
                    continue
            break
        return 0.0

    for chore in chores:
        plan = chore.plan(clock(), due=True)
        done = chore.apply(plan, WorkBudget(ends=float("inf"), clock=somebody_forgets))
        assert not done.failed, (chore.name, done.notes)
    assert lived_in.maintenance.check().ok


def test_a_memory_forgotten_between_plan_and_work_is_passed_over(lived_in: Recollect, clock: Any) -> None:
    chores = lived_in._rooms.chores(lived_in.observer)
    plans = [chore.plan(clock(), due=True) for chore in chores]
    for found in list(lived_in.store.memories.every()):
        for memory in found.memories:
            lived_in.forget(memory.id)
    clock.pass_(days=1) if hasattr(clock, "pass_") else timedelta()
    for chore, plan in zip(chores, plans, strict=True):
        done = chore.apply(plan, WorkBudget())
        assert not done.failed, (chore.name, done.notes)
