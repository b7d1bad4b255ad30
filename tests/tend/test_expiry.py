"""Decay draws its consequences once, from what is read, and never from evidence."""

from __future__ import annotations

from conftest import HandClock
from recollect import Filter, Status
from recollect.app import Recollect
from recollect.core.scope import Source
from recollect.store.check import check

EXPIRED = Filter(statuses=frozenset({Status.EXPIRED}))


def prune(memory: Recollect) -> dict[str, int]:
    report = memory.tend(job="prune").report("prune")
    assert report is not None
    return dict(report.details)


def test_a_fact_that_faded_below_a_twentieth_expires_and_is_never_deleted(memory: Recollect, clock: HandClock) -> None:
    fact = memory.remember("Sand is warm.", kind="fact", source=Source.MCP_AUTO)
    clock.pass_(days=27)
    assert prune(memory).get("expired", 0) == 0
    clock.pass_(days=2)
    assert prune(memory) == {"expired": 1, "deleted": 0}
    assert memory.get(fact.id).valid_until is not None
    clock.pass_(days=400)
    prune(memory)
    assert memory.get(fact.id).status is Status.EXPIRED


def test_fading_never_writes_a_confidence(memory: Recollect, clock: HandClock) -> None:
    fact = memory.remember("Sand is warm.", kind="fact", source=Source.MCP_AUTO)
    for _ in range(20):
        clock.pass_(days=1)
        prune(memory)
    assert memory.get(fact.id).confidence == fact.memory.confidence


def test_a_confirmed_fact_and_a_taught_one_are_protected(memory: Recollect, clock: HandClock) -> None:
    taught = memory.remember("Sand is warm.", kind="fact")
    confirmed = memory.remember("Snow is cold.", kind="fact", source=Source.MCP_AUTO)
    memory.confirm(confirmed.id)
    clock.pass_(days=5000)
    assert prune(memory) == {}
    assert {memory.get(one.id).status for one in (taught, confirmed)} == {Status.ACTIVE}


def test_a_code_memory_expires_after_three_half_lives_and_goes_a_month_later(
    memory: Recollect, clock: HandClock
) -> None:
    memory.remember("The build needs gen first.", kind="gotcha", source=Source.MCP_AUTO)
    pinned = memory.remember("The linker needs lld.", kind="gotcha", pinned=True)
    decision = memory.remember("We use Postgres.", kind="decision")
    clock.pass_(days=179)
    assert prune(memory) == {}
    clock.pass_(days=2)
    assert prune(memory) == {"expired": 1, "deleted": 0}
    clock.pass_(days=29)
    assert prune(memory) == {}
    clock.pass_(days=2)
    assert prune(memory) == {"expired": 0, "deleted": 1}
    assert {memory.id for memory in memory.list(Filter(statuses=frozenset(Status))).memories} == {
        pinned.id,
        decision.id,
    }
    assert check(memory.store).ok


def test_what_was_pruned_may_be_learnt_again(memory: Recollect, clock: HandClock) -> None:
    memory.remember("The build needs gen first.", kind="gotcha")
    for days in (181, 31):
        clock.pass_(days=days)
        prune(memory)
    assert memory.remember("The build needs gen first.", kind="gotcha").verdict == "new"


def test_episodes_never_expire(memory: Recollect, clock: HandClock) -> None:
    memory.sessions.capture("hello", session="s")
    clock.pass_(days=9000)
    assert prune(memory) == {}
    assert memory.count(EXPIRED) == 0


def test_a_dry_run_names_each_memory_and_the_reason(memory: Recollect, clock: HandClock) -> None:
    fact = memory.remember("Sand is warm.", kind="fact", source=Source.MCP_AUTO)
    clock.pass_(days=60)
    plan = memory.tend(job="prune", dry_run=True).plans[0]
    assert [(step.what, step.why) for step in plan.steps] == [
        (f"expire {fact.id}", "faded to 0.002 after 60 days unused")
    ]
    assert memory.count(EXPIRED) == 0


def test_nothing_that_a_person_taught_is_deleted_by_age(memory: Recollect, clock: HandClock) -> None:
    mine = memory.remember("The press needs two hands.", kind="gotcha")
    clock.pass_(days=700)
    assert prune(memory) == {"expired": 1, "deleted": 0}
    clock.pass_(days=700)
    prune(memory)
    assert memory.get(mine.id).status is Status.EXPIRED


def test_a_clock_that_is_years_ahead_expires_nothing(memory: Recollect, clock: HandClock) -> None:
    agents = memory.remember("The press needs two hands.", kind="gotcha", source=Source.MCP_AUTO)
    clock.pass_(days=3650)
    for _ in range(3):
        assert prune(memory) == {}
        clock.pass_(days=100)
    assert memory.get(agents.id).status is Status.ACTIVE


def test_what_was_written_while_the_clock_stood_at_1970_does_not_expire(memory: Recollect, clock: HandClock) -> None:
    clock.pass_(days=-20_000)
    old = memory.remember("The press needs two hands.", kind="gotcha", source=Source.MCP_AUTO)
    clock.pass_(days=20_000)
    memory.remember("The crane is yellow.")
    assert prune(memory) == {}
    assert memory.get(old.id).status is Status.ACTIVE
