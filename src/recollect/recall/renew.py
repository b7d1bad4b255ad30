"""Newest first: when a question asks how something stands, the latest of several statements about it leads. Pure.

Statements are alike when the words of the question that they hold are mostly the same. They trade places among
themselves and nothing else moves, so what is found stays found; each keeps its date for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.core.query import Candidate
from recollect.recall.evidence import Surroundings, Terms

# Chosen on LongMemEval's dated updates (n=31, no held-out half: decision 5). They cost a little of the reciprocal rank
# where a newer statement only resembles an answer, and nothing of recall at ten.
_TOP = 5  # places in which statements may trade
_ALIKE = 0.2  # shared part of the question's words, by worth, from which two statements may be about the same
_NEARLY = 0.3  # of the likeness of the most alike one: the rest is about something else
_WITHIN = 8.0  # points of evidence by which a statement may trail the one it overtakes


def newest_first(ranking: Sequence[Candidate], terms: Terms, around: Mapping[str, Surroundings]) -> list[Candidate]:
    """The ranking with each group of alike, dated statements among its first few in order of date."""
    head = list(ranking[:_TOP])
    for group in _groups(head, terms, around):
        newest = sorted(group, key=lambda place: _when(head[place]), reverse=True)
        places = sorted(group)
        if newest != places:
            moved = [replace(head[now], score=head[place].score) for place, now in zip(places, newest, strict=True)]
            note = f"newest of {len(group)} alike"
            moved[0] = replace(moved[0], reasons=(*moved[0].reasons, note))
            for place, one in zip(places, moved, strict=True):
                head[place] = one
    return [*head, *ranking[_TOP:]]


def _groups(head: Sequence[Candidate], terms: Terms, around: Mapping[str, Surroundings]) -> list[list[int]]:
    free = [place for place, one in enumerate(head) if _is_dated(one)]
    groups = []
    while free:
        leader, *others = free
        near = {
            place: likeness
            for place in others
            if _points(head[leader]) - _points(head[place]) <= _WITHIN
            and (likeness := _likeness(head[leader], head[place], terms, around)) >= _ALIKE
        }
        most = max(near.values(), default=0.0)
        group = [leader, *(place for place, likeness in near.items() if likeness >= _NEARLY * most)]
        groups.append(group)
        free = [place for place in others if place not in group]
    return [group for group in groups if len(group) > 1]


def _is_dated(one: Candidate) -> bool:
    """Said at a known time, and not by an assistant: what it answered then was about then."""
    return one.memory is not None and one.memory.event_at is not None and one.memory.source_role != "assistant"


def _when(one: Candidate) -> datetime:
    assert one.memory is not None  # `_is_dated` let in only those with a date
    assert one.memory.event_at is not None
    return one.memory.event_at


def _points(one: Candidate) -> float:
    return sum(share for name, share in one.factors.items() if name.startswith("why."))


def _likeness(one: Candidate, other: Candidate, terms: Terms, around: Mapping[str, Surroundings]) -> float:
    mine, theirs = around[one.id].rings[0], around[other.id].rings[0]
    return terms.value(mine & theirs) / (terms.value(mine | theirs) or 1.0)
