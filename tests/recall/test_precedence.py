"""People before agents on the same subject, and one of an agent's near repeats."""

from __future__ import annotations

from recollect import Recollect

QUESTION = "Which switch does the harbour crane need before winter?"
TAUGHT = "The harbour crane needs the red switch before winter."


def test_what_a_person_taught_comes_before_whatever_agents_fit_to_the_question(memory: Recollect) -> None:
    mine = memory.remember(TAUGHT, confidence=0.6).id
    agent = memory.through("mcp")
    for number in range(10):
        agent.remember(f"{QUESTION} The harbour crane needs switch number {number} before winter, says note {number}.")
    found = memory.recall(QUESTION, k=10)
    assert found.hits[0].id == mine
    assert len(found.hits) == 2
    assert any("near repeats" in note for note in found.notes)


def test_agents_notes_stay_where_nobody_taught_and_they_say_different_things(memory: Recollect) -> None:
    agent = memory.through("mcp")
    texts = ("The crane needs oil.", "Cranes of the harbour are yellow.", "The harbour crane stands on the quay.")
    ids = {agent.remember(text).id for text in texts}
    assert {hit.id for hit in memory.recall("harbour crane", k=10)} == ids


def test_a_confirmed_statement_of_an_agent_is_no_repeat(memory: Recollect) -> None:
    mine = memory.remember(TAUGHT).id
    made = memory.through("mcp").remember("The harbour crane needs the blue switch before winter frost comes.").id
    memory.confirm(made)
    assert {hit.id for hit in memory.recall(QUESTION, k=10)} == {mine, made}
