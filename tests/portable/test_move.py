"""Moving stores: everything comes over, both sides are counted, a kill costs nothing, and the source stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from portable.stores import EVERY, answers, fill, open_store, rows
from recollect.core.scope import Source
from recollect.portable import take_in
from recollect.wiring import migrate_store

STEPS = [
    ("remember", "staging database resets every night", "gotcha", "personal"),
    ("say", "deploy friday rollback plan", "s1", "user"),
    ("say", "the harbour is full of boats", "s1", "assistant"),
    ("edit", 0, "staging database resets every night at two"),
    ("relate", 0, ""),
    ("remember", "never edit generated files", "requirement", "project"),
    ("reject", 2, ""),
    ("for_user", "one calendar year", "ada"),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    with open_store(tmp_path / "a.db") as here:
        fill(here, STEPS)
    return tmp_path / "a.db"


def test_a_store_moves_whole_and_the_source_stays_as_it_is(source: Path, tmp_path: Path) -> None:
    (report,) = migrate_store(source, tmp_path / "b.db")
    assert report.verified
    assert all(here == there for name, (here, there) in report.census.items() if name != "log")
    with open_store(source) as here, open_store(tmp_path / "b.db") as there:
        assert rows(there) == rows(here)
        assert there.sessions.list() == here.sessions.list()
        for one in here.list(EVERY):
            assert [entry.hash for entry in there.history(one.id)] == [entry.hash for entry in here.history(one.id)]
        assert there.maintenance.check().findings == []
        assert not there.is_foreign
    assert answers(tmp_path / "b.db") == answers(source)


def test_a_move_that_was_killed_anywhere_goes_on(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(take_in, "BATCH", 2)
    for stop in range(1, 12):
        target = tmp_path / f"t{stop}.db"
        calls = 0

        def killed(done: int, total: int) -> None:
            nonlocal calls
            calls += 1
            if calls == stop:  # noqa: B023
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            migrate_store(source, target, progress=killed)
        (report,) = migrate_store(source, target)
        assert report.verified
        with open_store(source) as here, open_store(target) as there:
            assert rows(there) == rows(here)
            assert there.maintenance.check().findings == []


def test_a_project_is_renamed_on_the_way(source: Path, tmp_path: Path) -> None:
    (report,) = migrate_store(source, tmp_path / "b.db", rename="docks")
    assert (report.project, report.verified) == ("docks", True)
    with open_store(source) as here, recollect.open(tmp_path / "b.db", project="docks") as there:
        assert rows(there) == rows(here)
        edited = next(one for one in there.list(EVERY) if one.content.endswith("at two"))
        assert {"add", "edit"} <= {entry.change.action for entry in there.history(edited.id)}
        assert there.maintenance.check().findings == []


def test_a_part_is_split_off_by_a_filter(source: Path, tmp_path: Path) -> None:
    migrate_store(source, tmp_path / "b.db", rename="rules", filter=recollect.Filter(kinds="requirement"))
    with recollect.open(tmp_path / "b.db", project="rules") as there:
        assert [one.content for one in there.list(EVERY)] == ["never edit generated files"]
        assert there.maintenance.check().findings == []


def test_a_store_in_use_keeps_its_own_and_gains_the_others(source: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "b.db") as there:
        mine = there.remember("Something stands here already")
    (report,) = migrate_store(source, tmp_path / "b.db")
    assert not report.verified
    with open_store(tmp_path / "b.db") as there, open_store(source) as here:
        assert there.get(mine.id) == mine.memory
        assert {one.id for one in here.list(EVERY)} < {one.id for one in there.list(EVERY)}
        assert there.maintenance.check().findings == []


def test_every_project_of_a_file_comes_over(tmp_path: Path) -> None:
    for project in ("harbour", "docks"):
        with recollect.open(tmp_path / "a.db", project=project) as here:
            here.remember(f"{project} is open")
    reports = migrate_store(tmp_path / "a.db", tmp_path / "b.db")
    assert [report.project for report in reports] == ["harbour", "docks"]
    for project in ("harbour", "docks"):
        with recollect.open(tmp_path / "b.db", project=project) as there:
            assert [one.content for one in there.list()] == [f"{project} is open"]
            assert there.maintenance.check().findings == []
    with pytest.raises(recollect.RecollectError, match="several projects"):
        migrate_store(tmp_path / "a.db", tmp_path / "c.db", rename="one")


def test_a_foreign_store_comes_over_as_a_strangers(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another person"))
    migrate_store(source, tmp_path / "b.db")
    with recollect.open(tmp_path / "b.db") as there:
        taught = there.list(recollect.Filter(kinds="requirement"))[0]
        assert taught.source is Source.AGENT_EXPLICIT
    migrate_store(source, tmp_path / "c.db", trust=True)
    with recollect.open(tmp_path / "c.db") as there:
        assert there.list(recollect.Filter(kinds="requirement"))[0].source is Source.USER_TAUGHT


def test_a_store_cannot_be_moved_into_itself(source: Path) -> None:
    with pytest.raises(recollect.RecollectError, match="it is the source"):
        migrate_store(source, source)


def test_a_store_moves_to_postgresql_and_back_without_what_is_personal(
    source: Path, tmp_path: Path, tenant_dsn: str
) -> None:
    (there,) = migrate_store(source, tenant_dsn)
    assert there.imported.left_out["personal memories: they stay where they are"] == 1
    assert migrate_store(source, tenant_dsn)[0].imported.counts.keys() <= {"same"}
    (back,) = migrate_store(tenant_dsn, tmp_path / "back.db", trust=True)
    assert back.verified
    with open_store(source) as here, open_store(tmp_path / "back.db") as again:
        kept = [one for one in rows(here)["memories"] if one["visibility"] != "personal"]
        assert rows(again)["memories"] == kept
        assert rows(again)["tombstones"] == rows(here)["tombstones"]
        said = next(one for one in again.list(EVERY) if one.kind == "episode")
        assert "add" in {entry.change.action for entry in again.history(said.id)}
        assert again.maintenance.check().findings == []
