"""The server: tools of a profile, resources, prompts and instructions around one memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from pydantic import Field

from recollect.app import Recollect
from recollect.core.errors import NotFound, RecollectError
from recollect.core.kinds import Kind
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.interfaces.mcp import HOOKS
from recollect.interfaces.mcp.handle import MemoryHandle, fenced
from recollect.interfaces.mcp.hook import hook_tool
from recollect.interfaces.mcp.stdio import HostInput, HostOutput, serve_wire
from recollect.interfaces.mcp.tools import tools_of
from recollect.interfaces.payloads.memories import memory_json
from recollect.interfaces.payloads.rooms import map_json
from recollect.recall.pack import as_hit
from recollect.version import __version__


def build(handle: MemoryHandle, *, profile: str = "default") -> MCPServer[None]:
    """A server of this profile. Nothing is opened before the first call."""
    server: MCPServer[None] = MCPServer(
        "recollect",
        title="Recollect",
        instructions=instructions(profile),
        version=__version__,
        tools=_hook_tools(handle) if profile == HOOKS else tools_of(profile, handle),
        log_level="WARNING",  # to stderr; what is called and what is stored stays out of a host's log
        subscriptions=False,
    )
    add_resources(server, handle)
    add_prompts(server, handle)
    return server


def _hook_tools(handle: MemoryHandle) -> list[Tool]:
    """The hook's one tool. It keeps what sessions do, so a memory that is only read has none."""
    return [] if handle.read_only else [hook_tool(handle)]


def instructions(profile: str) -> str:
    """When to look, when to add, and that what comes back is data; in terms of the tools the profile has."""
    name = "instructions_assistant.txt" if profile == "assistant" else "instructions.txt"
    return files("recollect.interfaces.mcp").joinpath(name).read_text(encoding="utf-8")


def serve_stdio(
    handle: MemoryHandle, *, profile: str = "default", heard: HostInput | None = None, said: HostOutput | None = None
) -> None:
    """Serve one host over these wires, else over stdin and stdout, until it hangs up."""
    try:
        serve_wire(build(handle, profile=profile), heard, said)
    finally:
        handle.close()


# --- resources and prompts: stored text leaves fenced, or as a JSON value --------------------------------------------


_BRIEFED = 20  # memories in the briefing that was not asked for anything
_REVIEWED = 10  # memories a person is asked about at once
_MATERIAL = frozenset({Kind.EPISODE, Kind.PASSAGE})  # what memories are made of; too much to brief unasked


def add_resources(server: MCPServer[None], handle: MemoryHandle) -> None:
    @server.resource(
        "recollect://memory/{id}", name="memory", description="One memory, whole.", mime_type="application/json"
    )
    def memory(id: str) -> str:
        with _telling(_as_resource):
            return json.dumps(memory_json(handle.open().reader.get(id, user=None)), ensure_ascii=False)

    @server.resource(
        "recollect://briefing",
        name="briefing",
        description="What is pinned and what was learnt last, fenced.",
        mime_type="text/plain",
    )
    def briefing() -> str:
        with _telling(_as_resource):
            opened = handle.open()
            if opened.is_foreign:  # nobody asked for anything of it
                return "\n".join(opened.notices)
            return _shown(opened, _standing(opened), none="Nothing is remembered yet.")

    @server.resource(
        "recollect://modules",
        name="modules",
        description="The project's folders, what they need, their layers, where programs begin.",
        mime_type="application/json",
    )
    def modules() -> str:
        with _telling(_as_resource):
            opened = handle.open()
            if opened.is_foreign:
                return json.dumps({"notices": opened.notices}, ensure_ascii=False)
            return json.dumps(map_json(opened.code.map()), ensure_ascii=False)


def add_prompts(server: MCPServer[None], handle: MemoryHandle) -> None:
    @server.prompt(name="recall", description="Answer from what is remembered about a topic.")
    def recall(topic: Annotated[str, Field(description="What to recall.")]) -> str:
        with _telling(_as_protocol):
            found = handle.open().brief(topic)
        return (
            f"What do we know about this: {topic}\n\n"
            f"{found.text or 'Nothing is remembered about that.'}\n"
            "Answer from it, cite the ids, and say what is doubtful or missing."
        )

    @server.prompt(name="review", description="Go through the memories that wait for a person's word.")
    def review() -> str:
        with _telling(_as_protocol):
            opened = handle.open()
            queue = opened.review.list(filter=Filter(needs_review=True), limit=_REVIEWED)  # no user's own
            if not queue.items:
                return "Nothing needs review."
            shown = _shown(opened, [item.memory for item in queue.items], none="")
        return (
            f"{shown}\n\n{len(queue.items)} of {queue.total} memories that need review. Ask me about them one by one: "
            "is it right, wrong or in doubt? What is right I confirm myself, with `recollect review`. Call `feedback` "
            "with reject or dispute and my reason for what agents wrote, or `update` if I word it better."
        )


def _standing(memory: Recollect) -> list[Memory]:
    """The pinned ones, then the newest; no messages, no passages."""
    kinds = frozenset(rule.name for rule in memory.reader.kinds if rule.name not in _MATERIAL)
    pinned = memory.list(Filter(kinds=kinds, pinned=True), limit=_BRIEFED).memories
    newest = memory.list(Filter(kinds=kinds), limit=_BRIEFED).memories
    return list({one.id: one for one in (*pinned, *newest)}.values())[:_BRIEFED]


def _shown(memory: Recollect, chosen: list[Memory], *, none: str) -> str:
    return fenced([as_hit(one, memory.confidence(one)) for one in chosen], none=none)


@contextmanager
def _telling(translate: Callable[[RecollectError, str], Exception]) -> Iterator[None]:
    """User errors in the protocol's own words, with what to do next."""
    try:
        yield
    except RecollectError as error:
        raise translate(error, f"{error} → {error.hint}" if error.hint else str(error)) from error


def _as_resource(error: RecollectError, told: str) -> Exception:
    return ResourceNotFoundError(told) if isinstance(error, NotFound) else ResourceError(told)


def _as_protocol(error: RecollectError, told: str) -> Exception:
    return MCPError(INVALID_PARAMS, told)
