"""A migration happens wholly or not at all, whatever goes wrong, and never without a verified copy from before."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import State, assert_sound, base_seed, environment, report, run_program, size, state, words
from faults.programs.migration import FIRST, LAST, POINTS, steps
from recollect import Draft
from recollect.core.errors import MigrationFailed, NewerSchema, StoreError
from recollect.core.kinds import Kinds
from recollect.store.migrate import migrate
from recollect.store.migrations.steps import MIGRATIONS, Migration
from recollect.store.port import Engine
from recollect.store.sqlite import backup
from recollect.store.sqlite.engine import SqliteEngine
from recollect.tend.put_back import put_back

_PROGRAM = Path(__file__).parent / "programs" / "migration.py"


def _old_store(path: Path, seed: int, memories: int = 30) -> State:
    """A store of the released schema; what is in it."""
    rng = random.Random(seed)
    with recollect.open(path) as memory:
        receipts = memory.remember_all([Draft(words(rng), tags=["old"]) for _ in range(memories)])
        memory.edit(receipts[0].id, content=words(rng))
        memory.reject(receipts[1].id)
        memory.forget(receipts[2].id)
        memory.relate(receipts[3].id, "validates", to=receipts[4].id)
        return assert_sound(memory)


def _rows(path: Path) -> list[tuple[object, ...]]:
    """Statements as the file holds them, at whatever schema it is."""
    engine = SqliteEngine(path, read_only=True)
    try:
        return engine.rows("select id, project, kind, content, status, created_at, revision from memories order by id")
    finally:
        engine.close()


def _schema(path: Path) -> int:
    engine = SqliteEngine(path, read_only=True)
    try:
        return engine.schema()
    finally:
        engine.close()


def _whole(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _assert_backup_holds(folder: Path, before: State) -> None:
    """There is a finished backup, it verifies, and a store made of it is the old one."""
    made = backup.list_backups(folder)
    assert made, "there is no backup"
    for one in made:
        assert backup.verify(one.path) == len(before)
    assert len(made) == len({one.path.name.split("-", 1)[1] for one in made}), "one backup for each schema"
    restored = folder / "restored.db"
    assert put_back(made[-1].path, restored, Kinds()).set_aside is None
    with recollect.open(restored) as memory:
        assert assert_sound(memory) == before
    restored.unlink()


# --- steps that go wrong ----------------------------------------------------------------------------------------------


def _raises(engine: Engine) -> None:
    engine.execute("create table half (id text)")
    engine.execute("update memories set content = 'half'")
    raise ValueError("a step went wrong")


def _bad_sql(engine: Engine) -> None:
    engine.execute("create table half (id text)")
    engine.execute("insert into nowhere values (1)")


def _loses_rows(engine: Engine) -> None:
    engine.execute("delete from memories where rowid % 3 = 0")


def _rewrites(engine: Engine) -> None:
    engine.execute("update memories set content = upper(content)")


def _drops_history(engine: Engine) -> None:
    engine.execute("delete from log where number > 3")


def _drops_links(engine: Engine) -> None:
    engine.execute("delete from links")


def _drops_a_table(engine: Engine) -> None:
    engine.execute("drop table tombstones")


def _revives(engine: Engine) -> None:
    engine.execute("update memories set status = 'active'")


@pytest.mark.parametrize(
    "step",
    [_raises, _bad_sql, _loses_rows, _rewrites, _drops_history, _drops_links, _drops_a_table, _revives],
)
def test_a_step_that_fails_or_loses_something_is_rolled_back_and_names_a_backup_that_holds_everything(
    tmp_path: Path, step: object
) -> None:
    path = tmp_path / "memory.db"
    before = _old_store(path, base_seed())
    engine = SqliteEngine(path)
    with pytest.raises(MigrationFailed) as failed:
        migrate(engine, [*MIGRATIONS, Migration(FIRST + 1, "wrong", step)])  # type: ignore[arg-type]
    engine.close()
    assert str(tmp_path / "backups") in failed.value.hint
    _assert_backup_holds(tmp_path, before)
    with recollect.open(path) as memory:
        assert assert_sound(memory) == before
        memory.remember("writing goes on")


def test_a_failing_step_takes_back_those_before_it_and_all_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = _old_store(path, base_seed())
    rows = _rows(path)
    engine = SqliteEngine(path)
    for _ in range(3):
        with pytest.raises(MigrationFailed):
            migrate(engine, [*steps(), Migration(LAST + 1, "wrong", _loses_rows)])
        assert engine.schema() == FIRST
    assert len(backup.list_backups(tmp_path)) == 1, "one backup, not one per try"
    migrate(engine, steps())
    assert engine.schema() == LAST
    engine.close()
    assert _rows(path) == rows
    _assert_backup_holds(tmp_path, before)


# --- kills ------------------------------------------------------------------------------------------------------------


def _assert_migrates_in_the_end(path: Path, before: State, rows: list[tuple[object, ...]], where: str) -> int:
    """After a kill: a whole number of steps was made, nothing is lost, the rest can be made; the schema it had."""
    found = _schema(path)
    assert found in (FIRST, LAST), where
    assert _rows(path) == rows, where
    if found == FIRST:
        with recollect.open(path) as memory:
            assert assert_sound(memory) == before, where
    engine = SqliteEngine(path)
    migrate(engine, steps())
    assert engine.schema() == LAST, where
    lengths = engine.row("select count(*) from lengths")
    calm = engine.row("select count(*) from memories where mood = 'calm'")
    engine.close()
    assert lengths == calm == (len(rows),), where
    assert _rows(path) == rows, where
    _assert_backup_holds(path.parent, before)
    return found


@pytest.mark.parametrize("point", POINTS)
def test_a_migration_killed_at_a_named_point_is_whole_or_not_there_and_can_be_finished(
    tmp_path: Path, point: str
) -> None:
    path = tmp_path / "memory.db"
    before = _old_store(path, base_seed())
    rows = _rows(path)
    killed = subprocess.run(
        [sys.executable, str(_PROGRAM), json.dumps({"path": str(path), "point": point})],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, f"{point!r} was never reached\n{killed.stderr}"
    _assert_migrates_in_the_end(path, before, rows, point)
    report("migrations killed at a named point: 1, lost: 0")


def test_a_migration_killed_at_any_moment_is_whole_or_not_there_and_can_be_finished(tmp_path: Path) -> None:
    kills, seed = size(15, 500), base_seed()
    found: dict[int, int] = {}
    original = tmp_path / "original" / "memory.db"
    before = _old_store(original, seed, memories=300)
    rows = _rows(original)
    for number in range(kills):
        path = tmp_path / f"{number}" / "memory.db"
        path.parent.mkdir()
        path.write_bytes(original.read_bytes())
        doomed = subprocess.Popen(
            [sys.executable, str(_PROGRAM), json.dumps({"path": str(path), "point": None})], env=environment()
        )
        while doomed.poll() is None and not (path.parent / "backups").exists():
            time.sleep(0.0005)
        time.sleep(random.Random(seed + number).uniform(0, 0.06))
        doomed.kill()
        doomed.wait()
        schema = _assert_migrates_in_the_end(path, before, rows, f"kill {number} of seed {seed}")
        found[schema] = found.get(schema, 0) + 1
    report(f"killed migrations: {kills}, lost: 0, schema found afterwards: {dict(sorted(found.items()))}, seed: {seed}")


def test_processes_that_migrate_at_the_same_moment_make_each_step_once(tmp_path: Path) -> None:
    rounds, processes = size(4, 100), 6
    for number in range(rounds):
        path = tmp_path / f"{number}" / "memory.db"
        before = _old_store(path, base_seed() + number)
        rows = _rows(path)
        result = run_program("migration", path=path, processes=processes)
        assert not result["errors"], result["errors"]
        assert result["schemas"] == [LAST]
        assert _rows(path) == rows
        _assert_backup_holds(path.parent, before)
    report(f"simultaneous migrations: {rounds} x {processes} processes, errors: 0, lost: 0")


# --- a store from the future ------------------------------------------------------------------------------------------


def test_a_store_of_a_newer_schema_is_refused_for_writing_left_unchanged_and_still_readable(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = _old_store(path, base_seed())
    engine = SqliteEngine(path)
    migrate(engine, steps())
    engine.close()
    files = {file.name for file in tmp_path.iterdir()}
    written = _whole(path)
    with pytest.raises(NewerSchema):
        recollect.open(path)
    assert _whole(path) == written
    assert {file.name for file in tmp_path.iterdir()} - files <= {"memory.db-shm", "memory.db-wal"}
    with recollect.open(path, read_only=True) as memory:
        assert state(memory) == before
        one = next(row for row in before.values() if row.status == "active")
        assert [hit.id for hit in memory.recall(one.content.split()[0])] == [one.id]
        with pytest.raises(StoreError):
            memory.remember("not into the future")
    assert _whole(path) == written
