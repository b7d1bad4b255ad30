"""The MCP endpoint of the server: streamable HTTP behind the same guard. What a token may do decides its tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from anyio import create_task_group, sleep_forever
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from recollect.app import Recollect
from recollect.core.doors import MCP
from recollect.core.errors import TokenMissing
from recollect.core.people import Member
from recollect.interfaces.http import ADMIN, READ
from recollect.interfaces.http.access import ApiCaller
from recollect.interfaces.http.guard import CALLER
from recollect.interfaces.http.problems import problem
from recollect.interfaces.http.stores import ServedStores
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build


class McpEndpoint:
    """One MCP server for each caller: the log names who it was, and a session is nobody else's. Whoever calls, it is an
    agent's door."""

    def __init__(self, stores: ServedStores, *, hosts: Iterable[str], tls: bool) -> None:
        named = list(hosts)
        origins = [f"{'https' if tls else 'http'}://{host}" for host in named]
        self._security = TransportSecuritySettings(allowed_hosts=named, allowed_origins=origins)
        self._stores = stores
        self._managers: dict[tuple[str, str | None, Member | None], StreamableHTTPSessionManager] = {}
        self._starting = asyncio.Lock()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take requests while the block lasts."""
        async with create_task_group() as self._group:
            yield
            self._group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: ApiCaller | None = scope.get(CALLER)
        if caller is None:
            await problem(TokenMissing())(scope, receive, send)
            return
        manager = await self._manager_of(caller)
        await manager.handle_request(scope, receive, send)

    def _memory_for(self, caller: ApiCaller) -> Recollect:
        """Whoever calls, it is an agent's door; a member's agent sees what the member sees."""
        if caller.member is not None:
            return self._stores.project.seen_by(caller.member, door=MCP.name)
        return self._stores.project.through(MCP.name, actor=caller.name)

    async def _manager_of(self, caller: ApiCaller) -> StreamableHTTPSessionManager:
        key = (caller.scope, caller.name, caller.member)
        async with self._starting:
            found = self._managers.get(key)
            if found is None:
                memory = self._memory_for(caller)
                handle = MemoryHandle.of(memory, read_only=caller.scope == READ)
                server = build(
                    handle, profile="admin" if caller.scope == ADMIN and caller.member is None else "default"
                )
                server.streamable_http_app(transport_security=self._security)
                found = server.session_manager
                assert self._group is not None  # requests come only while it runs
                await self._group.start(_keep_running, found)
                self._managers[key] = found
        return found


async def _keep_running(manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]) -> None:
    async with manager.run():
        task_status.started()
        await sleep_forever()
