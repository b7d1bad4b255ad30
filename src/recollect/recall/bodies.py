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
    page = store.memories.get_many([one.id for one in bare])
    known = {memory.id: memory for memory in page.memories}
    found = [
        one if one.memory else Candidate(one.id, one.score, one.reasons, known[one.id], one.factors, one.doubts)
        for one in candidates
        if one.memory or one.id in known
    ]
    return found, [f"{id} is damaged and was left out; run `recollect check`" for id in sorted(page.damaged)]
