"""A change of how something stands: the newer statement answers, by every door and without vectors."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect import Filter
from recollect.app import Recollect
from recollect.core.doors import OBSERVER
from recollect.core.scope import Source
from recollect.interfaces.cli import main as cli
from recollect.remember.state import read_state

CHANGES = [
    ("I live in Oslo", "I moved to Bergen", "Where does the user live?"),
    ("I live in Oslo.", "I live in Bergen now.", "Which city do I live in?"),
    ("The user lives in Oslo.", "The user has moved from Oslo to Bergen.", "Where does the user live?"),
    ("Ada lives in Oslo.", "Ada relocated to Bergen.", "Where does Ada live?"),
    ("I work at Acme as a developer.", "I started a new job at Globex last week.", "Where does the user work?"),
    ("My name is Anna Berg.", "I changed my name to Anna Lind.", "What is the user's name?"),
    ("I use vim as my editor.", "I switched to Zed.", "Which editor does the user use?"),
    ("The API listens on port 8080.", "The API listens on port 9090 now.", "Which port does the API listen on?"),
    ("Use yarn to install packages.", "Use pnpm now.", "Which package manager do we use?"),
    ("Use yarn.", "Use pnpm instead of yarn.", "package manager"),
    ("Use yarn.", "No, use pnpm, not yarn.", "package manager"),
    ("The team uses Jira for tickets.", "We moved from Jira to Linear.", "Where are our tickets?"),
    ("We use Fastly for caching.", "We switched from Fastly to Varnish for caching.", "what do we use for caching?"),
    ("I prefer dark mode.", "I prefer light mode now.", "Which theme does the user prefer?"),
]
NOISE = ["The user likes to live dangerously.", "The cat lives in the garden.", "Deploys run on Friday.",
         "The user prefers tea.", "Packages are signed.", "The team meets on Monday."]  # fmt: skip

# The second says nothing against the first.
APART = [
    ("I live in Oslo", "My sister moved to Bergen."),
    ("I live in Oslo", "Ada moved to Bergen."),
    ("I live in Oslo", "I'm moving to Bergen next year."),
    ("I live in Oslo", "I used to live in Bergen."),
    ("I live in Oslo", "I would move to Bergen if it rained less."),
    ("I live in Oslo", "I moved to Bergen in 2010."),
    ("I live in Oslo", "I moved to the backend team."),
    ("I live in Oslo", "I moved to Linux."),
    ("I live in Oslo", "I moved to Kubernetes."),
    ("I live in Oslo", "I live in a small flat."),
    ("I live in Oslo", "I also live in Bergen."),
    ("I live in Oslo", "I live in Bergen during the summer."),
    ("I work at Acme.", "I work as a nurse."),
    ("Use npm to install packages.", "Use uv now."),
    ("Use yarn for linting.", "Use npm for publishing now."),
    ("Use yarn.", "Use pnpm in the docs folder now."),
    ("Use yarn.", "Never use pnpm."),
    ("Use tabs in Python.", "Use tabs in Go now."),
    ("Ada uses vim.", "I use Zed now."),
    ("I use Linux.", "I use Windows."),
    ("Jira webhooks need the admin token.", "We moved from Jira to Linear."),
]


@pytest.mark.parametrize(("old", "new", "question"), CHANGES)
def test_the_newer_statement_takes_the_place_of_the_older_and_answers(
    memory: Recollect, clock: HandClock, old: str, new: str, question: str
) -> None:
    for text in NOISE:
        memory.remember(text)
    before = memory.remember(old)
    clock.pass_(days=30)
    after = memory.remember(new)
    assert (after.verdict, after.against) == ("supersedes", (before.id,))
    assert memory.recall(question).hits[0].id == after.id
    assert memory.get(before.id).superseded_by == after.id
    then = Filter(as_of=clock.now.replace(day=2, month=3))
    held = {hit.id for hit in memory.recall(question, filter=then)}
    assert before.id in held
    assert after.id not in held


@pytest.mark.parametrize(("old", "new"), APART)
def test_what_is_about_something_else_ends_nothing(memory: Recollect, old: str, new: str) -> None:
    before = memory.remember(old)
    assert memory.remember(new).verdict == "new"
    assert memory.get(before.id).superseded_by is None
    assert memory.review.count() == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use yarn.", "Use pnpm."),
        ("I live in Oslo", "I live in Norway"),
        ("Use yarn in the docs folder.", "Use pnpm now."),
        ("My name is Anna.", "My name is Berta."),
    ],
)
def test_what_merely_differs_is_put_to_a_person_with_both_sides(memory: Recollect, old: str, new: str) -> None:
    before = memory.remember(old)
    after = memory.remember(new)
    assert after.verdict == "contradicts"
    (item,) = memory.review.list().items
    assert (item.id, [rival.id for rival in item.rivals]) == (after.id, [before.id])


def test_an_older_statement_told_later_and_one_of_another_user_end_nothing(memory: Recollect) -> None:
    now = memory.remember("I live in Oslo", event_at=datetime(2026, 2, 1, tzinfo=UTC))
    late = memory.remember("I moved to Bergen", event_at=datetime(2020, 2, 1, tzinfo=UTC))
    assert late.verdict == "contradicts"
    assert memory.get(now.id).superseded_by is None
    assert memory.remember("I moved to Turin", user="ada").verdict != "supersedes"


def test_an_agent_that_says_a_person_moved_only_proposes_it(memory: Recollect) -> None:
    home = memory.remember("I live in Oslo")
    claimed = memory.through("mcp").remember("The user moved to Bergen.")
    assert claimed.verdict == "contradicts"
    assert memory.get(home.id).superseded_by is None


def test_a_changed_rule_that_a_person_said_in_a_prompt_takes_the_place_of_the_old_one(memory: Recollect) -> None:
    heard = memory.writer.through(OBSERVER)
    options = {"kind": "preference", "source": Source.USER_TAUGHT, "attributes": {"spoken": True}, "status": "active"}
    (old,) = heard.remember([recollect.Draft("Always use yarn to install packages.", **options)])
    (new,) = heard.remember([recollect.Draft("From now on use pnpm.", **options)])
    (odd,) = heard.remember([recollect.Draft("Use npm.", **options)])
    assert (new.verdict, new.against) == ("supersedes", (old.id,))
    assert (odd.verdict, odd.against) == ("contradicts", (new.id,))
    assert [str(item.question) for item in memory.review.list().items] == ["contradiction"]


def test_the_state_follows_an_edit_and_cannot_be_claimed(memory: Recollect) -> None:
    one = memory.remember("Bananas are yellow.", attributes={"state_of": "user|home"})
    assert "state_of" not in memory.get(one.id).attributes
    memory.edit(one.id, content="I live in Oslo.")
    assert memory.get(one.id).attributes["state_of"] == "user|home"
    memory.edit(one.id, content="Oslo is cold.")
    assert "state_of" not in memory.get(one.id).attributes


def test_what_is_said_in_a_talk_ends_what_was_told_otherwise(memory: Recollect, clock: HandClock) -> None:
    home = memory.remember("I live in Oslo")
    clock.pass_(days=1)
    memory.sessions.capture("By the way, I moved to Bergen last week.", session="s")
    memory.sessions.consolidate("s")
    assert memory.get(home.id).superseded_by is not None


def test_the_command_line_answers_with_the_newer_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--store", str(tmp_path / "m.db")]
    for text in (*NOISE, "I live in Oslo", "I moved to Bergen"):
        assert cli(["remember", text, *place]) == 0
    capsys.readouterr()
    assert cli(["recall", "Where does the user live?", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["memory"]["content"] == "I moved to Bergen"


@pytest.mark.parametrize("text", ["", " ", "I moved to " + "A" * 5000, "a" * 100_000, "Use " * 2000, "I" * 160, "\0"])
def test_whatever_is_said_is_read_without_fail(text: str) -> None:
    assert read_state(text) is None


def test_a_change_is_seen_within_one_batch(memory: Recollect) -> None:
    first, second = memory.remember_all([recollect.Draft("I live in Oslo"), recollect.Draft("I moved to Bergen")])
    assert (first.verdict, second.verdict) == ("new", "supersedes")
