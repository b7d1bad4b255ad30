from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.drafts import Draft
from recollect.core.errors import NothingToUndo
from recollect.embed.port import EmbedderDown
from recollect.remember.writer import AT_ONCE
from recollect.store.check import check
from recollect.testing.fakes import WordEmbedder

Open = Callable[..., Recollect]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    return lambda embedder: recollect.open(tmp_path / "m.db", project="p", embedder=embedder)


def teach(memory: Recollect, count: int = 20) -> list[str]:
    return [memory.remember(f"Mineral{n} is found in quarry{n}.", kind="decision").id for n in range(count)]


def test_a_memory_without_shared_words_is_found_by_its_vector(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        memory.remember("Deploying freezes on Fridays.", kind="decision")
        memory.remember("The canteen has soup.", kind="decision")
        memory.tend()
        hits = memory.recall("depl frid", track=False).hits
        assert hits[0].memory.content.startswith("Deploying")
        assert hits[0].factors["dense"] > 0


def test_before_the_first_run_recall_goes_by_keyword_and_says_so(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        teach(memory)
        briefing = memory.recall("mineral3", track=False)
        assert briefing.hits[0].memory.content.startswith("Mineral3")
        assert any("recollect tend" in note for note in briefing.notes)


def test_a_memory_gets_its_vector_at_once_where_the_model_is_loaded(opened: Open) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
        memory.tend()
        embedder.at_hand = True
        memory.remember("Deploying freezes on Fridays.", kind="decision")
        assert memory.recall("depl frid", track=False).hits[0].factors["dense"] > 0


def test_a_question_that_loads_the_model_gives_vectors_to_what_was_remembered_before_it(opened: Open) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
        memory.tend()
        memory.remember("Deploying freezes on Fridays.", kind="decision")
        embedder.at_hand = True
        memory.recall("anything", track=False)
        assert memory.recall("depl frid", track=False).hits[0].factors["dense"] > 0


def test_a_model_that_fails_keeps_nobody_from_remembering_and_the_receipt_says_so(opened: Open) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
        memory.tend()
        embedder.at_hand, embedder.error = True, EmbedderDown("words", "it fell over")
        receipt = memory.remember("Deploying freezes on Fridays.", kind="decision")
        assert any("it fell over" in note for note in receipt.notes)
        embedder.error = None
        assert memory.tend().embedded == 1


def test_many_at_once_are_left_to_the_chore(opened: Open) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
        memory.tend()
        embedder.at_hand = True
        memory.remember_all([Draft(f"Harbour{n} has cranes.", kind="decision") for n in range(AT_ONCE + 1)])
        assert memory.tend().embedded == AT_ONCE + 1


def test_a_process_whose_model_is_never_loaded_keeps_no_growing_list(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        teach(memory, 3 * AT_ONCE)
        assert len(memory.writer._unembedded) <= AT_ONCE + 1


def test_remembering_loads_no_model_and_embeds_nothing(opened: Open) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
    assert embedder.embedded == 0


def test_the_chore_can_be_cut_short_and_goes_on_where_it_stopped(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        teach(memory)
        first = memory.tend(most=7)
        assert first is not None
        assert (first.embedded, first.waiting) == (7, 13)
    with opened(WordEmbedder()) as memory:
        second = memory.tend()
        assert second is not None
        assert (second.embedded, second.waiting) == (13, 0)
        third = memory.tend()
        assert third is not None
        assert third.embedded == 0


def test_an_edited_memory_is_embedded_again_and_a_forgotten_one_leaves_nothing(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        ids = teach(memory)
        memory.tend()
        memory.edit(ids[3], content="Obsidian is found nowhere.")
        memory.forget(ids[4])
        done = memory.tend()
        assert done is not None
        assert (done.embedded, done.waiting) == (1, 0)
        space = memory.store.vectors.active()
        assert space is not None
        assert memory.store.vectors.count(space) == 19
        assert memory.store.vectors.verify(space) == []
        assert check(memory.store).ok


def test_after_a_switch_the_old_space_stays_until_the_new_one_is_complete(opened: Open) -> None:
    with opened(WordEmbedder("old", 32)) as memory:
        teach(memory)
        memory.tend()
    with opened(WordEmbedder("new", 64)) as memory:
        halfway = memory.tend(most=5)
        assert halfway is not None
        assert not halfway.switched
        assert [(space.model, space.state) for space in memory.store.vectors.spaces()] == [
            ("old", "active"),
            ("new", "building"),
        ]
        briefing = memory.recall("mineral3", track=False)
        assert briefing.hits[0].memory.content.startswith("Mineral3")
        assert any("made by old" in note for note in briefing.notes)
        finished = memory.tend()
        assert finished is not None
        assert finished.switched
        assert memory.recall("mineral3", track=False).notes == ()


def test_the_old_model_can_be_put_back(opened: Open) -> None:
    with opened(WordEmbedder("old", 32)) as memory:
        with pytest.raises(NothingToUndo):
            memory.put_vectors_back()
        teach(memory)
        memory.tend()
    with opened(WordEmbedder("new", 64)) as memory:
        memory.tend()
        assert memory.put_vectors_back() == "old"
    with opened(WordEmbedder("old", 32)) as memory:
        assert memory.recall("mineral3", track=False).notes == ()


@pytest.mark.parametrize(
    "error", [ConnectionError("down"), TimeoutError("slow"), ValueError("3 of 64 numbers are NaN")]
)
def test_a_failing_embedder_costs_the_dense_channel_and_nothing_else(opened: Open, error: Exception) -> None:
    embedder = WordEmbedder()
    with opened(embedder) as memory:
        teach(memory)
        memory.tend()
        embedder.error = error
        briefing = memory.recall("mineral3", track=False)
        assert briefing.hits[0].memory.content.startswith("Mineral3")
        assert briefing.notes == (f"dense: {error}",)


def test_text_the_model_knows_no_word_of_is_still_embedded(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        memory.remember("!!! ??? …", kind="decision")
        done = memory.tend()
        assert done is not None
        assert done.waiting == 0


def test_filters_hold_for_the_dense_channel_too(opened: Open) -> None:
    with opened(WordEmbedder()) as memory:
        ids = teach(memory)
        memory.tend()
        memory.reject(ids[3])
        assert ids[3] not in [hit.id for hit in memory.recall("mineral3 quarry3", k=20, track=False)]


def test_without_an_embedder_there_is_nothing_to_tend(memory: Recollect) -> None:
    assert memory.tend().model is None
