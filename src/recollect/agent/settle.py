"""Bringing in what sessions were told: from the small files that hooks and sessions leave, into the store.

Each memory that was told counts as used once. The same file brought in twice changes nothing. A file goes when nobody
has added to it for two weeks, so that a session that is resumed still knows what it was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.agent.experiment import NAME as ARM
from recollect.agent.experiment import chosen_arm
from recollect.agent.spool import FOLDER, SLATE, Story, read_story
from recollect.agent.trust import NAME as LEVEL
from recollect.agent.trust import Record, known_level, next_level, set_level
from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.ids import MemoryId
from recollect.core.instants import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.remember.act import ActContext
from recollect.remember.reinforce import note_access
from recollect.store.injections import Told
from recollect.store.store import Store

KEPT = timedelta(days=14)
SLATE_KEPT = timedelta(days=2)  # a fifth of a megabyte each, and only for a session that still runs
_SINCE = "trust_level_at"  # when the level that holds was reached, in seconds since 1970


def settle(store: Store, hand: ActContext, *, files: Sequence[Path] | None = None) -> int:
    """Bring in what was told since the last time; how many memories that were."""
    brought = 0
    for path in seen_files(store) if files is None else files:
        story = read_story(str(path))
        if story.session:
            brought += _settled(store, story, hand)
        if hand.at - datetime.fromtimestamp(path.stat().st_mtime, UTC) > KEPT:
            path.unlink(missing_ok=True)
        _clear_slate(path.with_suffix(SLATE), hand.at)
    _advance(store, hand.at)
    return brought


def _clear_slate(slate: Path, now: datetime) -> None:
    """A slate that nobody wrote on for days goes: its session, if it is resumed, is not warned by the odds."""
    if slate.exists() and now - datetime.fromtimestamp(slate.stat().st_mtime, UTC) > SLATE_KEPT:
        slate.unlink(missing_ok=True)


def seen_files(store: Store) -> list[Path]:
    folder = store.engine.folder
    return [] if folder is None else sorted((folder / FOLDER).glob("*.seen"))


def _settled(store: Store, story: Story, hand: ActContext) -> int:
    told = [Told(memory, moment, datetime.fromtimestamp(at / 1000, UTC)) for memory, at, moment in story.told]
    arm = chosen_arm(store.meta(ARM), story.session, store.project)
    began = datetime.fromtimestamp(story.began / 1000, UTC)
    with store.engine.write(durable=False):
        store.injections.begin(story.session, host=story.host, arm=arm, at=began)
        fresh = store.injections.note(story.session, told)
        if story.counts.get("end"):
            store.injections.end(story.session, outcome="", at=hand.at)
    if fresh:
        note_access(store, [MemoryId(id) for id in fresh], hand)
    return len(fresh)


def record(store: Store, now: datetime) -> Record:
    """What people did with what they were shown, since the level that holds was reached."""
    since = datetime.fromtimestamp(float(store.meta(_SINCE) or 0), UTC)
    runs = store.injections.sessions(since=since)
    last = max((run.began_at for run in runs), default=now)
    confirmed, judged, corrected, flagged, used = store.injections.judged(since=since, lately=last)
    return Record(
        sessions=len(runs), reviewed=judged, confirmed=confirmed, used=used, corrected=corrected, flagged=flagged
    )


def _advance(store: Store, now: datetime) -> None:
    level = known_level(store.meta(LEVEL))
    earned = next_level(level, record(store, now))
    if earned != level:
        choose_level(store, earned, now)


def choose_level(store: Store, level: str, now: datetime) -> None:
    """Go to a level, chosen or earned; the record starts anew with it."""
    with store.engine.write():
        set_level(store, level)
        store.set_meta(_SINCE, str(int(now.timestamp())))


@dataclass(frozen=True, slots=True)
class SettleChore:
    """Brings in what hooks left, whenever anybody tends."""

    store: Store
    clock: Clock
    identity: Identity
    actor: str
    name: str = "settle"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        waiting = [path for path in seen_files(self.store) if self._is_new(path)]
        steps = tuple(Step(f"bring in {path.name}", "an agent was told something") for path in waiting[:20])
        return Plan(self.name, steps, len(waiting))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        at = self.clock()
        hand = ActContext(self.actor, whole_ms(at), self.identity("act", at), "")
        done = 0
        for path in seen_files(self.store):
            if not budget.allows():
                break
            if self._is_new(path):
                settle(self.store, hand, files=[path])
                budget.take()
                done += 1
        return Done(self.name, done, max(0, plan.total - done))

    def _is_new(self, path: Path) -> bool:
        story = read_story(str(path))
        known = {one.memory for one in self.store.injections.of(story.session)}
        return bool(story.session) and not {memory for memory, _, _ in story.told} <= known
