"""What stands before every request: Host, Origin, who is calling, how large and how slow a body may be, and the headers
that keep browsers strict. Nothing of a body is read before the caller is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.core.errors import HostRefused, OriginRefused, RecollectError, RequestRefused, TokenMissing
from recollect.interfaces.http import API, COOKIE
from recollect.interfaces.http.access import AccessFile, ApiCaller
from recollect.interfaces.http.problems import problem
from recollect.team.api import TOKEN_MARK

CALLER = "recollect.caller"  # where the request carries who sent it
MAX_BODY = 2 * 2**20  # bytes; one memory holds less
BODY_SECONDS = 15.0  # for a whole body to arrive
LOGIN = f"{API}/session"
JOIN = f"{API}/team/join"  # for those who have an invitation and nothing else yet
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        b"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


class Guard:
    """Lets a request through to the app with its caller, or answers why not."""

    def __init__(
        self,
        app: ASGIApp,
        access: AccessFile,
        *,
        store: str,
        hosts: Iterable[str],
        tls: bool,
        by_member: Callable[[str], ApiCaller | None],
    ) -> None:
        self._app = app
        self._access = access
        self._by_member = by_member  # asks the store whose token it is
        self._store = store  # sessions of browsers belong to one store
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(f"{'https' if tls else 'http'}://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        strict = _strict(send, no_store=not _is_public(scope))
        try:
            scope[CALLER] = await self._admit(scope)
        except RecollectError as error:
            await problem(error, {"Connection": "close"})(scope, receive, strict)
            return
        await self._app(scope, _limited(receive), strict)

    async def _admit(self, scope: Scope) -> ApiCaller | None:
        """Who is calling; nothing where nobody needs to be known. An error for everyone else."""
        host = _header(scope, b"host")
        if host is None or host.lower() not in self._hosts:
            raise HostRefused(host or "")
        origin = _header(scope, b"origin")
        if origin is not None and origin.lower() not in self._origins:
            raise OriginRefused(origin)
        if _is_public(scope) and scope["method"] in _SAFE:
            return None  # a link on another site may lead here
        if _header(scope, b"sec-fetch-site") in ("cross-site", "same-site"):
            raise OriginRefused(origin or "another site")
        if _is_public(scope):
            return None
        caller = await self._identify(scope)
        if caller is None:
            raise TokenMissing(given=_header(scope, b"authorization") is not None or session_of(scope) is not None)
        sent_by_page = origin is not None or _header(scope, b"sec-fetch-site") == "same-origin"
        if caller.by_cookie and scope["method"] not in _SAFE and not sent_by_page:
            raise OriginRefused("")
        _check_length(scope)
        return caller

    async def _identify(self, scope: Scope) -> ApiCaller | None:
        kind, _, secret = (_header(scope, b"authorization") or "").partition(" ")
        if kind.lower() == "bearer":
            token = secret.strip()
            if token.startswith(TOKEN_MARK):
                return await asyncio.to_thread(self._by_member, token)
            return self._access.by_token(token)
        if kind:
            return None
        session = session_of(scope)
        return None if session is None else self._access.by_session(session, self._store)


def session_of(scope: Scope) -> str | None:
    """The session that a browser's cookie carries."""
    port = scope["server"][1] if scope.get("server") else 0
    try:
        found = SimpleCookie(_header(scope, b"cookie") or "").get(f"{COOKIE}-{port}")
    except CookieError:
        return None
    return None if found is None else found.value


def code_of(scope: Scope) -> str | None:
    """The one-time code of a login, which comes in a header: no stranger's body is read."""
    kind, _, code = (_header(scope, b"authorization") or "").partition(" ")
    return code.strip() if kind.lower() == "code" else None


def _is_public(scope: Scope) -> bool:
    """The panel's own files hold no data, and logging in is for those who are not known yet."""
    path, method = scope["path"], scope["method"]
    if path in (LOGIN, JOIN):
        return bool(method == "POST")
    return method in ("GET", "HEAD") and not path.startswith((f"{API}/", "/mcp")) and path != API


def _header(scope: Scope, name: bytes) -> str | None:
    """A header's value; one that is sent twice is nobody's."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else None


def _check_length(scope: Scope) -> None:
    length = _header(scope, b"content-length")
    if length is not None and (not length.isdigit() or len(length) > 12 or int(length) > MAX_BODY):
        raise RequestRefused(f"The body is larger than {MAX_BODY:,} bytes", status=413)


def _limited(receive: Receive) -> Receive:
    """The body, as far as it is neither too large nor too slow."""
    size = 0
    ends: float | None = None
    is_whole = False

    async def next_part() -> Message:
        nonlocal size, ends, is_whole
        if is_whole:
            return await receive()  # only the end of the connection comes now
        loop = asyncio.get_running_loop()
        ends = loop.time() + BODY_SECONDS if ends is None else ends
        try:
            async with asyncio.timeout_at(ends):
                message = await receive()
        except TimeoutError:
            raise RequestRefused(f"The body did not arrive within {BODY_SECONDS:.0f} s", status=408) from None
        size += len(message.get("body", b""))
        if size > MAX_BODY:
            raise RequestRefused(f"The body is larger than {MAX_BODY:,} bytes", status=413)
        is_whole = not message.get("more_body", False)
        return message

    return next_part


def _strict(send: Send, *, no_store: bool) -> Send:
    async def with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message.get("headers", ())}
            more = [pair for pair in _HEADERS if pair[0] not in given]
            if no_store and b"cache-control" not in given:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return with_headers
