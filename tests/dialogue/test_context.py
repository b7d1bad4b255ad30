"""The block before a call: facts of other sessions, the last reflection, one fence, one order."""

from __future__ import annotations

import pytest

import recollect
from conftest import HandClock
from recollect.app import Recollect
from recollect.core.errors import ModelDown, ModelWrong
from recollect.testing.fakes import ScriptedModel


def teach(memory: Recollect) -> None:
    for n, text in enumerate(
        ["I live in Oslo.", "I prefer rye bread.", "My boat is called Argo.", "We decided to sell the house."]
    ):
        memory.sessions.capture(text, session=f"s{n}")
    memory.tend(job="consolidate")


def test_the_block_holds_facts_of_other_sessions_only(memory: Recollect) -> None:
    teach(memory)
    text = memory.sessions.context("Where do I live, and what is my boat called?", session="s0").text
    assert "Argo" in text
    assert "Oslo" not in text
    assert "Oslo" in memory.sessions.context("Where do I live?", session="new").text


def test_at_most_five_facts_in_one_block_in_a_stable_order(memory: Recollect) -> None:
    for n in range(12):
        memory.sessions.capture(f"I bought a boat of type number{n} in town{n}.", session=f"s{n}")
    memory.tend(job="consolidate")
    first = memory.sessions.context("boat", session="x")
    assert len(first.hits) == 5
    assert first.text == memory.sessions.context("boat", session="x").text
    dates = [hit.memory.event_at for hit in first.hits]
    assert dates == sorted(dates)  # type: ignore[type-var]
    assert first.text.count("<recollect-memory") == 1


def test_without_a_bearing_fact_there_is_no_block(memory: Recollect) -> None:
    assert memory.sessions.context("anything?", session="x").text == ""


def test_the_latest_reflection_is_in_the_block_until_a_newer_one_comes(memory: Recollect, clock: HandClock) -> None:
    teach(memory)
    memory.tend(job="reflect")
    first = memory.sessions.reflection()
    assert first is not None
    assert f"#{first.id}" in memory.sessions.context("boat", session="x").text
    clock.pass_(days=8)
    for n in range(3):
        memory.sessions.capture(f"I visited cave number {n}.", session=f"later{n}")
    memory.tend(job="consolidate")
    memory.tend(job="reflect")
    second = memory.sessions.reflection()
    assert second is not None
    text = memory.sessions.context("boat", session="x").text
    assert (f"#{second.id}" in text, f"#{first.id}" in text) == (True, False)


# --- reflection -----------------------------------------------------------------------------------------------------


def test_reflection_needs_three_facts_and_six_days(memory: Recollect, clock: HandClock) -> None:
    for n, text in enumerate(["I live in Oslo.", "I prefer rye bread."]):
        memory.sessions.capture(text, session=f"s{n}")
    memory.tend(job="consolidate")
    assert memory.tend(job="reflect", dry_run=True).plans[0].note == "only 2 fact(s) in 7 days"
    memory.sessions.capture("My boat is called Argo.", session="s3")
    memory.tend(job="consolidate")
    memory.tend(job="reflect")
    first = memory.sessions.reflection()
    clock.pass_(days=5)
    memory.tend(job="reflect")
    assert memory.sessions.reflection() == first
    clock.pass_(days=3)
    memory.tend(job="reflect")
    assert memory.sessions.reflection() == first, "nothing was learnt since"


def test_a_reflection_never_fades_and_cites_its_facts(memory: Recollect, clock: HandClock) -> None:
    teach(memory)
    memory.tend(job="reflect")
    reflection = memory.sessions.reflection()
    assert reflection is not None
    assert len(memory.why(reflection.id).points_at) == 4
    assert "Argo" in reflection.content
    clock.pass_(days=4000)
    assert memory.confidence(reflection) == reflection.confidence


def test_a_model_writes_the_reflection_when_there_is_one(clock: HandClock) -> None:
    model = ScriptedModel("They love boats.")
    with recollect.open(":memory:", clock=clock, model=model) as memory:
        for n in range(3):
            memory.remember(f"Boat{n} is blue.", kind="fact")
        memory.tend(job="reflect")
        reflection = memory.sessions.reflection()
        assert reflection is not None
        assert reflection.content == "They love boats."
        assert "Boat2 is blue." in model.asked[0]


@pytest.mark.parametrize("answer", [ModelWrong("m", "it is empty"), "   "])
def test_a_reflection_the_model_spoils_is_composed_by_rule(clock: HandClock, answer: object) -> None:
    with recollect.open(":memory:", clock=clock, model=ScriptedModel(answer)) as memory:
        for n in range(3):
            memory.remember(f"Boat{n} is blue.", kind="fact")
        memory.tend(job="reflect")
        reflection = memory.sessions.reflection()
        assert reflection is not None
        assert "3 facts were learnt" in reflection.content


def test_a_reflection_waits_for_a_model_that_is_down(clock: HandClock) -> None:
    with recollect.open(":memory:", clock=clock, model=ScriptedModel(ModelDown("m", "gone"), "Later.")) as memory:
        for n in range(3):
            memory.remember(f"Boat{n} is blue.", kind="fact")
        assert memory.tend(job="reflect").reports[0].failed
        assert memory.sessions.reflection() is None
        memory.tend(job="reflect")
        assert memory.sessions.reflection() is not None
