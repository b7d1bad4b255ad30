"""Third stage of recall: the channels' rankings become one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.core.ids import MemoryId
from recollect.core.query import Candidate


def fuse(channels: Mapping[str, Sequence[Candidate]], *, weights: Mapping[str, float], damping: int) -> list[Candidate]:
    """Merge the channels into one ranking from 0 to 1. Agreement counts; raw scores do not.

    Reciprocal ranks sum to a few hundredths, while every later weight assumes 0 to 1, so the sum is divided by the
    best one possible: first in every channel that answered.
    """
    present = {name: weights.get(name, 0.0) for name, ranked in channels.items() if ranked}
    best = sum(present.values()) / (damping + 1)
    merged: dict[MemoryId, Candidate] = {}
    for name, weight in present.items():
        for rank, candidate in enumerate(channels[name], start=1):
            share = weight / (damping + rank) / best if best else 0.0
            seen = merged.get(candidate.id)
            merged[candidate.id] = Candidate(
                candidate.id,
                share + (seen.score if seen else 0.0),
                (*(seen.reasons if seen else ()), f"{name} #{rank}", *candidate.reasons),
                (seen.memory if seen else None) or candidate.memory,
                {**seen.factors, **candidate.factors} if seen else candidate.factors,
            )
    return sorted(merged.values(), key=lambda candidate: (-candidate.score, candidate.id))
