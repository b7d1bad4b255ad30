from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect import Draft
from recollect.app import Recollect
from recollect.recall.question import read_cues, tells_amount

NOW = datetime(2026, 6, 17, tzinfo=UTC)


def talk(memory: Recollect, text: str, *, day: int) -> None:
    """Remember what a user said on a day of May, in a session of its own."""
    at = datetime(2025, 5, day, tzinfo=UTC)
    memory.remember_all([Draft(text, kind="episode", session=f"s{day}", source_role="user", event_at=at)])


def days(memory: Recollect, question: str) -> list[int]:
    """The days of what comes back, best first."""
    hits = memory.recall(question, track=False).hits
    return [hit.memory.event_at.day for hit in hits if hit.memory.event_at is not None]


def test_how_something_stands_is_answered_by_the_newest_of_several_statements(memory: Recollect) -> None:
    talk(memory, "I have tried three Korean restaurants in my city.", day=1)
    talk(memory, "By now I have tried four Korean restaurants, all in my city.", day=9)
    talk(memory, "The weather in my city is fine today.", day=20)
    hits = memory.recall("How many Korean restaurants have I tried in my city?", track=False).hits
    assert [hit.memory.session for hit in hits] == ["s9", "s1", "s20"]
    assert "newest of 2 alike" in hits[0].reasons
    assert hits[0].score >= hits[1].score


def test_only_the_newest_moves_and_the_others_keep_their_order(memory: Recollect) -> None:
    question = "Where do I keep my old running shoes?"
    talk(memory, "I keep my old running shoes under the bed, where I keep everything.", day=3)
    talk(memory, "I keep my old running shoes in the attic, next to a lot of other things nobody needs.", day=2)
    talk(memory, "I keep my old running shoes in a box now, with a label on it, in the hall by the door.", day=9)
    before = days(memory, "Do old running shoes keep?")
    found = days(memory, question)
    assert found[0] == 9
    assert found[1:] == [day for day in before if day != 9]


def test_a_newer_statement_that_shares_little_of_the_question_does_not_lead(memory: Recollect) -> None:
    talk(memory, "My sister Emily lives in Denver, close to the mountains.", day=1)
    talk(memory, "Emily sent me a parcel.", day=9)
    assert days(memory, "Where does my sister Emily live?")[0] == 1


def test_the_same_statement_said_twice_does_not_keep_an_update_from_leading(memory: Recollect) -> None:
    talk(memory, "I keep my old sneakers under the bed.", day=1)
    talk(memory, "I keep my old sneakers under the bed.", day=4)
    talk(memory, "My old sneakers are now in a shoe rack, where I keep the others.", day=9)
    assert days(memory, "Where do I currently keep my old sneakers?")[0] == 9


def test_what_happened_once_is_not_reordered_by_date(memory: Recollect) -> None:
    talk(memory, "I adopted a parrot in the old town market.", day=1)
    talk(memory, "The old town market was nice.", day=9)
    assert days(memory, "What did I adopt at the old town market?")[0] == 1


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("How many bikes do I currently own?", True),
        ("What is my record in the league?", True),
        ("How long have I been using my watch?", True),
        ("Do I have a spare screwdriver?", True),
        ("How long have I had my cat?", True),
        ("How many bikes did I buy?", False),
        ("How many days passed between my flight and my talk?", False),
        ("What is the total of my savings?", False),
        ("Have I worked with Flask?", False),
        ("When did Ada visit Rome?", False),
        ("What are the goals of the treaty?", False),
    ],
)
def test_a_question_of_state_is_told_from_one_of_events(text: str, state: bool) -> None:
    assert read_cues(text, NOW).asks_state is state


@pytest.mark.parametrize(
    ("text", "amount"), [("I own 4 bikes", True), ("twice a week, on Sundays", True), ("I own a someone's bike", False)]
)
def test_a_statement_tells_an_amount_by_digits_or_words(text: str, amount: bool) -> None:
    assert tells_amount(text) is amount
