"""The providers that ship: `recency` gives the last turns, `semantic` also the nearest older messages, `recollect` also
facts of other sessions, the latest reflection and a briefing of what was taught or learnt.

All of them replay turns as the messages they were: what was said, every tool call with its result, and that an answer
is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from recollect.agent.providers import MakeProvider, ProviderContext
from recollect.agent.providers.working import WorkingMemoryEditor
from recollect.core.conversations import Call, ChatMessage, Request, Turn, Waking
from recollect.core.errors import UnknownChoice
from recollect.core.kinds import Kind
from recollect.core.query import Filter, Hit, Query
from recollect.core.records import Memory
from recollect.dialogue.api import ContextProvider
from recollect.dialogue.episodes import Message, capture
from recollect.dialogue.tools import Tool
from recollect.privacy.fence import fence, fence_text
from recollect.recall.recipes import PLAIN_BUDGET, Budget

RECENT_TURNS = 20  # replayed: what a small context window takes without thought
WINDOW_MESSAGES = 40  # of the session, always given by `semantic`
NEAREST = 5  # older messages by meaning
BEFORE, AFTER = 2, 1  # messages around each of them
BRIEFED = 10  # hits of the briefing
# Relevance below which nobody is briefed unasked: small talk reached .35 among our own decisions, an answer .5.
MIN_RELEVANCE = 0.4
BRIEFING = Budget(1_200, PLAIN_BUDGET.shares)  # tokens: beside the conversation, not instead of it
_APART = frozenset({Kind.EPISODE, Kind.FACT, Kind.REFLECTION, Kind.PASSAGE})  # come by another way, or are too many
_MAX_RESULT_CHARS = 4_000  # of a tool's result that is replayed
_MAX_MESSAGE_CHARS = 1_000  # of one recalled message
_MAX_BLOCK_CHARS = 12_000  # of all of them
_EMBEDDED = 32  # memories embedded after a turn: its own, and a little of what waits
_CUT = " […]"


class RecencyProvider:
    """The last twenty turns of the session, tool calls and all. Reads the operational store and keeps nothing."""

    name = "recency"

    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._waking: Waking | None = None

    def init(self) -> None:
        pass

    def on_wake(self, waking: Waking) -> None:
        self._waking = waking

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        return replay_turns(self.recent_turns(RECENT_TURNS))

    def save_turn(self, turn: Turn) -> None:
        pass

    def turn_count(self) -> int:
        return 0 if self._waking is None else self._context.turns.count(session=self._waking.session)

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        if self._waking is None:
            return ()
        return self._context.turns.recent(session=self._waking.session, limit=limit, ended=True)

    def on_sleep(self) -> None:
        self._waking = None

    def close(self) -> None:
        self._waking = None


class _WorkingMemoryKeeper(RecencyProvider):
    """A provider with a working memory, and a fence of its own for what it recalls."""

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._working = WorkingMemoryEditor(context)
        self._nonce = os.urandom(8).hex()

    def working_memory(self) -> str | None:
        return self._working.text()

    def tools(self) -> Sequence[Tool]:
        return (self._working.tool(),)


class SemanticProvider(_WorkingMemoryKeeper):
    """The last forty messages of the session, the five nearest in meaning among the older ones with what surrounds
    them, and a working memory.

    Each waking is a thread of its own: its messages are kept as episodes of that name, so that meaning is searched by
    the one pipeline there is. Options: `semantic_recall` on or off (off, no vector is made or asked for and no model is
    loaded), `reach` session (every thread of it) or all.
    """

    name = "semantic"

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._on = _choose_option(context, "semantic_recall", ("on", "off")) == "on"
        self._everywhere = _choose_option(context, "reach", ("session", "all")) == "all"

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        turns = self.recent_turns(WINDOW_MESSAGES)
        window = take_last(replay_turns(turns), WINDOW_MESSAGES)
        if not self._on or not hint or not hint.strip():
            return window
        block = self._older_messages(hint, before=_window_start(turns, len(window)))
        return [*window, ChatMessage("user", block)] if block else window

    def save_turn(self, turn: Turn) -> None:
        capture(list(_thread_messages(turn)), self._context.dialogue)
        if self._on and self._context.embed_waiting is not None:
            self._context.embed_waiting(_EMBEDDED)

    def _older_messages(self, hint: str, *, before: datetime | None) -> str:
        """The nearest older messages with what surrounds them, in the order they were kept, as data."""
        threads: list[str] = []
        if not self._everywhere and self._waking is not None:
            threads = self._context.turns.threads(self._waking.session)
        if not threads and not self._everywhere:
            return ""
        filter = Filter(kinds=frozenset({"episode"}), sessions=frozenset(threads), until=before)
        found = self._context.reader.recall(Query(hint, k=NEAREST, filter=filter, explicit=False), track=True)
        nearest = [hit.memory for hit in found.hits]
        around = self._context.sessions.around_each(nearest, before=BEFORE, after=AFTER)
        lines = [_render_episode(episode) for episode in around if before is None or episode.happened_at < before]
        return fence_text("\n".join(lines), nonce=self._nonce, limit=_MAX_BLOCK_CHARS)


class RecollectProvider(_WorkingMemoryKeeper):
    """Everything: the last turns, facts of other sessions and the latest reflection, a briefing of what was taught or
    learnt, a working memory; what is said becomes evidence that facts are drawn from."""

    name = "recollect"

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        self._facts = ContextProvider(context.dialogue)

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        window = replay_turns(self.recent_turns(RECENT_TURNS))
        if not hint or not hint.strip():
            return window
        facts = self._facts.context(hint, session=None if self._waking is None else self._waking.session)
        briefed = self._brief(hint)
        self._context.writer.note_access(list(dict.fromkeys(hit.id for hit in (*facts.hits, *briefed))))
        block = facts.text + fence(briefed, nonce=self._nonce)
        return [*window, ChatMessage("user", block)] if block else window

    def save_turn(self, turn: Turn) -> None:
        capture(list(_session_messages(turn)), self._context.dialogue)

    def on_sleep(self) -> None:
        """What was said waits for consolidation from now on; `tend` draws the facts."""
        writer = self._context.writer
        if not writer.read_only:
            with writer.transaction():
                self._context.sessions.queue_others("", at=writer.now())
        super().on_sleep()

    def _brief(self, hint: str) -> Sequence[Hit]:
        reader = self._context.reader
        kinds = frozenset(str(rule.name) for rule in reader.kinds) - _APART
        found = reader.recall(Query(hint, k=BRIEFED, filter=Filter(kinds=kinds), explicit=False), budget=BRIEFING)
        return [hit for hit in found.hits if hit.factors.get("relevance", 1.0) >= MIN_RELEVANCE]


SHIPPED: dict[str, MakeProvider] = {
    provider.name: provider for provider in (RecencyProvider, SemanticProvider, RecollectProvider)
}


def _choose_option(context: ProviderContext, name: str, allowed: Sequence[str]) -> str:
    given = context.options.get(name) or allowed[0]
    if given not in allowed:
        raise UnknownChoice(name, given, allowed)
    return given


# --- what is kept of a turn ------------------------------------------------------------------------------------------


def _session_messages(turn: Turn) -> Iterator[Message]:
    """What was said in a turn. Results of tools are no evidence: nobody said them."""
    yield Message(turn.input, turn.session, "user", turn.at, f"{turn.id}-input")
    if turn.output:
        yield Message(turn.output, turn.session, "assistant", turn.ended_at or turn.at, f"{turn.id}-output")


def _thread_messages(turn: Turn) -> Iterator[Message]:
    """A turn as episodes of its thread. Ids make telling it twice harmless; results keep the name of their tool."""
    yield Message(turn.input, turn.thread, "user", turn.at, f"{turn.id}-input")
    for index, call in enumerate(turn.calls):
        yield Message(f"[tool:{call.name}] {call.result}", turn.thread, "assistant", turn.at, f"{turn.id}-{index}")
    if turn.output:
        yield Message(turn.output, turn.thread, "assistant", turn.ended_at or turn.at, f"{turn.id}-output")


# --- turns as messages -----------------------------------------------------------------------------------------------


def replay_turns(turns: Iterable[Turn]) -> list[ChatMessage]:
    """The messages of some turns, in order. Roles alternate as servers want it, also where an answer is missing."""
    return [message for turn in turns for message in turn_messages(turn)]


def turn_messages(turn: Turn) -> list[ChatMessage]:
    """One turn: the user's message, each step with its calls, the answer."""
    said = [ChatMessage("user", turn.input)]
    for _, step in groupby(turn.calls, key=lambda call: call.step):
        said += _step_messages(list(step))
    if turn.output or turn.state == "done":
        answer = turn.output or "(nothing said)"
        return [*said, ChatMessage("assistant", answer if turn.state == "done" else f"{answer} (broke off here)")]
    return [*said, ChatMessage("assistant", f"(no answer: {turn.note or 'it was interrupted'})")]


def _step_messages(calls: Sequence[Call]) -> list[ChatMessage]:
    requests = tuple(Request(call.id, call.name, call.arguments) for call in calls)
    asked = ChatMessage("assistant", calls[0].said, requests)
    return [asked, *(ChatMessage("tool", clip(call.result, _MAX_RESULT_CHARS), answers=call.id) for call in calls)]


def take_last(messages: Sequence[ChatMessage], limit: int) -> list[ChatMessage]:
    """The last messages, from a user's message on: a tool's result without its call means nothing to a server."""
    window = list(messages[-limit:]) if limit > 0 else []
    while window and window[0].role != "user":
        window.pop(0)
    return window


def _window_start(turns: Sequence[Turn], shown: int) -> datetime | None:
    """When the oldest turn of the window was: what is older is not shown yet."""
    left = shown
    for turn in reversed(turns):
        left -= len(turn_messages(turn))
        if left <= 0:
            return turn.at
    return None if not turns else turns[0].at


def _render_episode(episode: Memory) -> str:
    words = clip(" ".join(episode.content.split()), _MAX_MESSAGE_CHARS)
    return f"{episode.happened_at:%Y-%m-%d %H:%M} {episode.source_role or 'someone'} said: {words}"


def clip(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - len(_CUT)] + _CUT
