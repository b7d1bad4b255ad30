from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.app import Recollect
from recollect.core.errors import BackupFailed, BackupNotFound, StoreDamaged
from recollect.core.kinds import Kinds
from recollect.store.check import check
from recollect.store.rebuild import rebuild
from recollect.store.sqlite.backup import list_backups, make_backup
from recollect.store.sqlite.repair import _readable, salvage
from recollect.tend.put_back import put_back


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    with recollect.open(file, project="p") as memory:
        for number in range(40):
            memory.remember(f"Statement number{number} about basalt.", tags=[f"t{number}"], files=[f"f{number}.py"])
        memory.reject(memory.list().memories[0].id)
        memory.relate(memory.list().memories[0].id, "validates", to=memory.list().memories[1].id)
    return file


def tamper(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for name in ("index_body", "index_names"):
        connection.create_scalar_function(name, lambda *values: "", deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def findings(path: Path) -> set[str]:
    with recollect.open(path) as memory:
        return {finding.area for finding in check(memory.store).findings}


def test_a_sound_store_has_no_findings(path: Path) -> None:
    assert findings(path) == set()


@pytest.mark.parametrize(
    ("statement", "area"),
    [
        ("update memories set content = 'something else' where seq = 7", "rows"),
        ("update memories set confidence = 0.123 where seq = 7", "rows"),
        ("update memories set access_count = 99 where seq = 7", "rows"),
        ("update links set confidence = 0.5", "links"),
        ("update tombstones set reason = 'forgotten'", "tombstones"),
        ("update log set actor = 'nobody' where number = 3", "log"),
        ("update log set body = '[\"\",{},{}]' where body is not null", "log"),
        ("delete from log where number = 5", "log"),
        ("delete from log where number = (select max(number) from log)", "log"),
        ("delete from facets where seq = 3", "facets"),
        ("insert into facets values ('p', 'tag', 'ghost', 3)", "facets"),
        ("delete from memories where seq = 9", "keywords"),
        ("insert into keywords (rowid, body, names, context) values (999, 'ghost', '', '')", "keywords"),
    ],
)
def test_every_tampering_is_found(path: Path, statement: str, area: str) -> None:
    tamper(path, statement)
    assert area in findings(path)


def test_a_damaged_row_is_refused_by_name_and_left_out_with_a_note(path: Path) -> None:
    tamper(path, "update memories set kind = 'gotcha' where seq = 7")
    with recollect.open(path) as memory:
        page = memory.list(limit=100)
        assert len(page.damaged) == 1
        with pytest.raises(StoreDamaged, match="checksum"):
            memory.get(page.damaged[0])
        briefing = memory.recall("number6")
        assert any("damaged" in note for note in briefing.notes)


def test_rebuilding_makes_projections_match_again(path: Path) -> None:
    tamper(
        path, "delete from facets", "insert into keywords (rowid, body, names, context) values (999, 'ghost', '', '')"
    )
    with recollect.open(path) as memory:
        assert rebuild(memory.store).rebuilt == ("keywords", "facets", "names")
        assert check(memory.store).ok
        assert len(memory.recall("number6")) == 1
        assert len(memory.list(recollect.Filter(tags=frozenset({"t6"}))).memories) == 1


def test_salvage_keeps_the_damaged_file_and_every_sound_row(path: Path) -> None:
    tamper(path, "update memories set content = 'x' where seq = 7")
    damaged = path.read_bytes()
    report = salvage(path, Kinds())
    assert report.quarantined is not None
    assert report.quarantined.read_bytes() == damaged
    assert (report.salvaged, len(report.lost)) == (39, 1)
    assert findings(path) == set()
    with recollect.open(path) as memory:
        assert memory.count() == 38
        assert memory.project == "p"
        assert len(memory.recall("number8")) == 1


def test_salvage_reads_around_destroyed_pages(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    report = salvage(path, Kinds())
    assert report.salvaged >= 20
    assert findings(path) == set()


def test_salvage_survives_a_destroyed_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * 100)
    report = salvage(path, Kinds())
    assert report.salvaged == 40
    assert findings(path) == set()


def test_a_backup_is_verified_listed_and_restorable(path: Path) -> None:
    with recollect.open(path) as memory:
        made = make_backup(memory.store.engine)
        assert made is not None
        memory.remember("After the backup.")
    assert [backup.memories for backup in list_backups(path.parent)] == [40]
    aside = put_back(made, path, Kinds()).set_aside
    with recollect.open(path) as memory:
        assert len(memory.recall("After the backup")) == 0
        assert memory.count() == 39
    assert aside is not None
    with recollect.open(aside) as memory:
        assert len(memory.recall("After the backup")) == 1


def test_backing_up_while_others_write_gives_one_consistent_state(path: Path) -> None:
    with recollect.open(path) as memory, recollect.open(path) as other:
        for number in range(10):
            other.remember(f"Meanwhile{number}.")
            made = make_backup(memory.store.engine, reason=f"n{number}")
            assert made is not None
            with recollect.open(made, read_only=True) as copy:
                assert len(copy.recall(f"Meanwhile{number}")) == 1


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda file: file.unlink(), BackupNotFound),
        (lambda file: file.write_bytes(b"not a database" * 50), BackupFailed),
        (lambda file: file.write_bytes(file.read_bytes()[:8192]), BackupFailed),
        (lambda file: file.write_bytes(b""), BackupFailed),
    ],
)
def test_a_useless_backup_does_not_replace_the_store(
    path: Path, spoil: Callable[[Path], object], error: type[Exception]
) -> None:
    with recollect.open(path) as memory:
        made = make_backup(memory.store.engine)
    assert made is not None
    spoil(made)
    before = path.read_bytes()
    with pytest.raises(error):
        put_back(made, path, Kinds())
    assert path.read_bytes() == before


def test_deleted_text_is_gone_from_every_byte_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    words = [f"canary{number}xyzzy" for number in range(60)]
    with recollect.open(path) as memory:
        ids = [memory.remember(f"The {word} sang.", tags=[word], why=f"heard {word}").id for word in words]
        for id, word in zip(ids[:30], words[:30], strict=True):
            memory.edit(id, content=f"The {word} sang twice.")
        for id in ids[:50]:
            memory.forget(id)
        everything = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        left = [word for word in words if word.encode() in everything]
        assert left == words[50:]


def test_what_page_splits_leave_behind_is_scrubbed_too(path: Path) -> None:
    with recollect.open(path) as memory:
        id = memory.remember("Rhinestone is the vault word.").id
    _leave_in_a_gap(path, b"Rhinestone is the vault word.")
    with recollect.open(path) as memory:
        memory.forget(id)
        assert b"Rhinestone" not in path.read_bytes()
        assert check(memory.store).ok


def test_what_a_backup_holds_in_the_gaps_of_pages_does_not_come_back_with_it(path: Path) -> None:
    with recollect.open(path) as memory:
        memory.remember("Rhinestone is the vault word.")
        made = make_backup(memory.store.engine)
        assert made is not None
        _leave_in_a_gap(made, b"Rhinestone is the vault word.", everywhere=True)
        memory.erase(subject="Rhinestone")
    put_back(made, path, Kinds())
    assert b"Rhinestone" not in path.read_bytes()


def _leave_in_a_gap(path: Path, text: bytes, *, everywhere: bool = False) -> None:
    """Put bytes where SQLite leaves them when it splits a page: between the pointers and the cells of a leaf."""
    file = bytearray(path.read_bytes())
    found = False
    for start in range(4096, len(file), 4096):
        cells, content = (int.from_bytes(file[start + at : start + at + 2]) for at in (3, 5))
        if file[start] == 0x0D and content - (8 + 2 * cells) > len(text) + 8:
            at = start + content - len(text) - 4
            file[at : at + len(text)] = text
            found = True
            if not everywhere:
                break
    assert found, "no leaf page has a gap"
    path.write_bytes(file)


def test_the_memory_in_ram_behaves_like_one_on_disk(memory: Recollect) -> None:
    memory.remember("One.")
    assert check(memory.store).ok
    assert make_backup(memory.store.engine) is None


class _Circle:
    """A table whose broken keys lead back to the same rows whatever is asked for."""

    def rows(self, sql: str) -> list[tuple[int, str]]:
        return [(1, "one"), (2, "two")]


def test_salvage_ends_where_a_broken_key_leads_in_circles() -> None:
    assert list(_readable(_Circle(), "log", "*")) == [("one",), ("two",)]  # type: ignore[arg-type]
