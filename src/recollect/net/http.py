"""JSON over HTTP with manners: deadlines that hold, retries with growing pauses, and no surprises for the key.

Redirects are not followed, so a key never travels to another host, and loopback addresses bypass any proxy.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from recollect.core.errors import RecollectError
from recollect.core.text import printable

_MAX_BYTES = 256 << 20  # bytes of one answer
_CHUNK = 1 << 16
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # statuses that may pass
Result = TypeVar("Result")
_NO_HEADERS: Mapping[str, str] = {}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait for an answer. The deadline covers all tries and the pauses between them."""

    tries: int
    timeout: float  # seconds without a byte
    deadline: float  # seconds in all
    first_pause: float = 0.5  # seconds; doubles each time
    longest_pause: float = 20.0


BACKGROUND = RetryPolicy(tries=6, timeout=60.0, deadline=180.0)  # for documents, which nobody waits for
INTERACTIVE = RetryPolicy(tries=2, timeout=5.0, deadline=8.0, first_pause=0.2)  # for a question somebody waits for


class ErrorType(Protocol):
    """The error to raise: what is called, what is wrong, what to do about it."""

    def __call__(self, model: str, problem: str, /, *, hint: str = "") -> RecollectError: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Asks one server. Sleep, time and chance are handed in, and so are the errors: `down` when it does not answer,
    `wrong` when what it says cannot be used."""

    model: str  # named in errors
    headers: Mapping[str, str]
    down: ErrorType
    wrong: ErrorType
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    explain: Callable[[int, str], RecollectError | None] = lambda status, body: None  # a refusal in the server's words

    def post(self, url: str, body: Mapping[str, Any], retry: RetryPolicy) -> Any:
        return self._ask(url, json.dumps(body).encode(), retry)

    def get(self, url: str, retry: RetryPolicy) -> Any:
        return self._ask(url, None, retry)

    def fetch(
        self, url: str, body: bytes | None, retry: RetryPolicy, *, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """The bytes of an answer, to bytes where some are sent."""
        ends = self.clock() + retry.deadline
        return self._retry(lambda timeout: self._once(url, body, timeout, ends, headers or {}), retry, ends)

    def stream(self, url: str, body: Mapping[str, Any], retry: RetryPolicy) -> Iterator[str]:
        """The lines of an answer as they come. It is asked again until it begins to answer, never after that."""
        ends = self.clock() + retry.deadline
        data = json.dumps(body).encode()
        response = self._retry(lambda timeout: self._open(url, data, timeout), retry, ends)
        with response, self._no_second_try(url):
            rest = b""
            for chunk in self._chunks(response, ends):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (line.decode("utf-8", "replace").rstrip("\r") for line in lines)
            if rest:
                yield rest.decode("utf-8", "replace")

    def _ask(self, url: str, data: bytes | None, retry: RetryPolicy) -> Any:
        ends = self.clock() + retry.deadline
        return self._parsed(self._retry(lambda timeout: self._once(url, data, timeout, ends), retry, ends))

    def _retry(self, act: Callable[[float], Result], retry: RetryPolicy, ends: float) -> Result:
        """What `act` gives within so many seconds, tried as often as the policy allows."""
        pause = retry.first_pause
        for tried in range(1, retry.tries + 1):
            try:
                return act(min(retry.timeout, ends - self.clock()))
            except _Transient as trouble:
                wait = trouble.after if trouble.after is not None else pause * (0.5 + self.chance() / 2)
                if tried == retry.tries or self.clock() + wait >= ends:
                    raise self._down(f"{trouble} (tried {tried} ×)") from None
                self.sleep(wait)
                pause = min(pause * 2, retry.longest_pause)
        raise self._down("no try was allowed")

    def _once(
        self, url: str, data: bytes | None, timeout: float, ends: float, headers: Mapping[str, str] = _NO_HEADERS
    ) -> bytes:
        with self._translate_errors(url), self._open(url, data, timeout, headers) as response:
            return self._read(response, ends)

    def _open(
        self, url: str, data: bytes | None, timeout: float, more: Mapping[str, str] = _NO_HEADERS
    ) -> http.client.HTTPResponse:
        if timeout <= 0:
            raise _Transient("the time was up")
        headers = {"User-Agent": "recollect", "Content-Type": "application/json", **self.headers, **more}
        with self._translate_errors(url):
            request = urllib.request.Request(url, data=data, headers=headers)
            response: http.client.HTTPResponse = _opener(url).open(request, timeout=timeout)
            return response

    @contextmanager
    def _no_second_try(self, url: str) -> Iterator[None]:
        """Once an answer has begun there is no second try: what might have passed is final."""
        try:
            with self._translate_errors(url):
                yield
        except _Transient as trouble:
            raise self._down(f"{trouble} in the middle of its answer") from None

    @contextmanager
    def _translate_errors(self, url: str) -> Iterator[None]:
        """Whatever the network raises becomes an error of ours, or a trouble that may pass."""
        try:
            yield
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (TimeoutError, ConnectionResetError, BrokenPipeError, http.client.HTTPException) as error:
            raise _Transient(_describe(error)) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, (TimeoutError, ConnectionResetError)):
                raise _Transient(_describe(error.reason)) from None
            raise self._down(_describe(error.reason), hint=f"Is a server running at {_origin(url)}?") from None
        except (OSError, ValueError) as error:
            raise self._down(_describe(error), hint=f"Check the address {_origin(url)}.") from None

    def _read(self, response: http.client.HTTPResponse, ends: float) -> bytes:
        return b"".join(self._chunks(response, ends))

    def _chunks(self, response: http.client.HTTPResponse, ends: float) -> Iterator[bytes]:
        """The whole answer as it comes; a server that trickles is cut off at the deadline."""
        size = 0
        while chunk := response.read1(_CHUNK):
            yield chunk
            size += len(chunk)
            if size > _MAX_BYTES:
                raise self.wrong(self.model, f"its answer is larger than {_MAX_BYTES >> 20} MB")
            if self.clock() > ends:
                raise _Transient("the answer came too slowly")
        if response.length:
            raise _Transient(f"the answer broke off, {response.length:,} bytes early")

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """A status other than success: worth another try, or final with a way out."""
        with error:
            text = self._text(error)
        said = " ".join(printable(text).split())[:300]
        if error.code not in _RETRIED and (told := self.explain(error.code, text)) is not None:
            return told
        why = f"status {error.code}" + (f", {said}" if said else "")
        if error.code in _RETRIED and "insufficient_quota" not in said:
            return _Transient(why, after=_retry_after(error.headers.get("Retry-After")))
        hint = {
            401: "The key is missing or wrong: check the environment variable that holds it.",
            403: "The key may not use this model.",
            404: "Check the address and the name of the model.",
            429: "The account has no credit left.",
        }.get(error.code, "Check the address, the model and the dimensions in the setting.")
        return self._down(why, hint=hint)

    def _text(self, error: urllib.error.HTTPError) -> str:
        """What the server says about it, without any key."""
        try:
            text = error.read(4096).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return ""
        for secret in self.headers.values():
            text = text.replace(secret.removeprefix("Bearer "), "…")
        return text

    def _parsed(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except ValueError:
            raise self.wrong(self.model, f"its answer is not JSON: {data[:60]!r}") from None
        except RecursionError:
            raise self.wrong(self.model, "its answer is nested too deeply") from None

    def _down(self, why: str, *, hint: str = "") -> RecollectError:
        return self.down(self.model, why, hint=hint)


class _Transient(Exception):
    """A trouble that may pass. `after` is how many seconds the server wants us to wait."""

    def __init__(self, why: str, *, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> urllib.request.OpenerDirector:
    if urlsplit(url).hostname in _LOOPBACK:
        return urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_NoRedirect)


def _retry_after(value: str | None) -> float | None:
    """Seconds or a date, as the server likes; nothing when it says neither."""
    if not value:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((at - datetime.now(UTC)).total_seconds(), 0.0) if at.tzinfo else None


def _describe(error: object) -> str:
    return printable(str(error)) or type(error).__name__


def _origin(url: str) -> str:
    """The address without path, user or password, as far as it can be read."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "given"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
