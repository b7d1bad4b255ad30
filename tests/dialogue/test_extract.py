"""Facts by rule: what is one, what is not, and what it fills."""

from __future__ import annotations

import time

import pytest

from recollect.app import Recollect
from recollect.dialogue.extract import Extracted, extract_facts, split_sentences


def facts(memory: Recollect, said: str, role: str = "user") -> list[Extracted]:
    episode = memory.get(memory.sessions.capture(said, session="s", role=role).episodes[0])
    return extract_facts([episode])


@pytest.mark.parametrize(
    ("said", "sort", "slot"),
    [
        ("My name is Ada Lovelace.", "identity", "user|name"),
        ("I live in Lisbon now.", "identity", "user|home"),
        ("By the way, I've moved to Bergen.", "identity", "user|home"),
        ("I work at Siemens as an engineer.", "identity", "user|work"),
        ("My favorite color is green.", "preference", "user|favourite color"),
        ("I really prefer window seats.", "preference", ""),
        ("I can't stand cilantro.", "preference", ""),
        ("We decided to use Postgres for the ledger.", "decision", ""),
        ("Please always answer in French.", "instruction", ""),
        ("I'm planning a trip to Kyoto in October.", "commitment", ""),
        ("My flight is at 7:40 on Sunday.", "state", "user|mine flight"),
        ("I bought a yellow canoe last week.", "event", ""),
        ("Remember that the alarm code changes on Mondays.", "explicit", ""),
        ("I no longer drink coffee.", "state", ""),
    ],
)
def test_a_lasting_statement_is_drawn(memory: Recollect, said: str, sort: str, slot: str) -> None:
    assert [(fact.sort, fact.slot) for fact in facts(memory, said)] == [(sort, slot)]


@pytest.mark.parametrize(
    "said",
    [
        "What is my favorite color?",
        "Can you recommend a hotel?",
        "If I live in Paris one day, I would buy a bike.",
        "I think it may rain.",
        "The weather is nice today.",
        "I love it!",
        "Thanks, I like those ideas.",
        "```\nmy name is config\nI live in memory\n```",
        "> I live in Rome, she wrote.",
        "I'm getting an error when I run the build.",
        "Remember that epic game in May?",
        "ok",
        "私は京都に住んでいます。",
    ],
)
def test_what_is_no_lasting_statement_is_passed_over(memory: Recollect, said: str) -> None:
    assert facts(memory, said) == []


@pytest.mark.parametrize("role", ["assistant", "system", "tool", "Assistant"])
def test_a_machine_states_no_facts(memory: Recollect, role: str) -> None:
    assert facts(memory, "I live in Lisbon and I prefer tea.", role) == []


def test_the_request_behind_a_statement_is_cut_off(memory: Recollect) -> None:
    said = "I bought a yellow canoe in May, can you tell me how to clean it?"
    assert [fact.content for fact in facts(memory, said)] == ["User said: I bought a yellow canoe in May."]


def test_a_sentence_that_fills_two_things_is_two_facts(memory: Recollect) -> None:
    assert [fact.slot for fact in facts(memory, "My name is Ada and I live in London.")] == ["user|name", "user|home"]


def test_a_named_speaker_is_quoted_by_name(memory: Recollect) -> None:
    assert facts(memory, "I adopted two kittens from the shelter.", "Caroline")[0].content.startswith("Caroline said: ")


def test_yesterday_gets_its_date(memory: Recollect) -> None:
    assert facts(memory, "I visited the dentist yesterday.")[0].content.endswith("(2026-02-28)")


@pytest.mark.parametrize("piece", ["A. ", "Mr. X. ", "yeah, ", "e.g. "])
def test_abbreviations_and_asides_without_end_cost_no_more_than_their_length(piece: str) -> None:
    start = time.process_time()
    list(split_sentences(piece * 30_000))
    assert time.process_time() - start <= 2.0


def test_abbreviations_are_no_ends_of_sentences_and_asides_go() -> None:
    said = "Yeah, well, I met Dr. A. Smith of the U.S. Army today. He lives at No. 5 on Main St. I like him."
    assert list(split_sentences(said)) == [
        "I met Dr. A. Smith of the U.S. Army today.",
        "He lives at No. 5 on Main St. I like him.",
    ]
