from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.app import Recollect
from recollect.core.decay import effective
from recollect.core.fading import curve_of, faded
from recollect.core.kinds import Kinds
from recollect.store.quick import Quick, open_quick

NOW = int(datetime.now(UTC).timestamp() * 1000)
ALL = ("gotcha", "decision", "fact", "dead_end", "error_pattern", "preference")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def quick(path: Path) -> Quick:
    return open_quick(str(path), now=int(datetime.now(UTC).timestamp() * 1000) + 1000)


def test_confidence_fades_as_the_curves_say_for_every_kind() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for rule in Kinds():
        for days in (0, 1, 30, 400):
            wanted = effective(0.9, rule.decay, last_used=at, now=at + timedelta(days=days), held=False)
            assert faded(0.9, curve_of(rule.name), days * 86_400_000) == pytest.approx(wanted), rule.name
            assert faded(0.9, str(rule.decay), days * 86_400_000) == pytest.approx(wanted)
    assert faded(0.8, "nonsense:x", 0) == 0.8


def test_words_find_what_speaks_of_the_same_and_one_common_word_finds_nothing(path: Path) -> None:
    with recollect.open(path) as memory:
        for number in range(200):
            memory.remember(f"The service number {number} writes logs to disk {number}.", kind="fact")
        wanted = memory.remember("retry_budget limits how often the uploader retries a chunk.", kind="gotcha").id
        reader = quick(path)
        assert [one.id for one in reader.search("why does the uploader stop to retry chunks?", ALL, limit=5)][:1] == [
            wanted
        ]
        assert [one.id for one in reader.search("RetryBudget", ALL, limit=5)] == [wanted]
        assert reader.search("which service should I choose for a holiday in Norway?", ALL, limit=5) == []
        assert reader.search("", ALL, limit=5) == []
        assert reader.search('" OR * NEAR( -', ALL, limit=5) == []


def test_only_standing_memories_of_the_asked_kinds_come_back(path: Path) -> None:
    with recollect.open(path) as memory:
        kept = memory.remember("Granite quarry A is closed in winter.", kind="gotcha", files=["a.py"]).id
        gone = memory.remember("Granite quarry B is closed in winter.", kind="gotcha", files=["a.py"]).id
        memory.reject(gone)
        memory.remember(
            "Granite quarry C is closed in winter.", kind="gotcha", source="observer_inferred", files=["a.py"]
        )
        memory.remember(
            "Granite quarry D is closed.", kind="gotcha", valid_until=datetime(2020, 1, 1, tzinfo=UTC), files=["a.py"]
        )
        memory.remember("Granite quarry E is closed in winter.", kind="fact", files=["a.py"])
        reader = quick(path)
        assert [one.id for one in reader.about(["a.py"], ("gotcha",), limit=9)] == [kept]
        assert [one.id for one in reader.search("granite quarry winter", ("gotcha",), limit=9)] == [kept]


def test_a_store_that_is_being_written_is_read_and_left_unchanged(path: Path) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is sharp.", kind="gotcha")
        with memory.store.engine.write():
            memory.store.set_meta("note", "half done")
            assert [one.content for one in quick(path).search("obsidian", ALL, limit=3)] == ["Obsidian is sharp."]
            assert quick(path).meta("note") is None
    reader = open_quick(str(path), now=NOW)
    with pytest.raises(apsw.ReadOnlyError):
        reader._rows("delete from memories", {})


def test_a_store_of_an_older_release_is_read_without_migrating_it(path: Path) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is sharp.", kind="gotcha")
    connection = apsw.Connection(str(path))
    connection.execute("drop table injections; pragma user_version = 6")
    connection.close()
    reader = quick(path)
    assert reader.given("s") == set()
    assert reader.search("obsidian", ALL, limit=3)
    assert apsw.Connection(str(path)).execute("pragma user_version").fetchall() == [(6,)]


def test_what_is_no_store_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no store"):
        open_quick(str(tmp_path / "none.db"), now=NOW)
    apsw.Connection(str(tmp_path / "other.db")).execute("create table t (a)")
    with pytest.raises(OSError, match="not a store"):
        open_quick(str(tmp_path / "other.db"), now=NOW)


def test_forgetting_a_memory_forgets_that_it_was_told(memory: Recollect) -> None:
    from recollect.store.injections import Told

    id = memory.remember("Basalt is dark.", kind="gotcha").id
    with memory.store.engine.write():
        memory.store.injections.note("s", [Told(id, "step", datetime.now(UTC))])
    memory.forget(id)
    assert memory.store.injections.of("s") == []
