"""`memory.sessions`: conversations as a program meets them. Mostly forwards; the work is in the modules beside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.conversations import Session
from recollect.core.errors import SessionNotFound
from recollect.core.kinds import Kind
from recollect.core.query import Briefing, Filter, Query, read_user
from recollect.core.records import Memory
from recollect.core.tokens import ESTIMATE
from recollect.dialogue.context import CONTEXT_FACTS, CONTEXT_KINDS, DialogueContext
from recollect.dialogue.episodes import KNOWN, Captured, Message, capture
from recollect.dialogue.reflect import latest_reflection
from recollect.privacy.fence import fence
from recollect.recall.pack import as_hit

if TYPE_CHECKING:
    from recollect.core.entities import Entity
    from recollect.dialogue.consolidate import Consolidated
    from recollect.dialogue.episodes import Format
    from recollect.dialogue.people import Profile
    from recollect.dialogue.tools import Tool


_BATCH = 500  # messages in one durable write of an import


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import."""

    messages: int
    captured: int
    known: int  # captured before
    left_out: int  # without a visible word
    sessions: int


class Sessions:
    """Conversations: capture what is said, look back at it, draw facts from it, and give context to the next."""

    def __init__(self, room: DialogueContext) -> None:
        self._room = room
        self._provider: ContextProvider | None = None

    # --- capture ---------------------------------------------------------------------------------------------------

    def capture(
        self,
        text: str,
        *,
        session: str,
        role: str = "user",
        at: datetime | None = None,
        id: str | None = None,
        user: str | None = None,
    ) -> Captured:
        """Keep one message, of one user of an assistant when one is named. Durable when this returns; no model."""
        return capture([Message(text, session, role, at, id, user)], self._room)[0]

    def capture_all(self, messages: Iterable[Message]) -> Sequence[Captured]:
        """Keep many messages, some hundred in each durable write."""
        return [one for some in _batches(messages) for one in capture(some, self._room)]

    def import_chats(
        self,
        path: str | Path,
        *,
        format: Format = "auto",
        user: str | None = None,
        progress: Callable[[int, int], None] = lambda done, _: None,
    ) -> Imported:
        """Take in an export of ChatGPT or Claude, or lines of JSON. Importing it again adds only what is new."""
        from recollect.dialogue.episodes import read_chats

        total = captured = known = 0
        sessions: set[str] = set()
        name = read_user(user)
        for some in _batches(replace(message, user=name) for message in read_chats(Path(path), format)):
            results = capture(some, self._room)
            total += len(results)
            captured += sum(bool(result.episodes) for result in results)
            known += sum(result.left_out == KNOWN for result in results)
            sessions |= {result.session for result in results}
            progress(total, 0)
        return Imported(total, captured, known, total - captured - known, len(sessions))

    # --- look back -------------------------------------------------------------------------------------------------

    def list(self, *, limit: int = 50, skip: int = 0, user: str | None = None) -> Sequence[Session]:
        """Sessions in which that user, or nobody in particular, said something; the one spoken in last first."""
        return self._room.sessions.page(limit=limit, skip=skip, user=read_user(user))

    def get(self, id: str, *, user: str | None = None) -> Session:
        found = self._room.sessions.get(id, user=read_user(user))
        if found is None:
            raise SessionNotFound(id)
        return found

    def episodes(self, id: str, *, limit: int = 1_000, user: str | None = None) -> tuple[Memory, ...]:
        """What was said in a session that a user may see, by event time; the last `limit` of it."""
        self.get(id, user=user)
        return tuple(self._room.sessions.latest(id, limit=limit, user=read_user(user)))

    def facts(
        self,
        *,
        session: str | None = None,
        filter: Filter | None = None,
        limit: int = 50,
        user: str | None = None,
    ) -> tuple[Memory, ...]:
        """Facts that a user may see, newest first; those drawn from one session when it is named."""
        asked = self._room.reader.check((filter or Filter()).for_user(user))
        if asked.kinds and Kind.FACT not in asked.kinds:
            return ()
        asked = replace(asked, kinds=frozenset({Kind.FACT}))
        if session is not None:
            asked = replace(asked, sessions=frozenset({session}))
        return self._room.reader.list(asked, limit=limit).memories

    # --- consolidate and give context --------------------------------------------------------------------------------

    def consolidate(self, id: str | None = None) -> tuple[Consolidated, ...]:
        """Draw the facts of one session now, or of every one that is queued."""
        from recollect.dialogue.consolidate import consolidate

        ids = [id] if id is not None else [one.id for one in self._room.sessions.pending(queued=True)]
        return tuple(consolidate(one, self._room) for one in ids)

    def context(
        self,
        prompt: str,
        *,
        session: str | None = None,
        k: int = CONTEXT_FACTS,
        kinds: frozenset[str] = CONTEXT_KINDS,
        user: str | None = None,
    ) -> Briefing:
        """One fenced block for the next call: facts of other sessions that bear on it, and the last reflection."""
        if self._provider is None:
            self._provider = ContextProvider(self._room)
        return self._provider.context(prompt, session=session, k=k, kinds=kinds, user=user)

    def reflection(self) -> Memory | None:
        """The latest reflection."""
        from recollect.dialogue.reflect import latest_reflection

        return latest_reflection(self._room)

    # --- entities --------------------------------------------------------------------------------------------------

    def entities(
        self, *, type: str | None = None, limit: int = 50, skip: int = 0, user: str | None = None
    ) -> Sequence[Entity]:
        """Who and what is spoken of in what a user may see, the most mentioned first."""
        return self._room.entities.page(type=type, limit=limit, skip=skip, user=read_user(user))

    def entity(self, name: str, *, type: str | None = None, limit: int = 20, user: str | None = None) -> Profile:
        """All that a user may know of one entity, by name, alias or id."""
        from recollect.dialogue.people import read_profile

        return read_profile(name, self._room, type=type, limit=limit, user=read_user(user))

    def merge_entities(self, keep: str, other: str, *, why: str = "") -> Entity:
        """Two names for one."""
        from recollect.dialogue.people import merge_entities

        return merge_entities(keep, other, self._room, why=why)

    def split_entity(self, name: str, alias: str, *, why: str = "") -> Entity:
        """One name for two."""
        from recollect.dialogue.people import split_entity

        return split_entity(name, alias, self._room, why=why)

    # --- tools -----------------------------------------------------------------------------------------------------

    def tools(self, *, user: str | None = None) -> tuple[Tool, ...]:
        """What an assistant may call for one user, as functions with schemas."""
        from recollect.dialogue.tools import agent_tools

        return agent_tools(lambda: self._room, user=user)

    def consolidator_tools(self) -> tuple[Tool, ...]:
        """What a consolidating agent may call. Not for the assistant."""
        from recollect.dialogue.tools import consolidator_tools

        return consolidator_tools(self._room)


class ContextProvider:
    """Before an agent is asked: the few facts of other sessions that bear on the prompt, and the latest reflection, as
    one fenced block. Nothing from the session itself: the agent has that already."""

    def __init__(self, room: DialogueContext) -> None:
        self._room = room
        self._secret = os.urandom(16)
        self._reflection: tuple[int, Memory | None] | None = None

    def context(
        self,
        prompt: str,
        *,
        session: str | None = None,
        k: int = CONTEXT_FACTS,
        kinds: frozenset[str] = CONTEXT_KINDS,
        user: str | None = None,
    ) -> Briefing:
        """The block for one prompt: the same facts always stand in the same order, so that prompt caches stay warm."""
        others = frozenset({session} if session else ())
        filter = Filter(kinds=kinds, except_sessions=others, user=read_user(user))
        found = self._room.reader.recall(Query(prompt, k=k, filter=filter, explicit=False))
        hits = sorted(found.hits, key=lambda hit: (hit.memory.happened_at, hit.id))
        if reflection := self._latest():
            hits.append(as_hit(reflection, reflection.confidence, because="the latest reflection"))
        text = fence(hits, nonce=self._nonce(session))
        return replace(found, hits=tuple(hits), text=text, tokens=ESTIMATE.count(text))

    def _latest(self) -> Memory | None:
        """From the cache, unless a reflection was written or withdrawn since."""
        count = self._room.reader.count(Filter(kinds=frozenset({Kind.REFLECTION})))
        if self._reflection is None or self._reflection[0] != count:
            self._reflection = (count, latest_reflection(self._room))
        return self._reflection[1]

    def _nonce(self, session: str | None) -> str:
        """One fence for each session and process: nobody can guess it, and it does not change from call to call."""
        return blake2b((session or "").encode(), key=self._secret, digest_size=8).hexdigest()


def _batches(messages: Iterable[Message]) -> Iterator[list[Message]]:
    some: list[Message] = []
    for message in messages:
        some.append(message)
        if len(some) == _BATCH:
            yield some
            some = []
    if some:
        yield some
