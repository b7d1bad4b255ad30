"""The MCP endpoint of the server: streamable HTTP behind the same guard. What a token may do decides its tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from recollect.core.doors import MCP
from recollect.core.errors import TokenMissing
from recollect.interfaces.http import ADMIN, READ, SCOPES
from recollect.interfaces.http.access import ApiCaller
from recollect.interfaces.http.guard import CALLER
from recollect.interfaces.http.problems import problem
from recollect.interfaces.http.stores import ServedStores
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build


class McpEndpoint:
    """One MCP server for each scope. Whoever calls, it is an agent's door."""

    def __init__(self, stores: ServedStores, *, hosts: Iterable[str], tls: bool) -> None:
        named = list(hosts)
        origins = [f"{'https' if tls else 'http'}://{host}" for host in named]
        self._security = TransportSecuritySettings(allowed_hosts=named, allowed_origins=origins)
        self._stores = stores
        self._managers: dict[str, StreamableHTTPSessionManager] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take requests while the block lasts."""
        async with AsyncExitStack() as stack:
            for scope in SCOPES:
                handle = MemoryHandle.of(self._stores.project.through(MCP.name), read_only=scope == READ)
                server = build(handle, profile="admin" if scope == ADMIN else "default")
                server.streamable_http_app(transport_security=self._security)
                self._managers[scope] = server.session_manager
                await stack.enter_async_context(server.session_manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: ApiCaller | None = scope.get(CALLER)
        if caller is None:
            await problem(TokenMissing())(scope, receive, send)
            return
        await self._managers[caller.scope].handle_request(scope, receive, send)
