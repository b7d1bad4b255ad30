"""Memories are read after fusion: all that are looked at, and none that is gone, damaged or somebody else's."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import recollect
from recollect import Draft, Recollect
from recollect.core.ids import MemoryId
from recollect.core.query import Candidate, Query
from recollect.recall.channels.keyword import KeywordChannel
from recollect.recall.gather import hydrate
from recollect.recall.question import read
from recollect.recall.recipes import DEFAULT


@pytest.fixture
def slates(memory: Recollect) -> Recollect:
    memory.remember_all(Draft(f"slate number {number}") for number in range(3))
    return memory


def candidates(memory: Recollect, *, another: bool = False) -> list[Candidate]:
    channel = KeywordChannel(memory.store, DEFAULT, another=another)
    return channel.candidates(Query("slate"), read(Query("slate")))


def test_a_channel_names_its_candidates_and_leaves_them_unread(slates: Recollect) -> None:
    found = candidates(slates)
    assert [one.memory for one in found] == [None] * 3
    read_now, notes = hydrate(found, slates.store)
    assert notes == []
    assert [one.memory.id for one in read_now if one.memory] == [one.id for one in found]


def test_a_candidate_that_is_gone_is_left_out(slates: Recollect) -> None:
    assert hydrate([Candidate(MemoryId("gone"))], slates.store) == ([], [])


def test_candidates_of_another_store_come_with_their_memories(slates: Recollect) -> None:
    assert all(candidate.memory is not None for candidate in candidates(slates, another=True))


def test_a_damaged_memory_is_named_and_the_others_are_answered(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with recollect.open(file, project="test") as memory:
        memory.remember("slate one")
        broken = memory.remember("slate two").id
    raw = apsw.Connection(str(file))
    raw.execute("update memories set confidence = 0.123 where id = ?", (broken,))
    raw.close()
    with recollect.open(file) as memory:
        answer = memory.recall("slate")
    assert [hit.memory.content for hit in answer] == ["slate one"]
    assert [note for note in answer.notes if broken in note and "damaged" in note]


def test_a_standing_wish_about_what_is_asked_is_found_behind_many_newer_ones(memory: Recollect) -> None:
    wish = "Always name the version of the library when I ask about quaternions."
    memory.remember(wish, kind="episode", session="one", source_role="user")
    memory.remember_all(
        Draft(f"I always prefer tea number {number}", kind="episode", session="two", source_role="user")
        for number in range(260)
    )
    memory.remember_all(
        Draft(f"Quaternions rotate thing {number}", kind="episode", session="three", source_role="assistant")
        for number in range(150)
    )
    answer = memory.recall("Can you recommend a package for quaternions?", k=5)
    assert wish in [hit.memory.content for hit in answer]
