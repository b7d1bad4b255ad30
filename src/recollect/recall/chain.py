"""The causal chain: of files that are worked on together, what goes wrong with one matters for the other.

Adds a few gotchas, patterns and error patterns of the companions of the files in play. Reads, never writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.core.ports import Companions
from recollect.core.query import Candidate, Query
from recollect.recall.recipes import CHAIN_FROM, CHAIN_KINDS, CHAIN_MOST, CHAIN_TOP
from recollect.store.store import Store


def chained(
    ranking: Sequence[Candidate], query: Query, companions: Companions | None, store: Store | None
) -> list[Candidate]:
    """The ranking with at most a handful more, each below the candidate whose file led to it."""
    files = _in_play(ranking, query)
    if companions is None or store is None or not files:
        return list(ranking)
    sure = {file: weight for file, weight in companions.companions(sorted(files)).items() if weight > CHAIN_FROM}
    if not sure:
        return list(ranking)
    kinds = CHAIN_KINDS & query.filter.kinds if query.filter.kinds else CHAIN_KINDS
    wanted = replace(query.filter, files=frozenset(sure), kinds=kinds)
    known = {one.id for one in ranking}
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
    for one in ranking[:CHAIN_TOP]:
        for file in one.memory.files if one.memory else ():
            files[file] = max(files.get(file, 0.0), one.score)
    return files
