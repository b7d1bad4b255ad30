"""The provider `semantic`: the last forty messages of the session, the five nearest in meaning among the older ones
with what surrounds them, and a working memory.

Each waking is a thread of its own: its messages are kept as episodes of that name, so that meaning is searched by the
one pipeline there is. With semantic recall off no vector is made or asked for, and no model is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.agent.providers import Surroundings
from recollect.agent.providers.replay import clip, last, messages, replay
from recollect.agent.providers.working import Working
from recollect.core.chat import ChatMessage
from recollect.core.errors import UnknownChoice
from recollect.core.query import Filter, Query
from recollect.core.records import Memory
from recollect.core.turns import Turn, Waking
from recollect.dialogue.episodes import Message, capture
from recollect.dialogue.tools import Tool
from recollect.privacy.fence import fence_text
from recollect.recall.recall import recall

MESSAGES = 40  # of the session, always given
NEAREST = 5  # older messages by meaning
BEFORE, AFTER = 2, 1  # messages around each of them
_SHOWN = 1_000  # characters of one recalled message
_BLOCK = 12_000  # characters of all of them
_EMBEDDED = 32  # memories embedded after a turn: its own, and a little of what waits


class Semantic:
    """Options: `semantic_recall` on or off, `reach` session (every thread of it) or all."""

    name = "semantic"

    def __init__(self, surroundings: Surroundings) -> None:
        self._room = surroundings.room
        self._store = surroundings.room.store
        self._embedder = surroundings.embedder
        self._on = _choice(surroundings, "semantic_recall", ("on", "off")) == "on"
        self._everywhere = _choice(surroundings, "reach", ("session", "all")) == "all"
        self._working = Working(surroundings.room)
        self._waking: Waking | None = None
        self._nonce = os.urandom(8).hex()

    def init(self) -> None:
        pass

    def on_wake(self, waking: Waking) -> None:
        self._waking = waking

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        turns = self.recent_turns(MESSAGES)
        window = last(replay(turns), MESSAGES)
        if not self._on or not hint or not hint.strip():
            return window
        block = self._block(hint, before=_oldest(turns, len(window)))
        return [*window, ChatMessage("user", block)] if block else window

    def save_turn(self, turn: Turn) -> None:
        capture(list(_told(turn)), self._room)
        if self._on and self._embedder is not None:
            from recollect.tend.vectors import follow

            follow(self._store, self._embedder, now=self._room.now(), most=_EMBEDDED)

    def turn_count(self) -> int:
        return 0 if self._waking is None else self._store.turns.count(session=self._waking.session)

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        if self._waking is None:
            return ()
        return self._store.turns.recent(session=self._waking.session, limit=limit, ended=True)

    def working_memory(self) -> str | None:
        return self._working.text()

    def tools(self) -> Sequence[Tool]:
        return (self._working.tool(),)

    def on_sleep(self) -> None:
        self._waking = None

    def close(self) -> None:
        self._waking = None

    def _block(self, hint: str, *, before: datetime | None) -> str:
        """The nearest older messages with their surroundings, in the order they were kept, as data."""
        threads = self._threads()
        if not threads and not self._everywhere:
            return ""
        filter = Filter(kinds=frozenset({"episode"}), sessions=frozenset(threads), until=before)
        senses = replace(self._room.senses, writer=None)
        found = recall(Query(hint, k=NEAREST, filter=filter, explicit=False), senses, now=self._room.clock())
        around: dict[str, Memory] = {}
        for hit in found.hits:
            for one in self._store.sessions.around(hit.memory, before=BEFORE, after=AFTER):
                if before is None or one.happened_at < before:
                    around[one.id] = one
        rows = self._store.memories.seqs(list(around))
        told = sorted(around.values(), key=lambda one: rows.get(one.id, 0))
        return fence_text("\n".join(map(_line, told)), nonce=self._nonce, limit=_BLOCK)

    def _threads(self) -> list[str]:
        if self._everywhere or self._waking is None:
            return []
        return self._store.turns.threads(self._waking.session)


def semantic(surroundings: Surroundings) -> Semantic:
    return Semantic(surroundings)


def _choice(surroundings: Surroundings, name: str, allowed: Sequence[str]) -> str:
    given = surroundings.options.get(name) or allowed[0]
    if given not in allowed:
        raise UnknownChoice(name, given, allowed)
    return given


def _told(turn: Turn) -> Iterator[Message]:
    """A turn as episodes of its thread. Ids make telling it twice harmless; results keep the name of their tool."""
    yield Message(turn.input, turn.thread, "user", turn.at, f"{turn.id}-input")
    for place, call in enumerate(turn.calls):
        yield Message(f"[tool:{call.name}] {call.result}", turn.thread, "assistant", turn.at, f"{turn.id}-{place}")
    if turn.output:
        yield Message(turn.output, turn.thread, "assistant", turn.ended_at or turn.at, f"{turn.id}-output")


def _oldest(turns: Sequence[Turn], shown: int) -> datetime | None:
    """When the oldest turn of the window was: what is older is not shown yet."""
    left = shown
    for turn in reversed(turns):
        left -= len(messages(turn))
        if left <= 0:
            return turn.at
    return None if not turns else turns[0].at


def _line(episode: Memory) -> str:
    words = clip(" ".join(episode.content.split()), _SHOWN)
    return f"{episode.happened_at:%Y-%m-%d %H:%M} {episode.source_role or 'someone'} said: {words}"
