from __future__ import annotations

import gzip
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.core.errors import (
    MemoryClosed,
    NewerSchema,
    NotAStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreLost,
    StoreMissing,
    StoreReadOnly,
    UnknownChoice,
    UnsafeSqlite,
)
from recollect.store.migrate import every_step
from recollect.store.migrations.latest import LATEST
from recollect.store.sqlite.connection import require_safe_sqlite, require_whole
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.place import make_folder


def made(path: Path, statements: int = 3) -> Path:
    with recollect.open(path, project="p") as memory:
        for number in range(statements):
            memory.remember(f"Statement number{number} about quartz.")
    return path


def test_a_store_is_one_private_folder_with_one_database(tmp_path: Path) -> None:
    made(tmp_path / "box" / "memory.db")
    assert stat.S_IMODE((tmp_path / "box").stat().st_mode) == 0o700
    names = {entry.name for entry in (tmp_path / "box").iterdir()}
    assert names <= {"memory.db", "memory.db-lock", "memory.db-reserve"}


def test_a_directory_means_the_store_of_the_project_in_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path) as memory:
        assert memory.path == tmp_path / ".recollect" / "memory.db"


def test_a_store_that_must_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        recollect.open(tmp_path / "memory.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary " * 200)
    with pytest.raises(NotAStore, match="not a database"):
        recollect.open(file)
    assert file.read_text() == "dear diary " * 200


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    connection = apsw.Connection(str(file))
    connection.execute("create table bookmarks (url text)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(NotAStore, match="another program"):
        recollect.open(file)
    assert file.read_bytes() == before


def test_a_directory_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    from recollect.core.kinds import Kinds
    from recollect.store.open import open_store

    with pytest.raises(NotAStore, match="directory"):
        open_store(tmp_path, Kinds())


def test_a_half_copied_file_is_reported_as_damaged_and_kept(tmp_path: Path) -> None:
    whole = made(tmp_path / "memory.db", 200)
    half = tmp_path / "half.db"
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    before = half.read_bytes()
    with pytest.raises(StoreDamaged):
        recollect.open(half)
    assert half.read_bytes() == before


def test_an_emptied_file_beside_backups_is_damage_not_a_new_store(tmp_path: Path) -> None:
    from recollect.store.sqlite.backup import make_backup

    path = tmp_path / "memory.db"
    with recollect.open(path) as memory:
        memory.remember("One.")
        make_backup(memory.store.engine)
    path.write_bytes(b"")
    with pytest.raises(StoreDamaged, match="empty"):
        recollect.open(path)


def test_a_newer_store_is_refused_for_writing_and_readable_on_request(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma user_version = {LATEST + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match=str(LATEST + 1)):
        recollect.open(path)
    with recollect.open(path, read_only=True) as memory:
        assert memory.count() == 3
    assert path.read_bytes() == before


def test_the_newest_migration_is_the_one_that_opening_expects() -> None:
    engine = SqliteEngine(None)
    assert [step.number for step in every_step(engine)] == list(range(1, LATEST + 1))
    engine.close()


def test_reading_changes_no_byte(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    before = path.read_bytes()
    with recollect.open(path, read_only=True) as memory:
        assert len(memory.recall("quartz")) == 3
        with pytest.raises(StoreReadOnly):
            memory.remember("Not allowed.")
    assert path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work differently there")
def test_a_read_only_directory_can_be_read_and_refuses_writes_clearly() -> None:
    box = Path(tempfile.mkdtemp())
    try:
        path = made(box / "memory.db")
        for extra in ("-lock", "-reserve"):
            Path(f"{path}{extra}").unlink()
        path.chmod(0o444)
        box.chmod(0o555)
        assert _as_nobody(lambda: _read_then_write(path)) == "3 store-read-only"
    finally:
        box.chmod(0o700)
        shutil.rmtree(box)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work differently there")
def test_a_directory_we_may_not_enter_is_an_error_with_a_way_out() -> None:
    box = Path(tempfile.mkdtemp())
    try:
        path = made(box / "memory.db")
        box.chmod(0o000)
        assert _as_nobody(lambda: _opening(path)) == "store-read-only"
    finally:
        box.chmod(0o700)
        shutil.rmtree(box)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_name_no_file_can_have_is_an_error_with_a_way_out(tmp_path: Path, name: str) -> None:
    assert _opening(tmp_path / name) == "store-read-only"


def _opening(path: Path) -> str:
    try:
        recollect.open(path).close()
    except recollect.RecollectError as error:
        return error.code
    return "opened"


def _read_then_write(path: Path) -> str:
    with recollect.open(path, create=False) as memory:
        found = len(memory.recall("quartz"))
        try:
            memory.remember("no")
        except recollect.RecollectError as error:
            return f"{found} {error.code}"
    return "written"


def _as_nobody(act: Callable[[], str]) -> str:
    """What `act` answers in a child that has no rights: root would ignore permissions."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            answer = act()
        except BaseException as error:
            answer = repr(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = recollect.open(tmp_path / "memory.db")
    memory.close()
    memory.close()
    with pytest.raises(MemoryClosed):
        memory.get("mem_anything")
    with pytest.raises(MemoryClosed):
        memory.remember("One.")
    with pytest.raises(MemoryClosed):
        memory.recall("anything")


@pytest.mark.parametrize("version", ["3.40.1", "3.50.4", "3.50.6", "3.44.5", "3.51.2", "3.7.0"])
def test_a_sqlite_with_the_wal_reset_bug_is_refused(version: str) -> None:
    with pytest.raises(UnsafeSqlite, match=version):
        require_safe_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.53.4", "3.54.1", "3.50.7", "3.44.6", "4.0.0"])
def test_a_mended_sqlite_is_accepted(version: str) -> None:
    assert require_safe_sqlite(version) is None  # type: ignore[func-returns-value]


def test_only_one_sqlite_library_is_loaded() -> None:
    program = (
        "import recollect, sys; m = recollect.open(':memory:'); m.remember('x y'); m.recall('x'); "
        "print('_sqlite3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_older_store_is_not_migrated_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "fixtures" / "schema_10.db.gz").read_bytes()))
    with pytest.raises(StoreError, match="older release"):
        recollect.open(path, read_only=True)


def test_closing_while_another_thread_writes_waits_for_it_and_raises_nothing(tmp_path: Path) -> None:
    memory = recollect.open(tmp_path / "m.db", project="t")
    store, inside = memory.store, threading.Event()

    def write() -> None:
        with store.engine.write():
            inside.set()
            time.sleep(0.2)
            store.set_meta("fact", "kept")

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait()
    memory.close()
    thread.join()
    with recollect.open(tmp_path / "m.db", project="t") as again:
        assert again.store.meta("fact") == "kept"


def test_an_order_nobody_knows_is_refused_with_the_choices(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", project="t") as memory, pytest.raises(UnknownChoice, match="newst"):
        memory.list(order="newst")  # type: ignore[arg-type]


def test_a_folder_beside_a_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "beside").stat().st_mode & 0o777 == 0o700


def test_who_waits_a_second_for_writers_waits_no_longer_for_another_program(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    engine = SqliteEngine(path, timeout=1.0)
    with engine.write():
        engine.execute("create table t (x)")
    engine.close()
    program = (
        "import sqlite3, sys; other = sqlite3.connect(sys.argv[1]); other.execute('pragma locking_mode = exclusive');"
        "other.execute('insert into t values (1)'); print('held', flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StoreBusy, match="for 1 s"):
            SqliteEngine(path, timeout=1.0, recognises=False).rows("select * from t")
        other.kill()


def test_a_file_that_goes_while_it_is_looked_at_is_lost_and_no_error_of_the_driver(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("Granite is hard.")
        (tmp_path / "m.db").rename(tmp_path / "away.db")
        with pytest.raises(StoreLost, match="was removed"):
            require_whole(str(tmp_path / "m.db"), vfs=None)
        (tmp_path / "away.db").rename(tmp_path / "m.db")
        assert memory.count() == 1
