"""The OpenAI Agents SDK with memory: a session that keeps history, an input filter that lets memory speak, hooks that
let it see. The extra `openai-agents`.

What memory says is woven into the model's input and never saved to the session, so it is not learnt again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import RLock
from typing import Any
from uuid import uuid4

from recollect.adapters.bridge import AgentBridge
from recollect.adapters.records import RecordStore, storable
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing, RecollectError
from recollect.core.scope import Source
from recollect.observer.events import Outcome

try:
    from agents import AgentHooks, RunConfig, RunHooks
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise ExtraMissing("The OpenAI Agents adapter", package="openai-agents", extra="openai-agents") from error

__all__ = ["AgentMemory", "RecollectSession"]

_HOST = "openai-agents"
_Kept = tuple[str, Mapping[str, Any]]  # an item in its place: its order, and it with the episodes captured from it
_NOTES = 20  # troubles that are kept to be looked at

log = logging.getLogger("recollect.adapters")


class AgentMemory:
    """Memory beside the runs of one conversation.

    Give `session`, `hooks` and `run_config()` to `Runner.run`; `agent_hooks` are for a single agent instead of the run.
    A conversation you named goes on until `close`; an unnamed one ends with its run.
    """

    def __init__(
        self, memory: Recollect, session: str | None = None, *, capture: bool = True, arm: str | None = None
    ) -> None:
        self._named = session is not None
        name = session or f"{_HOST}-{uuid4().hex}"
        self.session = RecollectSession(memory, name, capture=capture)
        # The session captures what is said; the bridge would only say it a second time.
        self._bridge = AgentBridge(memory, name, host=_HOST, capture=False, arm=arm)
        self.hooks = _RunHooks(self._bridge, ends=not self._named)
        self.agent_hooks = _AgentHooks(self._bridge, ends=not self._named)

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Your run configuration, or a new one, with memory in it."""
        return replace(config or RunConfig(), call_model_input_filter=self.filter)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """A `call_model_input_filter`: the same input and instructions with what memory has to say at their ends."""
        return await asyncio.to_thread(self._filtered, data.model_data)

    def close(self, outcome: str = Outcome.UNKNOWN) -> None:
        """The conversation is over."""
        self._bridge.end(outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return (*self._bridge.notes, *self.session.notes)

    def _filtered(self, given: ModelInputData) -> ModelInputData:
        prompt = spoken(given.input[-1], "user") if given.input else ""
        standing = self._bridge.system(prompt)
        items = self._bridge.weave(given.input, mark=_mark, make=_message, prompt=prompt)
        instructions = "\n\n".join(part for part in (given.instructions, standing) if part) or None
        return ModelInputData(input=items, instructions=instructions)


class _Watching:
    """What both sorts of hooks do."""

    def __init__(self, bridge: AgentBridge, *, ends: bool) -> None:
        self._bridge = bridge
        self._ends = ends

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        arguments = getattr(context, "tool_arguments", "")
        await asyncio.to_thread(self._bridge.observe_call, tool.name, arguments, _call(context, tool))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        await asyncio.to_thread(self._bridge.observe_result, _call(context, tool), result)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        text = "\n".join(filter(None, (spoken(_plain(item), "assistant") for item in response.output)))
        tokens = response.usage.input_tokens or None
        await asyncio.to_thread(self._bridge.observe_answer, text, tokens=tokens)

    async def _over(self) -> None:
        if self._ends:
            await asyncio.to_thread(self._bridge.end, Outcome.SUCCESS)


class _RunHooks(_Watching, RunHooks[Any]):
    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._over()


class _AgentHooks(_Watching, AgentHooks[Any]):
    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._over()


def _call(context: Any, tool: Any) -> str:
    return str(getattr(context, "tool_call_id", tool.name))


def _message(text: str) -> Any:
    """Memory speaks with no more authority than a person: what it holds may come from anywhere."""
    return {"role": "user", "content": text}


def _mark(item: Any) -> str:
    return json.dumps(_plain(item), sort_keys=True, default=str)


def _plain(item: Any) -> Any:
    return item if isinstance(item, Mapping) else item.model_dump(exclude_unset=True)


class RecollectSession:
    """The SDK's session kept in a memory: every item as it was, in order, and what was said as episodes.

    `limit` and `pop_item` mean what they mean for the SDK's own SQLiteSession. When the memory cannot be written or
    read, the run goes on with the items of this process, and they are written when it can be again.
    """

    def __init__(
        self,
        memory: Recollect,
        session_id: str,
        session_settings: Any = None,
        *,
        capture: bool = True,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self.notes: tuple[str, ...] = ()
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._records = RecordStore(memory, "openai-agents", kind="episode", source=Source.SAID)
        self._known: list[_Kept] = []  # as last read or written, for when the memory cannot be asked
        self._unsaved: list[_Kept] = []
        self._lock = RLock()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The last `limit` items, oldest first; all of them without a limit, or with one below zero."""
        items = [value["item"] for _, value in await asyncio.to_thread(self._read)]
        most = self._limit() if limit is None else limit
        if most is None or most < 0:
            return items
        return items[-most:] if most else []

    async def add_items(self, items: list[Any]) -> None:
        """Keep some items after those there are, in one durable write."""
        if items:
            await asyncio.to_thread(self._add, [dict(_plain(item)) for item in items])

    async def pop_item(self) -> Any | None:
        """Take back the last item. What was captured of it is rejected: it leaves recall, and may be said again."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Forget every item, and what was captured of it, for good."""
        await asyncio.to_thread(self._clear)

    # --- inside --------------------------------------------------------------------------------------------------

    def _limit(self) -> int | None:
        settings = self.session_settings
        return settings.get("limit") if isinstance(settings, Mapping) else getattr(settings, "limit", None)

    def _read(self) -> list[_Kept]:
        with self._lock:
            try:
                found = self._records.under("session", self.session_id)
                self._known = sorted((one.key[-1], one.value) for one in found)
            except RecollectError as trouble:
                self._note(trouble)
            return [*self._known, *self._unsaved]

    def _add(self, items: list[Any]) -> None:
        with self._lock:
            stamp = self._clock()
            orders = [f"{stamp:020d}-{place:06d}" for place in range(len(items))]
            heard = self._hear(dict(zip(orders, items, strict=True)))
            self._unsaved += [
                (order, {"item": item, "episodes": heard.get(order, [])})
                for order, item in zip(orders, items, strict=True)
            ]
            self._save()

    def _hear(self, items: Mapping[str, Any]) -> dict[str, list[str]]:
        """Capture what was said in some items; the episodes of each."""
        said = {order: item for order, item in items.items() if spoken(item).strip()} if self._capture else {}
        heard: dict[str, list[str]] = {}
        try:
            for order, item in said.items():
                told = self._records.memory.sessions.capture(
                    storable(spoken(item)), session=self.session_id, role=item["role"], id=order
                )
                heard[order] = list(told.episodes)
        except RecollectError as trouble:
            self._note(trouble)
        return heard

    def _save(self) -> None:
        drafts = [
            self._records.draft((self.session_id, order), value, marks=[("session", self.session_id)], shown=False)
            for order, value in self._unsaved
        ]
        try:
            self._records.memory.remember_all(drafts)
        except RecollectError as trouble:
            self._note(trouble)
            return
        self._known += self._unsaved
        self._unsaved = []

    def _pop(self) -> Any | None:
        with self._lock:
            items = self._read()
            if not items:
                return None
            order, value = items[-1]
            if self._unsaved:
                self._unsaved.pop()
            else:
                self._records.drop((self.session_id, order))
                self._known.pop()
            for episode in value["episodes"]:
                self._memory.reject(episode, why="taken back")
            return value["item"]

    def _clear(self) -> None:
        with self._lock:
            records = list(self._records.under("session", self.session_id))
            values = [*(record.value for record in records), *(value for _, value in self._unsaved)]
            episodes = [episode for value in values for episode in value["episodes"]]
            self._memory.forget_all(
                [*episodes, *(record.memory.id for record in records)], why="the session was cleared"
            )
            self._unsaved, self._known = [], []

    def _note(self, trouble: RecollectError) -> None:
        self.notes = (*self.notes[-_NOTES:], f"{type(trouble).__name__}: {trouble}")
        log.warning("the session %s goes on in memory only: %s", self.session_id, trouble)


def spoken(item: Any, *roles: str) -> str:
    """What was said in an item, by anyone or in one of these roles; nothing for calls, results and reasoning."""
    if not isinstance(item, Mapping) or item.get("role") not in (roles or ("user", "assistant")):
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in content or () if isinstance(part, Mapping))
    return "\n".join(part for part in parts if isinstance(part, str))
