"""The room: sync of one open memory with the server its person has named, by hand or as a chore, and what a server
answers. Nothing travels before a person has linked the project, and nothing of a foreign store at all.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import PersonOnly, StoreForeign, UnknownChoice
from recollect.core.forms import moment
from recollect.core.sync_errors import SyncBusy, SyncMassDeletion, SyncNotSet, SyncOffline
from recollect.sync.client import SyncClient
from recollect.sync.remote import HttpRemote
from recollect.sync.replica import StoreReplica
from recollect.sync.run import SyncReport
from recollect.sync.server import SyncActor, SyncServer
from recollect.sync.wire import Json, Remote

if TYPE_CHECKING:
    from recollect.files.mark import StoreOrigin
    from recollect.remember.writer import Writer
    from recollect.store.store import Store

MODES = ("all", "vectors")
JOB = "sync"
_LEASE = timedelta(minutes=15)  # as chores have it


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """Where the server is, the token a person made there, and how much of a memory may leave: all, or its vectors."""

    server: str = ""
    token: str = ""
    mode: str = "all"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownChoice("sync_mode", self.mode, MODES)


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """How this project stands to its server."""

    server: str  # as it was set; empty: none
    project: str = ""  # the server's, once linked
    synced_at: datetime | None = None
    mode: str = "all"
    shared: int = 0  # memories both sides have
    waiting: int = 0  # things that changed here since
    held_deletions: int = 0
    staying: Mapping[str, int] = field(default_factory=dict)
    trouble: str = ""  # why the last try in the background failed


class Sync:
    """Keeps a project in step with the team's server."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        settings: SyncSettings,
        origin: StoreOrigin,
        *,
        remote: Callable[[str, str], Remote] = HttpRemote,
    ) -> None:
        self._store = store
        self._writer = writer
        self._settings = settings
        self._origin = origin
        self._remote = remote
        self._replica = StoreReplica(store)

    @property
    def is_set(self) -> bool:
        """Has the person named a server?"""
        return bool(self._settings.server and self._settings.token)

    @property
    def is_linked(self) -> bool:
        """Was this project ever synced with the server?"""
        return self.is_set and "server" in self._replica.facts()

    def run(self, *, link: bool = False, everything: bool = False, allow_deletions: bool = False) -> SyncReport:
        """Sync now. `link` says that this project and the server's belong together; `everything` also sends how often
        memories were read, which otherwise travels once a day; `allow_deletions` follows a mass deletion."""
        if (link or allow_deletions) and not self._writer.door.is_persons:
            raise PersonOnly("link a project or allow a mass deletion")
        now, holder = self._writer.now(), f"{os.getpid()}@{self._writer.identity('act', self._writer.now())}"
        if not self._store.jobs.claim(JOB, holder=holder, now=now, lease=_LEASE):
            raise SyncBusy
        outcome, note = "failed", ""
        try:
            report = self.carry_out(link=link, counters=everything, allow_deletions=allow_deletions)
            outcome = "done"
        except Exception as error:
            note = str(error)
            raise
        finally:
            with self._store.engine.write():
                self._store.jobs.release(JOB, holder=holder, ran=now, outcome=outcome, note=note)
        return report

    def carry_out(self, *, link: bool = False, counters: bool = False, allow_deletions: bool = False) -> SyncReport:
        """The sync itself, for who holds the job."""
        client = self._client()
        try:
            return client.sync(link=link, counters=counters, allow_deletions=allow_deletions)
        finally:
            self._replica.scrub()

    def preview(self) -> SyncReport:
        """What a sync would send and fetch; nothing is changed."""
        return self._client().preview()

    def status(self) -> SyncStatus:
        """How things stand, without asking the server."""
        facts, synced = self._replica.facts(), self._replica.synced
        job = self._store.jobs.get(JOB)
        touched = self._replica.feed.touched(facts.get("pushed", 0), limit=2**31) if facts else []
        waiting = {row.key for row in synced.pending()} | {one.key for one in touched}
        at = facts.get("synced_at")
        return SyncStatus(
            self._settings.server,
            str(facts.get("project", "")),
            None if at is None else moment(at),
            self._settings.mode,
            synced.count_shared(),
            len(waiting),
            len(synced.gone()),
            synced.notes(),
            job.note if job.outcome == "failed" else "",
        )

    def _client(self) -> SyncClient:
        if not self.is_set:
            raise SyncNotSet
        if doubt := self._origin.doubt:
            raise StoreForeign(self._store.engine.location, doubt)
        return SyncClient(
            self._replica,
            self._remote(self._settings.server, self._settings.token),
            project=self._store.project,
            now=self._writer.now,
            identity=self._writer.identity,
            vectors_only=self._settings.mode == "vectors",
            vectors_of=self._vectors_of,
        )

    def _vectors_of(self, ids: Sequence[str]) -> dict[str, Json]:
        space = self._store.vectors.active()
        if space is None:
            return {}
        return {
            id: {"model": space.model, "dims": space.dims, "views": packed(views)}
            for id, views, _ in self._store.vectors.items(space, list(ids))
        }

    # --- the other side -------------------------------------------------------------------------------------------

    def serve(self, *, is_person: bool) -> SyncServer:
        """This memory as a server, for who is logged in: the log names the one whose view of it this is."""
        actor = SyncActor(self._writer.actor, is_person)
        return SyncServer(self._replica, actor, project=self._store.project, now=self._writer.now)

    def scrub(self) -> None:
        """Leave no copy of what a batch removed."""
        self._replica.scrub()

    def chore(self) -> SyncChore:
        return SyncChore(self)


def packed(views: Any) -> str:
    """Vectors as text, at half precision."""
    return base64.b64encode(views.astype("<f2").tobytes()).decode("ascii")


class SyncChore:
    """Syncs whenever chores run: every minute inside a server. A server that is away is no failure."""

    name = JOB

    def __init__(self, sync: Sync) -> None:
        self._sync = sync

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not self._sync.is_set:
            return Plan(self.name)
        if not self._sync.is_linked:
            return Plan(self.name, note="not linked yet: run `recollect sync`")
        return Plan(self.name, (Step("sync", "a server is set"),), 1)

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        if not plan:
            return Done(self.name, notes=(plan.note,) if plan.note else ())
        try:
            report = self._sync.carry_out()
        except (SyncOffline, SyncMassDeletion) as error:
            return Done(self.name, waiting=1, notes=(f"{error} {error.hint}",))
        moved = report.fetched + report.sent + report.deleted
        notes = [f"{len(report.conflicts)} conflicts to review"] if report.conflicts else []
        details = {"fetched": report.fetched, "sent": report.sent, "deleted": report.deleted}
        return Done(self.name, moved, 0, tuple(notes), details)
