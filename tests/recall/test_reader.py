"""One question has one answer, whoever asks; what recall hands out can be read and acted on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect import Filter
from recollect.app import Recollect
from recollect.core.errors import AmbiguousId, MemoryNotFound, UnknownChoice
from recollect.core.query import Query
from recollect.testing.fakes import WordEmbedder


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Recollect]:
    """A project's memory with the person's own beside it."""
    with recollect.open(":personal:") as personal:
        personal.remember("I prefer tabs over spaces.", kind="preference")
    with recollect.open(tmp_path / "m.db", project="shop", personal=True) as memory:
        memory.remember("The shop deploys on Mondays.", kind="decision")
        yield memory


def test_a_personal_memory_that_was_recalled_can_be_read_and_explained(both: Recollect) -> None:
    hit = both.recall("tabs or spaces?").hits[0]
    assert both.get(hit.id).content == both.get(hit.id[-8:]).content == "I prefer tabs over spaces."
    assert [entry.change.action for entry in both.why(hit.id).history] == ["add"]
    assert [entry.change.action for entry in both.history(hit.id)] == ["add"]
    assert [memory.id for memory in both.reader.get_many([hit.id]).memories] == [hit.id]


def test_a_personal_memory_that_was_recalled_can_be_confirmed_corrected_and_forgotten(both: Recollect) -> None:
    hit = both.recall("tabs or spaces?").hits[0]
    assert both.confirm(hit.id).verified
    assert both.pin(hit.id).pinned
    assert both.edit(hit.id, tags=["editor"]).tags == ("editor",)
    better = both.correct(hit.id, "I prefer spaces over tabs.")
    assert better.memory.project == "personal"
    assert both.get(hit.id).superseded_by == better.id
    both.forget(better.id)
    with pytest.raises(MemoryNotFound):
        both.get(better.id)
    assert both.count() == 1, "the project's own memories are as they were"


def test_undo_takes_back_the_last_change_even_if_it_was_to_a_personal_memory(both: Recollect) -> None:
    hit = both.recall("tabs or spaces?").hits[0]
    both.reject(hit.id)
    assert both.undo().memories == (hit.id,)
    assert both.get(hit.id).status == "active"


def test_a_personal_hit_counts_its_access(both: Recollect) -> None:
    hit = both.recall("tabs or spaces?").hits[0]
    assert both.get(hit.id).access_count == 1


def test_a_personal_memory_and_a_projects_cannot_be_linked(both: Recollect) -> None:
    mine, ours = both.recall("tabs or spaces?").hits[0], both.recall("when does the shop deploy?").hits[0]
    with pytest.raises(recollect.RecollectError, match="cannot be linked"):
        both.relate(ours.id, "validates", to=mine.id)
    assert both.why(ours.id).points_at == ()


def test_an_id_that_nobody_holds_is_not_found_and_letters_that_fit_two_are_ambiguous(both: Recollect) -> None:
    with pytest.raises(MemoryNotFound):
        both.get("mem_nothing")
    both.remember("The shop closes on Sundays.", kind="decision")
    ids = [memory.id for memory in both.list().memories]
    shared = next((end for end in range(1, 20) if ids[0][-end:] != ids[1][-end:]), 1) - 1
    if shared >= 4:
        with pytest.raises(AmbiguousId):
            both.get(ids[0][-shared:])


def test_a_kind_by_its_other_name_is_found_and_a_misspelt_one_is_refused(memory: Recollect) -> None:
    payload = {"task_pattern": "release", "steps": ["tag"]}
    memory.remember("Release: tag, build, publish.", kind="workflow", payload=payload)
    assert len(memory.recall("how do we release?", filter=Filter(kinds=frozenset({"workflow"})))) == 1
    assert memory.count(Filter(kinds=frozenset({"workflow"}))) == 1
    for ask in (
        lambda filter: memory.recall("release", filter=filter),
        lambda filter: memory.brief("release", filter=filter),
        lambda filter: memory.list(filter),
        lambda filter: memory.count(filter),
        lambda filter: memory.reader.rank(Query("release", filter=filter)),
    ):
        with pytest.raises(UnknownChoice, match="workflw"):
            ask(Filter(kinds=frozenset({"workflw"})))


def test_what_was_indexed_a_moment_ago_takes_part_in_every_rooms_recall(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    with recollect.open(tmp_path / ".recollect" / "memory.db", project="p") as memory:
        before = memory.reader.context()
        assert before.anchors is None
        memory.code.index(tmp_path)
        assert memory.reader.context().anchors is not None


def test_user_asks_for_theirs_and_nobodys_and_contradicts_a_filter_for_another(memory: Recollect) -> None:
    memory.remember("Ada likes oolong tea.", user="ada")
    memory.remember("Bob likes black tea.", user="bob")
    memory.remember("The tea room opens at nine.")
    for seen in (memory.recall("tea", user="ada").hits, memory.list(user="ada").memories):
        assert {one.memory.user if hasattr(one, "memory") else one.user for one in seen} == {"ada", None}
    assert "Bob" not in memory.brief("tea", user="ada").text
    assert memory.count(user="ada") == 2
    assert memory.count() == 1
    with pytest.raises(recollect.RecollectError, match="names 'bob'"):
        memory.recall("tea", user="ada", filter=Filter(user="bob"))


def test_what_was_rejected_or_forgotten_is_known_by_its_text_and_what_is_open_is_not(memory: Recollect) -> None:
    rejected, forgotten = memory.remember("Use tabs."), memory.remember("Deploy on Fridays.")
    memory.remember("Ship from main.")
    memory.reject(rejected.id)
    memory.forget(forgotten.id)
    texts = ["Use tabs.", "Deploy on Fridays.", "Ship from main.", "Never said."]
    assert memory.reader.buried(texts) == {"Use tabs.", "Deploy on Fridays."}


def test_being_read_is_no_entry_of_the_history(memory: Recollect) -> None:
    id = memory.remember("Ship from main.").id
    before = [entry.number for entry in memory.history()]
    for _ in range(3):
        assert memory.recall("ship from main").hits
        memory.recall("something else entirely")
    assert memory.get(id).access_count >= 3
    assert [entry.number for entry in memory.history()] == before


def test_nearness_is_a_cosine_and_nothing_without_vectors(memory: Recollect) -> None:
    assert memory.reader.nearness("ship it", "ship it") is None
    with recollect.open(":memory:", project="p", embedder=WordEmbedder()) as other:
        other.remember("Ship from main.")
        other.tend()
        same, near, far = (other.reader.nearness("ship it now", text) for text in ("ship it now", "ship it", "tea"))
        assert same == pytest.approx(1.0, abs=1e-5)
        assert near is not None
        assert far is not None
        assert far < near < 0.999


def test_the_history_of_one_memory_is_its_latest_changes_oldest_first(memory: Recollect) -> None:
    id = memory.remember("Deploys run from main.").id
    for number in range(4):
        memory.edit(id, tags=[f"t{number}"], why=str(number))
    for asked in (id, id[-8:]):
        assert [entry.change.why for entry in memory.history(asked, limit=2)] == ["2", "3"]
        assert [entry.change.action for entry in memory.history(asked)] == ["add", *["edit"] * 4]
        assert memory.history(asked, limit=0) == ()
    assert [entry.change.why for entry in memory.history(limit=2)] == ["3", "2"]
