"""What was erased stays erased in a store that was moved: no older copy of the one it came from brings it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from recollect import Filter, Recollect, Status
from recollect.config import Settings
from recollect.store.check import check
from recollect.tend.maintenance import restore_backup

QUIET = Settings(embedder="none")
EVERY = Filter(statuses=frozenset(Status), user="*")


def opened(path: Path, project: str | None = None) -> Recollect:
    return recollect.open(path, project=project, settings=QUIET)


def by_move(source: Path, target: Path, project: str | None) -> None:
    with opened(source) as here, opened(target, project or here.project) as there:
        here.portability.move_to(there.portability, filter=None, personal=True, trust=False, dry_run=False)


def by_archive(source: Path, target: Path, project: str | None) -> None:
    file = source.parent / "moved.zip"
    with opened(source) as here:
        here.export(file, format="archive", personal=True)
        name = project or here.project
    with opened(target, name) as there:
        there.import_memories(file, trust=True)
    file.unlink()


def contents(memory: Recollect) -> set[str]:
    return {one.content for one in memory.list(EVERY, limit=99)}


@pytest.mark.parametrize("moved", [by_move, by_archive])
@pytest.mark.parametrize("project", [None, "renamed"])
@pytest.mark.parametrize("scope", [{"subject": "Anna Berg"}, {"user": "anna"}, {"session": "monday"}])
def test_an_older_copy_of_the_first_store_brings_nothing_back(
    tmp_path: Path, moved: Callable[[Path, Path, str | None], None], project: str | None, scope: dict[str, str]
) -> None:
    source, target, backup = tmp_path / "a" / "memory.db", tmp_path / "b" / "memory.db", tmp_path / "old.db"
    with opened(source, "harbour") as memory:
        memory.remember("Anna Berg paints boats.", user="anna", session="monday")
        memory.remember("The harbour is closed in winter.")
        memory.maintenance.backup(backup)
        memory.export(tmp_path / "old.zip", format="archive", personal=True)
        memory.erase(**scope)  # type: ignore[arg-type]
        assert contents(memory) == {"The harbour is closed in winter."}
    moved(source, target, project)
    with opened(target, project or "harbour") as memory:
        report = memory.import_memories(tmp_path / "old.zip", trust=True)
        assert report.counts.get("refused") == 1
        assert contents(memory) == {"The harbour is closed in winter."}
        assert check(memory.store).ok, check(memory.store).findings
    assert restore_backup(target, backup).reapplied.erased == 1
    with opened(target, "harbour") as memory:
        assert contents(memory) == {"The harbour is closed in winter."}
        assert check(memory.store).ok, check(memory.store).findings
    assert b"Anna" not in target.read_bytes()


def test_everything_that_was_erased_stays_away_after_a_move_and_other_words_come_in(tmp_path: Path) -> None:
    source, target = tmp_path / "a" / "memory.db", tmp_path / "b" / "memory.db"
    with opened(source, "harbour") as memory:
        memory.remember("Anna Berg paints boats.")
        memory.export(tmp_path / "old.zip", format="archive", personal=True)
        memory.erase(everything=True)
        memory.remember("A new beginning.")
    with opened(tmp_path / "c" / "memory.db", "other") as other:
        other.remember("Somebody else's rule of the sea.")
        other.export(tmp_path / "other.zip", format="archive", personal=True)
    by_move(source, target, None)
    with opened(target, "harbour") as memory:
        assert memory.import_memories(tmp_path / "old.zip", trust=True).counts == {"refused": 1}
        assert memory.import_memories(tmp_path / "other.zip", trust=True).counts == {"new": 1}
        assert contents(memory) == {"A new beginning.", "Somebody else's rule of the sea."}
