from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

import recollect
from recollect import Draft
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.query import Candidate
from recollect.recall.evidence import SILENCE, ContextWindow, Terms, weigh
from recollect.recall.question import read_cues
from recollect.recall.recipes import MEASURED, TYPICAL_WORDS

NOW = datetime(2026, 6, 17, tzinfo=UTC)


def talk(memory: Recollect, *turns: str, session: str = "s1", day: int = 1) -> list[str]:
    """Remember a conversation; each turn is `Speaker: words`."""
    drafts = [
        Draft(
            words,
            kind="episode",
            session=session,
            source_role=speaker,
            event_at=datetime(2026, 5, day, tzinfo=UTC),
        )
        for speaker, words in (turn.split(": ", 1) for turn in turns)
    ]
    return [receipt.id for receipt in memory.remember_all(drafts)]


def first(memory: Recollect, text: str) -> str:
    return memory.recall(text, track=False).hits[0].memory.content


def test_an_answer_is_found_by_the_question_before_it(memory: Recollect) -> None:
    talk(memory, "Ada: What do you do against stress at work?", "Bo: Pottery, every Sunday.", "Ada: Sounds nice.")
    talk(memory, "Bo: My work is stress and coffee.", "Ada: Same here, too much of it.", session="s2")
    hits = [hit.memory.content for hit in memory.recall("What does Bo do against stress?", track=False)]
    assert "Pottery, every Sunday." in hits[:2]


def test_what_the_named_person_said_comes_first(memory: Recollect) -> None:
    talk(memory, "Ada: I adopted a parrot.", "Bo: I adopted a beagle.")
    assert first(memory, "What did Bo adopt?") == "I adopted a beagle."
    assert first(memory, "What did Ada adopt?") == "I adopted a parrot."


def test_a_date_in_the_question_prefers_what_happened_then(memory: Recollect) -> None:
    talk(memory, "Ada: We hiked all day.", session="s1", day=3)
    talk(memory, "Ada: We hiked all day again.", session="s2", day=20)
    assert first(memory, "Where did they hike on 20 May 2026?").endswith("again.")
    assert first(memory, "Where did they hike on 3 May 2026?").endswith("all day.")


def test_standing_wishes_are_found_when_something_is_asked_for(memory: Recollect) -> None:
    talk(memory, "user: Always show the units in tables.", "assistant: I will.")
    talk(memory, *[f"user: Tell me about bridge number {n} and its story." for n in range(30)], session="s2")
    hits = memory.recall("Can you give me an overview table of bridge lengths?", k=10, track=False)
    assert "Always show the units in tables." in [hit.memory.content for hit in hits]


def test_a_turn_that_only_asks_ranks_below_one_that_tells(memory: Recollect) -> None:
    talk(memory, "Ada: Did you ever visit the lighthouse in Kerry?", session="s1")
    talk(memory, "Bo: I visited the lighthouse in Kerry.", session="s2")
    assert first(memory, "lighthouse in Kerry visited").startswith("I visited")


def test_every_piece_of_evidence_is_shown_and_adds_up(memory: Recollect) -> None:
    talk(memory, "Ada: I adopted a parrot.", "Bo: I adopted a beagle.")
    hit = memory.recall("What did Bo adopt?", track=False).hits[0]
    why = {name: value for name, value in hit.factors.items() if name.startswith("why.")}
    assert why["why.speaker"] == pytest.approx(MEASURED.evidence["none"]["speaker"])
    assert 0 < hit.factors["relevance"] < 1


def test_memories_outside_any_session_are_weighed_too(memory: Recollect) -> None:
    memory.remember("Deploys freeze on Fridays.", kind="decision")
    memory.remember("The office closes on Fridays.", kind="decision")
    assert first(memory, "when do deploys freeze?") == "Deploys freeze on Fridays."


def test_neighbours_obey_the_filter(memory: Recollect) -> None:
    ids = talk(memory, "Ada: What is your favourite mineral?", "Bo: Feldspar, no doubt.")
    memory.reject(ids[1])
    assert ids[1] not in [hit.id for hit in memory.recall("favourite mineral", track=False)]


def test_the_seed_recipe_still_fuses_ranks() -> None:
    with recollect.open(":memory:", settings=Settings(recipe="seed")) as memory:
        memory.remember("Deploys freeze on Fridays.", kind="decision")
        hit = memory.recall("deploys").hits[0]
        assert hit.factors["relevance"] == 1.0
        assert not any(name.startswith("why.") for name in hit.factors)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("When did Ada move?", "asks_when"),
        ("Where does Bo live?", "asks_where"),
        ("Can you recommend a book?", "is_request"),
        ("How do I reset it?", "is_request"),
        ("Summarise our progress so far", "is_summary"),
        ("What did you suggest last time?", "is_about_answers"),
    ],
)
def test_a_question_shows_its_cue(text: str, cue: str) -> None:
    assert getattr(read_cues(text, NOW), cue)


def test_asking_what_was_said_is_no_request() -> None:
    assert not read_cues("Can you tell me what you recommended? Did I ask for tips?", NOW).is_request


def test_an_answer_counts_for_more_the_nearer_the_question_before_it_is(memory: Recollect) -> None:
    asks = memory.remember("What calms you down?", kind="episode", source_role="Ada").memory
    answers = memory.remember("Pottery.", kind="episode", source_role="Bo").memory
    terms = Terms((), {}, frozenset(), TYPICAL_WORDS)
    alone = ContextWindow([0], {0: SILENCE}, 0, asks_before=False, opens=False)

    def relevance(nearness: float, after: ContextWindow) -> float:
        candidates = [
            Candidate(asks.id, memory=asks, factors={"dense": nearness}),
            Candidate(answers.id, memory=answers, factors={"dense": 0.1}),
        ]
        found = weigh(
            candidates,
            read_cues("How does Bo relax?", NOW),
            terms,
            {asks.id: alone, answers.id: after},
            weights={"answers_dense": 1.0},
            passages={},
            middle=0.0,
        )
        return next(one.score for one in found if one.id == answers.id)

    behind = replace(alone, asks_before=True, before=asks.id)
    assert relevance(0.9, behind) > relevance(0.2, behind) > relevance(0.9, alone) == relevance(-0.5, behind) == 0.5
