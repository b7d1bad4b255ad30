"""What becomes of things said one after the other, as approved: added, said again, replaced, counted on, left out.

Each talk is a small history of one person; the facts are told with what they fill, how sure they are and their end.
"""

from __future__ import annotations

from typing import Any

from approval import approve
from conftest import HandClock
from recollect import Filter, Status
from recollect.app import Recollect
from recollect.dialogue.facts import likeness, outdoes, says_the_same, telling_words

_TALKS: dict[str, list[str]] = {
    "home": ["I live in Lisbon.", "I live in Lisbon now.", "I moved to Bergen last month.", "I moved back to Lisbon."],
    "name and age": [
        "My name is Ada and I live in London.",
        "Call me Countess.",
        "I turned 41 yesterday. I'm 42 years old.",
    ],
    "work": ["I work at Siemens as an engineer.", "I got a new job at Initech.", "I'm working for Globex now."],
    "kin": [
        "My sister is called Melanie. My dog is named Bruno.",
        "My dog is named Rex.",
        "My best friend is a nurse.",
    ],
    "favourites": ["My favorite color is green.", "My favourite color is blue.", "My favorite food has to be ramen."],
    "likes": [
        "I prefer tea.",
        "I love hiking in the Alps.",
        "I don't like cilantro.",
        "I love it!",
        "I never drink coffee.",
    ],
    "orders": ["Please always answer in French.", "From now on, use short sentences.", "Never call me before nine."],
    "plans": [
        "I'm planning a trip to Kyoto in October.",
        "I have a dentist appointment on Monday.",
        "I plan to run a marathon.",
    ],
    "decisions": [
        "We decided to use Postgres.",
        "We ruled out MongoDB for the ledger.",
        "Let's go with Redis for sessions.",
    ],
    "mine": [
        "My flight is at 7:40 on Sunday.",
        "My flight is at 9:15 on Sunday.",
        "My car is a red Volvo that I like a lot.",
    ],
    "counts": [
        "I have two cats.",
        "I have three cats now.",
        "I've read 12 books so far.",
        "I've read 15 books so far this year.",
    ],
    "ended": [
        "I drink coffee every day.",
        "I no longer drink coffee.",
        "I used to play the violin.",
        "I don't smoke anymore.",
    ],
    "events": [
        "I bought a yellow canoe last week.",
        "I visited the dentist yesterday.",
        "I had a setback.",
        "I met Ada two days ago.",
    ],
    "asked": [
        "Remember that the gate code is 4711.",
        "Don't forget: the bins go out on Tuesday.",
        "Remember that epic game?",
    ],
    "conditions": ["I'm allergic to peanuts.", "I'm a vegetarian.", "I am an issue here.", "I'm a bit tired."],
    "requests": [
        "I bought a canoe in May, can you tell me how to clean it?",
        "I live in Rome, and I'm wondering about trams.",
    ],
    "odd": [
        "If I live in Paris one day, I would.",
        "```\nI live in code.\n```",
        "> I live in Rome, she wrote.",
        "Dr. No lives. I own a 3D printer.",
    ],
    "aside": [
        "Oh, and by the way, I've moved to Oslo.",
        "Honestly, I prefer windows seats. Well, I work at Acme.",
        "ok",
    ],
}


def told(memory: Recollect, session: str) -> list[str]:
    every = Filter(kinds=frozenset({"fact"}), statuses=frozenset(Status), sessions=frozenset({session}), user=session)
    return sorted(
        f"{one.happened_at:%m-%d} [{one.status}] {one.content} | {', '.join(one.tags)} {one.confidence:.3f}"
        f" {one.attributes.get('slot', '')}"
        for one in memory.list(every, limit=100)
    )


def test_each_talk_leaves_the_approved_facts(memory: Recollect, clock: HandClock) -> None:
    found: dict[str, Any] = {}
    for name, said in _TALKS.items():
        counts = []
        for text in said:
            memory.sessions.capture(text, session=name, role="user", user=name)
            clock.pass_(days=3)
            (done,) = memory.sessions.consolidate(name)
            saved = done.saved
            counts.append(f"{len(saved.added)} {len(saved.known)} {len(saved.closed)} {saved.refused} {done.finished}")
        found[name] = {"facts": told(memory, name), "added, known, closed, refused, finished": counts}
    approve("talks", found)


def test_what_was_rejected_stays_rejected_in_other_words_and_what_was_said_twice_has_both_as_evidence(
    memory: Recollect, clock: HandClock
) -> None:
    for number in range(2):
        memory.sessions.capture("I prefer green tea in the morning.", session=f"s{number}", role="user")
        memory.sessions.consolidate(f"s{number}")
        clock.pass_(days=1)
    (fact,) = memory.sessions.facts()
    assert len([link for link in memory.why(fact.id).points_at if link.relation == "derived_from"]) == 2
    memory.reject(fact.id, why="no")
    memory.sessions.capture("I prefer green tea in the morning.", session="s3", role="user")
    (done,) = memory.sessions.consolidate("s3")
    assert done.saved.refused == 1
    assert not memory.sessions.facts()


def test_two_statements_are_the_same_another_count_or_neither() -> None:
    pairs = [
        ("I walk my dog in the park", "I walked the dog in the park"),
        ("I own 3 bikes", "I own 4 bikes"),
        ("I've read 12 books so far", "I've read 15 books so far"),
        ("I've read 12 books", "I've read 15 books so far"),
        ("I've seen 12 films so far", "I've read 15 books so far"),
        ("I have two cats now", "I have three cats now"),
        ("I bought two cats", "I saw three cats"),
        ("I like tea", "I like tea"),
        ("I like green tea very much", "I like black tea very much"),
    ]
    table = [
        [
            one,
            other,
            round(likeness(one, other), 3),
            says_the_same(one, other),
            outdoes(other, one),
            outdoes(one, other),
        ]
        for one, other in pairs
    ]
    approve(
        "talks-likeness",
        {"pairs": table, "words": sorted(telling_words("The tables were painted and it passes as red"))},
    )
