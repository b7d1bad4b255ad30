"""The wire of a host that started us: its lines in, our lines out, and an end when it hangs up.

A line that cannot be read is answered too, because a host waits for every id it sent. A host that dies takes its server
with it: within two seconds, whatever the server is doing, be it still loading.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from mcp.server import MCPServer

_GRACE = 1.0  # seconds to answer what was asked before the host hung up
_WATCH = 0.25  # seconds between two looks at the host
_ID = re.compile(r'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")')
_SHOWN = 4_000  # characters at either end of a line in which its id is looked for


def end_with_host() -> None:
    """From now on the process ends soon after its stdin is hung up or nobody reads its stdout. Called before anything
    large is loaded."""
    if not hasattr(select, "poll"):
        return  # reading the end of stdin has to do
    wires = (os.dup(0), os.dup(1))  # the SDK moves both elsewhere
    threading.Thread(target=_watch_host, args=wires, name="recollect-host", daemon=True).start()


def _watch_host(*wires: int) -> None:
    watched = select.poll()
    for wire in wires:
        watched.register(wire, 0)  # asks for nothing: hanging up is told anyway
    while not any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in watched.poll(0)):
        time.sleep(_WATCH)
    time.sleep(_GRACE)
    os._exit(0)


def claim_wires() -> tuple[BinaryIO, BinaryIO]:
    """The host's two wires for us alone: from now on what anything else reads from stdin is empty, and what it prints
    goes to stderr."""
    wires = (os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wires


class HostInput:
    """The lines of a host: those of an opening first, then what comes in. Read as text files are."""

    def __init__(self, wire: BinaryIO, opening: Sequence[bytes] = ()) -> None:
        self._wire, self._opening = wire, list(opening)

    def readline(self) -> str:
        line = self._opening.pop(0) if self._opening else self._wire.readline()
        return line.decode("utf-8", "replace")


class HostOutput:
    """The lines to a host, but for the answer that it has had already. Written as text files are."""

    def __init__(self, wire: BinaryIO, answered: int | str | None = None) -> None:
        self._wire, self._answered = wire, answered

    def write(self, text: str) -> int:
        if self._answered is not None and json.loads(text).get("id") == self._answered:
            self._answered = None
            return len(text)
        return self._wire.write(text.encode("utf-8", "replace"))

    def flush(self) -> None:
        self._wire.flush()


def serve_wire(server: MCPServer[None], heard: HostInput | None = None, said: HostOutput | None = None) -> None:
    """Serve one host until it hangs up, cleanly or not: over these wires, else over stdin and stdout."""
    import anyio

    try:
        anyio.run(_serve, server, heard, said)
    except* (BrokenPipeError, ConnectionResetError):
        sys.stderr.flush()  # nobody is left to tell


async def _serve(server: MCPServer[None], heard: HostInput | None, said: HostOutput | None) -> None:
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared._context_streams import create_context_streams
    from mcp.shared.message import SessionMessage

    lowlevel = server._lowlevel_server
    wires = [None if wire is None else anyio.AsyncFile(cast(Any, wire)) for wire in (heard, said)]
    async with stdio_server(*wires) as (lines, answers):
        readable, messages = create_context_streams[SessionMessage | Exception](0)

        async def answer_unreadable() -> None:
            async with readable, lines:
                async for message in lines:
                    if isinstance(message, Exception):
                        await answers.send(SessionMessage(_refusal(message)))
                    else:
                        await readable.send(message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_unreadable)
            await lowlevel.run(messages, answers, lowlevel.create_initialization_options())


def _refusal(error: Exception) -> Any:
    """What is said of a line that is no message."""
    from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

    line, why, code = "", str(error), PARSE_ERROR
    details: Callable[[], list[dict[str, Any]]] | None = getattr(error, "errors", None)
    if details is not None:
        first = details()[0]
        given, why = first.get("input"), str(first.get("msg"))
        line = given if isinstance(given, str) else ""
        if not line:
            code = INVALID_REQUEST
            line = json.dumps(given, default=str) if isinstance(given, dict) else ""
    told = f"That line is no message: {why}. Text must be valid Unicode, and JSON neither deep nor huge."
    return JSONRPCError(jsonrpc="2.0", id=find_id(line), error=ErrorData(code=code, message=told[:500]))


def find_id(line: str) -> int | str | None:
    """The id of a request that cannot be read as a whole; none when it does not show."""
    try:
        found = json.loads(line)
        id = found.get("id") if isinstance(found, dict) else None
        return id if isinstance(id, str | int) and not isinstance(id, bool) else None
    except (ValueError, RecursionError):
        head = line[:_SHOWN].partition('"params"')[0]
        shown = _ID.search(head) or _ID.search(line[-_SHOWN:].rpartition("}}")[2])
        id = json.loads(shown[1]) if shown else None
        return id if isinstance(id, str | int) else None
