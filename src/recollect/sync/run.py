"""What one sync is about: the copy, the clocks, and the report that everybody adds to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.doors import SYNC
from recollect.core.ports import Identity
from recollect.remember.act import ActContext
from recollect.store.synced import SyncedRow
from recollect.sync.replica import Replica
from recollect.sync.states import LINKS, State, link_key
from recollect.sync.wire import Json, SyncRecord

DETACHED = "became personal here; the server keeps the shared one"
FORGOTTEN_HERE = "forgotten here"
_TEAM = "team"


@dataclass(slots=True)
class SyncReport:
    """What one sync did, or with `dry_run` would do."""

    server: str = ""
    project: str = ""
    dry_run: bool = False
    fetched: int = 0  # things that changed here
    sent: int = 0  # things that changed there
    deleted: int = 0  # memories that went here because they went there
    conflicts: list[str] = field(default_factory=list)  # memories that ask which words are right
    stayed: Counter[str] = field(default_factory=Counter)  # what does not travel, by why
    refused: dict[str, str] = field(default_factory=dict)  # by the server, or by us of what it sent
    waiting: int = 0  # to be sent by the next sync
    held_deletions: int = 0  # that wait for a person
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SyncRun:
    """One sync of one copy. `server_now` is the server's clock, as it said when it was greeted."""

    replica: Replica
    now: Callable[[], datetime]
    identity: Identity
    server_now: datetime
    vectors_only: bool = False
    vectors_of: Callable[[Sequence[str]], dict[str, Json]] = lambda ids: {}
    report: SyncReport = field(default_factory=SyncReport)

    def act(self) -> ActContext:
        """An act in the team's name: what it changes here came from there."""
        at = self.now()
        return ActContext(_TEAM, at, self.identity("act", at), SYNC)


def is_echo(record: SyncRecord, row: SyncedRow | None) -> bool:
    """Is it what this copy sent or has seen?"""
    return row is not None and row.version is not None and (record.version or 0) <= row.version


def with_links(state: State, links: Sequence[Any]) -> State:
    """A state with these links and no others."""
    rest = {name: value for name, value in state.items() if name != LINKS}
    return {**rest, LINKS: sorted(links, key=link_key)} if links else rest


def dump_links(links: Sequence[Any]) -> str | None:
    """Links as a row keeps them."""
    return json.dumps(links) if links else None


def load_links(text: str | None) -> list[Any]:
    links: list[Any] = json.loads(text or "[]")
    return links
