"""Every call is counted, caps are hard, a failing model is left alone."""

from __future__ import annotations

import pytest

from conftest import HandClock
from recollect.app import Recollect
from recollect.core.errors import BudgetSpent, ModelDown, ModelWrong
from recollect.models.budget import TRIP_AFTER, Caps, Governed, day_of
from recollect.testing.fakes import ScriptedModel


def governed(memory: Recollect, clock: HandClock, inner: ScriptedModel, caps: Caps, session: str = "s") -> Governed:
    return Governed(inner, memory.store.spend, caps, clock, "consolidation", session)


def spent(memory: Recollect, clock: HandClock) -> int:
    return memory.store.spend.spent(*day_of(clock.now))


def test_a_call_costs_what_the_server_says(memory: Recollect, clock: HandClock) -> None:
    governed(memory, clock, ScriptedModel("hi"), Caps()).text("x" * 300, max_tokens=100)
    assert spent(memory, clock) == 15
    assert [(one.feature, one.calls, one.tokens) for one in memory.store.spend.by_feature(*day_of(clock.now))] == [
        ("consolidation", 1, 15)
    ]


def test_a_call_past_the_cap_of_the_day_is_not_made(memory: Recollect, clock: HandClock) -> None:
    inner = ScriptedModel("one", "two")
    model = governed(memory, clock, inner, Caps(per_day=130, per_session=10**6))
    model.text("x", max_tokens=100)
    model.text("x", max_tokens=100)
    with pytest.raises(BudgetSpent, match="130"):
        model.text("x", max_tokens=100)
    assert len(inner.asked) == 2
    clock.pass_(days=1)
    model.text("x", max_tokens=100)
    assert len(inner.asked) == 3


def test_a_session_has_a_cap_of_its_own(memory: Recollect, clock: HandClock) -> None:
    caps = Caps(per_day=10**6, per_session=110)
    inner = ScriptedModel()
    governed(memory, clock, inner, caps, "a").text("x", max_tokens=100)
    with pytest.raises(BudgetSpent):
        governed(memory, clock, inner, caps, "a").text("x", max_tokens=100)
    governed(memory, clock, inner, caps, "b").text("x", max_tokens=100)
    assert len(inner.asked) == 2


def test_a_call_that_never_came_back_is_charged_what_it_was_allowed(memory: Recollect, clock: HandClock) -> None:
    with pytest.raises(KeyboardInterrupt):
        governed(memory, clock, ScriptedModel(_interrupt), Caps()).text("x", max_tokens=100)
    assert spent(memory, clock) > 100


def _interrupt(prompt: str) -> str:
    raise KeyboardInterrupt


def test_a_model_that_keeps_failing_is_left_alone_for_a_growing_while(memory: Recollect, clock: HandClock) -> None:
    inner = ScriptedModel(*[ModelDown("m", "timed out")] * 4, "back")
    model = governed(memory, clock, inner, Caps())
    for _ in range(TRIP_AFTER):
        with pytest.raises(ModelDown, match="timed out"):
            model.text("x", max_tokens=5)
    with pytest.raises(ModelDown, match="left alone"):
        model.text("x", max_tokens=5)
    assert len(inner.asked) == TRIP_AFTER
    clock.pass_(seconds=61)
    with pytest.raises(ModelDown, match="timed out"):
        model.text("x", max_tokens=5)
    clock.pass_(seconds=61)
    with pytest.raises(ModelDown, match="left alone"):
        model.text("x", max_tokens=5)
    clock.pass_(seconds=61)
    assert model.text("x", max_tokens=5).text == "back"
    assert model.text("x", max_tokens=5)


def test_a_wrong_answer_is_paid_for_and_opens_no_breaker(memory: Recollect, clock: HandClock) -> None:
    model = governed(memory, clock, ScriptedModel(*[ModelWrong("m", "gibberish")] * 5, "fine"), Caps())
    for _ in range(5):
        with pytest.raises(ModelWrong):
            model.text("x", max_tokens=10)
    assert model.text("x", max_tokens=10).text == "fine"
    assert spent(memory, clock) > 50


def test_a_clock_set_back_does_not_lock_the_model_out(memory: Recollect, clock: HandClock) -> None:
    model = governed(memory, clock, ScriptedModel(*[ModelDown("m", "no")] * TRIP_AFTER, "ok"), Caps())
    for _ in range(TRIP_AFTER):
        with pytest.raises(ModelDown):
            model.text("x", max_tokens=5)
    clock.pass_(days=-30)
    assert model.text("x", max_tokens=5).text == "ok"
