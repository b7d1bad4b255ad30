"""Between fuse and weigh: the memories of the candidates that are looked at, read at once and no earlier.

Channels say which memories may answer and how well; reading and checking whole ones costs more than finding them, so
only those are read that the channels together put in front.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.query import Candidate
from recollect.store.store import Store


def with_memories(candidates: Sequence[Candidate], store: Store) -> tuple[list[Candidate], list[str]]:
    """The candidates that can be read, each with its memory, and a note for each that is damaged. One that is gone by
    now is left out."""
    bare = [one for one in candidates if one.memory is None]
    if not bare:
        return list(candidates), []
    unplaced = [one.id for one in bare if one.place is None]
    places = store.memories.seqs(unplaced) if unplaced else {}
    places |= {one.id: one.place for one in bare if one.place is not None}
    sound, damaged = store.memories.placed(list(places.values()))
    found = []
    for one in candidates:
        if one.memory is not None:
            found.append(one)
            continue
        place = places.get(one.id)
        memory = None if place is None else sound.get(place)
        if memory is not None and memory.id == one.id:
            found.append(Candidate(one.id, one.score, one.reasons, memory, one.factors, one.doubts, place))
    return found, [f"{id} is damaged and was left out; run `recollect check`" for id in sorted(damaged)]
