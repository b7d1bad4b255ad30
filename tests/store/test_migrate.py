from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from recollect.core.errors import MigrationFailed
from recollect.core.kinds import Kinds
from recollect.store.migrate import census, migrate
from recollect.store.migrations.latest import LATEST
from recollect.store.migrations.steps import MIGRATIONS, Migration
from recollect.store.open import open_store
from recollect.store.port import Engine
from recollect.store.schema import CANONICAL
from recollect.store.sqlite.backup import list_backups
from recollect.store.sqlite.history import UPGRADES

NEXT = LATEST + 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    with recollect.open(file) as memory:
        memory.remember_all([recollect.Draft(f"Statement number{number}.") for number in range(20)])
    return file


def run(path: Path, change: Callable[[Engine], object]) -> int:
    def step(engine: Engine) -> None:
        change(engine)

    store = open_store(path, Kinds())
    try:
        migrate(store.engine, [*MIGRATIONS, Migration(NEXT, "test", step)])
        return store.engine.schema()
    finally:
        store.close()


def test_a_migration_is_preceded_by_a_verified_backup(path: Path) -> None:
    assert run(path, lambda engine: engine.execute("alter table memories add column mood text")) == NEXT
    assert [backup.memories for backup in list_backups(path.parent)] == [20]


@pytest.mark.parametrize(
    "harm",
    [
        "delete from memories where seq > 15",
        "update memories set content = 'migrated' where seq = 3",
        "delete from log where number = 20",
        "update memories set status = 'expired'",
    ],
)
def test_a_migration_that_would_lose_or_change_memories_is_rolled_back(path: Path, harm: str) -> None:
    store = open_store(path, Kinds())
    before = census(store.engine)
    store.close()
    with pytest.raises(MigrationFailed, match="changed stored memories") as caught:
        run(path, lambda engine: engine.execute(harm))
    assert "backup" in caught.value.hint
    store = open_store(path, Kinds())
    assert (census(store.engine), store.engine.schema()) == (before, LATEST)
    store.close()


def test_a_migration_that_raises_is_rolled_back_whole(path: Path) -> None:
    def broken(engine: Engine) -> None:
        engine.execute("create table half_done (x)")
        raise ValueError("out of luck")

    with pytest.raises(MigrationFailed, match="out of luck"):
        run(path, broken)
    store = open_store(path, Kinds())
    assert store.engine.row("select 1 from sqlite_schema where name = 'half_done'") is None
    store.close()


def test_a_fresh_store_needs_no_backup(tmp_path: Path) -> None:
    recollect.open(tmp_path / "memory.db").close()
    assert list_backups(tmp_path) == []


def test_migrating_twice_is_migrating_once(path: Path) -> None:
    steps = [*MIGRATIONS, Migration(NEXT, "test", lambda engine: None)]
    store = open_store(path, Kinds())
    migrate(store.engine, steps)
    migrate(store.engine, steps)
    store.close()
    assert len(list_backups(path.parent)) == 1


def test_the_common_schema_keeps_what_the_history_of_files_keeps() -> None:
    assert tuple(table for _, _, _, tables in UPGRADES for table in tables) == CANONICAL
