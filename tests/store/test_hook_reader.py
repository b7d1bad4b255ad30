from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.app import Recollect
from recollect.core.aptness import APT
from recollect.core.decay import HalfLife, stored_decay
from recollect.core.kinds import Kinds
from recollect.recall.recipes import DEFAULT
from recollect.recall.score import confidence_now
from recollect.store.hook_reader import WEIGHTS as hook_weights
from recollect.store.hook_reader import HookReader
from recollect.store.migrations.latest import LATEST
from recollect.store.sqlite.hook_file import open_hook_reader

NOW = int(datetime.now(UTC).timestamp() * 1000)
ALL = ("gotcha", "decision", "fact", "dead_end", "error_pattern", "preference")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def hook_reader(path: Path) -> HookReader:
    return open_hook_reader(str(path), now=int(datetime.now(UTC).timestamp() * 1000) + 1000)


def test_a_hook_reads_the_same_confidence_as_the_house_for_every_kind(path: Path) -> None:
    with recollect.open(path) as memory:
        kinds = [rule.name for rule in Kinds() if rule.payload is None and rule.name not in ("episode", "passage")]
        ids = {memory.remember(f"About {kind}.", kind=kind, source="agent_explicit").id for kind in kinds}
        later = datetime.now(UTC) + timedelta(days=30)
        wanted = {id: confidence_now(memory.get(id), Kinds(), later) for id in ids}
    reader = open_hook_reader(str(path), now=int(later.timestamp() * 1000))
    read = {one.id: one.confidence for kind in kinds for one in reader.of_kind(kind, limit=9)}
    assert read == pytest.approx(wanted, abs=1e-6)


def test_a_curve_that_is_spelt_wrong_fades_as_usual() -> None:
    assert stored_decay("nonsense:x", "gotcha") == stored_decay(None, "no such kind") == HalfLife(90.0)


def test_words_find_what_speaks_of_the_same_and_one_common_word_finds_nothing(path: Path) -> None:
    with recollect.open(path) as memory:
        for number in range(200):
            memory.remember(f"The service number {number} writes logs to disk {number}.", kind="fact")
        wanted = memory.remember("retry_budget limits how often the uploader retries a chunk.", kind="gotcha").id
        reader = hook_reader(path)
        assert [one.id for one in reader.search("why does the uploader stop to retry chunks?", ALL, limit=5)][:1] == [
            wanted
        ]
        assert [one.id for one in reader.search("RetryBudget", ALL, limit=5)] == [wanted]
        assert reader.search("which service should I choose for a holiday in Norway?", ALL, limit=5) == []
        assert reader.search("", ALL, limit=5) == []
        assert reader.search('" OR * NEAR( -', ALL, limit=5) == []


def test_a_long_request_with_two_topics_finds_what_is_apt_to_each(path: Path) -> None:
    with recollect.open(path) as memory:
        for number in range(200):
            memory.remember(f"The service number {number} writes logs to disk {number}.", kind="fact")
        uploads = memory.remember("retry_budget limits how often the uploader retries a chunk.", kind="gotcha").id
        invoices = memory.remember("Invoices are rounded per line: customers add them up.", kind="decision").id
        found = hook_reader(path).find_apt(
            "I had a look at the branch from yesterday and most of it is fine, but the uploader still gives up on a "
            "chunk after the first error although it should retry, please find out why. Then, when that is done, "
            "accounting says that some invoices are rounded differently from what customers calculate on their own, "
            "so have a look at that as well and tell me what you would do about it before you start.",
            ALL,
            limit=5,
        )
        assert {one.id for one in found if one.relevance >= APT} == {uploads, invoices}
        silent = hook_reader(path).find_apt("which restaurant would you choose for a holiday in Norway?", ALL, limit=5)
        assert all(one.relevance < APT for one in silent)


def test_a_request_that_names_an_identifier_finds_what_speaks_of_it(path: Path) -> None:
    with recollect.open(path) as memory:
        for number in range(200):
            memory.remember(f"The service number {number} writes logs to disk {number}.", kind="fact")
        wanted = memory.remember("Metadata carries its origin in migration_source_commit.", kind="decision").id
        found = hook_reader(path).find_apt("we are back, use `migration_source_commit` as the field", ALL, limit=5)
        assert [one.id for one in found if one.relevance >= APT] == [wanted]


def test_what_one_topic_speaks_of_most_comes_before_more_on_the_other(path: Path) -> None:
    with recollect.open(path) as memory:
        for number in range(200):
            memory.remember(f"The service number {number} writes logs to disk {number}.", kind="fact")
        for part in ("budget", "timeout", "error", "size", "queue", "worker"):
            memory.remember(f"The uploader retries a broken chunk by its {part}.", kind="gotcha")
        invoices = memory.remember("Accounting wants invoices with one tax line for each country.", kind="decision").id
        found = hook_reader(path).find_apt(
            "The uploader still gives up on a broken chunk and never retries it. Accounting asks about invoices too.",
            ALL,
            limit=5,
        )
        assert all(one.relevance >= APT for one in found)
        assert [one.id for one in found].index(invoices) == 1


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
        reader = hook_reader(path)
        assert [one.id for one in reader.about(["a.py"], ("gotcha",), limit=9)] == [kept]
        assert [one.id for one in reader.search("granite quarry winter", ("gotcha",), limit=9)] == [kept]


def test_a_store_that_is_being_written_is_read_and_left_unchanged(path: Path) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is sharp.", kind="gotcha")
        with memory.store.engine.write():
            memory.store.set_meta("note", "half done")
            assert [one.content for one in hook_reader(path).search("obsidian", ALL, limit=3)] == ["Obsidian is sharp."]
            assert hook_reader(path).meta("note") is None
    reader = open_hook_reader(str(path), now=NOW)
    with pytest.raises(apsw.ReadOnlyError):
        reader._rows("delete from memories", {})


@pytest.mark.parametrize("schema", [LATEST - 1, LATEST + 1, 0])
def test_a_store_of_another_schema_is_refused_and_left_as_it_is(path: Path, schema: int) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is sharp.", kind="gotcha")
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma user_version = {schema}")
    connection.close()
    with pytest.raises(OSError, match=f"schema {schema}"):
        hook_reader(path)
    assert apsw.Connection(str(path)).execute("pragma user_version").fetchall() == [(schema,)]


def test_words_weigh_as_they_do_for_recall() -> None:
    assert hook_weights == DEFAULT.columns


def test_a_fact_of_the_store_that_is_damaged_is_refused(path: Path) -> None:
    with recollect.open(path) as memory, memory.store.engine.write():
        memory.store.set_meta("trust_level", "cautious")
    connection = apsw.Connection(str(path))
    connection.execute("update meta set value = 'autonomous' where name = 'trust_level'")
    connection.close()
    with pytest.raises(OSError, match="checksum"):
        hook_reader(path).meta("trust_level")


def test_what_is_no_store_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no store"):
        open_hook_reader(str(tmp_path / "none.db"), now=NOW)
    apsw.Connection(str(tmp_path / "other.db")).execute("create table t (a)")
    with pytest.raises(OSError, match="not a store"):
        open_hook_reader(str(tmp_path / "other.db"), now=NOW)


def test_forgetting_a_memory_forgets_that_it_was_told(memory: Recollect) -> None:
    from recollect.store.injections import Told

    id = memory.remember("Basalt is dark.", kind="gotcha").id
    with memory.store.engine.write():
        memory.store.injections.note("s", [Told(id, "step", datetime.now(UTC))])
    memory.forget(id)
    assert memory.store.injections.of("s") == []


@pytest.mark.parametrize("column", ["content", "confidence", "attributes", "source"])
def test_a_memory_whose_row_is_damaged_is_never_told(path: Path, column: str) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is sharp.", kind="gotcha", files=["a.py"])
        memory.remember("Obsidian splinters.", kind="gotcha", files=["a.py"])
        memory.remember("Obsidian rules hold everywhere.", kind="preference")
    value = {"content": "'Obsidian is soft.'", "confidence": "0.97", "attributes": "'{}'", "source": "'agent_explicit'"}
    connection = apsw.Connection(str(path))
    connection.execute(f"update memories set {column} = {value[column]} where content not like '%splinters%'")
    connection.close()
    reader = hook_reader(path)
    assert [one.content for one in reader.about(["a.py"], ALL, limit=9)] == ["Obsidian splinters."]
    assert [one.content for one in reader.search("obsidian", ALL, limit=9)] == ["Obsidian splinters."]
    assert [one.content for one in reader.fresh(0, limit=9)] == ["Obsidian splinters."]
    assert [one.content for one in reader.of_kind("gotcha", limit=9)] == ["Obsidian splinters."]
    assert list(reader.leading(ALL, limit=9)) == []


def test_a_memory_of_one_user_is_not_told_to_an_agent(path: Path) -> None:
    with recollect.open(path) as memory:
        memory.remember("Obsidian is for Ada alone.", kind="gotcha", files=["a.py"], user="ada")
        memory.remember("Obsidian is for everybody.", kind="gotcha", files=["a.py"])
    reader = hook_reader(path)
    assert [one.content for one in reader.about(["a.py"], ALL, limit=9)] == ["Obsidian is for everybody."]
    assert [one.content for one in reader.search("obsidian", ALL, limit=9)] == ["Obsidian is for everybody."]


def test_a_reader_waits_for_whoever_has_the_file_for_a_moment(tmp_path: Path) -> None:
    """Whoever closes last empties the log and has the file alone meanwhile: a hook that starts then is not refused."""
    path = tmp_path / "memory.db"
    recollect.open(path, project="p").close()
    holder = apsw.Connection(str(path))
    holder.execute("pragma journal_mode = delete")
    holder.execute("begin exclusive")
    release = threading.Timer(0.3, lambda: holder.execute("commit"))
    release.start()
    assert open_hook_reader(str(path), now=0).project == "p"
    release.join()
    holder.close()
