"""A real small instruct model behind the same endpoint, started by `make model`. What it says is not foreseen, only
that whatever it says is handled: facts with evidence, a budget that was counted, sessions that end."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.config import Settings
from recollect.models.choose import choose_model
from recollect.store.check import check

SETTING = os.environ.get("RECOLLECT_REAL_MODEL", "")
pytestmark = pytest.mark.skipif(not SETTING, reason="started by `make model` only")
EVER = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
SAID = [
    ("user", "Hi! My name is Ada Lovelace and I just moved from London to Lisbon."),
    ("assistant", "Welcome to Lisbon! How is it so far?"),
    ("user", "Great. I adopted a dog called Rex last week, and I decided to learn Portuguese."),
    ("user", "By the way, I'm allergic to peanuts. What should I cook tonight?"),
    ("assistant", "How about grilled sardines?"),
]


def test_a_real_model_answers_with_an_object_that_fits() -> None:
    model = choose_model(SETTING)
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    answer = model.object("Which city is the capital of France?", schema=schema, max_tokens=40)
    assert "paris" in str(answer.value["city"]).lower()
    assert answer.usage.exact


def test_a_real_model_consolidates_a_session_with_evidence_and_within_its_budget(tmp_path: Path) -> None:
    with recollect.open(
        tmp_path / "m.db", settings=Settings(model=SETTING, embedder="none", model_timeout=900)
    ) as memory:
        for role, text in SAID:
            memory.sessions.capture(text, session="s", role=role)
        report = memory.tend(job="consolidate").report("consolidate")
        assert report is not None
        facts = memory.sessions.facts()
        spent = memory.store.spend.by_feature(*EVER)
        told = [
            f"{report.details} {report.notes} {spent}",
            *(f"{fact.confidence:.2f} {fact.content}" for fact in facts),
        ]
        sys.stderr.write("\n".join(["", *told, ""]))
        assert memory.sessions.get("s").state == "consolidated"
        assert facts
        assert all(memory.why(fact.id).points_at for fact in facts)
        assert [(one.feature, one.failures) for one in spent] == [("consolidation", 0)]
        assert check(memory.store).ok
        memory.tend(job="reflect")
        reflection = memory.sessions.reflection()
        assert len(facts) < 3 or (reflection is not None and reflection.content)
        sys.stderr.write(f"{reflection.content if reflection else 'too few facts to reflect on'}\n")


def test_a_real_model_talks_in_a_session_that_goes_on_and_every_turn_is_kept(tmp_path: Path) -> None:
    settings = Settings(model=SETTING, embedder="none", model_timeout=900)
    heard: list[str] = []
    with recollect.open(tmp_path / "m.db", settings=settings) as memory:
        with memory.chats.open(memory="recency", session="s", tools=False) as chat:
            chat.say("My boat is called Argo. Please answer with one short sentence.", heard=heard.append)
        with memory.chats.open(memory="recency", session="s", tools=False) as chat:
            second = chat.say("What is my boat called? Answer with its name only.", heard=heard.append)
        with memory.chats.open(memory="recollect", session="t") as chat:
            third = chat.say("Remember that my dog is called Rex: call remember_fact.", heard=heard.append)
        turns = memory.chats.turns()
        sys.stderr.write("\n".join(["", *(f"{turn.output!r} {turn.calls} {turn.tokens_in}" for turn in turns), ""]))
        assert "argo" in second.output.lower()
        assert [turn.state for turn in turns] == ["done"] * 3
        assert turns[-1] == third
        assert "".join(heard).strip()
        assert all(turn.tokens_in > 0 for turn in turns)
        assert check(memory.store).ok
