"""Marks from strangers, looked at hard: one for each text, every one a number, all of them from 0 to 1. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from recollect.models.rerank.errors import RerankerWrong

_SCORES = ("relevance_score", "score")
_LISTS = ("results", "data")


def numbered(answer: Any, *, name: str, count: int) -> list[float]:
    """Marks in the order of the texts, out of any `/rerank` answer.

    Cohere, Jina, vLLM and llama.cpp send `{"results": [{"index", "relevance_score"}]}`, Voyage calls the list `data`,
    text-embeddings-inference sends the bare list with `score`. All number their rows and sort them by relevance.
    """
    rows = answer
    if isinstance(answer, dict):
        rows = next((answer[key] for key in _LISTS if key in answer), None)
    if not isinstance(rows, list):
        raise RerankerWrong(name, "its answer has no list of results")
    found: dict[int, float] = {}
    for row in rows:
        place, mark = _row(row, name)
        if not 0 <= place < count or place in found:
            raise RerankerWrong(name, f"its answer numbers the texts wrongly ({place})")
        found[place] = mark
    if len(found) != count:
        raise RerankerWrong(name, f"{count} marks were asked for, {len(found)} came")
    return settled([found[place] for place in range(count)], name=name)


def settled(marks: Sequence[float], *, name: str) -> list[float]:
    """The marks from 0 to 1. A model that answers with raw scores shows it by leaving that range; all are squeezed
    then, which keeps their order."""
    if not all(math.isfinite(mark) for mark in marks):
        raise RerankerWrong(name, "a mark is NaN or infinite")
    if all(0.0 <= mark <= 1.0 for mark in marks):
        return list(marks)
    return [squeezed(mark) for mark in marks]


def squeezed(logit: float) -> float:
    """The logistic function, without overflow."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def _row(row: Any, name: str) -> tuple[int, float]:
    mark = next((row[key] for key in _SCORES if key in row), None) if isinstance(row, dict) else None
    place = row.get("index") if isinstance(row, dict) else None
    if not isinstance(place, int) or not isinstance(mark, (int, float)) or isinstance(mark, bool):
        raise RerankerWrong(name, "a result has no `index` or no number as its score")
    return place, float(mark)
