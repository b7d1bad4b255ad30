"""What is ranked after the candidates that recall looks at closely, for whoever wants more of them than that.

How many are looked at closely does not depend on how many are wanted, so the first of a long answer are the short one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from recollect.core.ports import Channel
from recollect.core.query import Candidate, Query, Reading
from recollect.recall.gather import gather, hydrate
from recollect.store.store import Store

_BY_WORDS = ("keyword", "personal")


def list_rest(
    query: Query,
    reading: Reading,
    channels: Sequence[Channel],
    answered: Mapping[str, Sequence[Candidate]],
    *,
    seen: Collection[str],
    deadline: float,
    store: Store,
) -> list[Candidate]:
    """Further candidates, by words, or by meaning where only that was asked for, in the order of their channel. Each
    channel's own order holds however much it is asked for, and the next one begins where it ends."""
    by_meaning = query.mode == "dense" and bool(answered.get("dense"))
    names = ("dense",) if by_meaning else _BY_WORDS
    asked = replace(query, k=query.k + len(seen))
    wanted = [channel for channel in channels if channel.name in names]
    found = gather(asked, reading, wanted, deadline=deadline).channels
    rest = {one.id: one for name in names for one in found.get(name, ()) if one.id not in seen}
    return hydrate(list(rest.values()), store)[0]


def append_below(
    ranking: Sequence[Candidate], rest: Sequence[Candidate], score: Callable[[Sequence[Candidate]], list[Candidate]]
) -> list[Candidate]:
    """The ranking with further candidates after it, in their order, none scored above one before it."""
    last = ranking[-1] if ranking else None
    highest = 1.0 if last is None else last.score
    least = 0.0 if last is None else last.factors.get("relevance", last.score)
    scored = {one.id: one for one in score([replace(one, score=min(one.score, least)) for one in rest])}
    ordered = list(ranking)
    for one in rest:
        if one.id in scored:
            highest = min(highest, scored[one.id].score)
            ordered.append(replace(scored[one.id], score=highest))
    return ordered
