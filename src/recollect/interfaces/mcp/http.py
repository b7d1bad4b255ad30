"""The same server over streamable HTTP, for hosts that cannot start a process: on this machine only, behind a token.

The token is checked before a byte of the body is read; Host and Origin are checked by the SDK.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from ipaddress import ip_address

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.core.errors import InvalidField, TokenMissing
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.interfaces.payloads import error_json

PATH = "/mcp"
_LEAST_TOKEN = 16  # characters; less could be guessed by another program on the machine
_LAST_PORT = 65_535
_GRACE = 2  # seconds a call may take to end when we are told to stop


class Guarded:
    """Lets a request through if it carries the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        refused = JSONResponse(error_json(TokenMissing()), status_code=401, headers={"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def listen(address: str) -> socket.socket:
    """A socket on HOST:PORT of this machine; port 0 takes a free one."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        local = host == "localhost" or ip_address(host).is_loopback
        number = int(port)
        if not 0 <= number <= _LAST_PORT:
            raise ValueError(port)
    except ValueError:
        raise InvalidField("http", f"{address!r} is not HOST:PORT", hint="Write 127.0.0.1:8765.") from None
    if not local:
        raise InvalidField("http", f"{host} can be reached from outside", hint="Use 127.0.0.1, ::1 or localhost.")
    try:
        return socket.create_server((host, number), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InvalidField("http", f"{address} cannot be listened on: {error}") from None


def serve_http(handle: MemoryHandle, address: str, *, token: str, profile: str, ready: Callable[[str], None]) -> None:
    """Serve hosts over HTTP until told to stop. `ready` gets the address before the first request is taken."""
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidField("token", f"it takes at least {_LEAST_TOKEN} plain characters without spaces")
    try:
        with listen(address) as listening:
            _serve(handle, listening, token=token, profile=profile, ready=ready)
    finally:
        handle.close()


def _serve(
    handle: MemoryHandle, listening: socket.socket, *, token: str, profile: str, ready: Callable[[str], None]
) -> None:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    names = [f"{name}:{port}" for name in dict.fromkeys((shown, "127.0.0.1", "localhost", "[::1]"))]
    app = build(handle, profile=profile).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    settings = uvicorn.Config(
        Guarded(app, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    ready(f"http://{shown}:{port}{PATH}")
    uvicorn.Server(settings).run(sockets=[listening])
