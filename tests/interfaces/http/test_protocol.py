"""Clients that are slow, too many or not who they should be, at a real socket; and the same server behind TLS."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import httpx2
import pytest
import uvicorn

import recollect
from faults.fault_tools import environment
from interfaces.http.conftest import Live
from recollect.core.errors import InvalidField
from recollect.interfaces.http import protocol
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.server import ServerOptions, run_server

SHORT = 0.3  # seconds, in place of the usual patience
LONG = 30.0  # seconds after which a test has failed


def connect(live: Live) -> socket.socket:
    host, _, port = live.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=LONG)


def is_let_go(connection: socket.socket) -> bool:
    """Does the server end the connection without a word?"""
    try:
        return connection.recv(1_000) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET /v1/memories HTTP/1.1\r\nHost: 127", b"\x16\x03\x01"])
def test_a_head_that_does_not_arrive_ends_the_connection(
    live: Live, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", SHORT)
    with connect(live) as connection:
        connection.sendall(sent)
        assert is_let_go(connection) or sent.startswith(b"\x16")  # what is no HTTP is answered with 400


def test_a_head_that_trickles_in_ends_the_connection_also_after_a_first_request(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", SHORT)
    host = live.url.removeprefix("http://")
    with connect(live) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert b" 200 " in connection.recv(65_536)
        assert trickle(connection) is not None


def trickle(connection: socket.socket) -> OSError | None:
    """Send a letter every now and then; what the system says once the server has ended the connection."""
    ends = monotonic() + LONG
    while monotonic() < ends:
        try:
            connection.sendall(b"G")
        except OSError as error:
            return error
        sleep(SHORT / 5)
    return None


LARGE = 30_000_000  # bytes: more than sockets hold for a client that does not read


async def answer_at_length(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE)]})
    await send({"type": "http.response.body", "body": bytes(LARGE)})


@contextmanager
def serving_at_length() -> Iterator[int]:
    """The port of a server that has much to say."""
    config = uvicorn.Config(answer_at_length, http=protocol.ImpatientProtocol, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(LONG)
    assert not thread.is_alive()


def test_an_answer_that_nobody_reads_ends_the_connection_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "READ_SECONDS", SHORT)
    with serving_at_length() as port, socket.create_connection(("127.0.0.1", port), timeout=LONG) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        whole = len(httpx2.get(f"http://127.0.0.1:{port}/", timeout=LONG).content)
        sleep(SHORT * 5)
        received = 0
        with suppress(ConnectionResetError):
            while part := connection.recv(1_000_000):
                received += len(part)
    assert received < whole == LARGE


def test_more_connections_than_there_is_room_for_are_closed_at_once(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "CONNECTIONS", 3)
    held = [connect(live) for _ in range(3)]
    try:
        with connect(live) as fourth:
            assert is_let_go(fourth)
    finally:
        for connection in held:
            connection.close()
    ends = monotonic() + LONG
    while monotonic() < ends:
        try:
            assert httpx2.get(live.url, timeout=LONG).status_code == 200
            return
        except httpx2.TransportError:
            sleep(0.05)  # the server has not seen them go yet
    pytest.fail("there is room again, and nobody is let in")


def make_certificate(folder: Path) -> tuple[str, str]:
    """A certificate for this machine that signs itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here")
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    alt = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        [openssl, *words.split(), "-addext", alt, "-keyout", key, "-out", cert], check=True, capture_output=True
    )
    return str(cert), str(key)


def test_the_server_speaks_tls_with_a_certificate_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    cert, key = make_certificate(tmp_path)
    recollect.open(tmp_path / "memory.db").close()
    token = AccessFile().make_token("t", scope="write", is_persons=False)
    words = ["serve", "--port", "0", "--json", "--no-tend", "--store", str(tmp_path / "memory.db")]
    server = subprocess.Popen(
        [sys.executable, "-m", "recollect", *words, "--tls-cert", cert, "--tls-key", key],
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        assert url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=cert)
        with httpx2.Client(verify=trusting, timeout=LONG, headers={"Authorization": f"Bearer {token}"}) as client:
            kept = client.post(f"{url}v1/memories", json={"content": "Granite is hard."})
            assert kept.status_code == 201
            cookie = client.post(f"{url}v1/session", headers={"Authorization": "Code wrong", "Origin": url[:-1]})
            assert cookie.status_code == 401
        with pytest.raises(httpx2.TransportError):
            httpx2.get(url, timeout=LONG)  # nobody vouches for the certificate
        with pytest.raises(httpx2.TransportError):
            httpx2.get(url.replace("https", "http"), timeout=LONG)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LONG)
    assert server.returncode == 0


@pytest.mark.parametrize(
    "options",
    [
        ServerOptions(host="0.0.0.0"),
        ServerOptions(host="192.0.2.1"),
        ServerOptions(cert="cert.pem"),
        ServerOptions(host="0.0.0.0", cert="cert.pem", key="key.pem"),
    ],
    ids=["every address", "another address", "no key", "no name"],
)
def test_nobody_is_let_in_from_outside_without_tls_and_a_name(options: ServerOptions) -> None:
    with pytest.raises(InvalidField):
        run_server(options, ready=lambda url: pytest.fail(f"it listens at {url}"))
