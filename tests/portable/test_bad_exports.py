"""Exports that were cut off, changed, made up or meant to harm: a clear error, and nothing is imported."""

from __future__ import annotations

import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from portable.stores import EVERY, open_store
from recollect.core.errors import InvalidExport, InvalidInput
from recollect.interfaces.cli import main
from recollect.portable import package, records


@pytest.fixture
def export(tmp_path: Path) -> Path:
    with open_store(tmp_path / "a.db") as here:
        one = here.remember("The staging database resets every night.", kind="gotcha")
        two = here.remember("Boats are painted in spring", kind="fact")
        here.relate(one.id, "validates", to=two.id)
        here.export(tmp_path / "e.jsonl")
        here.export(tmp_path / "e.zip", format="archive")
    return tmp_path / "e.jsonl"


def refused(path: Path, folder: Path) -> str:
    """What an import says of a file that it must not take; nothing may have come in."""
    with open_store(folder / "b.db") as memory:
        with pytest.raises(InvalidInput) as caught:
            memory.import_memories(path, format="recollect")
        assert memory.store.is_empty()
    return str(caught.value)


def _truncated(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def _without_last_line(data: bytes) -> bytes:
    return b"".join(data.splitlines(keepends=True)[:-1])


def _reordered(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([lines[0], lines[2], lines[1], *lines[3:]])


def _tampered(data: bytes) -> bytes:
    return data.replace(b"every night", b"every noon!")


def _doubled(data: bytes) -> bytes:
    return data + data


def _later_version(data: bytes) -> bytes:
    return data.replace(b'"version":1', b'"version":2', 1)


def _other_order(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([lines[0], lines[-2], *lines[1:-2], lines[-1]])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_truncated, "cut off"),
        (_without_last_line, "no end"),
        (_reordered, "checksum"),
        (_tampered, "checksum"),
        (_doubled, "behind the end"),
        (_later_version, "version 2"),
        (_other_order, "belong here"),
        (lambda data: b"", "empty"),
        (lambda data: b"{}\n" + data, "no record"),
        (lambda data: data.replace(b"night", b"nig\xff\xfet", 1), "UTF-8"),
        (lambda data: data.decode().encode("utf-16"), "UTF-8"),
        (lambda data: b"[" * 100_000 + b"\n" + data, "nested"),
    ],
)
def test_a_damaged_file_is_refused_whole(
    export: Path, tmp_path: Path, change: Callable[[bytes], bytes], told: str
) -> None:
    export.write_bytes(change(export.read_bytes()))
    assert told in refused(export, tmp_path)


def test_every_cut_of_a_file_is_noticed(export: Path, tmp_path: Path) -> None:
    data = export.read_bytes()
    with open_store(tmp_path / "b.db") as memory:
        for end in range(0, len(data) - 1, 97):
            export.write_bytes(data[:end])
            with pytest.raises(InvalidInput):
                memory.import_memories(export, format="recollect")
        assert memory.store.is_empty()


def test_a_line_without_end_is_not_read_whole(export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "LINE_LIMIT", 10_000)
    header = export.read_bytes().splitlines(keepends=True)[0]
    with open(tmp_path / "long.jsonl", "wb") as stream:
        stream.write(header)
        stream.truncate(5 << 30)  # five gigabytes of one line, on disk as a hole
    assert "longer than" in refused(tmp_path / "long.jsonl", tmp_path)


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def _pack(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["../../evil.jsonl", "/etc/passwd", "extra.txt", "C:\\\\x", "memories.jsonl/../x"])
def test_an_archive_with_a_strange_name_is_refused(export: Path, tmp_path: Path, name: str) -> None:
    path = _pack(tmp_path / "bad.zip", {**_members(tmp_path / "e.zip"), name: b"x"})
    assert "which no archive of ours has" in refused(path, tmp_path)
    assert not list(tmp_path.glob("**/evil*"))


def test_a_zip_bomb_is_refused_before_it_unpacks(export: Path, tmp_path: Path) -> None:
    members = {**_members(tmp_path / "e.zip"), "log.jsonl": b"0" * 50_000_000}
    assert "unpacks to" in refused(_pack(tmp_path / "bomb.zip", members), tmp_path)


def test_a_member_that_was_changed_or_left_out_is_noticed(export: Path, tmp_path: Path) -> None:
    members = _members(tmp_path / "e.zip")
    changed = {**members, "memories.jsonl": members["memories.jsonl"].replace(b"spring", b"summer")}
    assert "checksum" in refused(_pack(tmp_path / "changed.zip", changed), tmp_path)
    del members["log.jsonl"]
    assert "manifest" in refused(_pack(tmp_path / "less.zip", members), tmp_path)


def test_an_archive_cut_off_anywhere_is_refused(export: Path, tmp_path: Path) -> None:
    data = (tmp_path / "e.zip").read_bytes()
    with open_store(tmp_path / "b.db") as memory:
        for end in range(10, len(data) - 1, 211):
            (tmp_path / "cut.zip").write_bytes(data[:end])
            with pytest.raises(InvalidInput):
                memory.import_memories(tmp_path / "cut.zip", format="recollect")
        assert memory.store.is_empty()


def test_the_same_id_twice_comes_in_once_and_is_told(export: Path, tmp_path: Path) -> None:
    lines = export.read_bytes().splitlines(keepends=True)
    twice = [lines[0], lines[1], lines[1].replace(b"every night", b"every noon"), *lines[2:]]
    export.write_bytes(b"".join(twice))
    with open_store(tmp_path / "b.db") as memory:
        report = memory.import_memories(export, edited=True, trust=True)
        assert report.counts == {"new": 2, "conflicting": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "no such kind"},
        {"id": "../../etc"},
        {"id": "mem_" + "x" * 5_000},
        {"content": ""},
        {"content": "nul \0 byte"},
        {"content": "lone \ud800 surrogate"},
        {"content": "x" * 2_000_000},
        {"content": 7},
        {"confidence": 7.5},
        {"confidence": "high"},
        {"created_at": "yesterday"},
        {"created_at": 12},
        {"tags": "not a list"},
        {"tags": [1, 2]},
        {"tags": ["x"] * 5_000},
        {"status": "immortal"},
        {"revision": -1},
        {"revision": 1.5},
        {"access_count": 10**30},
        {"attributes": []},
        {"payload": {"unknown": 1}},
        {"span": {"type": "prose"}},
        {"work_unit": {"methodology": 1, "hierarchy": [2], "label": 3}},
        {"unheard_of": True},
        {"ordinal": "first"},
        {"superseded_by": "nobody"},
        {"user": "*"},
        {"needs_review": "yes"},
        {"verified": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_memory_that_cannot_be_one_is_told_and_the_others_come_in(
    export: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    told = [json.loads(line) for line in export.read_bytes().splitlines()]
    told[1].update(change)
    export.write_text("".join(json.dumps(one) + "\n" for one in told[:-1]), encoding="utf-8")
    with open_store(tmp_path / "b.db") as memory:
        report = memory.import_memories(export, edited=True, trust=True)
        assert report.counts == {"new": 1, "invalid": 1}
        assert report.items[0].place.endswith("line 2")
        assert [one.content for one in memory.list(EVERY)] == ["Boats are painted in spring"]
        assert memory.maintenance.check().findings == []


def test_a_full_disk_leaves_nothing_half_done(export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, record: records.Record) -> None:
            raise OSError(28, "No space left on device")

        def end(self, **_: bool) -> None: ...

    with open_store(tmp_path / "a.db") as here:
        before = export.read_bytes()
        monkeypatch.setattr("recollect.portable.api.JsonlSink", lambda stream: Full())
        with pytest.raises(OSError, match="No space"):
            here.export(export)
        assert export.read_bytes() == before
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_link_is_not_followed_to_an_export(export: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(export)
    assert "cannot be read" in refused(tmp_path / "link.jsonl", tmp_path)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.zip", "a.csv", "a.txt", "a.af", "a.db", "conversations.json"])
def test_five_gigabytes_in_one_line_are_refused_unread(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(5 << 30)  # takes no room, and would take minutes to read
    before = most_memory()
    assert main(["import", str(path), "--store", str(tmp_path / "b.db")]) == 2
    assert "→" in capsys.readouterr().err
    assert most_memory() - before < 600


def most_memory() -> float:
    """Megabytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def test_an_error_of_an_export_says_what_to_do() -> None:
    assert InvalidExport("file", "it is empty").hint
    assert issubclass(InvalidExport, recollect.RecollectError)
