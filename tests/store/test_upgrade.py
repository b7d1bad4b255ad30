"""A store of the release before the common schema opens and loses nothing; killed on the way, it is old or new."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.core.errors import NewerSchema, StoreError
from recollect.core.kinds import Kinds
from recollect.core.query import Filter
from recollect.store.check import check
from recollect.store.migrate import census, migrate
from recollect.store.migrations.latest import LATEST
from recollect.store.migrations.m0015_people import TABLES as PEOPLE
from recollect.store.open import open_store
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.store import Store

FIXTURE = Path(__file__).parent / "fixtures" / "schema_10.db.gz"
OURS = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'keywords%'"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    return path


@pytest.fixture
def store(old: Path) -> Iterator[Store]:
    opened = open_store(old, Kinds())
    yield opened
    opened.close()


def counts(path: Path) -> dict[str, int]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = [str(name) for (name,) in connection.execute(OURS)]
        return {name: int(str(connection.execute(f"select count(*) from {name}").get)) for name in tables}
    finally:
        connection.close()


def shape(engine: SqliteEngine) -> dict[str, Any]:
    """Every table with its columns, and every index with what it covers, however they were written down."""
    tables = {row[0]: engine.rows(f"pragma table_info({row[0]})") for row in engine.rows(OURS)}
    indexes = engine.rows("select name, tbl_name, sql from sqlite_schema where type = 'index' and sql is not null")
    return {
        "tables": {name: [column[1:] for column in columns] for name, columns in tables.items()},
        "indexes": {name: (table, " ".join(sql.split())) for name, table, sql in indexes},
    }


def test_every_row_of_an_old_store_is_there_afterwards(old: Path) -> None:
    before = counts(old)
    assert min(before.values()) > 0, "the fixture has a row in every table"
    open_store(old, Kinds()).close()
    assert_nothing_is_lost(before, counts(old))


GROWS = {"ledger", "meta"}  # the ledger became the log, which tells once more what is there; facts name the replica


def assert_nothing_is_lost(before: dict[str, int], after: dict[str, int]) -> None:
    kept = {name: count for name, count in before.items() if name not in GROWS}
    assert {name: after[name] for name in kept} == kept
    assert after["log"] >= before["ledger"]
    assert after["meta"] >= before["meta"]


def test_an_upgraded_store_is_sound_to_the_last_checksum(store: Store) -> None:
    assert [f"{finding.area}: {finding.problem}" for finding in check(store).findings] == []


LATER = {"synced", "replies"}  # made by a later schema, and empty until it is used


def test_everything_in_an_old_store_belongs_to_a_project(store: Store) -> None:
    for (table,) in store.engine.rows(OURS):
        if table in PEOPLE:  # they belong to the whole store, and an old one has none
            continue
        assert "project" in {row[1] for row in store.engine.rows(f"pragma table_info({table})")}, table
        found = {row[0] for row in store.engine.rows(f"select distinct project from {table}")}
        assert found == (set() if table in LATER else {"", "old"} if table == "meta" else {"old"}), table


def test_what_was_known_of_an_old_store_is_still_known(store: Store) -> None:
    (link,) = store.links.from_(store.memories.page(Filter(), order="oldest", limit=1).memories[0].id)
    assert link.target is not None
    old = [entry for entry in store.log.recent(100) if not entry.replica]
    assert len(old) == 14
    assert store.meta("arm") == "treated"
    assert store.meta("documents.network") == "stamp"
    assert [file.path for file in store.observed.get("s1").files] == ["b.py", "a.py"]  # type: ignore[union-attr]
    (turn,) = store.turns.recent(limit=5)
    assert [call.id for call in turn.calls] == ["a"]
    assert store.graph.node("a.py:f").end == 4  # type: ignore[union-attr]
    assert store.words.containing("crane", Filter(), limit=5)
    space = store.vectors.active()
    assert space is not None
    assert store.vectors.verify(space) == []


def test_turns_of_sessions_captured_at_once_get_their_order_and_the_cursor_follows(store: Store) -> None:
    for session in ("dawn", "dusk"):
        turns = store.sessions.episodes(session, limit=9)
        assert [(ordinal, memory.content) for ordinal, memory in turns] == [
            (number + 1, f"{session} turn {number}") for number in range(3)
        ]
    dawn = store.sessions.get("dawn")
    assert dawn is not None
    assert dawn.cursor == 2


def test_an_upgraded_store_and_a_new_one_have_the_same_schema(old: Path, tmp_path: Path) -> None:
    engines = SqliteEngine(old), SqliteEngine(tmp_path / "new.db")
    for engine in engines:
        migrate(engine)
    upgraded, fresh = map(shape, engines)
    for engine in engines:
        engine.close()
    assert upgraded == fresh


def test_a_damaged_row_stays_damaged(old: Path) -> None:
    connection = apsw.Connection(str(old))
    connection.execute("update links set confidence = 0.123")
    connection.close()
    store = open_store(old, Kinds())
    assert [finding.area for finding in check(store, quick=True).findings] == ["links"]
    store.close()


def test_an_old_store_opened_for_reading_is_refused_and_unchanged(old: Path) -> None:
    before = old.read_bytes()
    with pytest.raises(StoreError, match="older release"):
        open_store(old, Kinds(), read_only=True)
    assert old.read_bytes() == before


def test_a_newer_store_is_refused_and_unchanged(old: Path) -> None:
    connection = apsw.Connection(str(old))
    connection.execute(f"pragma user_version = {LATEST + 1}")
    connection.close()
    before = old.read_bytes()
    with pytest.raises(NewerSchema):
        open_store(old, Kinds())
    assert old.read_bytes() == before


_UPGRADE = """
import sys
from pathlib import Path
from recollect.core.kinds import Kinds
from recollect.store.open import open_store
open_store(Path(sys.argv[1]), Kinds()).close()
"""


@pytest.mark.parametrize("patience", [0.12, 0.2, 0.25, 0.3, 0.4])
def test_a_store_killed_while_it_is_upgraded_is_whole_and_goes_on(old: Path, patience: float) -> None:
    before = counts(old)
    process = subprocess.Popen([sys.executable, "-c", _UPGRADE, str(old)], env=os.environ)
    time.sleep(patience)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store = open_store(old, Kinds())
    assert check(store).ok
    store.close()
    assert_nothing_is_lost(before, counts(old))


def test_the_census_is_the_same_on_both_sides(old: Path) -> None:
    engine = SqliteEngine(old)
    before = census(engine)
    migrate(engine)
    assert census(engine).digest == before.digest
    kept = dict(census(engine).counts)
    assert all(kept[name] == count for name, count in before.counts if name != "ledger")
    engine.close()
