"""Bringing in what sessions were told: from the files that hooks and sessions leave, into the store.

Each memory that was told counts as used once, and brings the project's level of trust forward. The same file brought in
twice changes nothing. A file goes when nobody has used it for two weeks, so that a session that is resumed still knows
what it was told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.agent.injection import ARM_META, choose_arm
from recollect.agent.trust import (
    LEVEL_META,
    LEVELS,
    THRESHOLDS,
    Record,
    known_level,
    next_level,
    offered,
)
from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import PersonOnly, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.files.session_file import SessionFile, session_files, spool_folder
from recollect.privacy.values import redact_name
from recollect.remember.writer import Writer
from recollect.store.codec import from_ms
from recollect.store.injections import Injections, Told
from recollect.store.meta import Meta

KEPT = timedelta(days=14)  # a session's file after it was last used
_OLD_ENDINGS = (".seen", ".slate")  # files that earlier releases left beside the sessions
_SINCE_META = "trust_level_at"  # when the level that holds was reached, in seconds since 1970


@dataclass(frozen=True, slots=True)
class Trust:
    """How much agents are told unasked: the level that holds, and what people did with what they were shown since."""

    level: str
    threshold: float  # how sure a memory must be to be told unasked
    offered: str | None  # a more careful level, when what was told is often flagged
    record: Record


@dataclass(frozen=True, slots=True)
class ToldMemory:
    """A memory, or a warning by the odds, that an agent was told unasked: when, where, and what became of it."""

    id: str  # nothing for a warning, which tells no memory
    moment: str
    at: datetime
    session: str
    host: str
    content: str = ""  # nothing when this store no longer holds it, or never did
    status: str = ""


@dataclass(frozen=True, slots=True)
class InjectionIngest:
    """Brings in what sessions were told and keeps the level of trust that follows from it."""

    writer: Writer
    injections: Injections
    meta: Meta
    folder: str | None  # where the files of sessions are; nothing for a store that lives in memory

    def ingest(self, *, files: Sequence[SessionFile] | None = None) -> int:
        """Bring in what was told since the last time; how many memories that were."""
        if self.folder is None:
            return 0
        brought, now = 0, self.writer.now()
        for file in session_files(self.folder) if files is None else files:
            try:
                brought += self._ingest_file(file, now)
            except OSError:  # another process holds or removed it: the next time
                continue
            finally:
                file.close()
        spool = spool_folder(self.folder)
        if files is None and spool is not None:
            _remove_old(Path(spool), now)
        self._advance(now)
        return brought

    def latest(self, *, session: str | None, limit: int) -> list[ToldMemory]:
        """What agents were told, the latest first; what sessions left in their files is brought in before."""
        if not self.writer.read_only:
            self.ingest(files=self.waiting())
        found = [
            ToldMemory(told.memory, told.moment, told.at, where, host)
            for told, where, host in self.injections.latest(session=session, limit=limit)
        ]
        return sorted([*found, *self._warnings(session)], key=lambda one: one.at, reverse=True)[:limit]

    def _warnings(self, session: str | None) -> list[ToldMemory]:
        """The warnings in the files of sessions, which keep them as long as the session can be resumed."""
        found: list[ToldMemory] = []
        for file in [] if self.folder is None else session_files(self.folder):
            try:
                if session in (None, file.session):
                    found += [
                        ToldMemory("", moment, from_ms(at), file.session, file.host, content=text)
                        for text, moment, at in file.warnings()
                    ]
            except OSError:  # another process removed it: then it can no longer be resumed
                continue
            finally:
                file.close()
        return found

    def waiting(self) -> list[SessionFile]:
        """The files that tell of something not yet brought in."""
        return [] if self.folder is None else [file for file in session_files(self.folder) if file.has_told]

    def _ingest_file(self, file: SessionFile, now: datetime) -> int:
        session, fresh = file.session, 0
        if session and not file.is_ingested:
            fresh = self.record_session(
                session,
                host=file.host,
                arm=choose_arm(self.meta.get(ARM_META), session, self.writer.project),
                began=from_ms(file.began),
                told=file.told(),
                outcome="" if file.count("end") else None,
            )
            file.mark_ingested()
        if not file.has_news and now - datetime.fromtimestamp(os.stat(file.path).st_mtime, UTC) > KEPT:
            os.unlink(file.path)
        return fresh

    def record_session(
        self,
        session: str,
        *,
        host: str,
        arm: str,
        began: datetime,
        told: Iterable[tuple[str, str, int]],
        outcome: str | None,
    ) -> int:
        """Write down a session, what it was told and its `outcome` once it is over; how many memories were news."""
        session = redact_name(session)
        with self.writer.transaction(durable=False):
            self.injections.begin(session, host=host, arm=arm, at=began)
            fresh = self.injections.note(session, [Told(memory, moment, from_ms(at)) for memory, moment, at in told])
            if outcome is not None:
                self.injections.end(session, outcome=outcome, at=self.writer.now())
        if fresh:
            self.writer.note_access([MemoryId(id) for id in fresh])
        return len(fresh)

    # --- the level of trust ---------------------------------------------------------------------------------------

    def trust(self) -> Trust:
        """The level that holds in the project, and its record."""
        level, record = known_level(self.meta.get(LEVEL_META)), self._record(self.writer.now())
        return Trust(level, THRESHOLDS[level], offered(level, record), record)

    def choose_level(self, level: str) -> None:
        """Go to a level and start counting again. To a bolder one only a person goes."""
        if level not in THRESHOLDS:
            raise UnknownChoice("trust", level, LEVELS)
        bolder = LEVELS.index(level) > LEVELS.index(known_level(self.meta.get(LEVEL_META)))
        if bolder and not self.writer.door.is_persons:
            raise PersonOnly("let agents be told more")
        self._put_level(level)

    def _put_level(self, level: str) -> None:
        with self.writer.transaction():
            self.meta.put(LEVEL_META, level)
            self.meta.put(_SINCE_META, str(int(self.writer.now().timestamp())))

    def _record(self, now: datetime) -> Record:
        """What people did with what they were shown, since the level that holds was reached."""
        since = datetime.fromtimestamp(float(self.meta.get(_SINCE_META) or 0), UTC)
        runs = self.injections.sessions(since=since)
        last = max((run.began_at for run in runs), default=now)
        confirmed, judged, corrected, flagged, used = self.injections.judged(since=since, lately=last)
        return Record(
            sessions=len(runs), reviewed=judged, confirmed=confirmed, used=used, corrected=corrected, flagged=flagged
        )

    def _advance(self, now: datetime) -> None:
        level = known_level(self.meta.get(LEVEL_META))
        earned = next_level(level, self._record(now))
        if earned != level:
            self._put_level(earned)


def _remove_old(spool: Path, now: datetime) -> None:
    """What an earlier release kept of sessions goes when they can no longer be resumed."""
    for path in spool.iterdir():
        if path.suffix in _OLD_ENDINGS and now - datetime.fromtimestamp(path.lstat().st_mtime, UTC) > KEPT:
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class SettleChore:
    """Brings in what hooks left, whenever anybody tends."""

    injections: InjectionIngest
    name: str = "settle"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        waiting = self.injections.waiting()
        names = [os.path.basename(file.path) for file in waiting[:20]]
        return Plan(
            self.name, tuple(Step(f"bring in {name}", "an agent was told something") for name in names), len(waiting)
        )

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        done = 0
        for file in self.injections.waiting():
            if not budget.allows():
                break
            self.injections.ingest(files=[file])
            budget.take()
            done += 1
        return Done(self.name, done, max(0, plan.total - done))
