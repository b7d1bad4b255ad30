"""Entities: found by any name, merged and split by hand without loss, answered with in recall."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect import Filter
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.errors import AmbiguousEntity, EntityNotFound, InvalidField
from recollect.store.check import check
from recollect.store.rebuild import rebuild
from recollect.testing.fakes import ScriptedModel


def say(memory: Recollect, text: str) -> str:
    return memory.sessions.capture(text, session="s").episodes[0]


def names(memory: Recollect) -> list[tuple[str, int]]:
    return [(entity.name, entity.mentions) for entity in memory.sessions.entities()]


def test_one_name_in_many_spellings_is_one_entity(memory: Recollect) -> None:
    for text in ("I met Caroline Smith.", "Then caroline smith called. Caroline Smith's car broke.", "CAROLINE SMITH"):
        say(memory, text)
    assert names(memory) == [("Caroline Smith", 3)]


def test_an_unknown_type_joins_the_known_one(memory: Recollect) -> None:
    say(memory, "We talked about Zorblax today.")
    say(memory, "I work at Zorblax now.")
    found = memory.sessions.entity("zorblax")
    assert (found.entity.type, found.entity.mentions) == ("organization", 2)


def test_merging_joins_their_memories_and_splitting_parts_them_again(memory: Recollect) -> None:
    one, two = say(memory, "I met Caroline Smith."), say(memory, "I met Melanie Jones.")
    before = names(memory)
    merged = memory.sessions.merge_entities("Caroline Smith", "Melanie Jones", why="she married")
    assert (merged.aliases, merged.mentions) == (("Melanie Jones",), 2)
    assert {m.id for m in memory.sessions.entity("melanie jones").memories} == {one, two}
    assert memory.store.log.recent(1)[0].change.why == "she married"
    memory.sessions.split_entity("Caroline Smith", "Melanie Jones")
    assert names(memory) == before
    assert check(memory.store).ok


def test_merging_a_merged_one_keeps_all_names(memory: Recollect) -> None:
    for name in ("Caroline Smith", "Melanie Jones", "Peter Brown"):
        say(memory, f"I met {name}.")
    memory.sessions.merge_entities("Melanie Jones", "Peter Brown")
    memory.sessions.merge_entities("Caroline Smith", "Melanie Jones")
    assert memory.sessions.entity("peter brown").entity.name == "Caroline Smith"
    assert memory.sessions.entity("Caroline Smith").entity.mentions == 3


def test_a_merge_that_is_none_is_refused(memory: Recollect) -> None:
    say(memory, "I met Caroline Smith.")
    with pytest.raises(InvalidField):
        memory.sessions.merge_entities("Caroline Smith", "caroline smith")
    with pytest.raises(EntityNotFound):
        memory.sessions.merge_entities("Caroline Smith", "Nobody Known")
    with pytest.raises(InvalidField, match="also go by"):
        memory.sessions.split_entity("Caroline Smith", "Carrie")


def test_a_name_that_two_go_by_asks_which(memory: Recollect) -> None:
    say(memory, "I met my friend Jordan.")
    say(memory, "I moved to Jordan street. We went to Jordan #jordan")
    with pytest.raises(AmbiguousEntity):
        memory.sessions.entity("jordan")
    assert memory.sessions.entity("jordan", type="tag").entity.type == "tag"


def test_a_question_that_names_somebody_finds_what_only_an_alias_says(memory: Recollect) -> None:
    say(memory, "I met Caroline Smith.")
    target = say(memory, "Quartz Carrington won the regatta.")
    memory.sessions.merge_entities("Caroline Smith", "Quartz Carrington")
    hits = memory.recall("Caroline Smith", track=False).hits
    assert target in {hit.id for hit in hits}
    assert any("entity #" in reason for hit in hits if hit.id == target for reason in hit.reasons)


def test_memories_can_be_filtered_by_entity(memory: Recollect) -> None:
    target = say(memory, "I met Caroline Smith.")
    say(memory, "Nothing new.")
    id = memory.sessions.entity("Caroline Smith").entity.id
    assert [memory.id for memory in memory.list(Filter(entities=frozenset({id}))).memories] == [target]


def test_enrichment_finds_names_in_memories_that_were_never_searched_once(memory: Recollect) -> None:
    memory.remember("Caroline Smith likes rye bread.", kind="fact")
    assert names(memory) == []
    first = memory.tend(job="enrich").report("enrich")
    assert first is not None
    assert (first.done, first.details["entities"]) == (1, 1)
    assert names(memory) == [("Caroline Smith", 1)]
    again = memory.tend(job="enrich").report("enrich")
    assert again is not None
    assert again.done == 0
    assert memory.undo().actions == ("add",)


def test_a_language_model_finds_names_only_where_they_stand() -> None:
    model = ScriptedModel(
        {"entities": [{"name": "zog the wise", "type": "person"}, {"name": "Atlantis", "type": "location"}]}
    )
    with recollect.open(":memory:", model=model, settings=Settings(names="llm")) as memory:
        memory.remember("yesterday zog the wise spoke.", kind="fact")
        memory.tend(job="enrich")
        assert names(memory) == [("zog the wise", 1)]


def test_names_and_sessions_that_were_lost_are_rebuilt_from_the_rows(memory: Recollect) -> None:
    memory.sessions.capture("I met Caroline Smith.", session="s", id="m")
    with memory.store.engine.write():
        memory.store.engine.execute("delete from entity_names")
        memory.store.engine.execute("delete from sessions")
        memory.store.engine.execute("delete from facets")
    assert {finding.area for finding in check(memory.store).findings} == {"names", "facets"}
    rebuild(memory.store)
    assert check(memory.store).ok
    assert memory.sessions.entity("caroline smith").entity.mentions == 1
    assert memory.sessions.get("s").episodes == 1


def test_a_name_is_forgotten_with_the_last_memory_that_mentions_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        one, two = say(memory, "I met Zebulon Quark."), say(memory, "Zebulon Quark left with Ada Smith.")
        memory.forget(one)
        assert ("Zebulon Quark", 1) in names(memory)
        memory.forget(two)
        assert names(memory) == []
        assert check(memory.store).ok
        assert not memory.store.engine.contains_bytes("Zebulon")


def test_a_damaged_entity_is_found_by_check(memory: Recollect) -> None:
    say(memory, "I met Caroline Smith.")
    with memory.store.engine.write():
        memory.store.engine.execute("update entities set summary = 'x'")
    assert [finding.area for finding in check(memory.store).findings] == ["entities"]


def test_an_alias_that_is_somebody_else_takes_along_what_names_only_it(memory: Recollect) -> None:
    only_whole = say(memory, "I met Caroline Smith.")
    whole = memory.sessions.entity("Caroline Smith").entity
    both = say(memory, "Caroline Smith came with Carrie to dinner.")
    only_alias = say(memory, "Carrie likes jazz.")
    with memory.store.engine.write():
        memory.store.entities.put([whole.having(aliases=("Carrie",))])
    for id in (both, only_alias):
        memory.writer.annotate(id, entities=(whole.id,))
    own = memory.sessions.split_entity("Caroline Smith", "Carrie")
    assert own.name == "Carrie"
    assert {found.id for found in memory.sessions.entity(own.id).memories} == {both, only_alias}
    assert {found.id for found in memory.sessions.entity("Caroline Smith").memories} == {only_whole, both}
    with pytest.raises(InvalidField):
        memory.sessions.split_entity("Caroline Smith", "Carrie")
