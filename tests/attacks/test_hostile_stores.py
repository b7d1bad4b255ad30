"""Files that look like a store and hold more than rows: every door recognises them before it reads anything else."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.core.digest import row_checksum
from recollect.core.errors import StoreAltered, StoreDamaged, StoreError
from recollect.core.fields import COLUMNS
from recollect.core.kinds import Kinds
from recollect.store.migrations.latest import LATEST, SCHEMA_DIGESTS
from recollect.store.sqlite.backup import list_backups, make_backup
from recollect.store.sqlite.hook_file import open_hook_reader
from recollect.store.sqlite.known_schema import made_schemas, schema_digests
from recollect.store.sqlite.recognise import digest_schema
from recollect.tend.maintenance import restore_backup, salvage_store

FIXTURES = Path(__file__).parent.parent / "store" / "fixtures"
DEADLINE = 20.0  # seconds for any door, on a machine that is busy with other tests
NOW = 1_790_000_000_000
ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select {columns} from c where x < 0"
DECOY = "create table decoy (a)"  # gives a page that writable_schema can point to
ATTACKS: dict[str, tuple[str, ...]] = {
    "a view over an endless query in the place of meta": (
        "drop table meta",
        f"create view meta (project, name, value, checksum) as {ENDLESS.format(columns='x, x, x, x')}",
    ),
    "a view that makes 900 MB in the place of meta": (
        "drop table meta",
        "create view meta (project, name, value, checksum) as select '', 'project', printf('%.*c', 900000000, 'a'), 0",
    ),
    "a view in the place of memories": (
        "alter table memories rename to rows",
        "create view memories as select * from rows",
    ),
    "a trigger that eats what is written": (
        "create trigger t after insert on memories begin delete from memories where seq = new.seq; end",
    ),
    "a trigger that never ends": (
        "create trigger t after insert on memories begin insert into jobs (project) "
        f"{ENDLESS.format(columns='x')}; end",
    ),
    "a temporary-looking trigger on a view": (
        "create trigger t instead of insert on keyword_source begin select randomblob(1000000000); end",
    ),
    "a foreign table": ("create table bookmarks (url text)",),
    "a foreign view": ("create view v as select * from memories",),
    "a foreign virtual table": ("create virtual table other using fts5(a)",),
    "an index that calls a function": ("create index i on memories (upper(content))",),
    "an index in the place of ours": (
        "drop index memories_standing",
        "create index memories_standing on memories (project) where kind = 'never'",
    ),
    "a missing index": ("drop index memories_by_fingerprint",),
    "a generated column": (
        "alter table memories add column g text generated always as (hex(zeroblob(100000000))) virtual",
    ),
    "a column with an expression as its default": (
        "pragma writable_schema = on",
        "update sqlite_schema set sql = replace(sql, 'value     text not null', 'value text default (hex(1))') "
        "where name = 'meta'",
    ),
    "a table with a check": (
        "drop table meta",
        "create table meta (project text, name text, value text, checksum integer check (length(value) > 0), "
        "primary key (project, name))",
    ),
    "another keyword index": (
        "drop table keywords",
        "create virtual table keywords using fts5(body, names, context, content = '')",
    ),
    "a rank function for the keyword index": ("insert into keywords (keywords, rank) values ('rank', 'bm25(0)')",),
    "the schema number -1": ("pragma user_version = -1",),
    "the schema number 0": ("pragma user_version = 0",),
    "the schema number 5 with the tables of today": ("pragma user_version = 5",),
    "a view in a store of a later release": (
        f"pragma user_version = {LATEST + 7}",
        f"create view later as {ENDLESS.format(columns='x')}",
    ),
    "another application's number": ("pragma application_id = 1",),
    "two tables in one place": (
        "pragma writable_schema = on",
        "update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'log') "
        "where name = 'turns'",
    ),
    "a table whose statement was rewritten": (
        "pragma writable_schema = on",
        "update sqlite_schema set sql = replace(sql, 'value     text', 'value blob') where name = 'meta'",
    ),
    "a thousand tables": tuple(f"create table t{number} (a)" for number in range(1_000)),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "memory.db"
    with recollect.open(path, project="p") as memory:
        for number in range(20):
            memory.remember(f"Deploys freeze on Fridays, ask Ann about ring {number}.", kind="decision")
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, good: bytes) -> Path:
    (tmp_path / ".recollect").mkdir()
    file = tmp_path / ".recollect" / "memory.db"
    file.write_bytes(good)
    return file


def alter(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def timed(act: Callable[[], object]) -> object:
    began = time.monotonic()
    try:
        return act()
    finally:
        assert time.monotonic() - began < DEADLINE


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_store_that_was_altered_is_refused_by_every_door_and_told_what_is_odd(path: Path, attack: str) -> None:
    alter(path, *ATTACKS[attack])
    altered = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError) as caught:
            timed(lambda how=read_only: recollect.open(path, read_only=how))  # type: ignore[misc]
        assert caught.value.code in ("store-altered", "not-a-store", "store-damaged", "newer-schema")
        assert "defect" not in caught.value.hint
    with pytest.raises(OSError, match=r"altered|not a store of ours|hooks of this release"):
        timed(lambda: open_hook_reader(str(path), now=NOW))
    assert path.read_bytes() == altered  # nothing was written either


def test_the_error_names_what_is_odd_and_the_way_out(path: Path) -> None:
    alter(path, *ATTACKS["a trigger that eats what is written"])
    with pytest.raises(StoreAltered, match="trigger t on memories") as caught:
        recollect.open(path)
    assert "recollect repair" in caught.value.hint


def test_a_sound_store_is_recognised_made_at_once_or_grown(path: Path, tmp_path: Path) -> None:
    for name in ("schema_10.db.gz", "schema_10_history.db.gz"):
        old = tmp_path / name.removesuffix(".gz")
        old.write_bytes(gzip.decompress((FIXTURES / name).read_bytes()))
        with recollect.open(old) as memory:
            assert memory.maintenance.check().ok
        open_hook_reader(str(old), now=NOW)
    with recollect.open(path) as memory:
        assert memory.recall("deploy on friday").hits
    open_hook_reader(str(path), now=NOW)


def test_the_digests_are_those_of_the_migrations() -> None:
    computed = schema_digests()
    line = f"SCHEMA_DIGESTS = frozenset({{{', '.join(repr(one) for one in sorted(computed))}}})"
    assert computed == SCHEMA_DIGESTS, f"put into store/migrations/latest.py: {line}".replace("'", '"')


@pytest.mark.parametrize("version", range(1, LATEST + 1))
def test_every_schema_number_has_its_own_digest(version: int) -> None:
    digests = {digest_schema(rows) for rows in made_schemas(version)}
    earlier = {digest_schema(rows) for rows in made_schemas(version - 1)} if version > 1 else set()
    assert not digests & earlier


@pytest.mark.parametrize(
    "attack", [name for name in ATTACKS if "view" not in name and "-1" not in name and "another app" not in name]
)
def test_repair_carries_the_memories_of_an_altered_store_into_a_fresh_one(path: Path, attack: str) -> None:
    alter(path, *ATTACKS[attack])
    if attack == "two tables in one place":
        pytest.skip("two tables share pages: nothing but a backup helps")
    report = timed(lambda: salvage_store(path, Kinds()))
    assert report.salvaged == 20  # type: ignore[attr-defined]
    with recollect.open(path) as memory:
        assert memory.maintenance.check().ok
        assert memory.remember("A thing to be kept for good.").memory.content in str(memory.recall("kept for good"))


def test_repair_of_a_store_with_an_endless_view_ends(path: Path) -> None:
    alter(path, *ATTACKS["a view over an endless query in the place of meta"])
    report = timed(lambda: salvage_store(path, Kinds()))
    assert report.salvaged == 20  # type: ignore[attr-defined]


def test_an_altered_backup_is_listed_as_unreadable_and_not_put_back(path: Path) -> None:
    with recollect.open(path) as memory:
        backup = make_backup(memory.store.engine)
    assert backup is not None
    alter(backup, *ATTACKS["a trigger that eats what is written"])
    assert [found.memories for found in list_backups(path.parent)] == [-1]
    before = path.read_bytes()
    with pytest.raises(StoreError):
        restore_backup(path, backup)
    assert path.read_bytes() == before


def test_a_trigger_put_in_while_the_store_is_open_does_not_run(path: Path) -> None:
    """Recognition is at connecting; what comes later meets a connection on which triggers are off."""
    with recollect.open(path) as memory:
        memory.remember("The first thing is kept.")
        alter(path, *ATTACKS["a trigger that eats what is written"])
        id = memory.remember("The second thing is kept as well.").id
        assert memory.get(id).content == "The second thing is kept as well."


# --- a known schema with hostile rows: the checksums are right, because whoever wrote them knows how ------------------

DEEP_LIST, DEEP_OBJECT = "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000
ROWS: dict[str, dict[str, object]] = {
    "deep json in files": {"files": DEEP_LIST},
    "deep json in the payload": {"payload": DEEP_OBJECT},
    "files are a number": {"files": "7"},
    "tags are an object": {"tags": '{"a": 1}'},
    "a moment beyond all calendars": {"created_at": 2**63 - 1},
    "a moment before all calendars": {"created_at": -(2**63)},
    "confidence is a word": {"confidence": "x"},
    "confidence is huge": {"confidence": 1e308},
    "no such kind": {"kind": "\x00\x01"},
    "no such status": {"status": "undead"},
    "no such source": {"source": "the king"},
    "content is a number": {"content": 5},
    "content of 5 MB": {"content": "deploy friday " * 400_000},
    "revision is a word": {"revision": "many"},
    "span is half a list": {"span": "[1, 2"},
    "decay of no form": {"decay": "never and always"},
    "provenance is deep": {"provenance": DEEP_LIST},
    "attributes are a list": {"attributes": "[]"},
    "huge integers in the payload": {"payload": '{"a": ' + "9" * 5_000 + "}"},
    "a lone surrogate in the payload": {"payload": '{"a": "\\ud800"}'},
}


def forge(path: Path, changes: dict[str, object]) -> None:
    connection = apsw.Connection(str(path))
    columns = ", ".join(COLUMNS)
    row = dict(zip(COLUMNS, connection.execute(f"select {columns} from memories where seq = 1").get, strict=True))  # type: ignore[arg-type]
    row |= changes
    assigned = ", ".join(f"{name} = :{name}" for name in row)
    sealed = row_checksum(list(row.values()))
    connection.execute(f"update memories set {assigned}, checksum = :sealed where seq = 1", {**row, "sealed": sealed})
    connection.close()


@pytest.mark.parametrize("case", ROWS)
def test_a_hostile_row_with_a_right_checksum_is_told_or_called_damaged_and_keeps_nobody_waiting(
    path: Path, case: str
) -> None:
    forge(path, ROWS[case])
    with recollect.open(path) as memory:
        for act in (
            lambda: memory.recall("deploy friday ring"),
            lambda: memory.list(limit=50),
            lambda: memory.brief("deploy friday ring"),
            lambda: memory.maintenance.check(),
            lambda: memory.remember("Something else entirely is new."),
            lambda: memory.tend(),
        ):
            with contextlib.suppress(StoreDamaged):  # a clear answer too
                timed(act)
    reader = open_hook_reader(str(path), now=NOW)
    timed(lambda: reader.search("deploy friday ring", ["decision"], limit=5))


# --- the tables inside the keyword index ----------------------------------------------------------------------------


def test_damage_inside_the_keyword_index_is_an_answer_or_an_error_of_ours(path: Path, good: bytes) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "14"))
    chance = random.Random(seed)
    for number in range(int((os.environ.get("RECOLLECT_SOAK") and 2_000) or 60)):
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(good)
        connection = apsw.Connection(str(path))
        table, key, column = chance.choice(
            [("keywords_data", "id", "block"), ("keywords_docsize", "id", "sz"), ("keywords_idx", "term", "pgno")]
        )
        rows = connection.execute(f"select {key}, {column} from {table}").fetchall()
        picked, value = chance.choice(rows)
        hostile: object = chance.choice([b"", b"\xff" * 40, chance.randbytes(60), None, 2**62, "text"])
        if isinstance(value, bytes) and value and chance.random() < 0.6:
            flipped = bytearray(value)
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            hostile = bytes(flipped)
        connection.execute(f"update {table} set {column} = ? where {key} = ?", (hostile, picked))
        connection.close()
        try:
            with recollect.open(path) as memory:
                timed(lambda opened=memory: opened.recall("deploy friday ring ann"))  # type: ignore[misc]
                timed(lambda opened=memory: opened.remember("Something new about rings."))  # type: ignore[misc]
        except StoreError as error:
            if "defect" in error.hint:
                pytest.fail(f"seed {seed}, case {number}: {error}")


def test_poisoned_figures_for_the_planner_change_no_answer(path: Path) -> None:
    alter(
        path,
        "delete from sqlite_stat1",
        "insert into sqlite_stat1 values ('memories', 'memories_by_time', '1 1 1 unordered sz=99999999999999999999')",
        "insert into sqlite_stat1 values ('meta', null, x'ff00')",
        "insert into sqlite_stat1 values (null, 'x', -1)",
    )
    with recollect.open(path) as memory:
        assert len(timed(lambda: memory.recall("deploy friday ring", k=20)).hits) == 20  # type: ignore[attr-defined]
        assert memory.maintenance.check().ok


def test_the_command_line_answers_in_one_line_with_its_exit_code(path: Path) -> None:
    alter(path, *ATTACKS["a view over an endless query in the place of meta"])
    for words in (["recall", "deploy"], ["list"], ["check"], ["doctor"], ["remember", "new"], ["--read-only", "list"]):
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *words],
            cwd=path.parent.parent,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode in (1, 5), (words, done)
        assert "altered by another program" in done.stdout + done.stderr
