"""Consolidation: once, whole, resumable; conflicts close the old fact; what was rejected stays rejected."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect import Filter, Memory, Status
from recollect.app import Recollect
from recollect.core.chores import WorkBudget
from recollect.core.errors import SessionNotFound
from recollect.dialogue.consolidate import consolidate
from recollect.dialogue.context import PAGE
from recollect.store.check import check

EVERY = Filter(statuses=frozenset(Status))
JANUARY = datetime(2024, 1, 1, tzinfo=UTC)


def say(memory: Recollect, text: str, session: str = "s", days: int = 0) -> str:
    return memory.sessions.capture(text, session=session, at=JANUARY + timedelta(days=days)).episodes[0]


def facts(memory: Recollect, *, every: bool = False) -> list[Memory]:
    return sorted(memory.sessions.facts(filter=EVERY if every else None, limit=10_000), key=lambda fact: fact.content)


def contents(memory: Recollect) -> list[str]:
    return [fact.content for fact in facts(memory)]


def test_each_fact_cites_its_episodes(memory: Recollect) -> None:
    episode = say(memory, "I live in Oslo.")
    memory.sessions.consolidate("s")
    fact = facts(memory)[0]
    assert [(link.relation, link.target) for link in memory.why(fact.id).points_at] == [("derived_from", episode)]
    assert (fact.session, fact.event_at, fact.kind) == ("s", JANUARY, "fact")


def test_consolidating_twice_changes_nothing(memory: Recollect) -> None:
    for n in range(40):
        say(memory, f"I bought gadget number {n} in town{n}.", days=n)
    first = memory.sessions.consolidate("s")[0]
    before = facts(memory, every=True)
    assert (first.episodes, len(first.saved.added), first.finished) == (40, 40, True)
    again = memory.sessions.consolidate("s")[0]
    assert (again.episodes, again.finished) == (0, True)
    assert facts(memory, every=True) == before


def test_a_session_whose_bookkeeping_was_lost_yields_the_same_facts_again(memory: Recollect) -> None:
    for n, text in enumerate(["I live in Oslo.", "I moved to Rome.", "I prefer tea.", "I prefer tea!"]):
        say(memory, text, days=n)
    memory.sessions.consolidate("s")
    before = facts(memory, every=True)
    with memory.store.engine.write():
        memory.store.engine.execute("delete from sessions")
        memory.store.sessions.adopt()
    memory.sessions.consolidate("s")
    assert facts(memory, every=True) == before


def test_the_same_fact_in_another_session_gains_evidence_and_no_copy(memory: Recollect) -> None:
    first = say(memory, "I really prefer window seats.", "one")
    second = say(memory, "I prefer window seats.", "two", days=3)
    memory.tend(job="consolidate")
    fact = facts(memory)[0]
    assert len(facts(memory)) == 1
    assert {link.target for link in memory.why(fact.id).points_at} == {first, second}
    assert fact.provenance == ("one", "two")


def test_facts_that_differ_in_one_telling_word_are_both_kept(memory: Recollect) -> None:
    say(memory, "I prefer to drink my coffee without sugar. I prefer to drink my coffee without milk.")
    memory.sessions.consolidate("s")
    assert len(facts(memory)) == 2


# --- conflicts ------------------------------------------------------------------------------------------------------


def test_a_newer_fact_closes_the_older_one_and_keeps_it_as_evidence(memory: Recollect) -> None:
    say(memory, "I live in Oslo.", "one")
    say(memory, "I moved to Rome.", "two", days=30)
    memory.tend(job="consolidate")
    rome, oslo = facts(memory)[0], next(fact for fact in facts(memory, every=True) if "Oslo" in fact.content)
    assert contents(memory) == ["User said: I moved to Rome."]
    assert (oslo.status, oslo.confidence, oslo.superseded_by) == ("superseded", 0.3, rome.id)
    assert oslo.valid_until == JANUARY + timedelta(days=30)
    assert [(link.relation, link.target) for link in memory.why(rome.id).points_at][-1] == ("supersedes", oslo.id)


def test_the_later_event_wins_whichever_arrives_first(memory: Recollect) -> None:
    say(memory, "I live in Rome.", "late", days=30)
    memory.sessions.consolidate("late")
    say(memory, "I live in Oslo.", "early", days=0)
    memory.sessions.consolidate("early")
    assert contents(memory) == ["User said: I live in Rome."]
    oslo = next(fact for fact in facts(memory, every=True) if "Oslo" in fact.content)
    assert (oslo.status, oslo.valid_until) == ("superseded", JANUARY + timedelta(days=30))


def test_another_number_of_a_lasting_thing_closes_the_old_number(memory: Recollect) -> None:
    say(memory, "My record is 27 kilometres.", "one")
    say(memory, "My record is 31 kilometres.", "two", days=9)
    memory.tend(job="consolidate")
    assert contents(memory) == ["User said: My record is 31 kilometres."]


def test_two_events_never_close_one_another(memory: Recollect) -> None:
    say(memory, "I bought 3 lamps at the market.")
    say(memory, "I bought 5 lamps at the market.", days=1)
    memory.sessions.consolidate("s")
    assert len(facts(memory)) == 2


def test_two_people_do_not_close_one_another(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", role="Ann", at=JANUARY)
    memory.sessions.capture("I live in Rome.", session="s", role="Bob", at=JANUARY)
    memory.sessions.consolidate("s")
    assert contents(memory) == ["Ann said: I live in Oslo.", "Bob said: I live in Rome."]


def test_someone_who_moves_back_lives_there_again(memory: Recollect) -> None:
    for n, town in enumerate(["Oslo", "Rome", "Oslo"]):
        say(memory, f"I live in {town}.", f"s{n}", days=n)
        memory.sessions.consolidate(f"s{n}")
    assert contents(memory) == ["User said: I live in Oslo."]
    assert len(facts(memory, every=True)) == 3


# --- what was rejected ----------------------------------------------------------------------------------------------


def test_a_rejected_fact_stays_rejected_after_consolidating_again(memory: Recollect) -> None:
    say(memory, "I live in Oslo.", "one")
    memory.sessions.consolidate("one")
    memory.reject(facts(memory)[0].id, why="never did")
    say(memory, "I live in Oslo.", "two", days=1)
    done = memory.sessions.consolidate("two")[0]
    assert (contents(memory), done.saved.refused) == ([], 1)


def test_rejecting_a_fact_leaves_the_evidence_as_it_was(memory: Recollect) -> None:
    episode = say(memory, "I live in Oslo.")
    memory.sessions.consolidate("s")
    memory.reject(facts(memory)[0].id)
    assert (memory.get(episode).status, memory.get(episode).confidence) == ("active", 1.0)


def test_a_forgotten_fact_stays_forgotten(memory: Recollect) -> None:
    say(memory, "I live in Oslo.", "one")
    memory.sessions.consolidate("one")
    memory.forget(facts(memory)[0].id)
    say(memory, "I live in Oslo.", "two")
    memory.sessions.consolidate("two")
    assert facts(memory, every=True) == []


# --- resuming -------------------------------------------------------------------------------------------------------


def test_a_run_that_is_cut_short_goes_on_where_it_stopped(memory: Recollect) -> None:
    for n in range(PAGE * 2 + 5):
        say(memory, f"I visited island number {n}.", days=n)
    part = consolidate("s", memory.dialogue, budget=WorkBudget(most=1))
    assert (part.episodes, part.finished) == (PAGE, False)
    rest = consolidate("s", memory.dialogue)
    assert (rest.episodes, rest.finished) == (PAGE + 5, True)
    assert len(facts(memory)) == PAGE * 2 + 5


def test_two_processes_consolidate_a_session_once(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as one, recollect.open(tmp_path / "m.db") as other:
        for n in range(PAGE + 3):
            say(one, f"I visited island number {n}.", days=n)
        stale = other.store.sessions.get("s")
        assert stale is not None
        one.sessions.consolidate("s")
        with other.store.engine.write():
            assert not other.store.sessions.finish("s", at=JANUARY)
            assert not other.store.sessions.advance(stale, to=5)
        assert len(facts(one)) == PAGE + 3


_PROGRAM = """
import os, sys
import recollect
from recollect.store.sessions import Sessions

left = int(sys.argv[2])
plain = Sessions.advance

def advance(self, *given, **options):
    global left
    done = plain(self, *given, **options)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), 9)
    return done

Sessions.advance = advance
with recollect.open(sys.argv[1], project="p") as memory:
    memory.tend(job="consolidate")
"""


@pytest.mark.parametrize("page", [1, 2, 3])
def test_a_process_killed_inside_a_page_loses_and_repeats_nothing(tmp_path: Path, page: int) -> None:
    """The kill comes between the cursor and the facts of a page, inside its transaction."""
    store = tmp_path / "m.db"
    with recollect.open(store, project="p") as memory:
        for n in range(PAGE * 3):
            say(memory, f"I visited island number {n}.", days=n)
    killed = subprocess.run([sys.executable, "-c", _PROGRAM, str(store), str(page)], check=False)
    assert killed.returncode == -9
    with recollect.open(store, project="p") as memory:
        assert len(facts(memory)) == PAGE * (page - 1)
        memory.tend(job="consolidate")  # the dead process still holds its lease
        memory.sessions.consolidate("s")
        assert len(facts(memory)) == PAGE * 3
        assert memory.sessions.get("s").state == "consolidated"
        assert check(memory.store).ok


def test_the_lease_of_a_dead_process_runs_out(memory: Recollect, clock: HandClock) -> None:
    say(memory, "I live in Oslo.")
    memory.store.jobs.claim("consolidate", holder="dead", now=clock(), lease=timedelta(minutes=15))
    assert memory.tend(job="consolidate").skipped == ("consolidate: another process is at it",)
    clock.pass_(minutes=16)
    memory.tend(job="consolidate")
    assert contents(memory) == ["User said: I live in Oslo."]


def test_an_unknown_session_is_an_error(memory: Recollect) -> None:
    with pytest.raises(SessionNotFound):
        memory.sessions.consolidate("nowhere")


def test_the_same_words_said_twice_are_one_fact_of_both_episodes(memory: Recollect) -> None:
    first = memory.sessions.capture("I prefer tea over coffee.", session="s").episodes
    memory.sessions.capture("What a day.", session="s")
    second = memory.sessions.capture("I prefer tea over coffee.", session="s").episodes
    memory.sessions.consolidate("s")
    (fact,) = [fact for fact in memory.sessions.facts() if "tea" in fact.content]
    told = {link.target for link in memory.why(fact.id).points_at}
    assert {*first, *second} <= told


def test_a_session_is_finished_when_all_of_it_was_read(memory: Recollect) -> None:
    memory.sessions.capture("I prefer tea over coffee.", session="s")
    (done,) = memory.sessions.consolidate("s")
    assert done.finished is True
