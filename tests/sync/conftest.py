"""Copies of a memory and their server in one process: real stores, the real client, no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import HandClock
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.sync_errors import SyncOffline
from recollect.sync.api import Sync, SyncSettings
from recollect.sync.run import SyncReport
from recollect.sync.wire import RecordResult, SyncPage, SyncRecord, read_record, read_sync_page


@dataclass
class Direct:
    """The server, called directly. It can be away, and it keeps what was sent."""

    memory: Recollect
    person: str
    is_away: bool = False
    sent: list[tuple[str, list[SyncRecord]]] = field(default_factory=list)

    def _server(self) -> Any:
        if self.is_away:
            raise SyncOffline("server", "no network")
        return self.room.serve(is_person=True)

    @cached_property
    def room(self) -> Sync:
        return self.memory.through("panel", actor=self.person).sync

    def hello(self) -> dict[str, Any]:
        told: dict[str, Any] = self._server().hello()
        return told

    def pull(self, after: int, anchor: str) -> SyncPage:
        return read_sync_page(self._server().pull(after, anchor, version=1).told())

    def push(self, batch: str, records: Sequence[SyncRecord], *, confirmed: bool) -> list[RecordResult]:
        sent = [read_record(one.told()) for one in records]
        self.sent.append((batch, sent))
        results: list[RecordResult] = self._server().push(batch, sent, version=1, confirmed=confirmed)
        self.room.scrub()
        return results

    def close_batch(self, batch: str) -> dict[str, int]:
        applied: dict[str, int] = self._server().close_batch(batch)
        return applied


@dataclass
class Copy:
    """A copy with its person, and the way to the server."""

    memory: Recollect
    remote: Direct
    mode: str = "all"

    @property
    def room(self) -> Sync:
        memory, settings = self.memory, SyncSettings("https://team.example", "token", self.mode)
        return Sync(memory.store, memory.writer, settings, memory._origin, remote=lambda url, token: self.remote)

    def sync(self, **options: bool) -> SyncReport:
        return self.room.run(everything=True, **options)

    def said(self) -> set[str]:
        return {one.content for one in self.memory.list(limit=500).memories}


@dataclass
class Team:
    """A server and copies of it."""

    server: Recollect
    open_copy: Callable[[str], Copy]

    def said(self) -> set[str]:
        return {one.content for one in self.server.list(limit=500).memories}


@pytest.fixture
def team(tmp_path: Path, clock: HandClock, engine_name: str, request: pytest.FixtureRequest) -> Iterator[Team]:
    """A server on the engine that is asked for, and copies in files."""
    where = request.getfixturevalue("tenant_dsn") if engine_name == "postgresql" else tmp_path / "server.db"
    with ExitStack() as stack:
        plain = Settings(embedder="none")
        server = stack.enter_context(
            recollect.open(where, project="team", actor="keeper", door="panel", clock=clock, settings=plain)
        )

        def open_copy(name: str) -> Copy:
            path = tmp_path / f"{name}.db"
            memory = stack.enter_context(
                recollect.open(path, project="team", actor=name, clock=clock, settings=plain)
            )  # fmt: skip
            return Copy(memory, Direct(server, name))

        yield Team(server, open_copy)
