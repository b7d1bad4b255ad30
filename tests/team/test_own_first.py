"""A person's own memory and the team's on the same: the newer and surer one leads, and both are shown."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from recollect.app import Recollect
from recollect.core.ids import MemoryId
from recollect.core.query import Candidate
from recollect.recall.precedence import put_own_first

THEIRS = "Run the release from the main branch with two reviewers."
MINE = "Run the release from the main branch with one reviewer only."


def made(memory: Recollect, clock: Any, *, days: int = 2, mine: float = 0.9, theirs: float = 0.6) -> tuple[Any, Any]:
    team = memory.remember(THEIRS, visibility="team", team="red", confidence=theirs).memory
    clock.pass_(days=days)
    own = memory.remember(MINE, visibility="personal", confidence=mine).memory
    return Candidate(own.id, 0.4, memory=own), Candidate(team.id, 0.7, memory=team)


def test_a_newer_and_surer_memory_of_ones_own_goes_just_before_the_teams(memory: Recollect, clock: Any) -> None:
    own, team = made(memory, clock)
    other = Candidate(MemoryId("mem_other"), 0.69)
    ordered = put_own_first([team, other, own])
    assert [one.memory and one.memory.visibility for one in ordered][:2] == ["personal", "team"]
    assert len(ordered) == 3


def test_one_that_is_less_sure_or_older_stays_where_it_is(memory: Recollect, clock: Any) -> None:
    own, team = made(memory, clock, mine=0.5)
    assert put_own_first([team, own]) == [team, own]
    newer = Candidate(team.id, 0.7, memory=team.memory.having(created_at=own.memory.created_at + timedelta(days=1)))
    sure = Candidate(own.id, 0.4, memory=own.memory.having(confidence=0.95))
    assert put_own_first([newer, sure]) == [newer, sure]


def test_what_is_about_something_else_does_not_move(memory: Recollect, clock: Any) -> None:
    _, team = made(memory, clock)
    own = memory.remember("I water the plants on Monday mornings", visibility="personal", confidence=0.95).memory
    assert put_own_first([team, Candidate(own.id, 0.1, memory=own)])[0] is team
