"""Idempotency keys: a request that is sent again with the same key is answered as the first time, not done again.

Kept in memory for a day and for so many requests; what was remembered is recognised by its words even after that.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import sha256

from starlette.responses import Response

from recollect.core.errors import RequestRefused

_MOST = 2_000
_SECONDS = 86_400
_MAX_KEY = 200  # characters
_REPEATABLE = 500  # a status from here on was no answer: the next try is a first one


class Replies:
    """What was answered to which key. Used from one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, str, asyncio.Future[Response]]] = OrderedDict()

    async def once(self, caller: str, key: str, request: bytes, answer: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to a request; the first one's where the key was seen before. The same key with another request is
        refused."""
        if not key or len(key) > _MAX_KEY or not key.isprintable():
            raise RequestRefused(f"Idempotency-Key takes 1 to {_MAX_KEY} plain characters", status=400)
        self._drop_old()
        digest = sha256(request).hexdigest()
        known = self._kept.get((caller, key))
        if known is not None:
            if known[1] != digest:
                raise RequestRefused("This Idempotency-Key was used for another request", status=422)
            return await asyncio.shield(known[2])
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._kept[caller, key] = (self._clock(), digest, future)
        try:
            response = await answer()
        except BaseException as error:
            self._kept.pop((caller, key), None)
            future.set_exception(error)
            future.exception()  # whoever waits gets it; nobody waiting is no fault
            raise
        if response.status_code >= _REPEATABLE:
            self._kept.pop((caller, key), None)
        future.set_result(response)
        return response

    def _drop_old(self) -> None:
        oldest = self._clock() - _SECONDS
        while self._kept and (len(self._kept) >= _MOST or next(iter(self._kept.values()))[0] < oldest):
            self._kept.popitem(last=False)
