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
    THRESHOLDS,
    Record,
    known_level,
    level_of,
    next_level,
    offered,
    set_level,
)
from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.ids import MemoryId
from recollect.core.instants import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.files.session_file import FOLDER, SessionFile, session_files
from recollect.remember.act import ActContext
from recollect.remember.reinforce import note_access
from recollect.store.codec import from_ms
from recollect.store.injections import Told
from recollect.store.store import Store

KEPT = timedelta(days=14)  # a session's file after it was last used
_OLD_ENDINGS = (".seen", ".slate")  # files that earlier releases left beside the sessions
_SINCE_META = "trust_level_at"  # when the level that holds was reached, in seconds since 1970


def ingest_injections(store: Store, hand: ActContext, *, files: Sequence[SessionFile] | None = None) -> int:
    """Bring in what was told since the last time; how many memories that were."""
    folder = folder_of(store)
    if folder is None:
        return 0
    brought = 0
    for file in session_files(folder) if files is None else files:
        try:
            brought += _ingest(store, file, hand)
        except OSError:  # another process holds or removed it: the next time
            continue
        finally:
            file.close()
    if files is None:
        _remove_old(Path(folder) / FOLDER, hand.at)
    _advance(store, hand.at)
    return brought


def _ingest(store: Store, file: SessionFile, hand: ActContext) -> int:
    session, host = file.session, file.host
    fresh = 0
    if session and not file.is_ingested:
        arm = choose_arm(store.meta(ARM_META), session, store.project)
        ended = "" if file.count("end") else None
        began = from_ms(file.began)
        fresh = record_session(store, hand, session, host=host, arm=arm, began=began, told=file.told(), outcome=ended)
        file.mark_ingested()
    if not file.has_news and hand.at - datetime.fromtimestamp(os.stat(file.path).st_mtime, UTC) > KEPT:
        os.unlink(file.path)
    return fresh


def record_session(
    store: Store,
    hand: ActContext,
    session: str,
    *,
    host: str,
    arm: str,
    began: datetime,
    told: Iterable[tuple[str, str, int]],
    outcome: str | None,
) -> int:
    """Write down a session and what it was told; with an `outcome`, that it is over. How many memories were news."""
    with store.engine.write(durable=False):
        store.injections.begin(session, host=host, arm=arm, at=began)
        fresh = store.injections.note(session, [Told(memory, moment, from_ms(at)) for memory, moment, at in told])
        if outcome is not None:
            store.injections.end(session, outcome=outcome, at=hand.at)
    if fresh:
        note_access(store, [MemoryId(id) for id in fresh], hand)
    return len(fresh)


def _remove_old(spool: Path, now: datetime) -> None:
    """What an earlier release kept of sessions goes when they can no longer be resumed."""
    for path in spool.iterdir() if spool.is_dir() else ():
        if path.suffix in _OLD_ENDINGS and now - datetime.fromtimestamp(path.stat().st_mtime, UTC) > KEPT:
            path.unlink(missing_ok=True)


def folder_of(store: Store) -> str | None:
    """Where the files of sessions are; nothing for a store that lives in memory."""
    return None if store.engine.folder is None else os.fspath(store.engine.folder)


# --- the level of trust -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trust:
    """How much agents are told unasked: the level that holds, and what people did with what they were shown since."""

    level: str
    threshold: float  # how sure a memory must be to be told unasked
    offered: str | None  # a more careful level, when what was told is often flagged
    record: Record


def read_trust(store: Store, now: datetime) -> Trust:
    """The level of trust that holds in a project, and its record."""
    level, seen = level_of(store), record(store, now)
    return Trust(level, THRESHOLDS[level], offered(level, seen), seen)


def record(store: Store, now: datetime) -> Record:
    """What people did with what they were shown, since the level that holds was reached."""
    since = datetime.fromtimestamp(float(store.meta(_SINCE_META) or 0), UTC)
    runs = store.injections.sessions(since=since)
    last = max((run.began_at for run in runs), default=now)
    confirmed, judged, corrected, flagged, used = store.injections.judged(since=since, lately=last)
    return Record(
        sessions=len(runs), reviewed=judged, confirmed=confirmed, used=used, corrected=corrected, flagged=flagged
    )


def _advance(store: Store, now: datetime) -> None:
    level = known_level(store.meta(LEVEL_META))
    earned = next_level(level, record(store, now))
    if earned != level:
        choose_level(store, earned, now)


def choose_level(store: Store, level: str, now: datetime) -> None:
    """Go to a level, chosen or earned; the record starts anew with it."""
    with store.engine.write():
        set_level(store, level)
        store.set_meta(_SINCE_META, str(int(now.timestamp())))


@dataclass(frozen=True, slots=True)
class SettleChore:
    """Brings in what hooks left, whenever anybody tends."""

    store: Store
    clock: Clock
    identity: Identity
    actor: str
    name: str = "settle"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        waiting = self._waiting()
        names = [os.path.basename(file.path) for file in waiting[:20]]
        return Plan(
            self.name, tuple(Step(f"bring in {name}", "an agent was told something") for name in names), len(waiting)
        )

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        at = self.clock()
        hand = ActContext(self.actor, whole_ms(at), self.identity("act", at), "")
        done = 0
        for file in self._waiting():
            if not budget.allows():
                break
            ingest_injections(self.store, hand, files=[file])
            budget.take()
            done += 1
        return Done(self.name, done, max(0, plan.total - done))

    def _waiting(self) -> list[SessionFile]:
        folder = folder_of(self.store)
        return [] if folder is None else [file for file in session_files(folder) if file.has_told]
