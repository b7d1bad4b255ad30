"""Deciding about one side of a contradiction settles the other, in one act that can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import recollect
from recollect import Recollect
from recollect.core.errors import InvalidField, MemoryNotOpen, PersonOnly, StaleEdit, Tombstoned, UnknownChoice
from recollect.core.scope import Source, Status

OLD, NEW = "The API listens on port 8080.", "The API listens on port 9090."


@pytest.fixture
def memory() -> Iterator[Recollect]:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]

    def clock() -> datetime:
        now[0] += timedelta(seconds=1)
        return now[0]

    with recollect.open(":memory:", clock=clock) as opened:
        yield opened


def contradict(memory: Recollect) -> tuple[str, str]:
    old, new = memory.remember(OLD), memory.remember(NEW)
    assert new.verdict == "contradicts"
    return old.id, new.id


def standing(memory: Recollect, *ids: str) -> list[tuple[str, bool]]:
    return [(str(one.status), one.needs_review) for one in map(memory.get, ids)]


def test_confirming_the_newer_side_supersedes_the_older(memory: Recollect) -> None:
    old, new = contradict(memory)
    memory.confirm(new)
    closed = memory.get(old)
    assert (closed.status, closed.superseded_by, closed.valid_until) == (
        Status.SUPERSEDED, new, memory.get(new).happened_at,
    )  # fmt: skip
    assert standing(memory, new) == [("active", False)]
    assert memory.review.count() == 0


def test_confirming_the_older_side_rejects_the_newer_for_good(memory: Recollect) -> None:
    old, new = contradict(memory)
    memory.confirm(old)
    assert standing(memory, old, new) == [("active", False), ("rejected", False)]
    with pytest.raises(Tombstoned):
        memory.remember(NEW)


@pytest.mark.parametrize("side", [0, 1])
def test_one_undo_takes_back_a_confirmation_and_all_it_settled(memory: Recollect, side: int) -> None:
    ids = contradict(memory)
    before = [memory.get(id).having(updated_at=None, revision=0) for id in ids]
    links = [memory.why(id).points_at for id in ids]
    memory.confirm(ids[side])
    undone = memory.undo()
    assert set(undone.memories) == set(ids)
    assert [memory.get(id).having(updated_at=None, revision=0) for id in ids] == before
    assert [memory.why(id).points_at for id in ids] == links
    assert memory.review.count() == 1


def test_the_log_says_why_the_other_side_was_closed(memory: Recollect) -> None:
    old, new = contradict(memory)
    memory.confirm(new)
    entries = [entry for entry in memory.history(old) if entry.change.action == "supersede"]
    assert entries[0].change.why == f"{new} was confirmed instead"
    assert {entry.act for entry in entries} == {memory.history(new)[-1].act}


@pytest.mark.parametrize("side", [0, 1])
def test_rejecting_one_side_ends_the_question(memory: Recollect, side: int) -> None:
    ids = contradict(memory)
    memory.reject(ids[side])
    assert standing(memory, ids[1 - side]) == [("active", False)]
    assert memory.review.count() == 0
    memory.undo()
    assert memory.review.count() == 1


@pytest.mark.parametrize("reason", ["inaccurate", "outdated"])
def test_correcting_one_side_ends_the_question(memory: Recollect, reason: str) -> None:
    old, new = contradict(memory)
    memory.correct(old, "The gateway runs on another host.", reason=reason)
    assert standing(memory, new) == [("active", False)]


def test_what_waits_for_another_reason_too_goes_on_waiting(memory: Recollect) -> None:
    guess = memory.remember(NEW, source=Source.OBSERVER_INFERRED).id
    sure = memory.remember(OLD).id
    memory.relate(guess, "conflicts_with", to=sure)
    memory.reject(sure)
    assert standing(memory, guess) == [("candidate", True)]


def test_a_side_with_a_second_rival_goes_on_waiting(memory: Recollect) -> None:
    old, new = contradict(memory)
    third = memory.remember("Port 7070 belongs to the metrics endpoint.").id
    memory.relate(new, "conflicts_with", to=third)
    memory.reject(old)
    assert standing(memory, new) == [("active", True)]
    memory.reject(third)
    assert standing(memory, new) == [("active", False)]


def test_both_sides_can_be_right_and_undo_asks_again(memory: Recollect) -> None:
    old, new = contradict(memory)
    done = memory.review.decide(new, "keep_both")
    assert (standing(memory, old, new), done.waiting) == ([("active", False)] * 2, 0)
    assert memory.why(new).points_at == ()
    memory.undo(new)
    assert [item.id for item in memory.review.list().items] == [new]


def test_keeping_both_needs_two_sides(memory: Recollect) -> None:
    alone = memory.remember(OLD, needs_review=True).id
    with pytest.raises(InvalidField, match="contradicts no open memory"):
        memory.review.decide(alone, "keep_both")


def test_better_words_are_confirmed_in_one_act(memory: Recollect) -> None:
    guess = memory.remember("Use pip here.", source=Source.OBSERVER_INFERRED).id
    done = memory.review.decide(guess, "edit", content="Use uv here.")
    assert (done.memory.content, done.memory.verified, done.memory.status) == ("Use uv here.", True, Status.ACTIVE)
    memory.undo(guess)
    assert (memory.get(guess).content, memory.get(guess).status) == ("Use pip here.", Status.CANDIDATE)


def test_a_decision_names_the_words_of_both_sides(memory: Recollect) -> None:
    old, new = contradict(memory)
    item = memory.review.get(new)
    memory.edit(old, content="The API listens on port 8081.")
    for decision in ("confirm", "reject", "dispute", "keep_both"):
        with pytest.raises(StaleEdit):
            memory.review.decide(new, decision, seen=item.revisions)
    assert memory.review.count() == 1


def test_a_rival_that_came_meanwhile_is_not_closed_unseen(memory: Recollect) -> None:
    guess = memory.remember(OLD, source=Source.OBSERVER_INFERRED).id
    item = memory.review.get(guess)
    late = memory.remember("Something else altogether.").id
    memory.relate(late, "conflicts_with", to=guess)
    with pytest.raises(StaleEdit):
        memory.review.decide(guess, "confirm", seen=item.revisions)
    assert standing(memory, late) == [("active", False)]


def test_decisions_are_checked(memory: Recollect) -> None:
    guess = memory.remember(OLD, source=Source.OBSERVER_INFERRED).id
    with pytest.raises(UnknownChoice):
        memory.review.decide(guess, "shrug")
    with pytest.raises(InvalidField):
        memory.review.decide(guess, "edit")
    with pytest.raises(InvalidField):
        memory.review.decide(guess, "confirm", content="x")
    memory.review.decide(guess, "reject")
    with pytest.raises(MemoryNotOpen):
        memory.review.decide(guess, "confirm")


@pytest.mark.parametrize("door", ["mcp", "adapter", "chat", "cli", "hook"])
def test_no_agent_confirms_settles_or_clears_what_needs_review(memory: Recollect, door: str) -> None:
    old, new = contradict(memory)
    agent = memory.through(door)
    own = agent.remember("The API listens on port 7070.").id
    before = standing(memory, old, new)
    agent.confirm(new)
    agent.review.decide(new, "confirm")
    agent.review.decide(own, "edit", content="The API listens on port 6060.")
    with pytest.raises(PersonOnly):
        agent.review.decide(new, "keep_both")
    agent.reject(own)
    assert standing(memory, old, new) == before
    assert memory.review.count() == 1


def test_what_was_said_stays_said_whoever_is_right(memory: Recollect) -> None:
    memory.sessions.capture("The API listens on port 8080.", session="s", role="user")
    (said,) = memory.list(recollect.Filter(kinds="episode"))
    new = memory.remember(NEW, needs_review=True).id
    memory.relate(new, "conflicts_with", to=said.id)
    memory.confirm(new)
    assert memory.get(said.id).status is Status.ACTIVE


def test_a_confirmed_memory_that_was_stale_is_fresh_again(memory: Recollect) -> None:
    old = memory.remember(OLD, stale_at=datetime(2025, 1, 1, tzinfo=UTC)).id
    assert str(memory.review.get(old).question) == "stale"
    memory.confirm(old)
    assert (memory.get(old).stale_at, memory.review.count()) == (None, 0)
