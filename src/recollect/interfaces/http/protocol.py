"""Connections with a limit to their patience: a head that does not arrive, an answer that is not read and more clients
than there is room for end the connection. Bodies have their own limit, in the guard.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # from the first byte of a connection or request to the end of its head
READ_SECONDS = 30.0  # that a client may leave an answer unread
CONNECTIONS = 1_000


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, for clients that keep to the limits."""

    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        else:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_timer = _stopped(self._head_timer)
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read_timer = _stopped(self._read_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer, self._read_timer = _stopped(self._head_timer), _stopped(self._read_timer)
        super().connection_lost(exc)


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer, once the one there is was stopped."""
    if timer is not None:
        timer.cancel()
    return None
