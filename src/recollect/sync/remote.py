"""The server over HTTP: gzip both ways, a person's token, and every refusal in the server's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from recollect.core.errors import InvalidField, RecollectError
from recollect.core.sync_errors import SyncMassDeletion, SyncOffline, SyncServerRefused, SyncVersionUnknown
from recollect.core.text import printable
from recollect.net.http import Caller, RetryPolicy
from recollect.sync.wire import (
    VERSIONS,
    Json,
    RecordResult,
    SyncPage,
    SyncRecord,
    deflate,
    parse_message,
    read_sync_page,
)

_RETRY = RetryPolicy(tries=3, timeout=30.0, deadline=90.0)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_SAID = 400  # characters of what a server says


class HttpRemote:
    """A server at an address. Redirects are not followed, so the token goes nowhere else."""

    def __init__(self, url: str, token: str, *, caller: Caller | None = None) -> None:
        self._base = _checked(url)
        self._name = urlsplit(self._base).netloc.rpartition("@")[2]
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}
        self._caller = caller or Caller(
            self._name, headers, down=SyncOffline, wrong=SyncOffline, explain=partial(_refusal, self._name)
        )

    def hello(self) -> Json:
        told = self._get("sync")
        if not isinstance(told, dict) or not all(isinstance(told.get(name), str) for name in _GREETING):
            raise SyncOffline(self._name, "it is no team server", hint="Check `sync_server`.")
        return told

    def pull(self, after: int, anchor: str) -> SyncPage:
        return read_sync_page(
            self._get(f"sync/changes?version={VERSIONS[-1]}&after={after}&anchor={quote(anchor, safe='')}")
        )

    def push(self, batch: str, records: Sequence[SyncRecord], *, confirmed: bool) -> list[RecordResult]:
        told = self._post(
            "sync/changes",
            {
                "version": VERSIONS[-1], "batch": batch, "records": [record.told() for record in records],
                "confirmed": confirmed,
            },
        )  # fmt: skip
        results = told.get("results") if isinstance(told, dict) else None
        if not isinstance(results, list):
            raise SyncOffline(self._name, "its answer is no list of results")
        return [_result(one) for one in results]

    def close_batch(self, batch: str) -> dict[str, int]:
        told = self._post(f"sync/batches/{batch}", None)
        applied = told.get("applied") if isinstance(told, dict) else None
        if not isinstance(applied, dict) or not all(type(number) is int for number in applied.values()):
            raise SyncOffline(self._name, "its answer tells nothing of the batch")
        return applied

    def _get(self, path: str) -> Any:
        return self._parsed(self._caller.fetch(f"{self._base}/v1/{path}", None, _RETRY))

    def _post(self, path: str, value: Any) -> Any:
        body = b"" if value is None else deflate(value)
        more: Mapping[str, str] = {} if value is None else {"Content-Encoding": "gzip"}
        return self._parsed(self._caller.fetch(f"{self._base}/v1/{path}", body, _RETRY, headers=more))

    def _parsed(self, data: bytes) -> Any:
        try:
            return parse_message(data) if data[:2] == b"\x1f\x8b" else json.loads(data)
        except (ValueError, RecursionError, RecollectError):
            raise SyncOffline(self._name, "its answer cannot be read") from None


_GREETING = ("server", "project", "time")


def _checked(url: str) -> str:
    """The address without a path's end. A token goes in the clear to nobody but this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidField("sync_server", f"{url!r:.100} is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidField("sync_server", f"{url!r:.100} is no address", hint="Write https://memory.example.org.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InvalidField("sync_server", "the token would travel in the clear", hint="Use an https:// address.")
    return url.rstrip("/").removesuffix("/v1")


def _refusal(name: str, status: int, body: str) -> RecollectError | None:
    """What a final refusal means; nothing for one that may pass."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = {}
    if not isinstance(told, dict):
        told = {}
    said = " ".join(printable(str(told.get("detail", f"status {status}"))).split())[:_MOST_SAID]
    code = told.get("code")
    if code == SyncMassDeletion.code:
        return SyncMassDeletion.told(said)
    if code == SyncVersionUnknown.code:
        return SyncVersionUnknown(str(said), map(str, VERSIONS))
    if status == 401:
        hint = "The token is wrong, has expired or was revoked: set `sync_token` to another."
        return SyncServerRefused(name, said, hint=hint)
    if status == 404:
        return SyncServerRefused(name, said, hint="Is `sync_server` the address of a team server of this release?")
    return SyncServerRefused(name, said, hint=str(told.get("hint", ""))[:_MOST_SAID]) if 400 <= status < 500 else None


def _result(told: Any) -> RecordResult:
    if not isinstance(told, dict) or not isinstance(told.get("key"), str):
        raise InvalidField("results", "the server's answer is no list of results")
    version = told.get("version")
    if told.get("verdict") not in ("applied", "stale", "known", "buried", "refused"):
        raise InvalidField("results", f"{told.get('verdict')!r:.40} is no verdict")
    return RecordResult(
        told["key"], told["verdict"], version if type(version) is int else None, str(told.get("why", ""))[:_MOST_SAID]
    )
