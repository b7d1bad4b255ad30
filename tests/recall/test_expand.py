"""The second look: when it is taken, by what, and that it never costs the first one's answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import recollect
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.ids import MemoryId
from recollect.core.query import Briefing, Candidate, Query, Reading
from recollect.recall.expand import Expansion, _by_vectors, expand, is_weak, telling_words
from recollect.recall.reader import RetrievalContext, recall
from recollect.recall.recipes import MEASURED, SEED, Recipe, Widening
from recollect.testing.fakes import ScriptedModel, WordEmbedder

ALWAYS = Widening(enough=10**6, feedback=True)


class Scripted:
    """Chooses a language model that says what it is told to, and keeps the prompts."""

    def __init__(self, answer: str = "", error: Exception | None = None, wait: threading.Event | None = None) -> None:
        self.model = ScriptedModel(error if error is not None else answer)
        self.wait = wait

    @property
    def prompts(self) -> list[str]:
        return self.model.asked

    def __call__(self) -> ScriptedModel:
        if self.wait is not None:
            self.wait.wait(30)
        return self.model


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:", project="p", embedder=WordEmbedder(), settings=Settings(embedder="none")) as opened:
        opened.remember("Deploys are frozen on Fridays because of the payment batch.", kind="decision")
        opened.remember("The payment batch settles at noon with the acquirer.", kind="decision")
        opened.remember("The acquirer batch needs a payment reference.", kind="decision")
        for number in range(60):
            opened.remember(f"Canteen menu number{number} has soup{number}.", kind="fact")
        opened.tend()
        yield opened


def asked(
    memory: Recollect, text: str, how: Widening, *, recipe: Recipe = MEASURED, explicit: bool = True, **more: Any
) -> Briefing:
    senses: RetrievalContext = replace(memory.reader.context(), recipe=replace(recipe, widening=how), **more)
    return recall(Query(text, explicit=explicit), senses, now=memory.writer.clock())


def test_a_ranking_is_weak_when_too_few_are_more_likely_right_than_not() -> None:
    ranking = [Candidate(MemoryId(str(n)), score=score) for n, score in enumerate((0.9, 0.6, 0.5, 0.1))]
    assert is_weak(ranking, Widening(enough=3))
    assert not is_weak(ranking, Widening(enough=2))
    assert is_weak([], Widening())


def test_expansion_words_are_shared_by_leaders_and_rare_in_the_store(memory: Recollect) -> None:
    texts = ["The payment batch of the canteen menu", "a payment batch and menu", "only here: zebra"]
    reading = Reading("semantic", ("batch",), (), ())
    assert telling_words(texts, reading, memory.store, most=5) == ["payment"]
    assert telling_words(texts, reading, memory.store, most=0) == []
    assert telling_words([], reading, memory.store, most=5) == []


def test_words_of_the_first_results_bring_what_the_question_does_not_name() -> None:
    with recollect.open(":memory:", project="p", settings=Settings(embedder="none")) as memory:
        memory.remember("Deploys are frozen on Fridays because of the settlement.")
        memory.remember("Someone watches the settlement on Fridays.")
        target = memory.remember("A settlement runs at noon.").id
        for number in range(40):
            memory.remember(f"Canteen menu number{number} has soup{number}.")
        assert target not in {hit.id for hit in asked(memory, "Fridays", Widening()).hits}
        found = asked(memory, "Fridays", ALWAYS)
        assert target in {hit.id for hit in found.hits}
        assert "widened: also looked for settlement" in found.notes
        assert found.hits[-1].id == target


def test_what_resembles_the_first_results_comes_too(memory: Recollect) -> None:
    found = asked(memory, "frozen Fridays", replace(ALWAYS, words=0))
    assert any("feedback #1" in hit.reasons for hit in found.hits)


def test_an_injection_is_never_widened(memory: Recollect) -> None:
    writer = Scripted("Payment batch.")
    found = asked(memory, "frozen Fridays", ALWAYS, explicit=False, writer=writer)
    assert writer.prompts == []
    assert not any("widen" in note for note in found.notes)
    assert not any("widen" in note for note in memory.brief("frozen Fridays").notes)


def test_a_made_up_answer_finds_what_the_question_has_no_word_of(memory: Recollect) -> None:
    writer = Scripted("The acquirer batch needs a payment reference.")
    found = asked(memory, "qqq zzz", Widening(), writer=writer)
    assert found.hits[0].memory.content == "The acquirer batch needs a payment reference."
    assert "hypothesis #1" in found.hits[0].reasons
    assert "qqq zzz" in writer.prompts[0]
    assert any("hypothetical answer" in note for note in found.notes)


def test_a_strong_first_look_asks_no_language_model(memory: Recollect) -> None:
    writer = Scripted("anything")
    asked(memory, "frozen Fridays", Widening(enough=0), writer=writer)
    assert writer.prompts == []


@pytest.mark.parametrize(
    ("writer", "said"),
    [
        (Scripted(error=OSError("no model")), "widen: no model"),
        (Scripted(""), "widen: the language model wrote nothing"),
        (Scripted("late", wait=threading.Event()), "widen: too late"),
    ],
)
def test_a_language_model_in_trouble_costs_a_note_and_not_the_answer(
    memory: Recollect, writer: Scripted, said: str
) -> None:
    deadline = 0.05 if writer.wait is not None else 60.0  # only one of them is meant to be late
    found = asked(memory, "frozen Fridays", Widening(enough=9, deadline=deadline), writer=writer)
    assert found.hits[0].memory.content.startswith("Deploys are frozen")
    assert any(note.startswith(said) for note in found.notes)
    if writer.wait is not None:
        writer.wait.set()


def test_feedback_takes_over_when_the_language_model_fails(memory: Recollect) -> None:
    found = asked(memory, "frozen Fridays batch", ALWAYS, writer=Scripted(error=OSError("gone")))
    assert any(note.startswith("widened:") for note in found.notes)


def test_the_seed_recipe_can_look_again_too(memory: Recollect) -> None:
    found = asked(memory, "qqq zzz", Widening(), recipe=SEED, writer=Scripted("The acquirer batch needs a payment."))
    assert any("acquirer" in hit.memory.content for hit in found.hits)


@pytest.mark.parametrize("text", ["", "   ", "\0", "字", "word " * 10_000])
def test_any_question_is_safe(memory: Recollect, text: str) -> None:
    found = asked(memory, text, ALWAYS, writer=Scripted("x"))
    assert len(found.hits) <= Query(text).k
    assert not any("widen: " in note for note in found.notes)  # nothing went wrong on the way


def test_an_empty_store_is_looked_at_twice_without_harm() -> None:
    with recollect.open(":memory:", project="p", embedder=WordEmbedder()) as empty:
        assert asked(empty, "anything", ALWAYS, writer=Scripted("x")).hits == ()


def test_the_second_vector_lies_between_question_and_leaders() -> None:
    class Plane:
        """A dense channel of two dimensions that remembers what it was asked."""

        vector: Any = None

        def asked(self, text: str) -> Any:
            return np.array([1.0, 0.0])

        def said(self, text: str) -> Any:
            return np.array([0.0, 1.0])

        def mean_of(self, ids: Sequence[str]) -> Any:
            return np.array([0.0, 1.0])

        def near(self, query: Query, vector: Any) -> list[Candidate]:
            self.vector = vector
            return []

    plane = Plane()
    with recollect.open(":memory:", project="p", settings=Settings(embedder="none")) as memory:
        how, reading = Widening(feedback=True, share=0.4, words=0), Reading("semantic", ("x",), (), ())
        leader = Candidate(MemoryId("a"), memory=memory.get(memory.remember("said").id))
        expand([leader], Query("x"), reading, how, store=memory.store, dense=plane)
        assert plane.vector.tolist() == pytest.approx((np.array([0.6, 0.4]) / np.hypot(0.6, 0.4)).tolist())
        expand([leader], Query("x"), reading, how, store=memory.store, dense=plane, writer=Scripted("y"))
        assert plane.vector.tolist() == pytest.approx((np.array([0.4, 0.6]) / np.hypot(0.6, 0.4)).tolist())


def test_a_moved_vector_can_count_as_nearness(memory: Recollect) -> None:
    """The same candidates, measured by the question and by where feedback moved it."""
    still = asked(memory, "frozen Fridays", replace(ALWAYS, words=0))
    moved = asked(memory, "frozen Fridays", replace(ALWAYS, words=0, moved=True, share=0.9))
    dense = {hit.id: hit.factors.get("dense", 0.0) for hit in still.hits}
    assert any(hit.factors.get("dense", 0.0) > dense.get(hit.id, 0.0) for hit in moved.hits)


def test_a_second_look_by_vectors_that_fails_is_told_and_costs_nothing(memory: Recollect) -> None:
    class Broken:
        def mean_of(self, ids: Sequence[str]) -> None:
            raise RuntimeError("no vectors today")

    wider = Expansion()
    _by_vectors([], Query("deploys"), ALWAYS, Broken(), wider)  # type: ignore[arg-type]
    assert wider.notes == ["widen: no vectors today"]
    assert wider.channels == {}
