"""What goes out comes back the same: ids, fields, places, links, tombstones, history and the order of answers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import recollect
from portable.stores import EVERY, START, acts, answers, fill, open_store, rows
from recollect.store.log import COLUMNS

FORMATS = ("jsonl", "archive")
_LOG = f"select {COLUMNS} from log order by number"


@settings(max_examples=12, phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(steps=acts, format=st.sampled_from(FORMATS))
def test_an_export_imported_into_an_empty_store_makes_the_same_store(steps: list[tuple[Any, ...]], format: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_store(folder / "a.db") as here, open_store(folder / "b.db") as there:
            fill(here, steps)
            sent = here.export(folder / "e", format=format, personal=True)
            got = there.import_memories(folder / "e")
            assert sent.whole
            assert got.trusted
            assert rows(there) == rows(here)
            assert answers(folder / "b.db") == answers(folder / "a.db")
            log = here.store.engine.rows(_LOG)
            assert there.store.engine.rows(_LOG)[: len(log)] == log
            assert there.maintenance.check().findings == []
            again = there.import_memories(folder / "e")
            assert set(again.counts) <= {"same"}
            assert rows(there) == rows(here)


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(steps=acts, more=acts, format=st.sampled_from(FORMATS))
def test_importing_into_a_store_in_use_twice_changes_nothing_the_second_time(
    steps: list[tuple[Any, ...]], more: list[tuple[Any, ...]], format: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_store(folder / "a.db") as here, open_store(folder / "b.db", "other") as there:
            fill(here, steps)
            fill(there, more)
            here.export(folder / "e", format=format, personal=True)
            told = there.import_memories(folder / "e", dry_run=True)
            before = rows(there)
            assert told.total == len(rows(here)["memories"])
            first = there.import_memories(folder / "e")
            assert {name: first.counts.get(name, 0) for name in ("new", "refused", "conflicting")} == {
                name: told.counts.get(name, 0) for name in ("new", "refused", "conflicting")
            }
            after = rows(there)
            kept = [one for one in after["memories"] if one["id"] in {old["id"] for old in before["memories"]}]
            assert kept == before["memories"]
            second = there.import_memories(folder / "e")
            assert not second.counts.get("new")
            assert rows(there) == after
            assert there.maintenance.check().findings == []


@pytest.mark.parametrize("format", FORMATS)
def test_history_comes_along_and_is_told_whole_only_when_nothing_stayed(tmp_path: Path, format: str) -> None:
    with open_store(tmp_path / "a.db") as here, open_store(tmp_path / "b.db") as there:
        kept = here.remember("The staging database resets every night.", kind="gotcha")
        here.edit(kept.id, content="The staging database resets every night at two.")
        here.remember("My own wish for the harbour", visibility="personal")
        sent = here.export(tmp_path / "e", format=format)
        assert (sent.personal, sent.whole) == (1, False)
        assert b"My own wish" not in _unpacked(tmp_path / "e")
        there.import_memories(tmp_path / "e")
        assert {entry.change.action for entry in there.history(kept.id)} == {"import", "add", "edit"}
        assert there.get(kept.id).revision == 2
        assert there.maintenance.check().findings == []


def test_vectors_come_along_in_an_archive(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as here, open_store(tmp_path / "b.db") as there:
        ids = [here.remember(f"Harbour number {number} has boats").id for number in range(5)]
        vectors = here.store.vectors
        space = vectors.activate(vectors.begin("model", 8, START))
        made = np.random.default_rng(7).normal(size=(5, 8))
        vectors.put(space, [(id, row, f"stamp {place}") for place, (id, row) in enumerate(zip(ids, made, strict=True))])
        here.export(tmp_path / "e.zip", format="archive")
        assert there.import_memories(tmp_path / "e.zip").vectors == 5
        other = there.store.vectors.active()
        assert other is not None
        assert other.model == "model"
        assert [id for id, _ in there.store.vectors.search(other, made[3], limit=5)] == [
            id for id, _ in vectors.search(space, made[3], limit=5)
        ]
        assert [stamp for _, _, stamp in there.store.vectors.items(other, ids)] == [f"stamp {n}" for n in range(5)]


def test_an_encrypted_archive_opens_with_its_passphrase_only(tmp_path: Path) -> None:
    pytest.importorskip("pyrage")
    with open_store(tmp_path / "a.db") as here, open_store(tmp_path / "b.db") as there:
        here.remember("The staging database resets every night.")
        here.export(tmp_path / "e.zip", format="archive", passphrase="correct horse battery")
        assert b"staging" not in (tmp_path / "e.zip").read_bytes()
        with pytest.raises(recollect.RecollectError, match="passphrase is wrong"):
            there.import_memories(tmp_path / "e.zip", passphrase="wrong horse")
        with pytest.raises(recollect.RecollectError, match="encrypted"):
            there.import_memories(tmp_path / "e.zip")
        assert there.import_memories(tmp_path / "e.zip", passphrase="correct horse battery").counts == {"new": 1}


def test_a_secret_that_slipped_in_does_not_leave(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as here:
        id = here.remember("The token is somewhere safe").id
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        found = here.store.memories.get(id)
        with here.store.engine.write():
            here.store.memories.update(found, found.having(content=f"The token is {token}", revision=2))
        sent = here.export(tmp_path / "e.jsonl")
        assert sent.redacted == 1
        assert token.encode() not in (tmp_path / "e.jsonl").read_bytes()


def test_a_filter_takes_only_what_it_lets_through(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as here, open_store(tmp_path / "b.db") as there:
        one = here.remember("Boats are kept in the harbour", kind="gotcha")
        other = here.remember("Boats are painted in spring", kind="fact")
        here.relate(one.id, "validates", to=other.id)
        sent = here.export(tmp_path / "e.jsonl", filter=recollect.Filter(kinds="gotcha"))
        assert (sent.counts["memory"], sent.counts.get("link", 0), sent.whole) == (1, 0, False)
        assert b"painted" not in (tmp_path / "e.jsonl").read_bytes()
        there.import_memories(tmp_path / "e.jsonl")
        assert [memory.id for memory in there.list(EVERY)] == [one.id]


def _unpacked(path: Path) -> bytes:
    import zipfile

    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as found:
        return b"".join(found.read(name) for name in found.namelist())
