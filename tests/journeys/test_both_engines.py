"""One life of a memory through the public doors, the same on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect import Draft, Filter
from recollect.app import Recollect
from recollect.core.errors import MemoryNotFound, Tombstoned
from recollect.testing.fakes import WordEmbedder

pytestmark = pytest.mark.both_engines


def opened(place: Path | str, clock: HandClock, **options: object) -> Recollect:
    return recollect.open(place, project="shop", actor="anna", clock=clock, **options)  # type: ignore[arg-type]


def contents(memory: Recollect, question: str) -> list[str]:
    return [hit.memory.content for hit in memory.recall(question)]


def test_what_is_said_corrected_undone_and_forgotten_is_told_alike(place: Path | str, clock: HandClock) -> None:
    with opened(place, clock) as memory:
        port = memory.remember("The API listens on port 8080.", tags=["Net"], files=["src/api.py"]).id
        night = memory.remember("The staging database resets every night.", kind="gotcha").id
        assert memory.remember("the staging database resets every night", kind="gotcha").verdict == "same"
        moved = memory.correct(port, "The API listens on port 9090.").id
        memory.relate(night, "validates", to=moved)
        memory.pin(moved)
        clock.pass_(days=1)
    with opened(place, clock) as memory:
        assert contents(memory, "which port does the API listen on?")[0] == "The API listens on port 9090."
        assert [one.id for one in memory.list(Filter(tags=frozenset({"net"}))).memories] == [moved]
        assert [link.target for link in memory.why(night).points_at] == [moved]
        assert memory.undo(moved).actions == ("pin",)
        assert memory.history(night)[0].change.action == "add"
        memory.forget(night)
        with pytest.raises(MemoryNotFound):
            memory.get(night)
        with pytest.raises(Tombstoned):
            memory.remember("The staging database resets every night.")
        assert contents(memory, "staging resets") == []
        assert memory.maintenance.check().findings == []


def test_meaning_and_words_are_followed_by_the_chores(place: Path | str, clock: HandClock) -> None:
    embedder = WordEmbedder()
    with opened(place, clock, embedder=embedder) as memory:
        memory.remember_all(Draft(f"Crate {number} holds lamps of kind {number % 7}.") for number in range(40))
        night = memory.remember("Cranes lift containers at night.").id
        memory.tend()
        assert memory.maintenance.facts().unembedded == 0
        assert memory.recall("a crane lifting containers").hits[0].id == night
        memory.edit(night, content="Cranes rest at night.")
        memory.tend()
        assert memory.recall("do the cranes rest?").hits[0].memory.content == "Cranes rest at night."
        assert memory.maintenance.repair(always=True).rebuilt == ("keywords", "facets", "names", "vectors")
        assert memory.maintenance.check().findings == []


def test_an_agent_is_told_and_a_conversation_is_drawn_from(place: Path | str, clock: HandClock) -> None:
    with opened(place, clock) as memory:
        taught = memory.remember("Always run make lint before every commit.", kind="preference").id
        memory.confirm(taught)
        session = memory.agent("monday", arm="full")
        assert "make lint" in session.system_prompt() + session.first_message("run make lint before the commit")
        assert session.notes == ()
        memory.sessions.capture("My name is Priya and I live in Lisbon.", session="s1")
        memory.sessions.capture("Noted.", session="s1", role="assistant")
        memory.tend()
        assert any("Lisbon" in text for text in contents(memory, "where does Priya live?"))
        assert memory.maintenance.check().findings == []


def test_what_was_exported_from_one_engine_is_taken_in_by_another(
    place: Path | str, tmp_path: Path, clock: HandClock
) -> None:
    archive = tmp_path / "all.zip"
    with opened(place, clock) as memory:
        kept = memory.remember("The harbour opens at dawn.", tags=["port"]).id
        gone = memory.remember("The lighthouse code is 1234.").id
        memory.reject(gone)
        memory.export(archive, format="archive")
    with opened(tmp_path / "other.db", clock) as other:
        other.import_memories(archive, trust=True)
        assert other.get(kept).content == "The harbour opens at dawn."
        assert other.maintenance.check().findings == []
        again = tmp_path / "back.zip"
        other.export(again, format="archive")
    with opened(place, clock) as memory:
        assert memory.import_memories(again, trust=True)
        assert memory.count() == 1
