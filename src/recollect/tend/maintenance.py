"""Care for the file a memory lives in: check, back up, repair, look for secrets, and say how things stand.

`Maintenance` works on an open memory; `restore_backup` and `salvage_store` on a file that may not open any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.errors import (
    BackupNotFound,
    FileOnly,
    NotAStore,
    StoreAltered,
    StoreDamaged,
    StoreError,
    StoreMissing,
)
from recollect.models.budget import day_of
from recollect.store.check import CheckReport, check
from recollect.store.jobs import Job
from recollect.store.open import open_store
from recollect.store.rebuild import RepairReport, rebuild
from recollect.store.sqlite.backup import Backup, list_backups, make_backup
from recollect.store.sqlite.connection import sqlite_version
from recollect.store.sqlite.repair import salvage
from recollect.store.sqlite.swap import QUARANTINE, STAMP, STRANGE
from recollect.tend.policy import SCHEDULE, USUAL, next_run

if TYPE_CHECKING:
    from recollect.core.conversations import Turn
    from recollect.core.kinds import Kinds
    from recollect.core.log import Entry
    from recollect.core.ports import Clock
    from recollect.remember.act import ActContext
    from recollect.store.spend import Cost
    from recollect.store.store import Store
    from recollect.tend.put_back import Restored
    from recollect.tend.secrets import StoredSecret

__all__ = [
    "Backup",
    "CheckReport",
    "Maintenance",
    "RepairReport",
    "ScheduledJob",
    "StoreFacts",
    "StoreStatus",
    "backups_beside",
    "engine_version",
    "newest_backup",
    "restore_backup",
    "salvage_store",
    "strange_logs_beside",
]

BACKUP = "backup"  # the format of an export that is a copy of the store
_ALL_RUNS = 10_000  # runs of chores that are looked through for those of one job


def silent(*_: object) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a person who looks after the store wants to know first."""

    engine: str  # and its release
    schema: int
    memories: Mapping[str, int]  # how many of each status
    model: str | None  # of the vectors that answer
    unembedded: int  # memories that wait for a vector
    erasing: bool = False  # an erasure was interrupted
    bytes: int = 0  # of the file and its log


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """What is known of a chore's runs, and when it runs next; `always` for one that follows whatever happens."""

    job: Job
    next_at: datetime
    always: bool


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """How things stand in the store; counts are by status, state, type or provider."""

    memories: Mapping[str, int]
    sessions: Mapping[str, int]
    entities: Mapping[str, int]
    turn_states: Mapping[str, int]
    turn_providers: Mapping[str, int]
    turns: Sequence[Turn]  # the latest, newest first
    tokens_today: int
    costs: Sequence[Cost]  # of today, by feature
    jobs: Sequence[Job]


class Maintenance:
    """What is done to an open store, beside remembering and recalling."""

    def __init__(self, store: Store, act: Callable[[], ActContext], clock: Clock) -> None:
        self._store = store
        self._act = act
        self._clock = clock

    def check(self, *, quick: bool = False, progress: Callable[[str, int], None] = silent) -> CheckReport:
        """Is every row sound, does every index match? `quick` leaves out comparing the indexes with the rows."""
        return check(self._store, quick=quick, progress=progress)

    def backup(self, to: Path | None = None) -> Path | None:
        """Copy the store, verified; into `backups/` beside it unless `to` names a file, which is noted: an erasure
        names it. None for one in memory."""
        engine = self._store.engine
        if engine.folder is None and engine.location != ":memory:":
            hint = "Use `pg_dump` or `pg_basebackup`: see docs/how-to/postgres.md."
            raise FileOnly("Backing up", engine.location, hint=hint)
        made = make_backup(engine, target=to)
        if to is not None and not engine.read_only:
            with engine.write():
                self._store.exports.note(str(to.absolute()), format=BACKUP, at=self._clock())
        return made

    def repair(self, *, always: bool = False, progress: Callable[[str, int], None] = silent) -> RepairReport:
        """Rebuild the indexes that do not match the rows, or `always`. Damaged rows are an error."""
        report = self.check(progress=progress)
        if report.ok and not always:
            return RepairReport()
        if not report.ok and not all(finding.projection for finding in report.findings):
            raise StoreDamaged(str(self._store.engine.location), report.findings[0].problem)
        return rebuild(self._store)

    def find_secrets(
        self, *, fix: bool = False, backups: bool = False, progress: Callable[[int], None] = silent
    ) -> list[StoredSecret]:
        """Look for secrets in all that is kept: memories, the log, chats, documents, sessions and their files, backups.

        `fix` replaces them by placeholders; copies in `backups/` and `quarantine/` are only listed, unless `backups`
        says to remove those that hold one, after a fresh backup.
        """
        from recollect.tend.secrets import SecretSearch

        return SecretSearch(self._store, self._act, progress).run(fix=fix, backups=backups)

    def facts(self) -> StoreFacts:
        """Schema, how many memories there are, and whose vectors answer."""
        from recollect.tend.erase import is_erasure_pending

        space = self._store.vectors.active()
        return StoreFacts(
            engine=self._store.engine.version,
            schema=self._store.engine.schema(),
            memories=self._store.memories.tally(),
            model=None if space is None else space.model,
            unembedded=0 if space is None else self._store.vectors.waiting(space),
            erasing=is_erasure_pending(self._store),
            bytes=self._store.engine.size(),
        )

    def try_writing(self) -> bool:
        """Write something and read it back through the real engine. False when the store is read-only."""
        if self._store.engine.read_only:
            return False
        stamp = self._clock().isoformat()
        with self._store.engine.write():
            self._store.set_meta("doctor", stamp)
        if self._store.meta("doctor") != stamp:
            raise StoreError("A write was acknowledged but cannot be read back.", hint="Run `recollect check`.")
        return True

    def status(self, *, limit: int = 5) -> StoreStatus:
        """How things stand, with the latest `limit` turns of chats."""
        store = self._store
        today = day_of(self._clock())
        return StoreStatus(
            memories=store.memories.tally(),
            sessions=store.sessions.tally(),
            entities=store.entities.tally(),
            turn_states=store.turns.by_state(),
            turn_providers=store.turns.by_provider(),
            turns=store.turns.recent(limit=limit),
            tokens_today=store.spend.spent(*today),
            costs=store.spend.by_feature(*today),
            jobs=store.jobs.every(),
        )

    def schedule(self) -> list[ScheduledJob]:
        """Every chore that has an hour or ran once, with when it runs next."""
        known = {job.name: job for job in self._store.jobs.every()}
        names = [*SCHEDULE, *sorted(known.keys() - SCHEDULE.keys())]
        return [self._scheduled(self._store.jobs.get(name) if name in known else Job(name)) for name in names]

    def _scheduled(self, job: Job) -> ScheduledJob:
        when = SCHEDULE.get(job.name, USUAL)
        return ScheduledJob(job, next_run(when, last=job.ran_at, now=self._clock()), always=when.hour is None)

    def backups(self) -> list[Backup]:
        """The backups beside the store, newest first."""
        return list_backups(self._store.engine.folder)

    def runs(self, *, job: str | None = None, limit: int = 20) -> list[Entry]:
        """What chores did by themselves, newest first; only those of `job` when it is named."""
        entries = self._store.log.doing("tend", limit if job is None else _ALL_RUNS)
        return [entry for entry in entries if job in (None, (entry.change.after or {}).get("job"))][:limit]


def restore_backup(store: Path, backup: Path | None = None, *, kinds: Kinds | None = None) -> Restored:
    """Put a backup in the place of a store, the newest beside it by default. What was there is set aside; what was
    forgotten or rejected there since the backup is forgotten and rejected again."""
    from recollect.core.kinds import Kinds
    from recollect.tend.put_back import put_back

    return put_back(newest_backup(store) if backup is None else backup, store, kinds or Kinds())


def newest_backup(store: Path) -> Path:
    """The newest backup beside a store. One that is dated in the future is the newest only when there is no other."""
    known = list_backups(store.parent)
    if not known:
        raise BackupNotFound(str(store.parent / "backups"))
    today = datetime.now(UTC).strftime(STAMP)
    return next((one.path for one in known if one.path.name[: len(today)] <= today), known[0].path)


def salvage_store(path: Path, kinds: Kinds) -> RepairReport:
    """Put a new file with all that can be read of a damaged one in its place; the damaged file is kept, untouched.
    Nothing happens when it is sound: somebody else was faster."""
    return salvage(path, kinds, only_if=lambda: _is_damaged(path, kinds))


def _is_damaged(path: Path, kinds: Kinds) -> bool:
    """Is anything wrong that rebuilding the indexes cannot mend?"""
    try:
        store = open_store(path, kinds, create=False, read_only=True)
    except (StoreDamaged, StoreAltered, NotAStore, StoreMissing):
        return True
    try:
        return not all(finding.projection for finding in check(store, quick=True).findings)
    finally:
        store.close()


def strange_logs_beside(path: Path) -> list[Path]:
    """The folders in quarantine with a log or a journal that the store did not write."""
    return sorted((path.parent / QUARANTINE).glob(f"*-{STRANGE}"))


def backups_beside(store: Path) -> list[Backup]:
    """The backups of a store, newest first."""
    return list_backups(store.parent)


def engine_version() -> str:
    """The version of the database engine on this machine."""
    return sqlite_version()
