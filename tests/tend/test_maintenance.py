"""The care of the file from Python: what the commands do, as methods."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.core.errors import BackupNotFound
from recollect.tend.maintenance import backups_beside, restore_backup


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("Granite is hard.")
    return tmp_path / "m.db"


def test_a_sound_store_is_checked_and_told(path: Path) -> None:
    with recollect.open(path) as memory:
        report = memory.maintenance.check()
        assert (report.ok, report.memories) == (True, 1)
        assert dict(memory.maintenance.facts().memories) == {"active": 1}
        assert memory.maintenance.try_writing()
        assert memory.maintenance.repair().rebuilt == ()
        assert memory.maintenance.repair(always=True).rebuilt != ()
        assert [memory.content for memory in memory.list()] == ["Granite is hard."]


def test_a_store_that_may_not_be_written_is_not_tried(path: Path) -> None:
    with recollect.open(path, read_only=True) as memory:
        assert not memory.maintenance.try_writing()


def test_a_backup_is_put_back_and_the_present_set_aside(path: Path) -> None:
    with pytest.raises(BackupNotFound):
        restore_backup(path)
    with recollect.open(path) as memory:
        made = memory.maintenance.backup()
        memory.remember("Slate splits.")
    assert [backup.path for backup in backups_beside(path)] == [made]
    restored = restore_backup(path)
    assert restored.backup == made
    assert restored.set_aside is not None
    with recollect.open(path) as memory:
        assert [one.content for one in memory.list()] == ["Granite is hard."]


def test_runs_of_chores_are_told_newest_first_and_by_job(path: Path) -> None:
    with recollect.open(path) as memory:
        for boat in ("Argo", "Fram"):
            memory.sessions.capture(f"My boat is called {boat} and lies in Oslo.", session=boat)
            memory.tend(job="enrich")
        runs = memory.maintenance.runs(limit=10)
        assert len(runs) == 2
        assert runs[0].at >= runs[1].at
        assert memory.maintenance.runs(job="enrich", limit=1) == runs[:1]
        assert memory.maintenance.runs(job="vectors") == []
        assert [job.name for job in memory.maintenance.status().jobs if job.ran_at] == ["enrich"]
