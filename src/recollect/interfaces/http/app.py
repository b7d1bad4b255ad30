"""The application: routes behind the guard, the event stream, the MCP endpoint and the panel's files."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO

import anyio
from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.core.errors import (
    InternalError,
    InvitationRefused,
    KeeperOnly,
    RecollectError,
    RequestRefused,
    RouteNotFound,
    ScopeMissing,
    ServerBusy,
    TokenMissing,
)
from recollect.core.people import Member
from recollect.files.plain import is_inside
from recollect.interfaces.http import ADMIN, API, COOKIE, READ
from recollect.interfaces.http.access import SESSION_SECONDS, AccessFile, ApiCaller
from recollect.interfaces.http.endpoint import Answer, Call, Endpoint, Params, dump
from recollect.interfaces.http.events import Feed
from recollect.interfaces.http.export import MEDIA, ExportStreams
from recollect.interfaces.http.guard import CALLER, JOIN, LOGIN, Guard, code_of, session_of
from recollect.interfaces.http.mcp import McpEndpoint
from recollect.interfaces.http.openapi import openapi
from recollect.interfaces.http.problems import problem
from recollect.interfaces.http.replies import RunningRequests, answer_once, reply_key
from recollect.interfaces.http.routes import data, memories, people, sync, system, team, work
from recollect.interfaces.http.stores import ServedStores
from recollect.interfaces.payloads.team import joined_json
from recollect.sync.wire import MAX_COMPRESSED, deflate_text, inflate

ENDPOINTS: Sequence[Endpoint] = (
    *memories.ENDPOINTS,
    *work.ENDPOINTS,
    *people.ENDPOINTS,
    *system.ENDPOINTS,
    *data.ENDPOINTS,
    *team.ENDPOINTS,
    *sync.ENDPOINTS,
)
PANEL_FOLDER = Path(__file__).parent / "panel"
_THREADS = 8  # as many as the engine keeps connections for; more would open and close one for each request
_ETAG = re.compile(r'"(\d{1,15})"')
_NO_PANEL = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Recollect</title><h1>Recollect is running</h1>"
    "<p>The panel is not part of this installation. <code>make panel</code> builds it in a checkout; the wheel has it."
    "<p>The API is at <code>/v1</code>: <code>recollect token create NAME</code> makes a token for it.</html>"
)


class Application:
    """One server's routes and what they share."""

    def __init__(
        self,
        stores: ServedStores,
        access: AccessFile,
        *,
        key: str,
        hosts: Iterable[str],
        tls: bool = False,
        panel: Path = PANEL_FOLDER,
    ) -> None:
        self.stores = stores
        self.stopping = asyncio.Event()
        self._access = access
        self._key = key
        self._hosts = tuple(hosts)
        self._tls = tls
        self._panel = panel
        self._running = RunningRequests()
        self._exports = ExportStreams()
        self._limiter: CapacityLimiter | None = None
        self._feeds: dict[tuple[str, Member | None], Feed] = {}
        self._mcp = McpEndpoint(stores, hosts=self._hosts, tls=tls)

    def asgi(self) -> ASGIApp:
        """What a server runs."""
        routes = [
            *(
                Route(f"{API}{endpoint.path}", partial(self._serve, endpoint), methods=[endpoint.method])
                for endpoint in ENDPOINTS
            ),
            Route(LOGIN, self._begin_session, methods=["POST"]),
            Route(LOGIN, self._end_session, methods=["DELETE"]),
            Route(f"{API}/export", self._export, methods=["GET"]),
            Route(JOIN, self._join, methods=["POST"]),
            Route(f"{API}/events", self._stream, methods=["GET"]),
            Route(f"{API}/openapi.json", self._describe, methods=["GET"]),
            Route("/mcp", _Mounted(self._mcp)),
            Route("/{path:path}", self._panel_file, methods=["GET"]),
        ]
        handlers = {HTTPException: _http_problem, RecollectError: _own_problem, Exception: _unforeseen}
        app = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=handlers)  # type: ignore[arg-type]
        app.router.redirect_slashes = False
        return Guard(
            app,
            self._access,
            store=self._key,
            hosts=self._hosts,
            tls=self._tls,
            by_member=self.stores.by_member,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._limiter = CapacityLimiter(_THREADS)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._mcp.running())
            yield
            self.stopping.set()

    # --- the API ----------------------------------------------------------------------------------------------------

    async def _serve(self, endpoint: Endpoint, request: Request) -> Response:
        caller = _caller(request, endpoint.scope)
        if endpoint.is_keepers and caller.member is not None:
            raise KeeperOnly
        query = endpoint.parse_query(request.query_params.multi_items())
        revision = _revision(request, endpoint)
        try:
            data = await request.body()
        except ClientDisconnect:
            raise RequestRefused("The client went away", status=400) from None
        body = endpoint.parse_body(_inflated(data, request, endpoint), request.headers.get("content-type", ""))
        gzip = endpoint.compressed and "gzip" in request.headers.get("accept-encoding", "")

        def answer() -> Response:
            memory = self.stores.view(query.store, caller)
            call = Call(memory, caller, request.path_params, query, body, revision, self)
            return _rendered(endpoint.call(call), endpoint, gzip=gzip)

        given = request.headers.get("idempotency-key")
        if given is None or endpoint.method == "GET" or not endpoint.repeats:
            return await self._on_thread(answer, endpoint.seconds)
        key = reply_key(caller.member.id if caller.member else caller.name or "", given)
        told = f"{endpoint.method} {request.url.path}?{request.url.query} {revision}\n".encode() + data
        digest = sha256(told).hexdigest()

        def answer_again() -> Response:
            return answer_once(self.stores.view(query.store, caller), key, digest, answer)

        return await self._running.once(key, digest, partial(self._on_thread, answer_again, endpoint.seconds))

    async def _on_thread(self, answer: Callable[[], Response], seconds: float) -> Response:
        try:
            with anyio.fail_after(seconds):
                return await anyio.to_thread.run_sync(answer, abandon_on_cancel=True, limiter=self._limiter)
        except TimeoutError:
            raise ServerBusy(f"No answer within {seconds:.0f} s; a change may still be made") from None
        except OSError as error:
            from recollect.core.errors import UnusableFile

            raise UnusableFile(error) from error

    async def _stream(self, request: Request) -> Response:
        caller = _caller(request, READ)
        query = _PLAIN.parse_query(request.query_params.multi_items())
        memory = await anyio.to_thread.run_sync(lambda: self.stores.view(query.store, caller))
        feed = self._feeds.setdefault((query.store, caller.member), Feed(memory, self.stopping))
        parts = feed.listen(request.headers.get("last-event-id"))
        first = await anext(parts)  # trouble shows as an answer, not as an empty stream
        return StreamingResponse(_with_first(first, parts), media_type="text/event-stream")

    async def _export(self, request: Request) -> Response:
        caller = _caller(request, ADMIN)
        if caller.member is not None:
            raise KeeperOnly
        query: data.ExportParams = _EXPORT.parse_query(request.query_params.multi_items())  # type: ignore[assignment]
        memory = await anyio.to_thread.run_sync(lambda: self.stores.view(query.store, caller))
        wanted = query.exported(Call(memory, caller, query=query))
        media, name = MEDIA[query.format]

        def write(to: IO[bytes]) -> None:
            memory.export(to, format=query.format, filter=wanted, personal=query.personal, budget=query.budget)

        parts = await self._exports.start(write)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(parts, media_type=media, headers=headers)

    async def _describe(self, request: Request) -> Response:
        _caller(request, READ)
        return Response(dump(openapi(ENDPOINTS)), media_type="application/json")

    # --- browsers ---------------------------------------------------------------------------------------------------

    async def _begin_session(self, request: Request) -> Response:
        code = code_of(request.scope)
        session = None if code is None else await asyncio.to_thread(self._access.take_code, code, self._key)
        if session is None:
            raise TokenMissing
        answer = Response(status_code=204)
        answer.set_cookie(
            f"{COOKIE}-{request.scope['server'][1]}",
            session,
            max_age=SESSION_SECONDS,
            path="/",
            httponly=True,
            secure=self._tls,
            samesite="strict",
        )
        return answer

    async def _join(self, request: Request) -> Response:
        """Somebody comes in with an invitation. The code is in a header and the name in the address: no stranger's
        body is read."""
        code, name = code_of(request.scope), request.query_params.get("name")
        if code is None or name is None:
            raise InvitationRefused
        joined = await asyncio.to_thread(self.stores.project.team.join, code, name)
        told = joined_json(joined, project=self.stores.project.project)
        return Response(dump(told), status_code=201, media_type="application/json")

    async def _end_session(self, request: Request) -> Response:
        _caller(request, READ)
        if (session := session_of(request.scope)) is not None:
            await asyncio.to_thread(self._access.end_session, session, self._key)
        answer = Response(status_code=204)
        answer.delete_cookie(f"{COOKIE}-{request.scope['server'][1]}", path="/")
        return answer

    async def _panel_file(self, request: Request) -> Response:
        """A file of the panel; its first page for every deep link."""
        path = str(request.path_params["path"])
        index = self._panel / "index.html"
        if not index.is_file():
            if path in ("", "index.html"):
                return HTMLResponse(_NO_PANEL)
            raise RouteNotFound(f"/{path[:200]}")
        file = self._panel / path
        if path and is_inside(str(self._panel), path) and file.is_file():
            fixed = path.startswith("assets/")  # their names change with what is in them
            kept = "public, max-age=31536000, immutable" if fixed else "no-cache"
            return FileResponse(file, headers={"Cache-Control": kept})
        if "." in os.path.basename(path):
            raise RouteNotFound(f"/{path[:200]}")
        return FileResponse(index, headers={"Cache-Control": "no-cache"})


_EXPORT = Endpoint("GET", "/export", lambda call: {}, ADMIN, None, "", query=data.ExportParams)
_PLAIN = Endpoint("GET", "", lambda call: {}, READ, None, "", query=Params)


class _Mounted:
    """An ASGI app where Starlette would take a function for a handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _caller(request: Request, scope: str) -> ApiCaller:
    caller: ApiCaller | None = request.scope.get(CALLER)
    if caller is None:
        raise TokenMissing
    if not caller.may(scope):
        raise ScopeMissing(scope, caller.scope)
    return caller


def _revision(request: Request, endpoint: Endpoint) -> int | None:
    given = request.headers.get("if-match")
    if given is None or not endpoint.if_match:
        if endpoint.if_match == "required":
            raise RequestRefused(
                "An edit needs If-Match", status=428, hint="Read the memory and send its ETag, so that nothing is lost."
            )
        return None
    found = _ETAG.fullmatch(given.strip())
    if found is None:
        raise RequestRefused(f"{given[:60]!r} is not an ETag of this API", status=400)
    return int(found[1])


def _inflated(data: bytes, request: Request, endpoint: Endpoint) -> bytes:
    """A body as it was before it was compressed."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity" or not data:
        return data
    if encoding != "gzip" or not endpoint.compressed:
        raise RequestRefused(f"This takes no body in the encoding {encoding[:40]!r}", status=415)
    if len(data) > MAX_COMPRESSED:
        raise RequestRefused(f"A batch is no larger than {MAX_COMPRESSED:,} bytes", status=413)
    return inflate(data)


def _rendered(answer: Answer | dict[str, object], endpoint: Endpoint, *, gzip: bool = False) -> Response:
    told = answer if isinstance(answer, Answer) else Answer(answer)
    headers = {} if told.revision is None else {"ETag": f'"{told.revision}"'}
    status = told.status or endpoint.status
    data = dump(told.value)
    if gzip:
        data, headers["Content-Encoding"] = deflate_text(data), "gzip"
    return Response(data, status_code=status, media_type="application/json", headers=headers)


async def _with_first(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for part in rest:
        yield part


async def _own_problem(request: Request, error: RecollectError) -> Response:
    return problem(error)


async def _http_problem(request: Request, error: HTTPException) -> Response:
    if error.status_code == 404:
        return problem(RouteNotFound(request.url.path[:200]))
    told = {405: f"{request.method} is not for {request.url.path[:200]}"}.get(error.status_code, error.detail)
    return problem(RequestRefused(told, status=error.status_code), dict(error.headers or {}))


async def _unforeseen(request: Request, error: Exception) -> Response:
    if os.environ.get("RECOLLECT_TRACEBACK"):
        traceback.print_exception(error, file=sys.stderr)
    return problem(InternalError(error))
