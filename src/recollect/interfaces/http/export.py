"""An export as a stream: written on a thread, read by the client as fast as it can, and no slower than it may.

The thread waits while the client does not read, so an export takes no more memory than a few parts of it; a client that
stops reading ends it, because the store cannot be tidied while somebody reads from it.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import IO, Any, cast

from recollect.core.errors import RequestRefused, ServerBusy

PART_BYTES = 64 * 1024
PARTS_AHEAD = 4  # that are written before the client has read
STALL_SECONDS = 30.0  # that a client may take to read one of them
MOST_EXPORTS = 2  # at a time
MEDIA = {
    "jsonl": ("application/x-ndjson", "memories.jsonl"),
    "archive": ("application/zip", "memories.zip"),
    "markdown": ("application/zip", "memories-markdown.zip"),
    "claude": ("text/markdown; charset=utf-8", "CLAUDE.md"),
}


class ExportStreams:
    """The exports that run now. Used from one event loop."""

    def __init__(self) -> None:
        self._running = 0

    async def start(self, write: Callable[[IO[bytes]], object]) -> AsyncIterator[bytes]:
        """Run an export; its parts. Trouble before the first part is raised here, so that it can be answered."""
        if self._running >= MOST_EXPORTS:
            raise ServerBusy(f"{MOST_EXPORTS} exports are running already")
        self._running += 1
        pipe = _Pipe(asyncio.get_running_loop())
        work = asyncio.create_task(asyncio.to_thread(pipe.fill, write))
        work.add_done_callback(self._ended)
        first = await pipe.next()
        return _parts(first, pipe, work)

    def _ended(self, work: asyncio.Task[None]) -> None:
        self._running -= 1
        if not work.cancelled():
            work.exception()  # it was told by the pipe


async def _parts(first: bytes | None, pipe: _Pipe, work: asyncio.Task[None]) -> AsyncIterator[bytes]:
    try:
        part = first
        while part is not None:
            yield part
            part = await pipe.next()
    finally:
        pipe.abandon()
        await asyncio.wait([work], timeout=STALL_SECONDS)


class _Pipe(io.RawIOBase):
    """What the export writes to on its thread, and the stream reads from on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._parts: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(PARTS_AHEAD)
        self._pending = bytearray()
        self._is_abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pending += data
        while len(self._pending) >= PART_BYTES:
            self._send(bytes(self._pending[:PART_BYTES]))
            del self._pending[:PART_BYTES]
        return len(data)

    def fill(self, write: Callable[[IO[bytes]], object]) -> None:
        """Run an export into the pipe, on a thread."""
        try:
            write(cast(IO[bytes], self))  # all that an export does is write
            if self._pending:
                self._send(bytes(self._pending))
            self._send(None)
        except Exception as error:
            self._tell(error)
            raise

    def _tell(self, error: Exception) -> None:
        if not self._is_abandoned:
            self._send(error)

    def _send(self, part: bytes | Exception | None) -> None:
        if self._is_abandoned:
            raise RequestRefused("The client went away", status=400)
        placed: Future[None] = asyncio.run_coroutine_threadsafe(self._parts.put(part), self._loop)
        try:
            placed.result(STALL_SECONDS)
        except TimeoutError:
            placed.cancel()
            self._is_abandoned = True
            raise RequestRefused("The client does not read", status=408) from None

    async def next(self) -> bytes | None:
        """The next part; nothing at the end. What went wrong on the thread is raised."""
        part = await self._parts.get()
        if isinstance(part, Exception):
            raise part
        return part

    def abandon(self) -> None:
        """Nobody reads any more: let the thread go on to its end."""
        self._is_abandoned = True
        while not self._parts.empty():
            self._parts.get_nowait()
