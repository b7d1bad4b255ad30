"""Candidates by the state a question asks for: "where do I live?" shares no word with "I moved to Bergen"."""

from __future__ import annotations

from recollect.core.query import Candidate, Query, Reading
from recollect.core.states import STATE_OF, find_states
from recollect.store.store import Store

_DEPTH = 10  # statements of one state; there is rarely more than one that still holds


class StateChannel:
    """What was stated of the states a question may ask for, the newest first. It brings candidates only: how well one
    answers, its words tell."""

    name = "state"

    def __init__(self, store: Store) -> None:
        self._store = store

    def candidates(self, query: Query, reading: Reading) -> list[Candidate]:
        states = find_states(query.text)
        found = self._store.memories.having(STATE_OF, states, limit=_DEPTH) if states else []
        allowed = self._store.memories.admitted([one.id for one in found], query.filter)
        newest = sorted(allowed, key=lambda one: (one.happened_at, one.id), reverse=True)
        return [Candidate(one.id, memory=one) for one in newest]
