"""Modules are looked at as a whole at 5, 10, 20, 50 and 100 sessions, pairs across modules once a week; never twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.chores import WorkBudget
from recollect.core.kinds import Kind
from recollect.core.observed import Contribution, FileSeen, PairSeen, SessionSeen
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Source, Status
from recollect.observer import policy
from recollect.observer.context import ObserverContext
from recollect.observer.synthesis import (
    CausesChore,
    SynthesiseChore,
    causes,
    stage_of,
)
from recollect.testing.fakes import ScriptedModel


def used(path: str, *, edits: int = 0, reads: int = 1) -> FileSeen:
    return FileSeen(path=path, module=f"{path.rpartition('/')[0] or '.'}/", reads=reads, edits=edits)


def session(number: int, *files: FileSeen, **more: object) -> Contribution:
    return Contribution(
        session=SessionSeen(id=f"s{number}", started=1000.0 + 86_400 * number, events=5, steps=40),
        files=files,
        **more,  # type: ignore[arg-type]
    )


def pair(one: str, other: str, *, forward: int = 1, backward: int = 0) -> PairSeen:
    return PairSeen(one=one, other=other, forward=forward, backward=backward, steps=1.0, seconds=5.0)


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:") as opened:
        yield opened


def put(memory: Recollect, *sessions: Contribution) -> ObserverContext:
    with memory.store.engine.write():
        for one in sessions:
            assert memory.store.observed.put(one)
    return ObserverContext(memory.reader, memory.writer, memory.store.observed)


def run(chore: SynthesiseChore | CausesChore, room: ObserverContext) -> list[Memory]:
    """Run a chore and give what it added."""
    before = {one.id for one in everything(room)}
    chore.apply(chore.plan(room.writer.now(), due=True), WorkBudget())
    return [one for one in everything(room) if one.id not in before]


def everything(room: ObserverContext) -> list[Memory]:
    return list(room.reader.list(Filter(statuses=frozenset(Status)), limit=100).memories)


def in_api(number: int) -> Contribution:
    return session(number, used("api/routes.py", edits=1), used("core/schema.py"), used(f"api/x{number}.py"))


def elsewhere(sessions: int = 40) -> list[Contribution]:
    """Other work, so that chance can be told from a habit."""
    return [session(1000 + number, used(f"lib{number}/a.py", edits=1)) for number in range(sessions)]


@pytest.mark.parametrize(
    ("sessions", "done", "stage"),
    [(4, (), None), (5, (), 5), (9, ("5",), None), (10, ("5",), 10), (60, (), 50), (60, ("50",), None), (400, (), 100)],
)
def test_a_stage_is_reached_once_and_the_highest_of_several_counts(
    sessions: int, done: tuple[str, ...], stage: int | None
) -> None:
    assert stage_of(sessions, done) == stage


def test_the_usual_files_of_a_module_are_known_where_other_work_does_without(memory: Recollect) -> None:
    room = put(memory, *elsewhere(), *(in_api(number) for number in range(9)))
    (prefetch,) = run(SynthesiseChore(room), room)
    assert prefetch.content == "Work in `api/` nearly always needs `core/schema.py`: read it first."
    assert prefetch.kind == Kind.PREFETCH_PATTERN
    assert (prefetch.status, prefetch.source) == (Status.ACTIVE, Source.OBSERVER_INFERRED)
    assert prefetch.payload is not None
    assert prefetch.attributes["evidence"][0]["session"] == "s0"


def test_a_file_that_the_sessions_change_is_not_one_to_read_first(memory: Recollect) -> None:
    changed = [session(n, used("api/routes.py", edits=1), used("core/schema.py", edits=1)) for n in range(9)]
    room = put(memory, *elsewhere(), *changed)
    assert run(SynthesiseChore(room), room) == []


def test_four_sessions_are_too_few(memory: Recollect) -> None:
    room = put(memory, *(in_api(number) for number in range(4)))
    assert run(SynthesiseChore(room), room) == []


def test_a_look_is_never_made_twice_and_adds_five_memories_at_most(memory: Recollect) -> None:
    room = put(memory, *elsewhere(), *(in_api(number) for number in range(9)))
    first = run(SynthesiseChore(room), room)
    assert first
    per_look = [len(one.memories) for one in room.observed.syntheses()]
    assert max(per_look) <= policy.SYNTHESIS_HUNCHES
    assert run(SynthesiseChore(room), room) == []
    assert not SynthesiseChore(room).plan(room.writer.now(), due=True)


def test_a_later_stage_says_nothing_again_that_is_known(memory: Recollect) -> None:
    room = put(memory, *elsewhere(60), *(in_api(number) for number in range(9)))
    first = run(SynthesiseChore(room), room)
    assert first
    put(memory, *(in_api(number) for number in range(9, 14)))
    again = run(SynthesiseChore(room), room)
    assert {one.content for one in again}.isdisjoint({one.content for one in first})
    assert len({one.content for one in everything(room)}) == len(everything(room))


def test_nothing_is_done_before_its_hour(memory: Recollect) -> None:
    room = put(memory, *(in_api(number) for number in range(5)))
    assert not SynthesiseChore(room).plan(room.writer.now(), due=False)
    assert not CausesChore(room).plan(room.writer.now(), due=False)


def test_an_allowance_stops_between_modules(memory: Recollect) -> None:
    room = put(memory, *(in_api(number) for number in range(5)))
    chore = SynthesiseChore(room)
    plan = chore.plan(room.writer.now(), due=True)
    assert plan.total == 2
    assert chore.apply(plan, WorkBudget(most=1)).waiting == 1
    assert chore.apply(chore.plan(room.writer.now(), due=True), WorkBudget()).waiting == 0


A, B = "api/routes.py", "web/client.ts"


def tied(number: int, *, forward: bool = True) -> Contribution:
    seen = pair(A, B, forward=int(forward), backward=int(not forward))
    return session(number, used(A, edits=1), used(B, edits=1), pairs=(seen,))


def test_files_of_two_modules_that_follow_each_other_are_a_cause_found_once(memory: Recollect) -> None:
    room = put(memory, *elsewhere(), *(tied(number) for number in range(5)))
    (added,) = run(CausesChore(room), room)
    assert added.kind == Kind.CAUSAL_DEPENDENCY
    assert added.content.startswith(f"When you change `{A}`, check `{B}` too")
    assert set(added.provenance) >= {"s0", "s3"}
    assert run(CausesChore(room), room) == []


@pytest.mark.parametrize(
    "sessions",
    [
        [tied(0), tied(1)],
        [tied(0), tied(1, forward=False), tied(2), tied(3, forward=False)],
        [session(n, used(A), used(B), pairs=(pair(A, B),)) for n in range(5)],
        [tied(0), tied(1), tied(2), *(session(n, used(A), used("web/other.ts")) for n in range(3, 9)),
         *(session(n, used(B)) for n in range(9, 15))],
    ],
    ids=["too few sessions", "no direction", "read but not changed", "mostly apart"],
)  # fmt: skip
def test_a_pair_that_is_rare_undirected_only_read_or_loose_is_no_cause(
    memory: Recollect, sessions: list[Contribution]
) -> None:
    room = put(memory, *elsewhere(), *sessions)
    assert run(CausesChore(room), room) == []


def test_a_pair_that_chance_would_bring_together_is_no_cause(memory: Recollect) -> None:
    room = put(memory, *(tied(number) for number in range(9)))
    assert run(CausesChore(room), room) == []


def test_two_files_of_one_folder_are_no_cause_across_modules(memory: Recollect) -> None:
    near = [session(n, used("api/a.py"), used("api/b.py"), pairs=(pair("api/a.py", "api/b.py"),)) for n in range(5)]
    room = put(memory, *near)
    used_ = {file.path: file.sessions for file in room.observed.files()}
    assert causes(room.observed.pairs(), used_, every=100) == []


def test_a_rejected_synthesis_does_not_come_back(memory: Recollect) -> None:
    room = put(memory, *elsewhere(60), *(in_api(number) for number in range(9)))
    rejected = run(SynthesiseChore(room), room)
    for one in rejected:
        memory.reject(one.id)
    assert rejected
    put(memory, *(in_api(number) for number in range(9, 14)))
    again = run(SynthesiseChore(room), room)
    assert {one.content for one in again}.isdisjoint({one.content for one in rejected})


def test_one_call_of_a_model_may_tell_a_look_better_and_its_failure_costs_nothing(memory: Recollect) -> None:
    room = put(memory, *elsewhere(), *(tied(number) for number in range(5)))
    asked: list[str] = []

    def model(feature: str, session: str | None) -> ScriptedModel:
        asked.append(feature)
        return ScriptedModel({"memories": [{"number": 0, "text": f"Change `{A}` and `{B}` follows."}]})

    (added,) = run(CausesChore(replace(room, model=model)), room)
    assert added.content == f"Change `{A}` and `{B}` follows."
    assert len(asked) == 1
