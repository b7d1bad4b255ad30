"""The tools: six for the assistant, six for the consolidator, with schemas that are kept."""

from __future__ import annotations

import pytest

from recollect.app import Recollect
from recollect.core.errors import EntityNotFound, InvalidField, SessionNotFound
from recollect.dialogue.context import PAGE
from recollect.dialogue.tools import Tool


def tools(memory: Recollect) -> dict[str, Tool]:
    return {tool.name: tool for tool in memory.sessions.tools()}


def consolidator(memory: Recollect) -> dict[str, Tool]:
    return {tool.name: tool for tool in memory.sessions.consolidator_tools()}


def test_the_two_sets_are_the_ones_of_the_design_and_apart(memory: Recollect) -> None:
    assert set(tools(memory)) == {
        "search_memory", "remember_fact", "correct_fact", "confirm_fact", "memory_stats", "get_entity_info",
    }  # fmt: skip
    assert set(consolidator(memory)) == {
        "is_session_consolidated", "get_episodes_for_consolidation", "save_facts_batch", "detect_conflicts",
        "resolve_conflict", "mark_session_consolidated",
    }  # fmt: skip


def test_a_fact_is_remembered_found_corrected_and_confirmed(memory: Recollect) -> None:
    hands = tools(memory)
    id = hands["remember_fact"](content="Ada's boat is called Argo.", tags=["boat"])["id"]
    found = hands["search_memory"](query="boat")
    assert found["ids"] == [id]
    assert "Argo" in found["memory"]
    better = hands["correct_fact"](id=id, content="Ada's boat is called Arga.")["id"]
    assert memory.get(id).status == "superseded"
    told = hands["confirm_fact"](id=better)
    assert (told["confidence"], told["verified"]) == (0.8, False)  # only a person confirms
    assert hands["memory_stats"]()["kinds"] == {"fact": 1}


def test_an_entity_is_told_with_its_memories(memory: Recollect) -> None:
    memory.sessions.capture("Yesterday Caroline Smith visited Lisbon.", session="s")
    known = tools(memory)["get_entity_info"](name="caroline smith")
    assert (known["name"], known["type"], known["mentions"]) == ("Caroline Smith", "person", 1)
    assert "Lisbon" in known["memory"]
    with pytest.raises(EntityNotFound):
        tools(memory)["get_entity_info"](name="Nobody Atall")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_memory", {}),
        ("search_memory", {"query": 5}),
        ("search_memory", {"query": "x", "limit": "many"}),
        ("search_memory", {"query": "x", "hack": 1}),
        ("remember_fact", {"content": ["x"]}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(memory: Recollect, tool: str, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidField, match=tool):
        tools(memory)[tool](**arguments)


def test_an_outside_agent_can_consolidate_with_its_six_tools(memory: Recollect) -> None:
    for n in range(PAGE + 2):
        memory.sessions.capture(f"I visited island number {n}.", session="s")
    hands = consolidator(memory)
    assert hands["is_session_consolidated"](session="s") == {"consolidated": False}
    after, seen = 0, []
    while after is not None:
        page = hands["get_episodes_for_consolidation"](session="s", after=after)
        seen += page["ids"]
        after = page["next"]
    assert len(seen) == PAGE + 2
    batch = [{"content": "User likes islands.", "episodes": seen[:2]}] * 2
    saved = hands["save_facts_batch"](session="s", facts=batch)
    assert (len(saved["added"]), saved["known"]) == (1, [])
    assert hands["save_facts_batch"](session="s", facts=batch)["known"] == saved["added"]
    newer = hands["save_facts_batch"](session="s", facts=[{"content": "User hates islands.", "episodes": seen[-1:]}])
    assert saved["added"][0] in hands["detect_conflicts"](id=newer["added"][0])["ids"]
    closed = hands["resolve_conflict"](old=saved["added"][0], new=newer["added"][0])
    assert closed["confidence"] == 0.3
    assert hands["mark_session_consolidated"](session="s") == {"consolidated": True}
    assert memory.sessions.get("s").state == "consolidated"


def test_a_fact_must_cite_messages_of_its_session(memory: Recollect) -> None:
    memory.sessions.capture("hello", session="s")
    other = memory.sessions.capture("hello", session="t").episodes[0]
    hands = consolidator(memory)
    for episodes in ([], [other], ["epi_nowhere"]):
        with pytest.raises(InvalidField, match="at least one message"):
            hands["save_facts_batch"](session="s", facts=[{"content": "x y z", "episodes": episodes}])
    with pytest.raises(SessionNotFound):
        hands["mark_session_consolidated"](session="nowhere")
