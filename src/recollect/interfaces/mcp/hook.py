"""The hook as a tool of the running server: the same events, the same answers, without starting a process.

The server is warm, so a prompt is answered by the whole of recall instead of by words alone. It is the one tool of the
profile `hooks`, for hosts whose hooks call tools; no other profile has it, and a memory opened read-only has none. A
host calls it with the fields of its hook's JSON, as they are or under `payload`, and `host`. Events of other projects
than the one the server was started for are not answered.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.types import CallToolResult, TextContent

from recollect.agent.hook import open_reader
from recollect.agent.injection import DEADLINE
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.interfaces.hook import HOSTS, answer, log
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.tools import Given
from recollect.observer.readers.hook import BY_TOOL

HOOK = "hook"
_USUAL = "claude-code"  # its protocol is the one most hosts speak
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"host": {"type": "string"}, "payload": {"type": "object"}}}


def hook_tool(handle: MemoryHandle) -> Tool:
    """The tool. Whatever happens it answers, at worst with nothing."""

    def call(given: dict[str, Any]) -> CallToolResult:
        answers: list[str] = []
        thread = threading.Thread(target=lambda: answers.append(_answer(handle, given)), daemon=True)
        thread.start()
        thread.join(DEADLINE)
        text = answers[0] if answers else ""
        return CallToolResult(content=[TextContent(type="text", text=text or "{}")])

    return Tool(
        fn=call,
        name=HOOK,
        title=None,
        context_kwarg=None,
        description="For the host's hooks: an event in, its answer out.",
        parameters=_SCHEMA,
        fn_metadata=FuncMetadata(arg_model=Given, output_schema=None),
        is_async=False,
        annotations=None,
    )


def _answer(handle: MemoryHandle, given: Mapping[str, Any]) -> str:
    host = str(given.get("host") or _USUAL)
    try:
        payload = _payload(given)
        if host not in HOSTS or not payload:
            log(host, "the hook tool was called without a known host or an event")
            return ""
        # A model that is shown the tool can call it too: a prompt that comes this way is not known to be a person's.
        return _warm(handle.open(), host, {**payload, BY_TOOL: True})
    except (RecollectError, OSError, ValueError, RecursionError) as trouble:  # a host must not see it
        log(host, f"{type(trouble).__name__}: {trouble}")
        return ""


def _warm(memory: Recollect, host: str, payload: Mapping[str, Any]) -> str:
    """Answered from the open memory, for the project it belongs to."""
    from recollect.agent.recall_search import RecallSearch  # the whole of recall: not before somebody asks

    hook_reader = memory.agent_context.hook_reader()
    if memory.path is None:
        return ""  # a store without a file belongs to no project
    here = str(memory.path)

    def read(path: str, *, now: int) -> Any:  # a reader, of whichever store
        return hook_reader if os.path.realpath(path) == os.path.realpath(here) else open_reader(path, now=now)

    return answer(
        host, payload, os.environ, read=read, search=RecallSearch(memory.agent_context, hook_reader), only=here
    )


def _payload(given: Mapping[str, Any]) -> dict[str, Any]:
    told = given.get("payload")
    if isinstance(told, str):
        told = json.loads(told)
    inner = dict(told) if isinstance(told, Mapping) else {}
    rest = {name: value for name, value in given.items() if name not in ("host", "payload")}
    return {**inner, **{name: _value(value) for name, value in rest.items()}}


def _value(value: Any) -> Any:
    """Hosts put an object where its path stood in a text, as JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
