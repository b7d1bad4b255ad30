"""Sixth stage of recall: a model reads the best candidates and reorders them, if there is one and it is in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from recollect.core.ports import Reranker
from recollect.core.query import Candidate
from recollect.recall.gather import answer_in_time

_DEADLINE = 4.0  # seconds, for those who hand in none
_STANDING = ("phase", "trust", "confidence")  # what is known of a memory, however well it answers


def rerank(
    ranking: Sequence[Candidate], reranker: Reranker | None, *, question: str, top: int, deadline: float = _DEADLINE
) -> tuple[list[Candidate], str]:
    """The ranking with its first `top` reordered, and a note when that failed. Without a reranker nothing moves.

    A mark takes the place of relevance; phase, trust and confidence weigh on it as before. The rest stays behind.
    """
    head, tail = list(ranking[:top]), list(ranking[top:])
    if reranker is None or len(head) < 2 or not question.strip():
        return [*head, *tail], ""
    texts = [_text(one) for one in head]
    asked = answer_in_time(
        lambda: [float(mark) for mark in reranker.rerank(question, texts)], deadline=deadline, name=reranker.name
    )
    marks = asked.answer or []
    trouble = asked.trouble or _fault(marks, len(head))
    if trouble:
        return [*head, *tail], f"{reranker.name}: {trouble}"
    judged = [_judged(one, mark) for one, mark in zip(head, marks, strict=True)]
    best = sorted(judged, key=lambda one: (-one.score, one.id))
    least = best[-1].score
    return [*best, *(replace(one, score=min(one.score, least)) for one in tail)], ""


def _fault(marks: Sequence[float], count: int) -> str:
    if len(marks) != count:
        return f"{len(marks)} marks for {count} texts, ignored"
    return "" if all(math.isfinite(mark) for mark in marks) else "a mark is no number, ignored"


def _judged(one: Candidate, mark: float) -> Candidate:
    standing = math.prod(one.factors.get(name, 1.0) for name in _STANDING)
    return one.scored(mark * standing, rerank=mark)


def _text(one: Candidate) -> str:
    """Who said it belongs to what was said: a question about a person is answered by their own words."""
    if one.memory is None:
        return ""
    return f"{one.memory.source_role}: {one.memory.content}" if one.memory.source_role else one.memory.content
