"""The log: chained per replica, later and later, erasable; and what became of the ledger of earlier releases."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect
from recollect import Filter, Status
from recollect.app import Recollect
from recollect.core.errors import NothingToUndo
from recollect.core.kinds import Kinds
from recollect.core.log import OLD_REPLICA, Change, next_stamp
from recollect.remember.replay import rebuild
from recollect.store.log import Log
from recollect.store.meta import FILE, Meta
from recollect.store.open import open_store
from recollect.store.sqlite.repair import salvage

pytestmark = pytest.mark.both_engines

OLD_STORE = Path(__file__).parent / "fixtures" / "schema_10_history.db.gz"  # with a ledger
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress(OLD_STORE.read_bytes()))
    return path


def read(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_the_time_of_entries_grows_while_the_clock_stands_still_or_runs_back() -> None:
    stamps = [0]
    for ms in (5, 5, 4, 3, 6, 6):
        stamps.append(next_stamp(stamps[-1], ms))
    assert stamps == sorted(set(stamps))
    assert stamps[-1] >> 16 == 6


def test_an_entry_says_who_where_when_and_what_the_memory_became(memory: Recollect) -> None:
    id = memory.remember("The harbour opens at dawn.", tags=["sea"]).id
    memory.edit(id, tags=["sea", "dawn"], why="more")
    added, edited = memory.history(id)
    assert added.change.after is not None
    assert (added.change.after["content"], added.change.after["tags"]) == ("The harbour opens at dawn.", ["sea"])
    assert (edited.change.before, edited.change.after) == ({"tags": ["sea"]}, {"tags": ["sea", "dawn"]})
    assert (edited.project, edited.actor, edited.change.why) == ("test", "tester", "more")
    assert added.replica == edited.replica == Meta(memory.store.engine, FILE).get("replica") != OLD_REPLICA
    assert added.stamp < edited.stamp


def test_two_stores_are_two_replicas_and_one_keeps_its_name(tmp_path: Path) -> None:
    names = []
    for name in ("a.db", "b.db", "a.db"):
        with recollect.open(tmp_path / name, project="t") as memory:
            names.append(Meta(memory.store.engine, FILE).get("replica"))
    assert names[0] == names[2] != names[1]


def test_entries_of_another_replica_in_between_leave_both_chains_whole(memory: Recollect) -> None:
    memory.remember("One.")
    engine, own = memory.store.engine, Meta(memory.store.engine, FILE).get("replica")
    with engine.write():
        Meta(memory.store.engine, FILE).put("replica", "rep_other")
        Log(engine, "test").append([Change("tend", None, "elsewhere")], act="act_x", actor="them", at=AT)
        Meta(memory.store.engine, FILE).put("replica", str(own))
    memory.remember("Two.")
    assert memory.store.log.verify() == []
    with engine.write():
        engine.execute("update log set actor = 'nobody' where replica = 'rep_other'")
    assert [fault for fault in memory.store.log.verify() if "does not follow" in fault]


# --- undo ----------------------------------------------------------------------------------------------------------


def test_undo_takes_back_ones_own_last_change_and_never_another_actors(place: Path | str) -> None:
    with recollect.open(place, project="p", actor="anna") as anna:
        mine = anna.remember("The harbour opens at dawn.").id
    with recollect.open(place, project="p", actor="ben") as ben:
        theirs = ben.remember("The lighthouse is red.").id
        with recollect.open(place, project="p", actor="anna") as anna:
            assert anna.undo().memories == (mine,)
            with pytest.raises(NothingToUndo):
                anna.undo()
            assert anna.undo(actor="ben").memories == (theirs,)


def test_undo_of_a_named_memory_takes_back_whoever_changed_it(place: Path | str) -> None:
    with recollect.open(place, project="p", actor="ben") as ben:
        id = ben.remember("The lighthouse is red.").id
        ben.pin(id)
    with recollect.open(place, project="p", actor="anna") as anna:
        assert anna.undo(id).actions == ("pin",)


def test_undo_never_takes_back_what_was_done_in_another_project(place: Path | str) -> None:
    here, there = open_store(place, Kinds(), project="here"), open_store(place, Kinds(), project="there")
    with there.engine.write():
        there.log.append([Change("tend", None, "elsewhere"), Change("edit", None, "x")], act="a", actor="anna", at=AT)
    assert here.log.last_act(actor="anna") == []
    assert len(there.log.last_act(actor="anna")) == 2
    here.close()
    there.close()


def test_undoing_a_relation_removes_it(memory: Recollect) -> None:
    one, two = memory.remember("The harbour opens at dawn.").id, memory.remember("The lighthouse is red.").id
    memory.relate(one, "validates", to=two)
    assert memory.undo().actions == ("link",)
    assert memory.why(one).points_at == ()
    assert memory.get(one).revision == 1


# --- stores of earlier releases --------------------------------------------------------------------------------------


def test_no_entry_of_an_older_store_is_lost_and_both_chains_hold(old: Path) -> None:
    before = read(old, "select number, act, at, actor, action, memory, body, digest, undoes, hash from ledger")
    with recollect.open(old) as memory:
        assert memory.store.log.verify() == []
    kept = read(
        old,
        "select number, act, at, actor, action, subject, body, digest, undoes, hash from log where replica = ''",
    )
    assert kept == before
    assert read(old, "select count(*) from log where action = 'snapshot'")[0][0] > 0


def test_an_older_store_can_be_rebuilt_from_its_log(old: Path) -> None:
    columns = "source, relation, target, is_file, confidence, automatic, created_at"
    with recollect.open(old) as memory:
        memory.remember("Written after the migration.")
        fresh = open_store(None, Kinds(), project="old")
        rebuild(memory.store, fresh)
        for sql in (f"select {columns} from links order by 1, 2, 3", "select * from tombstones order by 1"):
            assert fresh.engine.rows(sql) == memory.store.engine.rows(sql)
        everything = [one for page in memory.store.memories.every() for one in page.memories]
        rebuilt = {memory.id: memory for page in fresh.memories.every() for memory in page.memories}
        assert rebuilt == {one.id: one for one in everything}
        fresh.close()


def test_the_entities_and_sessions_of_an_older_store_can_be_rebuilt_from_its_log(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress(OLD_STORE.with_name("schema_10.db.gz").read_bytes()))
    with recollect.open(path) as memory:
        fresh = open_store(None, Kinds(), project="old")
        rebuild(memory.store, fresh)
        for sql in (
            "select * from entities order by id",
            "select * from entity_names order by 1, 2, 3",
            "select project, id from sessions order by 1, 2",
        ):
            assert fresh.engine.rows(sql) == memory.store.engine.rows(sql) != []
        fresh.close()


def test_the_history_of_an_older_store_reads_in_fields(old: Path) -> None:
    with recollect.open(old) as memory:
        edited = [entry.change for entry in memory.history(limit=1000) if entry.change.action == "edit"]
        changes = [change for change in edited if change.after and "valid_until" in change.after]
        assert changes[0].after is not None
        assert changes[0].after["valid_until"] == "2027-01-01T00:00:00.000Z"
        assert changes[0].after["tags"] == ["x", "y"]
        assert any(change.before and "tombstone" in (change.after or {}) for change in edited)


def test_what_was_done_before_the_migration_can_still_be_undone(old: Path) -> None:
    with recollect.open(old, actor="anna") as memory:
        disputed = next(iter(memory.list(Filter(statuses=Status.DISPUTED)).memories))
        assert memory.undo(disputed.id).actions == ("dispute",)
        assert memory.get(disputed.id).status == "active"
        rejected = next(iter(memory.list(Filter(statuses=Status.REJECTED)).memories))
        memory.undo(rejected.id)
        assert memory.remember(rejected.content, kind=rejected.kind).verdict == "same"


def test_a_store_that_died_while_it_was_migrated_is_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(old, "select * from ledger")

    def killed(*parts: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recollect.store.migrations.m0012_fields_and_log.chain", killed)
        with pytest.raises(KeyboardInterrupt):
            recollect.open(old)
    assert [row[: len(before[0])] for row in read(old, "select * from ledger")] == before
    with recollect.open(old) as memory:
        assert memory.store.log.verify() == []


def test_a_damaged_older_store_keeps_its_entries_when_it_is_salvaged(old: Path) -> None:
    before = read(old, "select number, hash from ledger order by number")
    connection = apsw.Connection(str(old))
    connection.execute("update memories set content = 'flipped' where seq = 3")  # no longer matches its checksum
    connection.close()
    report = salvage(old, Kinds())
    assert len(report.lost) == 1
    assert read(old, "select number, hash from log where replica = '' order by number") == before
    with recollect.open(old) as memory:
        assert memory.store.log.verify() == []


def test_bodies_of_new_entries_are_json_objects(memory: Recollect) -> None:
    memory.remember("The harbour opens at dawn.")
    (row,) = memory.store.engine.rows("select body from log")
    assert set(json.loads(row[0])) == {"after"}
    assert memory.history()[0].at - datetime(2026, 3, 1, 12, tzinfo=UTC) < timedelta(seconds=1)


def test_what_an_upgrade_writes_down_does_not_bury_the_history(old: Path) -> None:
    before = [row[0] for row in read(old, "select action from ledger order by number desc limit 50")]
    with recollect.open(old) as memory:
        actions = [entry.change.action for entry in memory.history()]
    assert "snapshot" not in actions
    assert actions[-len(before) :] == before
