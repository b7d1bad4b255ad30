"""Idempotency keys: a request that is sent again with the same key is answered as the first time, not done again.

The store keeps what was answered, also over a restart and for other servers of the same store. Of requests that run at
the same time in this process, the second waits for the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hashlib import sha256

from starlette.responses import Response

from recollect.app import Recollect
from recollect.core.errors import RequestRefused

_MAX_KEY = 200  # characters
_REPEATABLE = 500  # a status from here on was no answer: the next try is a first one


def reply_key(caller: str, key: str) -> str:
    """A caller's key as it is kept: a digest, because a key may say anything."""
    if not key or len(key) > _MAX_KEY or not key.isprintable():
        raise RequestRefused(f"Idempotency-Key takes 1 to {_MAX_KEY} plain characters", status=400)
    return sha256(f"{caller}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()


class RunningRequests:
    """Requests with a key that run now. Used from one event loop."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[str, asyncio.Future[Response]]] = {}

    async def once(self, key: str, request: str, answer: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to a request; that of the one with the same key that runs already, where there is one."""
        running = self._running.get(key)
        if running is not None:
            _require_same(running[0], request)
            return await asyncio.shield(running[1])
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._running[key] = (request, future)
        try:
            response = await answer()
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # whoever waits gets it; nobody waiting is no fault
            raise
        finally:
            del self._running[key]
        future.set_result(response)
        return response


def answer_once(memory: Recollect, key: str, request: str, answer: Callable[[], Response]) -> Response:
    """Do a request unless it was done before under its key. On a thread: a request that outlasts its time still leaves
    its answer."""
    replies = memory.store.replies
    if not replies.is_kept:
        return answer()
    known = replies.claim(key, request, datetime.now(UTC))
    if known is not None:
        _require_same(known.request, request)
        return _repeated(known.status, known.revision, known.answer)
    try:
        response = answer()
    except BaseException:
        replies.release(key)
        raise
    if response.status_code >= _REPEATABLE:
        replies.release(key)
    else:
        told = bytes(response.body).decode()
        tag = response.headers.get("etag")
        replies.keep(
            key, status=response.status_code, revision=None if tag is None else int(tag.strip('"')), answer=told
        )
    return response


def _require_same(first: str, request: str) -> None:
    if first != request:
        raise RequestRefused("This Idempotency-Key was used for another request", status=422)


def _repeated(status: int | None, revision: int | None, answer: str | None) -> Response:
    if status is None:
        raise RequestRefused(
            "The first request with this Idempotency-Key is still running, or was interrupted",
            status=409,
            hint="Try again in a moment. If it stays so, look whether it was done before you send it with a new key.",
        )
    if answer is None:
        raise RequestRefused(
            "This request was done before; what was answered is no longer kept",
            status=409,
            hint="Something was forgotten since. Read what you need; there is nothing to send again.",
        )
    headers = {} if revision is None else {"ETag": f'"{revision}"'}
    return Response(answer, status_code=status, media_type="application/json", headers=headers)
