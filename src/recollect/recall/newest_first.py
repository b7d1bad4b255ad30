"""Newest first: when a question asks how something stands, the latest of several statements about it leads. Pure.

What people record as facts is superseded when it is written; this is for what was only said. One statement moves to
the place of the first dated one and the rest keep their order: what is found stays found, a wrong move costs one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.core.query import Candidate
from recollect.recall.evidence import ContextWindow, Terms
from recollect.recall.question import GENERIC, Question, tells_amount
from recollect.recall.recipes import (
    NEWEST_ALIKE,
    NEWEST_AMOUNTS,
    NEWEST_NEARLY,
    NEWEST_SHARED,
    NEWEST_TOP,
    NEWEST_WITHIN,
)

_A_HAIR = 1e-9  # of relevance: enough to tell two places apart


def newest_first(
    ranking: Sequence[Candidate], asked: Question, terms: Terms, around: Mapping[str, ContextWindow], now: datetime
) -> list[Candidate]:
    """The ranking with the newest statement about the same as its first dated one in that one's place. What is dated
    after the question is a plan, and never the newest."""
    if not asked.asks_state:
        return list(ranking)
    dated = [place for place in _distinct(ranking)[:NEWEST_TOP] if _is_dated(ranking[place])]
    if len(dated) < 2:
        return list(ranking)
    first, *others = dated
    group = [first, *_about_the_same(ranking, first, others, asked, terms, around)]
    past = [place for place in group if _when(ranking[place]) <= now]
    newest = max(past, key=lambda place: (_when(ranking[place]), -place), default=first)
    if newest == first or _when(ranking[newest]) == _when(ranking[first]):
        return list(ranking)
    return _moved(ranking, newest, to=first, note=f"newest of {len(group)} alike")


def _distinct(ranking: Sequence[Candidate]) -> list[int]:
    """The places of statements that no better one repeats word for word."""
    seen: dict[str, int] = {}
    for place, one in enumerate(ranking):
        seen.setdefault(one.memory.fingerprint if one.memory else one.id, place)
    return list(seen.values())


def _about_the_same(
    ranking: Sequence[Candidate],
    first: int,
    others: Sequence[int],
    asked: Question,
    terms: Terms,
    around: Mapping[str, ContextWindow],
) -> list[int]:
    """Those of the others that hold mostly the same words of the question as the first and do not trail it too far: the
    more of the question both speak to, the farther. Two amounts, where one is asked for, are likely the same one."""
    leader = ranking[first]
    telling = terms.bits([word for word in terms.words if word not in GENERIC] or terms.words)
    mine, everything = around[leader.id].rings[0] & telling, terms.value(telling) or 1.0
    shared: dict[int, float] = {}
    for place in others:
        one = ranking[place]
        theirs = around[one.id].rings[0] & telling
        both = terms.value(mine & theirs)
        part = both / everything
        if part < NEWEST_SHARED or both < NEWEST_ALIKE * terms.value(mine | theirs):
            continue
        amounts = asked.asks_amount and all(tells_amount(_text(side)) for side in (leader, one))
        if _points(leader) - _points(one) <= NEWEST_WITHIN * part + (NEWEST_AMOUNTS if amounts else 0.0):
            shared[place] = part
    most = max(shared.values(), default=0.0)
    return [place for place, part in shared.items() if part >= NEWEST_NEARLY * most]


def _moved(ranking: Sequence[Candidate], place: int, *, to: int, note: str) -> list[Candidate]:
    """The ranking with one candidate moved up; scores stay with the places, and it leads where they are equal."""
    order = [*ranking[:to], ranking[place], *ranking[to:place], *ranking[place + 1 :]]
    moved = [replace(one, score=held.score) for one, held in zip(order, ranking, strict=True)]
    leading = moved[to].score
    behind = [replace(one, score=min(one.score, leading - _A_HAIR)) for one in moved[to + 1 : place + 1]]
    return [
        *moved[:to],
        replace(moved[to], reasons=(*moved[to].reasons, note)),
        *behind,
        *moved[place + 1 :],
    ]


def _is_dated(one: Candidate) -> bool:
    """Said at a known time, and not by an assistant: what it answered then was about then."""
    return one.memory is not None and one.memory.event_at is not None and one.memory.source_role != "assistant"


def _when(one: Candidate) -> datetime:
    assert one.memory is not None  # `_is_dated` let in only those with a date
    assert one.memory.event_at is not None
    return one.memory.event_at


def _text(one: Candidate) -> str:
    return "" if one.memory is None else one.memory.content


def _points(one: Candidate) -> float:
    return sum(share for name, share in one.factors.items() if name.startswith("why."))
