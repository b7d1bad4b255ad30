from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import recollect
from recollect import Filter, Scope, Source, Status, Visibility
from recollect.app import Recollect
from recollect.core.errors import UnknownChoice
from recollect.store.sqlite.backup import make_backup


def ids(memory: Recollect, query: str = "slate", **filters: object) -> set[str]:
    return {hit.memory.content for hit in memory.recall(query, k=50, filter=Filter(**filters))}  # type: ignore[arg-type]


@pytest.fixture
def varied(memory: Recollect) -> Recollect:
    memory.remember("slate gotcha", kind="gotcha", tags=["Roof"], files=["src/roof.py"], modules=["roof"], session="s1")
    memory.remember("slate fact", source=Source.AGENT_EXPLICIT, scope="module", confidence=0.5)
    memory.remember("slate old", event_at=datetime(2020, 5, 1, tzinfo=UTC), visibility="team", pinned=True)
    memory.reject(memory.remember("slate wrong").id)
    return memory


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"slate gotcha", "slate fact", "slate old"}),
        ({"kinds": frozenset({"gotcha"})}, {"slate gotcha"}),
        ({"tags": frozenset({"roof"})}, {"slate gotcha"}),
        ({"files": frozenset({"src/roof.py"})}, {"slate gotcha"}),
        ({"modules": frozenset({"roof"})}, {"slate gotcha"}),
        ({"sessions": frozenset({"s1"})}, {"slate gotcha"}),
        ({"except_sessions": frozenset({"s1"})}, {"slate fact", "slate old"}),
        ({"sources": frozenset({Source.AGENT_EXPLICIT})}, {"slate fact"}),
        ({"scopes": frozenset({Scope.MODULE})}, {"slate fact"}),
        ({"visibilities": frozenset({Visibility.TEAM})}, {"slate old"}),
        ({"min_confidence": 0.6}, {"slate gotcha", "slate old"}),
        ({"min_trust": 1.3}, {"slate gotcha", "slate old"}),
        ({"pinned": True}, {"slate old"}),
        ({"until": datetime(2021, 1, 1, tzinfo=UTC)}, {"slate old"}),
        ({"since": datetime(2021, 1, 1, tzinfo=UTC)}, {"slate gotcha", "slate fact"}),
        ({"statuses": frozenset({Status.REJECTED})}, {"slate wrong"}),
        ({"statuses": frozenset(Status), "kinds": frozenset({"fact"})}, {"slate fact", "slate old", "slate wrong"}),
    ],
)
def test_a_filter_admits_exactly_what_it_names(
    varied: Recollect, filters: dict[str, object], expected: set[str]
) -> None:
    assert ids(varied, **filters) == expected
    if "slate" in "".join(expected):
        listed = varied.list(Filter(**filters))  # type: ignore[arg-type]
        assert {memory.content for memory in listed.memories} == expected


def test_recall_itself_never_writes(varied: Recollect) -> None:
    before = varied.history()
    varied.recall("slate", track=False)
    assert varied.history() == before


def test_every_hit_carries_its_path_and_factors(varied: Recollect) -> None:
    hit = varied.recall("slate").hits[0]
    assert [reason.split(" #")[0] for reason in hit.reasons] == ["keyword"]
    assert {"bm25", "relevance", "recency", "frequency", "phase", "trust", "confidence"} <= set(hit.factors)
    assert hit.citation.startswith(f"[Memory #{hit.id}")


def test_the_same_question_gets_the_same_answer(varied: Recollect) -> None:
    answers = [[hit.id for hit in varied.recall("slate", track=False)] for _ in range(5)]
    assert answers == [answers[0]] * 5


def test_a_smaller_k_gives_a_prefix(varied: Recollect) -> None:
    wide = [hit.id for hit in varied.recall("slate", k=3, track=False)]
    assert [hit.id for hit in varied.recall("slate", k=2, track=False)] == wide[:2]


def test_a_briefing_is_fenced_cited_and_within_budget(varied: Recollect) -> None:
    briefing = varied.brief("slate roof work", phase="implement", budget=200)
    assert briefing.tokens <= 200
    assert briefing.text.count("[Memory #") == len(briefing.hits) > 0
    assert briefing.text.startswith("<recollect-memory ")


def test_an_unknown_phase_is_refused(varied: Recollect) -> None:
    with pytest.raises(UnknownChoice, match="phase"):
        varied.brief("slate", phase="coding")


def test_an_empty_store_answers_nothing(memory: Recollect) -> None:
    assert memory.recall("anything").hits == ()
    assert memory.brief("anything").text == ""
    assert make_backup(memory.store.engine) is None


def test_a_plain_recipe_lets_relevance_alone_decide(memory: Recollect) -> None:
    taught = memory.remember("The vault opens at nine.", kind="decision")
    memory.dispute(taught.id)
    by_default = memory.recall("when does the vault open", track=False).hits[0]
    plainly = memory.recall("when does the vault open", recipe="assistant", track=False).hits[0]
    assert plainly.score == plainly.factors["relevance"] == by_default.factors["relevance"] != by_default.score
    assert plainly.confidence == by_default.confidence


def test_an_unknown_recipe_is_an_error_that_lists_the_known_ones(memory: Recollect) -> None:
    with pytest.raises(UnknownChoice) as told:
        memory.recall("anything", recipe="gourmet")
    assert "documents" in told.value.hint


class TurnedEmbedder:
    """Puts a text that ends in a number at that angle from every question, in steps finer than a code can tell."""

    model, dims, at_hand = "turned", 64, False

    def __init__(self) -> None:
        ahead, aside = np.random.default_rng(3).standard_normal((2, self.dims))
        self._ahead = ahead / np.linalg.norm(ahead)
        aside -= aside @ self._ahead * self._ahead
        self._aside = aside / np.linalg.norm(aside)

    def embed_query(self, text: str) -> Any:
        return self._ahead.astype(np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        last = [text.split()[-1] for text in texts]
        angles = np.array([0.5 + 0.001 * int(word) if word.isdigit() else 1.5 for word in last])[:, None]
        return (np.cos(angles) * self._ahead + np.sin(angles) * self._aside).astype(np.float32)


def test_a_recall_by_meaning_alone_is_in_the_order_of_the_vectors_and_not_of_their_codes() -> None:
    steps = [7 * n % 31 for n in range(1, 31)]
    with recollect.open(":memory:", project="p", embedder=TurnedEmbedder()) as memory:
        for step in steps:
            memory.remember(f"A thing like no other at step {step}")
        memory.tend()
        hits = memory.recall("what lies nearest", mode="dense", k=len(steps)).hits
    assert [int(hit.memory.content.split()[-1]) for hit in hits] == sorted(steps)


def test_what_only_its_vector_found_and_hardly_speaks_of_the_question_is_not_shown() -> None:
    with recollect.open(":memory:", embedder=TurnedEmbedder()) as memory:
        memory.remember("Releases go out blue and green")
        memory.tend()
        assert len(memory.recall("database choice", mode="dense", track=False)) == 1  # it is the nearest there is
        assert memory.recall("database choice", track=False).hits == ()
        assert len(memory.recall("blue or green releases", track=False)) == 1


def test_age_does_not_lift_what_is_hardly_relevant_above_what_answers() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with recollect.open(":memory:", clock=lambda: now[0]) as memory:
        right = memory.remember("The billing service keeps its invoices in Aurora, one schema per country.")
        now[0] += timedelta(days=60)
        memory.remember("The billing dashboard got a new colour for its invoices tab.")
        now[0] += timedelta(days=1)
        found = memory.recall("where does the billing service keep its invoices", track=False)
        assert found.hits[0].memory.id == right.id
