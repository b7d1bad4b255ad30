"""The four reasons of a correction, each with its own effect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import recollect
from recollect import Filter, Recollect
from recollect.core.errors import InvalidField, MemoryNotOpen, PersonsMemory, StaleEdit, Tombstoned, UnknownChoice
from recollect.core.scope import Scope, Source, Status

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SAID = "Tests run with tox."


@pytest.fixture
def memory() -> Iterator[Recollect]:
    now = [BEGAN]

    def clock() -> datetime:
        now[0] += timedelta(hours=1)
        return now[0]

    with recollect.open(":memory:", clock=clock) as opened:
        yield opened


def reasons(memory: Recollect, id: str) -> str:
    return memory.history(id)[-1].change.why


def test_what_was_inaccurate_cannot_come_back(memory: Recollect) -> None:
    wrong = memory.remember(SAID)
    better = memory.correct(wrong.id, "Tests run with nox.", reason="inaccurate", why="read the CI file")
    assert (better.verdict, memory.get(wrong.id).superseded_by) == ("supersedes", better.id)
    assert any(entry.change.why == "inaccurate: read the CI file" for entry in memory.history(wrong.id))
    with pytest.raises(Tombstoned):
        memory.remember(SAID)


def test_what_was_inaccurate_without_better_words_is_rejected(memory: Recollect) -> None:
    wrong = memory.remember(SAID)
    closed = memory.correct(wrong.id, reason="inaccurate")
    assert (closed.verdict, closed.memory.status) == ("closed", Status.REJECTED)
    with pytest.raises(Tombstoned):
        memory.remember(SAID)


def test_what_is_outdated_held_until_then_and_may_be_said_again(memory: Recollect) -> None:
    old = memory.remember(SAID, event_at=BEGAN - timedelta(days=30))
    until = BEGAN - timedelta(days=3)
    closed = memory.correct(old.id, reason="outdated", until=until, why="moved to nox")
    assert (closed.memory.status, closed.memory.valid_until) == (Status.EXPIRED, until)
    assert reasons(memory, old.id) == "outdated: moved to nox"
    assert memory.list().memories == ()
    assert [one.id for one in memory.list(Filter(as_of=BEGAN - timedelta(days=5)))] == [old.id]
    assert memory.list(Filter(as_of=BEGAN - timedelta(days=1))).memories == ()
    assert memory.remember(SAID).verdict == "new"
    memory.undo()
    memory.undo(old.id)
    assert (memory.get(old.id).status, memory.get(old.id).valid_until) == (Status.ACTIVE, None)


def test_what_is_outdated_gives_way_to_what_holds_since(memory: Recollect) -> None:
    old = memory.remember(SAID, event_at=BEGAN - timedelta(days=30))
    until = BEGAN - timedelta(days=3)
    new = memory.correct(old.id, "Tests run with nox.", reason="outdated", until=until)
    assert memory.get(old.id).valid_until == new.memory.happened_at == until
    assert memory.remember(SAID).verdict in ("new", "contradicts")  # it was no mistake


def test_what_will_be_outdated_holds_until_then(memory: Recollect) -> None:
    old = memory.remember(SAID)
    until = BEGAN + timedelta(days=300)
    assert memory.correct(old.id, reason="outdated", until=until).memory.status is Status.ACTIVE
    assert memory.get(old.id).valid_until == until


def test_a_candidate_that_will_be_outdated_stays_in_the_queue(memory: Recollect) -> None:
    guess = memory.remember(SAID, source=Source.OBSERVER_INFERRED)
    ending = memory.correct(guess.id, reason="outdated", until=BEGAN + timedelta(days=300))
    assert (ending.verdict, ending.memory.status, ending.memory.needs_review) == ("ends", Status.CANDIDATE, True)
    assert [item.id for item in memory.review.list().items] == [guess.id]


def test_what_is_too_specific_holds_where_it_was_learnt(memory: Recollect) -> None:
    broad = memory.remember(SAID, files=["api/tox.ini"], source=Source.OBSERVER_INFERRED)
    placed = memory.correct(broad.id, reason="too_specific")
    assert (placed.verdict, placed.memory.scope, placed.memory.files) == ("narrowed", Scope.MODULE, ("api/tox.ini",))
    assert (placed.memory.status, placed.memory.needs_review) == (Status.ACTIVE, False)
    assert reasons(memory, broad.id) == "too specific"


def test_what_is_too_specific_holds_where_a_person_says(memory: Recollect) -> None:
    broad = memory.remember(SAID)
    placed = memory.correct(broad.id, reason="too_specific", modules=["api"])
    assert (placed.memory.scope, placed.memory.modules) == (Scope.MODULE, ("api",))


def test_what_is_too_specific_is_said_more_generally(memory: Recollect) -> None:
    narrow = memory.remember("Run api/test_a.py with tox.", files=["api/test_a.py"], scope="module")
    general = memory.correct(narrow.id, SAID, reason="too_specific").memory
    assert (general.scope, general.files) == (Scope.GLOBAL, ())
    assert memory.get(narrow.id).superseded_by == general.id


def test_too_specific_asks_where_when_nobody_knows(memory: Recollect) -> None:
    broad = memory.remember(SAID)
    with pytest.raises(InvalidField, match="say where it holds"):
        memory.correct(broad.id, reason="too_specific")


def test_a_duplicate_leads_to_the_memory_that_stays(memory: Recollect) -> None:
    stays = memory.remember(SAID, tags=["ci"], files=["a.py"])
    guess = {"evidence": [{"session": "s1", "steps": [1]}]}
    repeat = memory.remember(
        "We use tox to run tests.", tags=["tox"], files=["b.py"], session="s1", attributes=guess, needs_review=True
    )
    receipt = memory.correct(repeat.id, reason="duplicate", duplicate_of=stays.id)
    assert (receipt.id, receipt.verdict, receipt.against) == (stays.id, "same", (repeat.id,))
    kept, gone = memory.get(stays.id), memory.get(repeat.id)
    assert (kept.tags, kept.files, kept.provenance) == (("ci", "tox"), ("a.py", "b.py"), ("s1",))
    assert kept.attributes["evidence"] == guess["evidence"]
    assert (gone.status, gone.superseded_by, gone.needs_review) == (Status.SUPERSEDED, stays.id, False)
    assert reasons(memory, repeat.id) == "duplicate"
    memory.undo(repeat.id)
    assert (memory.get(repeat.id).status, memory.get(stays.id).tags) == (Status.ACTIVE, ("ci",))


def test_corrections_that_make_no_sense_are_refused(memory: Recollect) -> None:
    one, other = memory.remember(SAID).id, memory.remember("Lint with ruff.").id
    for odd in (
        {"reason": "duplicate"},
        {"reason": "duplicate", "duplicate_of": one},
        {"reason": "duplicate", "duplicate_of": other, "content": "x"},
        {"reason": "outdated", "duplicate_of": other},
        {"reason": "inaccurate", "until": BEGAN},
    ):
        with pytest.raises(InvalidField):
            memory.correct(one, **odd)  # type: ignore[arg-type]
    with pytest.raises(UnknownChoice):
        memory.correct(one, "x", reason="ugly")
    memory.reject(other)
    with pytest.raises(MemoryNotOpen):
        memory.correct(one, reason="duplicate", duplicate_of=other)
    assert memory.get(one).status is Status.ACTIVE


@pytest.mark.parametrize("reason", ["inaccurate", "outdated", "too_specific", "duplicate"])
@pytest.mark.parametrize("content", [None, "Tests run with nox."])
def test_a_correction_holds_for_the_words_that_were_seen(memory: Recollect, reason: str, content: str | None) -> None:
    id = memory.remember(SAID, files=["a.py"]).id
    other = memory.remember("Lint with ruff.").id if reason == "duplicate" else None
    if other and content:
        return
    with pytest.raises(StaleEdit):
        memory.correct(id, content, reason=reason, duplicate_of=other, if_revision=7)
    assert memory.get(id).status is Status.ACTIVE
    assert memory.correct(id, content, reason=reason, duplicate_of=other, if_revision=1).id


@pytest.mark.parametrize("reason", ["inaccurate", "outdated", "too_specific", "duplicate"])
def test_an_agent_corrects_its_own_and_leaves_a_persons_as_it_is(memory: Recollect, reason: str) -> None:
    agent = memory.through("mcp")
    mine = memory.remember(SAID, files=["a.py"], tags=["mine"])
    theirs = agent.remember("Lint with ruff.", files=["b.py"], tags=["theirs"])
    before = memory.get(mine.id)
    with pytest.raises(PersonsMemory):
        agent.correct(mine.id, reason=reason, duplicate_of=theirs.id if reason == "duplicate" else None)
    agent.correct(theirs.id, reason=reason, duplicate_of=mine.id if reason == "duplicate" else None)
    assert memory.get(mine.id) == before
    assert not memory.get(theirs.id).verified
    assert memory.get(theirs.id).confidence <= theirs.memory.confidence
