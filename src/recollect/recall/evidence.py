"""Weighing candidates by evidence: small, named reasons to believe that a memory answers a question. Pure.

Reciprocal ranks throw away how well something matched; on real conversations that loses to plain BM25. Here each
candidate is looked at once more: how much of the question it and the turns around it cover, whether it was said by the
person named, whether it tells a time when asked for one, how near its vectors are. Each reason has one weight in the
recipe, and what it contributed stays on the candidate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from recollect.core.query import Candidate
from recollect.core.records import Memory
from recollect.core.text import ROLES
from recollect.recall.question import (
    GENERIC,
    Question,
    is_standing_order,
    states_preference,
    tells_place,
    tells_time,
)

REACH = 5  # turns on either side that count as surroundings
_NEAR, _FAR = 0.7, 0.85  # how much of a word's worth is left one turn away, for exact and for loose coverage
_K1, _B = 1.2, 0.75  # BM25's usual saturation and length correction
_LONG = 120  # words: above, a statement says too many things
_SEASON = 100  # days: a longer window ("in 2023") says little
_BRIEF = 30  # words: a longer turn that ends in a question has said something before it
_SPREAD = sum(_NEAR ** abs(distance) for distance in range(-REACH, REACH + 1))
_USER = "user"
_ASSISTANT = "assistant"
_PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class Terms:
    """The question's words as the index sees them, and how much each is worth in this store.

    A set of them is a number with one bit for each word, so that what hundreds of turns hold is compared at once.
    """

    words: tuple[str, ...]
    worth: Mapping[str, float]  # inverse document frequency
    pairs: frozenset[tuple[str, str]]  # neighbouring words, where at least one tells something
    usual_length: float  # words in a typical memory
    _sums: dict[int, float] = field(default_factory=dict, compare=False, repr=False)

    def bits(self, words: Iterable[str]) -> int:
        place = {word: 1 << index for index, word in enumerate(self.words)}
        return sum(place[word] for word in set(words))

    def value(self, bits: int) -> float:
        """What a set of words is worth together."""
        known = self._sums.get(bits)
        if known is None:
            known = sum(self.worth[word] for index, word in enumerate(self.words) if bits >> index & 1)
            self._sums[bits] = known
        return known


@dataclass(frozen=True, slots=True)
class Turn:
    """One statement as far as the question goes: which of its words it holds, how often, and how long it is."""

    bits: int
    counts: Mapping[str, int]
    length: int


SILENCE = Turn(0, {}, 0)


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A candidate among its neighbours in the session, by distance."""

    rings: Sequence[int]  # the question's words that stand 0, 1, 2 … turns away, on either side
    turns: Mapping[int, Turn]  # by distance: the memory itself and the turn before it, or all of them
    pairs: int  # neighbouring words of the question that stand side by side here too
    asks_before: bool  # the turn before it is a question
    opens: bool  # it is one of the first two turns of its session
    before: str = ""  # the turn before it

    def at(self, distance: int) -> Turn:
        return self.turns.get(distance, SILENCE)


def worth(document_frequency: int, documents: int) -> float:
    """How much a word tells: rare ones much, words in every memory next to nothing."""
    return math.log(1 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))


Weights: TypeAlias = Mapping[str, float]


def weigh(
    candidates: Sequence[Candidate],
    asked: Question,
    terms: Terms,
    around: Mapping[str, ContextWindow],
    *,
    weights: Weights,
    passages: Weights,
    middle: float,
) -> list[Candidate]:
    """The candidates by the sum of their weighted evidence, squeezed into 0 to 1 around `middle`.

    A passage stands on its own and nobody says it, so other evidence counts for it than for a statement.
    """
    if not candidates:
        return []
    evidence = _Evidence(candidates, asked, terms, around, {*weights, *passages})
    weighed = [
        _weighed(
            candidate,
            evidence.of(candidate),
            passages if candidate.memory and candidate.memory.kind == _PASSAGE else weights,
            middle,
        )
        for candidate in candidates
    ]
    return sorted(weighed, key=lambda one: (-one.score, one.id))


def _weighed(one: Candidate, found: Mapping[str, float], weights: Weights, middle: float) -> Candidate:
    factors, total = dict(one.factors), -middle
    for name, value in found.items():
        if value and name in weights:
            share = weights[name] * value
            factors[f"why.{name}"] = share
            total += share
    score = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
    return Candidate(one.id, score, one.reasons, one.memory, factors, one.doubts)


class _Evidence:
    """Everything that needs all candidates at once is worked out here; `of` then looks at one.

    Only what some weight asks for is worked out: `used` names it.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        asked: Question,
        terms: Terms,
        around: Mapping[str, ContextWindow],
        used: Set[str],
    ) -> None:
        self._asked = asked
        self._terms = terms
        self._around = around
        self._used = used
        speakers = {
            candidate.memory.source_role
            for candidate in candidates
            if candidate.memory and candidate.memory.source_role
        }
        people = sorted(speakers - ROLES)
        self._speaker = asked.speaker(people)
        said = {word.lower() for name in people for word in name.split()}
        content = [word for word in terms.words if word not in said] or list(terms.words)
        self._content = terms.bits(content)
        self._telling = terms.bits([word for word in content if word not in GENERIC] or content)
        self._best_keyword = max((candidate.factors.get("bm25", 0.0) for candidate in candidates), default=0.0) or 1.0
        self._turns = {candidate.id: self._bm25(candidate.id, 0) for candidate in candidates}
        self._best_turn = max(self._turns.values(), default=0.0) or 1.0
        self._kernels = (
            {candidate.id: self._kernel(candidate.id) for candidate in candidates} if "kernel" in used else {}
        )
        self._best_kernel = max(self._kernels.values(), default=0.0) or 1.0
        self._nearness: dict[str, float] = {one.id: one.factors.get("dense", 0.0) for one in candidates}
        self._session_keyword = self._best_of_session(candidates, "bm25")
        self._session_dense = self._best_of_session(candidates, "dense")

    def of(self, one: Candidate) -> dict[str, float]:
        memory = one.memory
        if memory is None:
            return {}
        return {
            **self._lexical(one),
            **self._dense(one, memory),
            **self._fitting(memory),
            **self._telling_turn(memory),
            "graph": one.factors.get("graph", 0.0),
        }

    # --- words ----------------------------------------------------------------------------------------------------

    def _lexical(self, one: Candidate) -> dict[str, float]:
        around = self._around[one.id]
        own = around.at(0).length
        return {
            "keyword": one.factors.get("bm25", 0.0) / self._best_keyword,
            "turn": self._turns[one.id] / self._best_turn,
            "kernel": self._kernels[one.id] / self._best_kernel if self._kernels else 0.0,
            "coverage": self._covered(around.rings, self._content, _NEAR),
            "loose_coverage": self._covered(around.rings, self._telling, _FAR),
            "pairs": around.pairs / max(1, len(self._terms.pairs)),
            "session_keyword": self._of_session(one, self._session_keyword) / self._best_keyword,
            "long": 0.0 if self._asked.is_summary else max(0.0, math.log(max(own, 1) / _LONG)) / 2,
        }

    def _covered(self, rings: Sequence[int], words: int, fading: float) -> float:
        """The share of the words' worth that stands in the memory or, fading with distance, around it."""
        missing, found, left = words, 0.0, 1.0
        for bits in rings:
            if here := bits & missing:
                found += left * self._terms.value(here)
                missing &= ~here
                if not missing:
                    break
            left *= fading
        return found / (self._terms.value(words) or 1.0)

    def _bm25(self, id: str, distance: int) -> float:
        turn = self._around[id].at(distance)
        return self._saturated(turn.counts, turn.length, 1.0) if turn.counts else 0.0

    def _kernel(self, id: str) -> float:
        """BM25 of the memory with its surroundings, each turn counting less the farther it is."""
        counts: dict[str, float] = {}
        length = 0.0
        for distance, turn in self._around[id].turns.items():
            share = _NEAR ** abs(distance)
            length += share * turn.length
            for word, count in turn.counts.items():
                counts[word] = counts.get(word, 0.0) + share * count
        return self._saturated(counts, length, _SPREAD)

    def _saturated(self, counts: Mapping[str, float], length: float, spread: float) -> float:
        bulk = _K1 * (1 - _B + _B * length / (self._terms.usual_length * spread))
        return sum(self._terms.worth[word] * n * (_K1 + 1) / (n + bulk) for word, n in counts.items())

    # --- vectors --------------------------------------------------------------------------------------------------

    def _dense(self, one: Candidate, memory: Memory) -> dict[str, float]:
        if "dense" not in one.factors:
            return {}
        return {
            "dense": one.factors["dense"],
            "dense_text": one.factors.get("dense_text", one.factors["dense"]),
            "session_dense": self._of_session(one, self._session_dense),
        }

    # --- fit ------------------------------------------------------------------------------------------------------

    def _fitting(self, memory: Memory) -> dict[str, float]:
        """Does it offer what is asked for: that speaker, that time, a place, a number, a standing wish?"""
        asked, text = self._asked, memory.content
        is_user, is_assistant = memory.source_role == _USER, memory.source_role == _ASSISTANT
        wishes = is_user and is_standing_order(text)
        return {
            "speaker": float(self._speaker is not None and memory.source_role == self._speaker),
            "date": self._dated(memory),
            "when": float(asked.asks_when and tells_time(text)),
            "where": float(asked.asks_where and tells_place(text)),
            "assistant": float(is_assistant and not asked.is_summary and not asked.is_about_answers),
            "answer": float(is_assistant and asked.is_about_answers),
            "standing": float(wishes),
            "standing_asked": float(wishes and asked.is_request),
            "preference_asked": float(is_user and asked.is_request and states_preference(text)),
        }

    def _dated(self, memory: Memory) -> float:
        """1 inside the time asked for, less the farther outside; what is told later about it counts a little."""
        window = self._asked.window
        at: datetime | None = memory.event_at
        if window is None or window.event or at is None:
            return 0.0
        days = window.distance(at).total_seconds() / 86_400
        if window.holds(at):
            precise = window.start is not None and window.end is not None and (window.end - window.start).days < _SEASON
            return 1.0 if precise else 0.3
        late = window.side == "in" and window.end is not None and at >= window.end
        return math.exp(-days / 7) if late else 0.0

    def _telling_turn(self, memory: Memory) -> dict[str, float]:
        """A turn that asks is rarely the answer; the one after it often is."""
        around = self._around[memory.id]
        before = self._bm25(memory.id, -1) / self._best_turn if around.asks_before else 0.0
        near = max(0.0, self._nearness.get(around.before, 0.0)) if around.asks_before else 0.0
        return {
            "asks": float(around.at(0).length < _BRIEF and memory.content.rstrip().endswith("?")),
            "answers": before,
            "answers_dense": near,
            "opens": float(around.opens),
        }

    # --- sessions -------------------------------------------------------------------------------------------------

    def _best_of_session(self, candidates: Sequence[Candidate], factor: str) -> dict[str, float]:
        best: dict[str, float] = {}
        for candidate in candidates:
            if candidate.memory and candidate.memory.session and factor in candidate.factors:
                session = candidate.memory.session
                best[session] = max(best.get(session, -math.inf), candidate.factors[factor])
        return best

    def _of_session(self, one: Candidate, best: Mapping[str, float]) -> float:
        session = one.memory.session if one.memory else None
        return 0.0 if session is None else best.get(session, 0.0)
