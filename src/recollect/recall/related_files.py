"""Files beside the ones in play: their neighbours in the code graph move candidates up, and what goes wrong with files
that change together joins the ranking. An empty graph changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from recollect.core.ports import CoChange, Neighbourhood
from recollect.core.query import Candidate, Query
from recollect.core.ranking import multiply_odds
from recollect.recall.recipes import CHAIN_FROM, CHAIN_KINDS, CHAIN_MOST, CHAIN_TOP
from recollect.store.store import Store

BOOST_SHOWN = 8  # places in which it is told whether the boost changed anything


def boost(
    ranking: Sequence[Candidate], neighbourhood: Neighbourhood | None, *, top: int, last: int, gain: float
) -> list[Candidate]:
    """Candidates ranked after `top` and up to `last` gain for each neighbour they touch: their odds grow by e to the
    power of `gain` × (neighbours touched / files of the top)."""
    files = sorted({file for candidate in ranking[:top] if candidate.memory for file in candidate.memory.files})
    near = set(neighbourhood.neighbours(files)) if neighbourhood is not None and files else set()
    if not near:
        return list(ranking)
    boosted = [
        _boosted(candidate, near, gain, len(files)) if top < rank <= last else candidate
        for rank, candidate in enumerate(ranking, start=1)
    ]
    return sorted(boosted, key=lambda candidate: (-candidate.score, candidate.id))


def count_moved(before: Sequence[Candidate], after: Sequence[Candidate]) -> int:
    """How many of the first few are there by the boost alone."""
    leading = {one.id for one in before[:BOOST_SHOWN]}
    return sum(one.id not in leading for one in after[:BOOST_SHOWN])


def _boosted(candidate: Candidate, near: set[str], gain: float, files: int) -> Candidate:
    touched = len(near.intersection(candidate.memory.files)) if candidate.memory else 0
    if not touched:
        return candidate
    share = gain * touched / files
    raised = multiply_odds(candidate.score, math.exp(share))
    return candidate.plus(0.0, because=f"touches {touched} neighbouring file(s)").scored(raised, neighbourhood=share)


def add_co_changed(
    ranking: Sequence[Candidate], query: Query, co_change: CoChange | None, store: Store
) -> list[Candidate]:
    """The ranking with a handful of gotchas, patterns and error patterns of files that change together with those in
    play, each below the candidate whose file led to it."""
    files = _in_play(ranking, query)
    if co_change is None or not files:
        return list(ranking)
    sure = {file: weight for file, weight in co_change.changing_with(sorted(files)).items() if weight > CHAIN_FROM}
    if not sure:
        return list(ranking)
    kinds = CHAIN_KINDS & query.filter.kinds if query.filter.kinds else CHAIN_KINDS
    wanted = replace(query.filter, files=frozenset(sure), kinds=kinds)
    known = {candidate.id for candidate in ranking}
    found = store.memories.page(wanted, order="confidence", limit=CHAIN_MOST * 4).memories if kinds else ()
    added = [
        Candidate(memory.id, score=max(files.values()) * weight, reasons=(f"goes with {file}",), memory=memory)
        for memory in found
        if memory.id not in known
        for weight, file in [max((sure[file], file) for file in memory.files if file in sure)]
    ]
    best = sorted(added, key=lambda one: (-one.score, one.id))[:CHAIN_MOST]
    return sorted([*ranking, *best], key=lambda one: (-one.score, one.id))


def _in_play(ranking: Sequence[Candidate], query: Query) -> dict[str, float]:
    """The files named by the asker and those of the best candidates, with how much speaks for each."""
    best = ranking[0].score if ranking else 1.0
    files = dict.fromkeys(query.files, best)
    for candidate in ranking[:CHAIN_TOP]:
        for file in candidate.memory.files if candidate.memory else ():
            files[file] = max(files.get(file, 0.0), candidate.score)
    return files
