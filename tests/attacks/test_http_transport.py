"""The server on this machine's HTTP port answers nobody without its token, from another host's name or another page,
and looks at no body before it knows that."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import environment, report
from recollect.interfaces.http.access import AccessFile

_TOKEN = "A1b2" * 10
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
_BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO}).encode()
_TOKENS = (
    None, "", "Bearer", "Bearer ", f"Bearer {_TOKEN[:-1]}", f"Bearer {_TOKEN}x", f"bearer{_TOKEN}", f"Basic {_TOKEN}",
    _TOKEN, f"Bearer {_TOKEN.lower()}", f"Bearer {_TOKEN},Bearer {_TOKEN}", "Bearer null",
)  # fmt: skip
_HOSTS = (
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:{port}", "127.0.0.1@evil.example",
    "[::1].evil.example", "127.0.0.1.:{port}", "0.0.0.0:{port}", "2130706433:{port}", "127.1:{port}", "169.254.169.254",
    "LOCALHOST.EVIL.EXAMPLE:{port}", "",
)  # fmt: skip
_ORIGINS = (
    "http://evil.example", "https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost.evil.example",
    "http://127.0.0.1:1", "file://", "chrome-extension://abc", "http://127.0.0.1@evil.example", "https://127.0.0.1:{port}",
)  # fmt: skip


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    store = tmp_path / "memory.db"
    recollect.open(store).close()
    _allow_token(tmp_path)
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--json", "--store", str(store)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment(RECOLLECT_EMBEDDER="none"),
    ) as server:  # fmt: skip
        assert server.stdout is not None
        yield int(json.loads(server.stdout.readline())["url"].split(":")[2].rstrip("/"))
        server.terminate()


def _allow_token(tmp_path: Path) -> None:
    """Let the token below in: what is kept of it is its digest."""
    AccessFile().make_token("bot", scope="write", is_persons=False)
    file = tmp_path / "home" / "state" / "recollect" / "access.json"
    held = json.loads(file.read_text())
    held["tokens"][0]["digest"] = hashlib.sha256(_TOKEN.encode()).hexdigest()
    file.write_text(json.dumps(held))


def _ask(port: int, headers: Mapping[str, str | None], *, host: str | None = None, body: bytes = _BODY) -> int:
    """The status of one request; headers that are None are left out."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest("POST", "/mcp", skip_host=True, skip_accept_encoding=True)
        usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        own = {"Host": f"127.0.0.1:{port}" if host is None else host, "Content-Length": str(len(body))}
        for name, value in {**usual, **own, **headers}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        connection.send(body)
        return connection.getresponse().status
    finally:
        connection.close()


def test_only_the_token_from_this_machine_and_no_foreign_page_passes(port: int) -> None:
    right = f"Bearer {_TOKEN}"
    cases = 0
    assert _ask(port, {"Authorization": right}) == 200
    for token in _TOKENS:
        assert _ask(port, {"Authorization": token}) == 401, token
        cases += 1
    for host in _HOSTS:
        assert _ask(port, {"Authorization": right}, host=host.format(port=port)) in (400, 403, 421), host
        cases += 1
    for origin in _ORIGINS:
        status = _ask(port, {"Authorization": right, "Origin": origin.format(port=port)})
        assert status == 403, (origin, status)
        cases += 1
    for host, origin in product(_HOSTS[:5], _ORIGINS[:5]):
        status = _ask(port, {"Authorization": None, "Origin": origin}, host=host)
        assert status in (400, 401, 403, 421), (host, origin, status)
        cases += 1
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ):  # what a page may send unasked
        assert _ask(port, {"Content-Type": kind}) == 401, kind
        cases += 1
    report(f"requests with a wrong token, host, origin or kind: {cases}, passed: 0")


def test_a_request_without_the_token_is_refused_before_its_body_is_read(port: int) -> None:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.putrequest("POST", "/mcp", skip_accept_encoding=True)
    connection.putheader("Content-Length", "100000000")
    connection.endheaders()  # … and not a byte of it
    assert connection.getresponse().status == 401
    connection.close()
    assert time.monotonic() - began < 5
    assert _ask(port, {"Authorization": None}, body=os.urandom(100_000)) == 401
