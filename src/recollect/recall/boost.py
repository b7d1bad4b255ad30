"""Fourth stage of recall: candidates near the best ones' files move up. Pure; an empty graph changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.ports import Neighbourhood
from recollect.core.query import Candidate


def boost(
    ranking: Sequence[Candidate], neighbourhood: Neighbourhood | None, *, top: int, last: int, gain: float
) -> list[Candidate]:
    """Add `gain` × (neighbours touched / files of the top) to candidates ranked after `top` and up to `last`."""
    files = sorted({file for one in ranking[:top] if one.memory for file in one.memory.files})
    near = set(neighbourhood.neighbours(files)) if neighbourhood is not None and files else set()
    if not near:
        return list(ranking)
    boosted = [
        _boosted(candidate, near, gain, len(files)) if top < rank <= last else candidate
        for rank, candidate in enumerate(ranking, start=1)
    ]
    return sorted(boosted, key=lambda candidate: (-candidate.score, candidate.id))


def _boosted(candidate: Candidate, near: set[str], gain: float, files: int) -> Candidate:
    touched = len(near.intersection(candidate.memory.files)) if candidate.memory else 0
    if not touched:
        return candidate
    share = gain * touched / files
    return candidate.plus(share, because=f"touches {touched} neighbouring file(s)").scored(
        candidate.score + share, neighbourhood=share
    )
