"""What was erased stays erased in a store that was moved: no older copy of the one it came from brings it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def told_of(memory: Recollect, *names: str) -> None:
    """A person teaches something about each, and the chore finds who it is about."""
    for name in names:
        memory.remember(f"My friend {name} plays the trumpet.")
    memory.tend(job="enrich")
    assert {one.name for one in memory.store.entities.every()} >= set(names)


def entities(memory: Recollect) -> set[str]:
    return {one.name for one in memory.store.entities.every()}


@pytest.mark.parametrize("format", ["jsonl", "archive"])
def test_the_name_of_somebody_who_was_erased_does_not_come_back_as_an_entity(tmp_path: Path, format: str) -> None:
    path, old = tmp_path / "memory.db", tmp_path / "old"
    with opened(path, "harbour") as memory:
        told_of(memory, "Bjørn Ødegård", "Nils Holm")
        memory.export(old, format=format, personal=True)  # type: ignore[arg-type]
        memory.erase(subject="Bjørn Ødegård")
        report = memory.import_memories(old, trust=True)
        assert report.counts["refused"] == 1
        assert report.entities == 0
        assert sum(count for what, count in report.left_out.items() if what.startswith("entities")) == 1
        assert entities(memory) == {"Nils Holm"}
    assert "degård".encode() not in path.read_bytes()


def test_what_only_forgotten_memories_mention_does_not_come_back_either(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db", "harbour") as memory:
        told_of(memory, "Bjørn Ødegård", "Nils Holm")
        memory.export(tmp_path / "old.zip", format="archive", personal=True)
        memory.erase(subject="Nils Holm")
        other = tmp_path / "other.db"
        by_move(tmp_path / "memory.db", other, None)
    with opened(other, "harbour") as memory:
        report = memory.import_memories(tmp_path / "old.zip", trust=True)
        assert (report.counts["refused"], report.entities) == (1, 0)
        assert entities(memory) == {"Bjørn Ødegård"}


def test_an_entity_that_other_memories_mention_comes_in_without_the_alias_that_was_erased(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", "harbour") as memory:
        told_of(memory, "Nils Holm")
        [nils] = memory.store.entities.every()
        with memory.store.engine.write():
            memory.store.entities.put([nils.having(aliases=("Bjørn Ødegård",), summary="Known as Bjørn Ødegård.")])
        memory.export(tmp_path / "old.zip", format="archive", personal=True)
    with opened(tmp_path / "b.db", "harbour") as memory:
        memory.remember("Bjørn Ødegård sings.")
        memory.erase(subject="Bjørn Ødegård")
        memory.import_memories(tmp_path / "old.zip", trust=True)
        [nils] = memory.store.entities.every()
        assert (nils.name, nils.aliases, nils.summary) == ("Nils Holm", (), "")


def foreign_copy(source: Path, target: Path) -> None:
    """A copy by hand, which nothing proves to be this person's."""
    target.parent.mkdir()
    with opened(source) as memory:
        memory.store.engine.checkpoint()
    target.write_bytes(source.read_bytes())


@pytest.mark.parametrize("scope", [{"subject": "Anna Berg"}, {"filter": Filter(kinds=frozenset({"gotcha"}))}])
def test_erasures_of_a_store_that_became_foreign_travel_with_it(tmp_path: Path, scope: dict[str, Any]) -> None:
    source, copy, target = tmp_path / "a" / "memory.db", tmp_path / "b" / "memory.db", tmp_path / "m.db"
    with opened(source, "harbour") as memory:
        memory.remember("Anna Berg paints boats.", kind="gotcha")
        memory.remember("The harbour is closed in winter.")
        memory.export(tmp_path / "old.zip", format="archive", personal=True)
        memory.erase(**scope)
    foreign_copy(source, copy)
    with opened(copy) as here, opened(target, "harbour") as there:
        assert here.is_foreign
        here.portability.move_to(there.portability, filter=None, personal=True, trust=False, dry_run=False)
    with opened(target, "harbour") as memory:
        report = memory.import_memories(tmp_path / "old.zip")
        assert report.trusted
        assert report.counts.get("refused") == 1
        assert contents(memory) == {"The harbour is closed in winter."}
        memory.remember("Anna Berg paints boats.")  # said again, by the person
        assert "Anna Berg paints boats." in contents(memory)


def test_marks_of_a_stranger_keep_nothing_else_away(tmp_path: Path) -> None:
    source, copy, target = tmp_path / "a" / "memory.db", tmp_path / "b" / "memory.db", tmp_path / "m.db"
    with opened(source, "harbour") as memory:
        memory.remember("Anna Berg paints boats.")
        memory.erase(subject="Anna Berg")
    foreign_copy(source, copy)
    with opened(tmp_path / "own.db", "harbour") as own:
        own.remember("Anna Berg sings, too.")
        own.remember("Anna Berg paints boats.")
        own.export(tmp_path / "own.zip", format="archive", personal=True)
        own.maintenance.backup(tmp_path / "own-backup.db")
    with opened(copy) as here, opened(target, "harbour") as there:
        here.portability.move_to(there.portability, filter=None, personal=True, trust=False, dry_run=False)
    with opened(target, "harbour") as memory:
        assert memory.import_memories(tmp_path / "own.zip").counts == {"new": 2}
    assert restore_backup(target, tmp_path / "own-backup.db").reapplied.erased == 0
