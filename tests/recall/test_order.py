"""One order of answers: however many are asked for, whatever is asked, whenever the clock says it is."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect import Draft, Filter
from recollect.app import Recollect
from recollect.core.query import MODES, Query
from recollect.recall.question import read
from recollect.testing.fakes import WordEmbedder

WORDS = ("pump valve oil hall spring filter motor seal deploy friday cache token queue retry index shard").split()
KINDS = ("fact", "gotcha", "decision", "preference")


def fill(memory: Recollect, chance: random.Random, count: int) -> None:
    memory.remember_all(
        Draft(
            f"{' '.join(chance.choices(WORDS, k=chance.randrange(2, 9)))} number {number}",
            kind=chance.choice(KINDS),
            files=(f"src/{chance.choice(WORDS)}.py",) if chance.random() < 0.4 else (),
            confidence=round(chance.uniform(0.3, 1), 2),
            event_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=chance.randrange(60)),
            skip_conflict_check=True,
        )
        for number in range(count)
    )


@pytest.mark.both_engines
def test_the_first_of_a_long_answer_are_the_short_answer(place: Path | str, clock: HandClock) -> None:
    chance = random.Random(16)
    with recollect.open(place, project="p", clock=clock, embedder=WordEmbedder()) as memory:
        fill(memory, chance, 260)
        memory.tend(job="vectors")
        clock.pass_(days=40)
        for _ in range(12):
            asked = " ".join(chance.sample(WORDS, chance.randrange(1, 4)))
            filter = Filter(
                kinds=frozenset(chance.sample(KINDS, 2)) if chance.random() < 0.4 else frozenset(),
                files=f"src/{chance.choice(WORDS)}.py" if chance.random() < 0.2 else frozenset(),
            )
            mode, recipe = chance.choice(MODES), chance.choice((None, None, "seed", "rrf", "coding"))
            moment = clock.now
            answers = []
            for k in (10_000, *chance.sample(range(1, 260), 3), 8, 1, 0):
                clock.now = moment
                found = memory.recall(asked, k=k, filter=filter, mode=mode, recipe=recipe, track=False)
                answers.append((k, [hit.id for hit in found]))
            whole = answers[0][1]
            assert len(whole) == len(set(whole))
            for k, ids in answers:
                assert ids == whole[:k], (asked, mode, recipe, k)


def test_k_of_ten_thousand_returns_everything_that_shares_a_word(memory: Recollect) -> None:
    memory.remember_all(
        Draft(f"The pump number {number} is serviced in hall {number % 9}.", skip_conflict_check=True)
        for number in range(400)
    )
    assert len(memory.recall("pump", k=10_000, track=False)) == 400
    scores = [hit.score for hit in memory.recall("pump", k=10_000, track=False)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "question",
    [
        "", " ", "?", "!!!", "\0", "a", "pump", "the", "  pump  ", "pump " * 10_000,
        "ポンプは毎週金曜日に点検します", "ポンプ",
        "المضخة", "المضخة pump ポンプ", "🙂", "pump🙂", "насос", "ปั๊ม", "a" * 200_000,
        '"pump', "pump AND (", "NEAR(pump", "*",
    ],
)  # fmt: skip
def test_whatever_is_asked_is_answered(memory: Recollect, question: str) -> None:
    memory.remember("The pump is serviced on Friday.")
    memory.remember("ポンプは毎週金曜日に点検します。")
    memory.remember("المضخة تفحص كل يوم جمعة")
    memory.remember("насос проверяют по пятницам")
    for mode in MODES:
        memory.recall(question, mode=mode, track=False)
    memory.brief(question, track=False)
    for expected, script in (("ポンプ", "ポンプ"), ("المضخة", "المضخة"), ("насос", "насос"), ("pump", "pump")):
        if question.strip() == script:
            assert expected in memory.recall(question, track=False).hits[0].memory.content


def test_a_clock_that_jumps_and_memories_from_the_future_change_no_promise(clock: HandClock) -> None:
    with recollect.open(":memory:", clock=clock) as memory:
        present = memory.remember("The pump runs at night.").id
        clock.pass_(days=4000)
        ahead = memory.remember("The pump runs at noon.", kind="gotcha", event_at=clock.now + timedelta(days=900)).id
        clock.pass_(days=-4100)  # before anything was written
        found = memory.recall("pump", track=True)
        assert {hit.id for hit in found} == {present, ahead}
        assert all(0 <= hit.score <= 1 and 0 <= hit.confidence <= 1 for hit in found)
        late = memory.remember("The pump runs in spring.", kind="decision").id
        assert [hit.id for hit in memory.recall("pump", k=1, track=False)] == [memory.recall("pump", track=False)[0].id]
        clock.pass_(days=100_000)
        again = memory.recall("pump", k=10, track=False)
        assert {hit.id for hit in again} <= {present, ahead, late}
        assert all(0 <= hit.score <= 1 and 0 <= hit.confidence <= 1 for hit in again)


@pytest.mark.parametrize(
    "name",
    [
        "impact", "deps", "mcp__recollect__impact", "mcp_recollect_code_impact", "recollect.impact", "recollect/deps",
        "recollect:trace", "analyzeImpact", "getDependencies", "find_references", "code_impact(src/a.py)",
        "mcp__plugin_recollect_recollect__impact", "functions.mcp__recollect__deps",
    ],
)  # fmt: skip
def test_a_question_after_a_look_at_dependencies_is_structural_under_any_hosts_name(name: str) -> None:
    assert read(Query("what should I know", recent_calls=("Read", name))).type == "structural"


@pytest.mark.parametrize(
    "name", ["", "Read", "Bash", "impactful", "mcp__github__list_issues", "x" * 10_000, "()", "__"]
)
def test_other_tools_change_nothing(name: str) -> None:
    assert read(Query("what should I know", recent_calls=(name,))).type == "semantic"
