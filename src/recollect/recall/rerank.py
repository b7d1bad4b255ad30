"""Sixth stage of recall: a model reads the best candidates and reorders them, if there is one and it answers."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.ports import Reranker
from recollect.core.query import Candidate


def rerank(
    ranking: Sequence[Candidate], reranker: Reranker | None, *, question: str, top: int
) -> tuple[list[Candidate], str]:
    """The ranking with its first `top` reordered, and a note when that failed. Without a reranker nothing moves."""
    head, tail = list(ranking[:top]), list(ranking[top:])
    if reranker is None or len(head) < 2:
        return [*head, *tail], ""
    try:
        marks = reranker.rerank(question, [one.memory.content if one.memory else "" for one in head])
    except Exception as error:  # a stranger's model: whatever it raises, the order stays as it was
        return [*head, *tail], f"{reranker.name}: {error or type(error).__name__}"
    if len(marks) != len(head):
        return [*head, *tail], f"{reranker.name}: {len(marks)} marks for {len(head)} texts, ignored"
    judged = [one.scored(mark, rerank=mark) for one, mark in zip(head, marks, strict=True)]
    return [*sorted(judged, key=lambda one: (-one.score, one.id)), *tail], ""
