"""What tools, resources and prompts share: the memory, opened when it is first needed, and how answers are told."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent
from pydantic import ValidationError

from recollect.app import Recollect
from recollect.core.doors import MCP
from recollect.core.errors import InvalidField, RecollectError
from recollect.core.query import Hit
from recollect.interfaces.payloads.base import Json, error_json
from recollect.privacy.fence import defuse, fence
from recollect.wiring import open as open_memory

P = ParamSpec("P")


class MemoryHandle:
    """The one memory of a server. Opened at the first call, so that a handshake loads no store and no model."""

    def __init__(self, store: str | None = None, *, read_only: bool = False, actor: str = "mcp") -> None:
        self.read_only = read_only
        self._store = store
        self._actor = actor
        self._opened: Recollect | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, memory: Recollect, *, read_only: bool = False) -> MemoryHandle:
        """A handle on a memory that is open already and stays so."""
        handle = cls(read_only=read_only)
        handle._opened = memory
        return handle

    def open(self, *, create: bool = False) -> Recollect:
        """The memory; a missing store is made only when `create` says so."""
        with self._lock:
            if self._opened is None:
                self._opened = open_memory(
                    self._store,
                    create=create,
                    read_only=self.read_only,
                    actor=self._actor,
                    door=MCP.name,
                    personal=True,
                )
                for notice in self._opened.notices:  # hosts show or keep what a server says on stderr
                    sys.stderr.write(f"recollect: {notice}\n")
            return self._opened

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def tool_result(value: Json, *, text: str | None = None) -> CallToolResult:
    """`value` as structured output, and the same as text unless another text is better for a model to read. Programs
    get the words as they are; in the text that a model reads they cannot pass for structure."""
    told = defuse(json.dumps(value, ensure_ascii=False)) if text is None else text
    return CallToolResult(content=[TextContent(type="text", text=told)], structured_content=value)


def refusal(error: RecollectError) -> CallToolResult:
    """A user error as a result that is marked as one: what went wrong, and what to do next."""
    told = f"{error}\n→ {error.hint}" if error.hint else str(error)
    return CallToolResult(
        content=[TextContent(type="text", text=told)], structured_content=error_json(error), is_error=True
    )


class CheckedTool(Tool):
    """A tool that tells wrong arguments as a user error like any other, and does not send them back."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return refusal(_wrong_arguments(error.__cause__))


def _wrong_arguments(error: ValidationError) -> InvalidField:
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"])[:80] or "arguments"
    return InvalidField(
        name, first["msg"].rstrip("."), hint="Nothing was changed. The tool's schema tells what it takes."
    )


def guarded(tool: Callable[P, CallToolResult]) -> Callable[P, CallToolResult]:
    """`tool`, telling user errors as results."""

    @wraps(tool)
    def told(*args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        try:
            return tool(*args, **kwargs)
        except RecollectError as error:
            return refusal(error)

    return told


def fenced(hits: Sequence[Hit], notes: Sequence[str] = (), *, none: str) -> str:
    """Memories as fenced data, then what was skipped; `none` when there are none."""
    block = fence(hits, nonce=os.urandom(8).hex()) or none
    return "\n".join([block.rstrip("\n"), *(f"({note})" for note in notes)])
