"""Behind a real socket: the event stream, restarts, slow clients, and a store that is replaced, gone, locked or damaged
while the server is up."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

import recollect
from interfaces.http.conftest import Live, serving
from recollect.interfaces.http import guard
from recollect.interfaces.http.access import AccessFile
from recollect.tend.maintenance import restore_backup

Event = tuple[str, str, dict[str, Any]]


@contextmanager
def listening(live: Live, headers: dict[str, str], last: str | None = None) -> Iterator[Iterator[Event]]:
    """The events of a stream as they come: id, name, data."""
    more = {} if last is None else {"Last-Event-ID": last}
    with (
        httpx2.Client(timeout=30) as client,
        client.stream("GET", f"{live.url}/v1/events", headers={**headers, **more}) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[Event]:
    told: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name in ("id", "event", "data"):
            told[name] = value
        elif not line and told:
            yield told["id"], told["event"], json.loads(told["data"])
            told = {}


def test_a_change_by_another_process_is_told_to_who_listens(live: Live) -> None:
    with listening(live, live.token("read")) as events, recollect.open(live.store, project="test") as other:
        assert next(events)[1] == "ready"
        id = other.remember("Granite is hard.").id
        _, name, data = next(events)
        assert (name, data["action"], data["memory"], data["door"]) == ("memory", "add", id, "python")
        other.remember("Chalk is soft.", needs_review=True)
        assert next(events)[1] == "memory"
        assert next(events)[1:] == ("review", {"to_review": 1})


def test_who_comes_back_after_a_restart_misses_nothing(tmp_path: Path) -> None:
    store, access = tmp_path / "memory.db", AccessFile(str(tmp_path / "access"))
    with serving(store, access) as live:
        headers, port = live.token("read"), int(live.url.rpartition(":")[2])
        with listening(live, headers) as events:
            next(events)
            live.memory.remember("Granite is hard.")
            last, *_ = next(events)
    with recollect.open(store, project="test") as other:
        missed = other.remember("Chalk is soft.").id
    with serving(store, access, port) as live, listening(live, headers, last) as events:
        _, name, data = next(events)
        assert (name, data["memory"]) == ("memory", missed)


def test_a_position_of_another_store_means_reading_all_again(live: Live) -> None:
    with listening(live, live.token("read"), "99999-0") as events:
        assert next(events)[1] == "reset"


def test_what_is_no_position_begins_now(live: Live) -> None:
    for last in ("x", "1", "-1-2", "1-2-3", "9" * 400):
        with listening(live, live.token("read"), last) as events:
            assert next(events)[1] == "ready"


def test_a_restored_backup_shows_at_once_and_listeners_are_told(live: Live) -> None:
    headers = live.token("read")
    live.memory.remember("Granite is hard.")
    live.memory.maintenance.backup()
    for number in range(3):
        live.memory.remember(f"What came after the backup, number {number}.")
    with listening(live, headers) as events:
        next(events)
        restore_backup(live.store)
        names = [next(events)[1] for _ in range(1)]
        assert names[0] in ("reset", "note")
    listed = httpx2.get(f"{live.url}/v1/memories", headers=headers).json()
    assert [one["content"] for one in listed["memories"]] == ["Granite is hard."]


def test_a_store_that_is_gone_is_said_and_found_again(live: Live, tmp_path: Path) -> None:
    headers = live.token("admin")
    id = live.memory.remember("Granite is hard.").id
    aside = tmp_path / "aside.db"
    os.rename(live.store, aside)
    refused = httpx2.post(f"{live.url}/v1/memories", json={"content": "Chalk is soft."}, headers=headers)
    assert refused.status_code == 503
    assert refused.json()["code"] in ("store-lost", "store-missing")
    assert refused.headers["retry-after"]
    os.rename(aside, live.store)
    assert httpx2.get(f"{live.url}/v1/memories/{id}", headers=headers).status_code == 200


def test_a_damaged_row_is_named_and_never_an_internal_error(live: Live) -> None:
    headers = live.token("admin")
    for number in range(200):
        live.memory.remember(f"Stone number {number} lies in field {number * 7}: " + "granite " * 30)
    live.memory.store.engine.checkpoint()
    data = bytearray(live.store.read_bytes())
    for at in range(len(data) // 2, len(data) // 2 + 40_000):
        data[at] ^= 0x5A
    with open(live.store, "r+b") as file:
        file.write(bytes(data))
    for path in ("/v1/memories?limit=200", "/v1/memories/search?q=granite", "/v1/health", "/v1/memories/facets"):
        answer = httpx2.get(f"{live.url}{path}", headers=headers)
        assert answer.status_code in (200, 503), path
        if answer.status_code == 503:
            assert answer.json()["code"].startswith("store-")


def test_a_locked_store_answers_readers_and_tells_writers_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_BUSY_TIMEOUT", "0.3")
    store = tmp_path / "memory.db"
    with (
        serving(store, AccessFile(str(tmp_path / "access"))) as live,
        recollect.open(store, project="test") as other,
        other.store.engine.write(),
    ):
        headers = live.token("write")
        assert httpx2.get(f"{live.url}/v1/memories", headers=headers).status_code == 200
        refused = httpx2.post(f"{live.url}/v1/memories", json={"content": "Chalk is soft."}, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (503, "store-busy")


def test_a_client_that_dawdles_is_sent_away(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    host, _, port = live.url.removeprefix("http://").partition(":")
    token = live.token("write")["Authorization"]
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: {token}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        told = connection.recv(65_536)
    assert b" 408 " in told.splitlines()[0]


def test_a_body_of_a_stranger_is_never_waited_for(live: Live) -> None:
    host, _, port = live.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 1000000000\r\n\r\n"
        connection.sendall(head.encode())
        assert b" 401 " in connection.recv(65_536).splitlines()[0]


def test_many_at_once_with_one_key_do_it_once(live: Live) -> None:
    headers = {**live.token("write"), "Idempotency-Key": "once"}

    def send(_: int) -> tuple[int, str]:
        answer = httpx2.post(f"{live.url}/v1/memories", json={"content": "Chalk is soft."}, headers=headers)
        return answer.status_code, answer.json()["id"]

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(send, range(8)))
    assert len(answers) == 1
    assert len(live.memory.history()) == 1


def test_a_key_is_known_to_the_server_that_is_started_after_the_first(tmp_path: Path) -> None:
    access = AccessFile(str(tmp_path / "access"))
    answers = []
    for _ in range(2):
        with serving(tmp_path / "memory.db", access) as live:
            if not answers:
                headers = {**live.token("write"), "Idempotency-Key": "once"}
            answer = httpx2.post(f"{live.url}/v1/memories", json={"content": "Chalk is soft."}, headers=headers)
            answers.append((answer.status_code, answer.headers["etag"], answer.json()))
            assert len(live.memory.history()) == 1
    assert answers[0] == answers[1]
    assert answers[0][0] == 201


def test_a_request_that_was_interrupted_or_whose_answer_is_gone_is_not_done_again(live: Live) -> None:
    headers = {**live.token("write"), "Idempotency-Key": "once"}

    def send() -> httpx2.Response:
        return httpx2.post(f"{live.url}/v1/memories", json={"content": "Chalk is soft."}, headers=headers)

    other = live.memory.remember("Granite is hard.").id
    first = send()
    live.memory.forget(other)
    gone = send()
    assert (first.status_code, gone.status_code) == (201, 409)
    assert "no longer kept" in gone.json()["detail"]
    with live.memory.store.engine.write():
        live.memory.store.engine.execute("update replies set status = null")
    assert "interrupted" in send().json()["detail"]
    assert live.memory.count() == 1


def test_what_comes_by_mcp_is_logged_under_the_name_of_its_token(live: Live) -> None:
    async def remember(headers: dict[str, str], text: str) -> bool:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as client,
            streamable_http_client(f"{live.url}/mcp", http_client=client) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            return bool((await session.call_tool("add", {"content": text})).is_error)

    first, second = live.token("write"), live.token("write")
    for headers, text in ((first, "Granite is hard."), (second, "Chalk is soft."), (first, "Slate is flat.")):
        assert asyncio.run(remember(headers, text)) is False
    told = [(entry.door, entry.actor) for entry in live.memory.history()]
    assert told == [("mcp", "write 0"), ("mcp", "write 1"), ("mcp", "write 0")]
