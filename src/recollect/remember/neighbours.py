"""Finds the few memories a new statement could agree or conflict with, cheaply enough for every write.

A rival shares the topic words, so it is found by asking the keyword index for all of them together: an intersection of
short lists, fast at any size. The rest of a batch is compared by its exact topic.
"""

from __future__ import annotations

from recollect.core.kinds import Kind
from recollect.core.records import Memory
from recollect.remember.contradiction import read_claim
from recollect.store.store import Store

_MOST_TOPIC = 4  # words asked for together: the longest say most, and a rival need share only three quarters of all
_MOST_RIVALS = 4
_UNWEIGHED = frozenset({Kind.EPISODE, Kind.PASSAGE})  # evidence: kept as it was said, whatever else was said


class ConflictCandidates:
    """The neighbours of one batch: what the store knows and what the batch said before."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_empty = store.memories.is_empty()
        self._said: dict[tuple[str | None, frozenset[str]], Memory] = {}

    def of(self, memory: Memory) -> list[Memory]:
        if memory.kind in _UNWEIGHED:
            return []
        topic = read_claim(memory.content).topic
        said = self._said.get((memory.user, topic))
        known = self._known(topic, memory.user) if len(topic) > 1 and not self._is_empty else []
        return [*known, *([said] if said else [])]

    def add(self, memory: Memory) -> None:
        if memory.kind not in _UNWEIGHED:
            self._said[memory.user, read_claim(memory.content).topic] = memory

    def _known(self, words: frozenset[str], user: str | None) -> list[Memory]:
        longest = sorted(words, key=lambda word: (-len(word), word))[:_MOST_TOPIC]
        return self._store.memories.sharing(longest, limit=_MOST_RIVALS, user=user)
