"""The context provider: before an agent is asked, the few facts of other sessions that bear on the prompt, and the
latest reflection, as one fenced block. Nothing from the session itself: the agent has that already."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import blake2b

from recollect.core.kinds import Kind
from recollect.core.query import Briefing, Filter, Query
from recollect.core.records import Memory
from recollect.core.tokens import ESTIMATE
from recollect.dialogue.policy import CONTEXT_FACTS, CONTEXT_KINDS
from recollect.dialogue.reflect import latest_reflection
from recollect.dialogue.room import Room
from recollect.privacy.fence import fence
from recollect.recall.pack import as_hit
from recollect.recall.recall import recall


class ContextProvider:
    """Gives the block for a prompt. Keeps the latest reflection until told that there is a newer one."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._secret = os.urandom(16)
        self._reflection: tuple[int, Memory | None] | None = None

    def context(
        self, prompt: str, *, session: str | None = None, k: int = CONTEXT_FACTS, kinds: frozenset[str] = CONTEXT_KINDS
    ) -> Briefing:
        """The block for one prompt: the same facts always stand in the same order, so that prompt caches stay warm."""
        filter = Filter(kinds=kinds, except_sessions=frozenset({session} if session else ()))
        found = recall(Query(prompt, k=k, filter=filter, explicit=False), self._room.senses, now=self._room.clock())
        hits = sorted(found.hits, key=lambda hit: (hit.memory.happened_at, hit.id))
        if reflection := self._latest():
            hits.append(as_hit(reflection, reflection.confidence, because="the latest reflection"))
        text = fence(hits, nonce=self._nonce(session))
        return replace(found, hits=tuple(hits), text=text, tokens=ESTIMATE.count(text))

    def _latest(self) -> Memory | None:
        """From the cache, unless a reflection was written or withdrawn since."""
        count = self._room.store.memories.count(Filter(kinds=frozenset({Kind.REFLECTION})))
        if self._reflection is None or self._reflection[0] != count:
            self._reflection = (count, latest_reflection(self._room))
        return self._reflection[1]

    def _nonce(self, session: str | None) -> str:
        """One fence for each session and process: nobody can guess it, and it does not change from call to call."""
        return blake2b((session or "").encode(), key=self._secret, digest_size=8).hexdigest()
