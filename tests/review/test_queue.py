"""The review queue: one set, one order across pages, the same counts at every door, evidence beside each item."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import Draft, Filter, Recollect
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.observed import Contribution, SessionSeen
from recollect.core.query import ANY_USER
from recollect.core.review import GROUPINGS, ReviewItem, ReviewQuestion
from recollect.core.scope import OPEN, Source
from recollect.interfaces.payloads.review import review_evidence_json, review_page_json
from recollect.interfaces.payloads.store import status_json

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:", clock=lambda: NOW) as opened:
        yield opened


def infer(memory: Recollect, text: str, confidence: float, **attributes: object) -> str:
    draft = Draft(
        text,
        kind=str(attributes.pop("kind", "gotcha")),
        confidence=confidence,
        source=Source.OBSERVER_INFERRED,
        needs_review=True,
        attributes=attributes,
    )
    return memory.writer.remember([draft])[0].id


def pages(memory: Recollect, size: int) -> list[str]:
    return [item.memory.content for item in items(memory, size)]


def items(memory: Recollect, size: int) -> list[ReviewItem]:
    page = memory.review.list(limit=size)
    queue = list(page.items)
    while page.cursor is not None:
        page = memory.review.list(limit=size, cursor=page.cursor)
        queue += page.items
    return queue


def test_the_queue_has_one_order_whatever_the_size_of_a_page(memory: Recollect) -> None:
    for place, confidence in enumerate((0.8, 0.3, 0.9, 0.5)):
        infer(memory, f"finding number {place}", confidence)
    best_first = [f"finding number {place}" for place in (2, 0, 3, 1)]
    assert [pages(memory, size) for size in (1, 2, 3, 50)] == [best_first] * 4


def test_what_a_person_said_comes_before_surer_guesses(memory: Recollect) -> None:
    infer(memory, "a sure guess", 0.95, signal="co_access")
    infer(memory, "a person stopped the agent", 0.5, signal="self_correction", spoken=True)
    infer(memory, "the agent corrected itself", 0.9, signal="self_correction", spoken=False, kind="module_insight")
    infer(memory, "a person said so before that was noted", 0.6, signal="self_correction")
    assert pages(memory, 1) == [
        "a person said so before that was noted",
        "a person stopped the agent",
        "a sure guess",
        "the agent corrected itself",
    ]


def test_what_it_saves_is_told_by_the_sessions_it_was_seen_in(memory: Recollect) -> None:
    with memory.store.engine.write():
        for name, tokens in (("one", 1_000), ("two", 3_000)):
            memory.store.observed.put(
                Contribution(session=SessionSeen(id=name, tokens=tokens, steps=10, started=1.0, events=1))
            )
    infer(memory, "seen twice", 0.5, evidence=[{"session": "one", "steps": [1, 2]}, {"session": "two", "steps": [3]}])
    infer(memory, "seen by nobody we know", 0.4, evidence=[{"session": "gone", "steps": [1]}])
    known, unknown = memory.review.list().items
    assert (known.sessions, known.steps, known.saves) == (("one", "two"), 3, 250)
    assert (unknown.sessions, unknown.steps, unknown.saves) == (("gone",), 1, 0)


# --- one set -------------------------------------------------------------------------------------------------------


def contradict(memory: Recollect) -> tuple[str, str]:
    """Two statements that cannot both be right; the second waits for review."""
    old = memory.remember("The API listens on port 8080.")
    new = memory.remember("The API listens on port 9090.")
    assert new.verdict == "contradicts"
    return old.id, new.id


def test_every_question_is_asked_in_one_queue_the_most_pressing_first(memory: Recollect) -> None:
    guess = infer(memory, "Run the linter before the tests.", 0.92)
    tainted = infer(memory, "The API returns dates without a zone.", 0.95, tainted=True, taint="web")
    stale = memory.remember("The beta ends in December.", stale_at=NOW - timedelta(days=1)).id
    doubted = memory.remember("Deploys happen on Fridays.").id
    memory.dispute(doubted)
    _, contradicting = contradict(memory)
    proposed = memory.remember("Ship on Mondays only.", status="candidate").id
    asked = [(str(item.question), item.id) for item in items(memory, 2)]
    assert asked == [
        ("contradiction", contradicting),
        ("dispute", doubted),
        ("stale", stale),
        ("candidate", guess),
        ("candidate", proposed),
        ("tainted", tainted),
    ]


def test_a_contradiction_shows_both_sides(memory: Recollect) -> None:
    old, new = contradict(memory)
    (item,) = memory.review.list().items
    assert (item.id, [rival.id for rival in item.rivals]) == (new, [old])
    assert set(item.revisions) == {old, new}


def test_what_waits_has_its_evidence_beside_it(memory: Recollect) -> None:
    with memory.store.engine.write():
        seen = SessionSeen(
            id="s1", host="claude-code", prompt="fix the build", started=1_700_000_000.0, steps=4, events=1
        )
        memory.store.observed.put(Contribution(session=seen))
    shown = [{"session": "s1", "steps": [2, 3]}, {"session": "gone", "steps": [1]}]
    id = infer(memory, "`rtk bun` does not exist here.", 0.7, evidence=shown)
    evidence = memory.review.evidence(id)
    first, second = evidence.sightings
    assert (first.session, first.host, first.steps, first.prompt) == ("s1", "claude-code", (2, 3), "fix the build")
    assert first.at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert (second.session, second.at) == ("gone", None)
    assert evidence.times == 3
    assert [entry.change.action for entry in evidence.history] == ["add"]
    assert review_evidence_json(evidence)["sightings"][0]["at"].startswith("2023-11-14")


def test_the_evidence_of_a_contradiction_tells_the_story_of_both_sides(memory: Recollect) -> None:
    old, new = contradict(memory)
    evidence = memory.review.evidence(new)
    assert list(evidence.rival_histories) == [old]
    assert [entry.change.action for entry in evidence.rival_histories[old]] == ["add"]


@pytest.mark.parametrize("odd", [7, "text", [1, 2], [{"steps": 5}], [{"session": {"a": 1}, "steps": ["x", None]}]])
def test_evidence_that_anybody_wrote_in_any_form_breaks_nothing(memory: Recollect, odd: object) -> None:
    id = infer(memory, "A guess with odd evidence.", 0.5, evidence=odd)
    assert memory.review.get(id).id == id
    assert review_evidence_json(memory.review.evidence(id))["item"]["id"] == id


def test_what_does_not_wait_has_no_item(memory: Recollect) -> None:
    id = memory.remember("The sky is blue.").id
    with pytest.raises(InvalidField, match="does not wait"):
        memory.review.get(id)


@pytest.mark.parametrize("cursor", ["x", "", "é", "bnVsbA", "W10", "WzEsMiwzLDQsNSw2XQ", "A" * 10_000])
def test_a_cursor_nobody_gave_out_is_refused(memory: Recollect, cursor: str) -> None:
    infer(memory, "something", 0.5)
    with pytest.raises(InvalidField, match="cursor"):
        memory.review.list(cursor=cursor)


def test_an_unknown_question_or_grouping_is_refused(memory: Recollect) -> None:
    infer(memory, "something", 0.5)
    with pytest.raises(UnknownChoice):
        memory.review.list(question="riddle")
    with pytest.raises(UnknownChoice):
        memory.review.groups("colour")
    with pytest.raises(UnknownChoice):
        memory.review.list(group=("colour", "red"))


def test_a_user_of_an_assistant_is_not_shown_what_waits_for_another(memory: Recollect) -> None:
    memory.remember("Alice is allergic to nuts.", needs_review=True, user="alice")
    shared = memory.remember("The office closes at six.", needs_review=True).id
    assert [item.id for item in memory.review.list(filter=Filter(needs_review=True)).items] == [shared]
    assert memory.review.count() == 2


def test_what_goes_stale_is_sent_to_review_by_tend() -> None:
    now = [NOW]
    with recollect.open(":memory:", clock=lambda: now[0]) as memory:
        id = memory.remember("The beta ends in March.", stale_at=NOW + timedelta(days=1)).id
        memory.tend(job="prune")
        assert memory.review.count() == 0
        now[0] += timedelta(days=2)
        memory.tend(job="prune")
        assert str(memory.review.get(id).question) == "stale"
        assert memory.history(id)[-1].change.why == "stale since 2026-01-02"
        memory.confirm(id)
        memory.tend(job="prune")
        assert memory.review.count() == 0


@pytest.mark.parametrize("change", [{"status": "candidate"}, {"stale_at": NOW - timedelta(days=1)}])
def test_an_edit_that_raises_a_question_sends_it_to_review(memory: Recollect, change: dict[str, Any]) -> None:
    id = memory.remember("The sky is blue.").id
    memory.edit(id, **change)
    assert [item.id for item in memory.review.list().items] == [id]


# --- in any store --------------------------------------------------------------------------------------------------

statements = st.fixed_dictionaries(
    {
        "status": st.sampled_from([None, "active", "candidate", "disputed"]),
        "needs_review": st.booleans(),
        "confidence": st.sampled_from([0.2, 0.5, 0.5, 0.9]),
        "files": st.sampled_from([(), ("a.py",), ("lib/b.py", "a.py")]),
        "modules": st.sampled_from([(), ("lib",)]),
        "user": st.sampled_from([None, None, "alice"]),
        "kind": st.sampled_from(["fact", "gotcha"]),
        "stale_at": st.sampled_from([None, NOW - timedelta(days=1), NOW + timedelta(days=1)]),
        "attributes": st.sampled_from([{}, {"tainted": True}, {"spoken": True}, {"spoken": False}]),
    }
)
places = st.integers(0, 30)
acts = st.tuples(st.sampled_from(["confirm", "reject", "dispute", "conflict", "undo", "correct"]), places, places)


def do(memory: Recollect, ids: list[str], act: tuple[str, int, int]) -> None:
    """One act, if the memory it is about is still open and the act still possible."""
    name, first, second = act
    id, other = ids[first % len(ids)], ids[second % len(ids)]
    try:
        if name == "conflict":
            if id != other:
                memory.relate(id, "conflicts_with", to=other)
        elif name == "correct":
            memory.correct(id, f"Better words for {id}.")
        elif name == "undo":
            memory.undo(id)
        else:
            getattr(memory, name)(id)
    except recollect.RecollectError:
        return


@given(
    drafts=st.lists(statements, min_size=1, max_size=9),
    done=st.lists(acts, max_size=8),
    sizes=st.tuples(st.integers(1, 4), st.integers(5, 12)),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_everything_that_waits_is_shown_once_in_one_order_and_counted_alike(
    drafts: list[dict[str, Any]], done: list[tuple[str, int, int]], sizes: tuple[int, int]
) -> None:
    with recollect.open(":memory:", clock=lambda: NOW) as memory:
        ids = [
            memory.remember_all([Draft(f"Statement {number} about topic{number}.", **fields)])[0].id
            for number, fields in enumerate(drafts)
        ]
        for act in done:
            do(memory, ids, act)
        everything = memory.list(Filter(statuses=frozenset(), user=ANY_USER), limit=1000)
        waiting = {one.id for one in everything if one.status in OPEN and one.needs_review}

        small, large = (items(memory, size) for size in sizes)
        assert [item.id for item in small] == [item.id for item in large]
        assert len(small) == len(waiting)
        assert {item.id for item in small} == waiting
        ranks = [list(ReviewQuestion).index(item.question) for item in small]
        assert ranks == sorted(ranks)

        total = memory.review.count()
        assert total == len(waiting) == memory.review.list(limit=0).total
        assert total == memory.count(Filter(needs_review=True, user=ANY_USER))
        assert {one.id for one in memory.list(Filter(needs_review=True, user=ANY_USER), limit=1000)} == waiting
        assert total == sum(memory.review.questions().values())
        assert status_json(memory, limit=1)["review"]["waiting"] == total
        assert review_page_json(memory.review.list())["total"] == total
        for by in GROUPINGS:
            groups = memory.review.groups(by)
            assert sum(group.count for group in groups) == total
            for group in groups:
                assert memory.review.list(group=(by, group.name)).total == group.count
        for item in small:  # both sides of a contradiction are open, and each names the other
            assert all(rival.status in OPEN for rival in item.rivals)
            assert (item.question is ReviewQuestion.CONTRADICTION) >= bool(item.rivals)


def test_the_evidence_of_a_sentence_is_its_own_prompt_or_none(memory: Recollect) -> None:
    rule = "Never edit generated files."
    with memory.store.engine.write():
        for name, prompt in (("s1", "fix the build"), ("s2", f"fix the till. {rule}")):
            memory.store.observed.put(Contribution(session=SessionSeen(id=name, prompt=prompt, steps=4, events=1)))
    shown = [{"session": "s1", "steps": [3]}, {"session": "s2", "steps": [1]}]
    id = infer(memory, rule, 0.7, evidence=shown, signal="said", spoken=True)
    assert [one.prompt for one in memory.review.evidence(id).sightings] == ["", f"fix the till. {rule}"]
