"""The provider `recollect`: everything. The last turns, facts of other sessions and the latest reflection, a briefing
of what was taught or learnt, a working memory; what is said becomes evidence that facts are drawn from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from recollect.agent.providers import Surroundings
from recollect.agent.providers.recency import Recency
from recollect.agent.providers.replay import replay
from recollect.agent.providers.working import Working
from recollect.core.chat import ChatMessage
from recollect.core.kinds import Kind
from recollect.core.query import Filter, Hit, Query
from recollect.core.turns import Turn, Waking
from recollect.dialogue.context import ContextProvider
from recollect.dialogue.episodes import Message, capture
from recollect.dialogue.tools import Tool
from recollect.privacy.fence import fence
from recollect.recall.recall import recall
from recollect.recall.recipes import PLAIN_BUDGET, Budget
from recollect.remember.reinforce import note_access

TURNS = 20  # of the session, as they were
BRIEFED = 10  # hits of the briefing
# Relevance below which nobody is briefed unasked: small talk reached .35 among our own decisions, an answer .5.
RELEVANT = 0.4
BRIEFING = Budget(1_200, PLAIN_BUDGET.shares)  # tokens: beside the conversation, not instead of it
_APART = frozenset({Kind.EPISODE, Kind.FACT, Kind.REFLECTION, Kind.PASSAGE})  # come by another way, or are too many


class Everything:
    """Reads and writes through the room of conversations."""

    name = "recollect"

    def __init__(self, surroundings: Surroundings) -> None:
        self._room = surroundings.room
        self._recency = Recency(surroundings)
        self._context = ContextProvider(surroundings.room)
        self._working = Working(surroundings.room)
        self._session: str | None = None
        self._nonce = os.urandom(8).hex()

    def init(self) -> None:
        pass

    def on_wake(self, waking: Waking) -> None:
        self._session = waking.session
        self._recency.on_wake(waking)

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        window = replay(self.recent_turns(TURNS))
        if not hint or not hint.strip():
            return window
        told = self._context.context(hint, session=self._session)
        briefed = self._briefing(hint)
        self._count([*told.hits, *briefed])
        block = told.text + fence(briefed, nonce=self._nonce)
        return [*window, ChatMessage("user", block)] if block else window

    def save_turn(self, turn: Turn) -> None:
        capture(list(_told(turn)), self._room)

    def turn_count(self) -> int:
        return self._recency.turn_count()

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        return self._recency.recent_turns(limit)

    def working_memory(self) -> str | None:
        return self._working.text()

    def tools(self) -> Sequence[Tool]:
        return (self._working.tool(),)

    def on_sleep(self) -> None:
        """What was said waits for consolidation from now on; `tend` draws the facts."""
        store = self._room.store
        if not store.engine.read_only:
            with store.engine.write():
                store.sessions.queue_others("", at=self._room.now())
        self._session = None

    def close(self) -> None:
        self._session = None
        self._recency.close()

    def _briefing(self, hint: str) -> Sequence[Hit]:
        kinds = frozenset(str(rule.name) for rule in self._room.store.kinds) - _APART
        query = Query(hint, k=BRIEFED, filter=Filter(kinds=kinds), explicit=False)
        found = recall(query, self._room.senses, now=self._room.clock(), budget=BRIEFING)
        return [hit for hit in found.hits if hit.factors.get("relevance", 1.0) >= RELEVANT]

    def _count(self, hits: Sequence[Hit]) -> None:
        """Being handed over counts as access."""
        store = self._room.store
        ids = list(dict.fromkeys(hit.id for hit in hits if hit.memory.project == store.project))
        if ids and not store.engine.read_only:
            note_access(store, ids, self._room.hand())


def recollect(surroundings: Surroundings) -> Everything:
    return Everything(surroundings)


def _told(turn: Turn) -> Iterator[Message]:
    """What was said in a turn. Results of tools are no evidence: nobody said them."""
    yield Message(turn.input, turn.session, "user", turn.at, f"{turn.id}-input")
    if turn.output:
        yield Message(turn.output, turn.session, "assistant", turn.ended_at or turn.at, f"{turn.id}-output")
