"""The review queue: one order across pages, a person's words first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import recollect
from recollect import Draft, Recollect
from recollect.core.observed import Contribution, SessionSeen
from recollect.core.scope import Source


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as opened:
        yield opened


def infer(memory: Recollect, text: str, confidence: float, **attributes: object) -> str:
    draft = Draft(
        text,
        kind=str(attributes.pop("kind", "gotcha")),
        confidence=confidence,
        source=Source.OBSERVER_INFERRED,
        needs_review=True,
        attributes=attributes,
    )
    return memory.writer.remember([draft])[0].id


def pages(memory: Recollect, size: int) -> list[str]:
    queue: list[str] = []
    while page := memory.observer.waiting(limit=size, skip=len(queue)):
        queue += [one.memory.content for one in page]
    return queue


def test_the_queue_has_one_order_whatever_the_size_of_a_page(memory: Recollect) -> None:
    for place, confidence in enumerate((0.8, 0.3, 0.9, 0.5)):
        infer(memory, f"finding number {place}", confidence)
    best_first = [f"finding number {place}" for place in (2, 0, 3, 1)]
    assert [pages(memory, size) for size in (1, 2, 3, 50)] == [best_first] * 4


def test_what_a_person_said_comes_before_surer_guesses(memory: Recollect) -> None:
    infer(memory, "a sure guess", 0.95, signal="co_access")
    infer(memory, "a person stopped the agent", 0.5, signal="self_correction", spoken=True)
    infer(memory, "the agent corrected itself", 0.9, signal="self_correction", spoken=False, kind="module_insight")
    infer(memory, "a person said so before that was noted", 0.6, signal="self_correction")
    assert pages(memory, 1) == [
        "a person said so before that was noted",
        "a person stopped the agent",
        "a sure guess",
        "the agent corrected itself",
    ]


def test_what_it_saves_is_told_by_the_sessions_it_was_seen_in(memory: Recollect) -> None:
    with memory.store.engine.write():
        for name, tokens in (("one", 1_000), ("two", 3_000)):
            memory.store.observed.put(
                Contribution(session=SessionSeen(id=name, tokens=tokens, steps=10, started=1.0, events=1))
            )
    infer(memory, "seen twice", 0.5, evidence=[{"session": "one", "steps": [1, 2]}, {"session": "two", "steps": [3]}])
    infer(memory, "seen by nobody we know", 0.4, evidence=[{"session": "gone", "steps": [1]}])
    known, unknown = memory.observer.waiting()
    assert (known.sessions, known.steps, known.saves) == (("one", "two"), 3, 250)
    assert (unknown.sessions, unknown.steps, unknown.saves) == (("gone",), 1, 0)
