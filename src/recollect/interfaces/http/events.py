"""The event stream: what changes in a store, told to every panel that listens, whichever process did it.

One watcher per store asks where the log stands; each listener reads on from where it is. An event's id is a position,
so a browser that comes back with Last-Event-ID misses nothing, also over a restart of the server.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from recollect.app import Recollect
from recollect.core.errors import RecollectError, ServerBusy
from recollect.core.forms import iso
from recollect.interfaces.http.problems import problem_json
from recollect.tend.overview import Position, StoreEvent

LOOK_SECONDS = 0.5  # between two looks at where the log stands
BEAT_SECONDS = 15.0  # between two signs of life
MOST_LISTENERS = 64
_ID = re.compile(r"(\d{1,15})-(\d{1,15})")


class Feed:
    """The events of one store. Looks only while somebody listens."""

    def __init__(self, memory: Recollect, stopping: asyncio.Event) -> None:
        self._memory = memory
        self._stopping = stopping
        self._moved = asyncio.Condition()
        self._listeners = 0
        self._watcher: asyncio.Task[None] | None = None
        self._head: Position | RecollectError | None = None

    async def listen(self, last: str | None) -> AsyncIterator[bytes]:
        """The stream for one listener, from where its last event was; without one, from now on."""
        if self._listeners >= MOST_LISTENERS:
            raise ServerBusy(f"{MOST_LISTENERS} streams are open already")
        self._listeners += 1
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.create_task(self._watch())
        try:
            async for part in self._stream(last):
                yield part
        finally:
            self._listeners -= 1

    async def _stream(self, last: str | None) -> AsyncIterator[bytes]:
        begins = parse_position(last)
        waiting = -1
        at = begins or Position(0, 0)
        if begins is None:
            at, waiting = await asyncio.to_thread(self._state)
            yield _event("ready", at, {"to_review": waiting})
        while not self._stopping.is_set():
            try:
                found = await asyncio.to_thread(self._memory.overview.events, at)
                if found.is_reset:
                    yield _event("reset", found.position, {})
                for event in found.events:
                    yield _event(event.name, event.position, event_json(event))
                at = found.position
                _, count = await asyncio.to_thread(self._state)
                if count != waiting:
                    waiting = count
                    yield _event("review", at, {"to_review": count})
            except RecollectError as error:  # the store cannot be read now: said, and tried again
                yield _event("trouble", at, problem_json(error))
                await self._rest(BEAT_SECONDS / 5)
                continue
            if not await self._wait_after(at):
                yield b": still here\n\n"

    def _state(self) -> tuple[Position, int]:
        return self._memory.overview.position(), self._memory.review.count()

    async def _wait_after(self, at: Position) -> bool:
        """Wait until the store has moved on; False when it is time for a sign of life."""
        try:
            async with asyncio.timeout(BEAT_SECONDS), self._moved:
                while not self._stopping.is_set() and self._head in (None, at):
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _watch(self) -> None:
        while self._listeners and not self._stopping.is_set():
            try:
                head: Position | RecollectError = await asyncio.to_thread(self._memory.overview.position)
            except RecollectError as error:
                head = error
            if isinstance(head, RecollectError) or head != self._head:
                self._head = head
                async with self._moved:
                    self._moved.notify_all()
            try:  # a server tells of changes at once; a file is looked at every now and then
                await asyncio.to_thread(self._memory.overview.wait_for_change, LOOK_SECONDS)
            except RecollectError:
                await self._rest(LOOK_SECONDS)
        async with self._moved:
            self._moved.notify_all()


def parse_position(text: str | None) -> Position | None:
    """The position an event's id names; nothing for what is none, so that the stream begins now."""
    found = _ID.fullmatch(text or "")
    return None if found is None else Position(int(found[1]), int(found[2]))


def event_json(event: StoreEvent) -> dict[str, Any]:
    """An event as JSON, without what is empty."""
    told = {
        "at": iso(event.at),
        "action": event.action,
        "memory": event.memory,
        "actor": event.actor,
        "door": event.door,
        "session": event.session,
        "job": event.job,
        "outcome": event.outcome,
    }
    return {name: value for name, value in told.items() if value}


def _event(name: str, at: Position, data: dict[str, Any]) -> bytes:
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {at.entry}-{at.told}\nevent: {name}\ndata: {told}\n\n".encode("utf-8", "replace")
