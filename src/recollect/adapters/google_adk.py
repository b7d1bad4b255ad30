"""Google's Agent Development Kit with memory: a memory service for its runners and a plugin for its loop. The extra
`google-adk`.

The service keeps each user of each app apart; events are kept once, however often their session is handed over. What
the plugin lets memory say is part of a request and never of the session, so it is not learnt again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from recollect.adapters.bridge import AgentBridge, AgentBridges
from recollect.adapters.records import Key, Record, RecordStore
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing
from recollect.core.scope import Source
from recollect.observer.events import Outcome
from recollect.privacy.fence import defuse, own_words

try:
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise ExtraMissing("The Google ADK adapter", package="google-adk", extra="google-adk") from error

_HOST = "google-adk"
_ANSWERS = 10  # as many as their own service gives


class RecollectMemory(BaseMemoryService):
    """`Runner(…, memory_service=RecollectMemory(memory))`."""

    def __init__(self, memory: Recollect, *, most: int = _ANSWERS) -> None:
        self._most = most
        self._records = RecordStore(memory, _HOST, kind="episode", source=Source.SAID)

    async def add_session_to_memory(self, session: Any) -> None:
        await asyncio.to_thread(self._keep, session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        await asyncio.to_thread(self._keep, app_name, user_id, events, session_id or "")

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        await asyncio.to_thread(self._add, app_name, user_id, memories)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        found = await asyncio.to_thread(self._records.search, query, k=self._most, mark=("user", app_name, user_id))
        return SearchMemoryResponse(memories=[_entry(one) for one, _ in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        if memory_id:
            await asyncio.to_thread(self._delete, app_name, user_id, memory_id)

    # --- inside --------------------------------------------------------------------------------------------------

    def _keep(self, app: str, user: str, events: Sequence[Any], session: str) -> None:
        said = {event.id: event for event in events if _text(event.content).strip()}
        known = {one.key[-1] for one in self._records.under("session", app, user, session)}
        gone = {one.key[-1] for one in self._records.under("deleted", app, user)}
        drafts = [
            self._records.draft(
                ("event", app, user, id),
                {"author": event.author, "session": session},
                text=_text(event.content),
                marks=[("user", app, user), ("session", app, user, session)],
                event_at=datetime.fromtimestamp(event.timestamp, UTC),
                session=_session(app, user, session) if session else None,
                source_role=event.author,
            )
            for id, event in said.items()
            if id not in known and id not in gone
        ]
        if drafts:
            self._records.memory.remember_all(drafts)

    def _add(self, app: str, user: str, memories: Sequence[MemoryEntry]) -> None:
        for memory in memories:
            at = datetime.fromisoformat(memory.timestamp) if memory.timestamp else None
            self._records.put(
                ("event", app, user, memory.id or uuid4().hex),
                {"author": memory.author, "metadata": memory.custom_metadata},
                text=_text(memory.content),
                marks=[("user", app, user)],
                event_at=at,
            )

    def _delete(self, app: str, user: str, id: str) -> None:
        """Forget an event, and that it is not to be taken in again with its session."""
        if self._records.drop(("event", app, user, id)):
            self._records.put(("deleted", app, user, id), {}, marks=[("deleted", app, user)], shown=False)


class MemoryPlugin(BasePlugin):
    """`App(…, plugins=[MemoryPlugin(memory)])`. A session goes on until `end`, or until the runner is closed.

    It captures nothing by itself when the runner has a RecollectMemory, which does.
    """

    def __init__(
        self, memory: Recollect, *, capture: bool = False, arm: str | None = None, name: str = "recollect"
    ) -> None:
        super().__init__(name)
        self._bridges = AgentBridges(memory, host=_HOST, capture=capture, arm=arm)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        await asyncio.to_thread(_prepare, self._bridge_for(callback_context), llm_request)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if llm_response.partial:
            return
        usage = llm_response.usage_metadata
        tokens = usage.prompt_token_count if usage else None
        await asyncio.to_thread(
            self._bridge_for(callback_context).observe_answer, _text(llm_response.content), tokens=tokens
        )

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> None:
        await asyncio.to_thread(
            self._bridge_for(tool_context).observe_call, tool.name, tool_args, _call(tool, tool_context)
        )

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: dict[str, Any]
    ) -> None:
        plain = result.get("result", result) if isinstance(result, Mapping) else result
        await asyncio.to_thread(self._bridge_for(tool_context).observe_result, _call(tool, tool_context), plain)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> None:
        answered = self._bridge_for(tool_context).observe_result
        await asyncio.to_thread(answered, _call(tool, tool_context), str(error), error=True)

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        if event.is_final_response() and (said := _text(event.content)).strip():
            await asyncio.to_thread(self._bridge_for(invocation_context).conclude, said)

    async def close(self) -> None:
        await asyncio.to_thread(self._bridges.end_all)

    def end(self, session: Any, outcome: str = Outcome.UNKNOWN) -> None:
        """One of ADK's sessions is over."""
        self._bridges.end(_session(session.app_name, session.user_id, session.id), outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return self._bridges.notes

    def _bridge_for(self, context: Any) -> AgentBridge:
        session = context.session
        return self._bridges.get(_session(session.app_name, session.user_id, session.id))


def _session(app: str, user: str, session: str) -> str:
    """One name for the three. A slash inside one of them is spelt, so that no other three have the same name."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in (app, user, session))


def _call(tool: Any, context: Any) -> str:
    return str(context.function_call_id or tool.name)


def _prepare(beside: AgentBridge, request: Any) -> None:
    last = request.contents[-1] if request.contents else None
    prompt = _text(last) if last is not None and last.role == "user" else ""
    standing = beside.system(prompt)
    request.contents = beside.weave(list(request.contents), mark=_mark, make=_content, prompt=prompt)
    if standing:
        request.append_instructions([standing])


def _content(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part.from_text(text=text)])


def _mark(content: types.Content) -> str:
    return str(content.model_dump_json(exclude_none=True))


def _text(content: types.Content | None) -> str:
    """What a content says, without thoughts and without what we injected."""
    parts = [] if content is None else content.parts or []
    return own_words("\n".join(part.text for part in parts if part.text and not part.thought))


def _entry(record: Record) -> MemoryEntry:
    """A record as ADK puts it into prompts: as text that cannot speak."""
    memory = record.memory
    key: Key = record.key
    return MemoryEntry(
        id=key[-1],
        content=_content(defuse(memory.content)),
        author=record.value.get("author"),
        timestamp=memory.happened_at.isoformat(),
        custom_metadata=dict(record.value.get("metadata") or {}),
    )
