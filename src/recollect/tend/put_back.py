"""Putting a backup in the place of a store. What was forgotten or rejected since is forgotten and rejected again.

The new file is made beside the store and complete before it takes its name; what stood there is kept in quarantine.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.core.doors import PYTHON
from recollect.core.errors import NewerSchema
from recollect.core.ids import new_id, whole_ms
from recollect.core.kinds import Kinds
from recollect.core.scope import OPEN
from recollect.remember.act import ActContext
from recollect.remember.acts import reject
from recollect.remember.changes import Changes
from recollect.remember.erase import erase_rows
from recollect.remember.forget import forget_all
from recollect.remember.rescreen import redact_stored
from recollect.store.erasures import Erasures
from recollect.store.migrate import migrate
from recollect.store.migrations.latest import LATEST
from recollect.store.sqlite.backup import copy_backup, memory_ids, verify
from recollect.store.sqlite.engine import TIMEOUT, SqliteEngine
from recollect.store.sqlite.place import beside, look
from recollect.store.sqlite.repair import open_around, read_erasures
from recollect.store.sqlite.swap import exchange, holding, workplace
from recollect.store.store import Store, projects_of
from recollect.store.tombstones import tombstone_key

_ACTOR = "restore"


@dataclass(frozen=True, slots=True)
class Reapplied:
    """What was done again to rows of a backup because it was done after it was made."""

    forgotten: int = 0
    rejected: int = 0
    redacted: int = 0
    tombstones: int = 0  # that the backup did not have
    erased: int = 0  # memories, by name, session, user or whole
    blanked: int = 0  # other rows that were erased with them


@dataclass(frozen=True, slots=True)
class Restored:
    """Which backup was put back, where what was there before is kept, and what became of what happened since."""

    backup: Path
    set_aside: Path | None
    reapplied: Reapplied = Reapplied()
    newer: int = 0  # memories of the replaced state that the backup lacks; they are in `set_aside`
    read_whole: bool = True  # False: the replaced state could not be read whole, so not all of this is known


def put_back(backup: Path, path: Path, kinds: Kinds, *, timeout: float = TIMEOUT) -> Restored:
    """Put a verified backup in the place of a store, with what was erased since taken out of it."""
    with holding(path, timeout=timeout) as lock, workplace(path) as work:
        built = work / path.name
        copy_backup(backup, built)
        engine = SqliteEngine(built)
        try:
            if engine.schema() > LATEST:
                raise NewerSchema(found=engine.schema(), known=LATEST)
            migrate(engine)
            erasures = _replaced(path, work)
            held = memory_ids(engine)
            reapplied = apply_erasures(engine, kinds, erasures) if erasures else Reapplied()
            if reapplied != Reapplied():
                engine.vacuum()  # without what the rows left in the gaps of pages
            engine.checkpoint()
        finally:
            engine.close()
        verify(built)
        aside = exchange(path, built, lock, "replaced")
    if erasures is None:
        return Restored(backup, aside)
    newer = len(erasures.memories - held - erasures.forgotten)
    return Restored(backup, aside, reapplied, newer, erasures.is_whole)


def _replaced(path: Path, work: Path) -> Erasures | None:
    """What the store that is replaced was asked to lose; nothing when there is none."""
    if look(path) is None and look(beside(path, "-wal")) is None:
        return None
    fresh = SqliteEngine(work / "fresh.db")
    try:
        migrate(fresh)
        old = open_around(path, work, fresh)
        try:
            return read_erasures(old)
        finally:
            old.close()
    finally:
        fresh.close()


def apply_erasures(engine: SqliteEngine, kinds: Kinds, erasures: Erasures, *, judged: bool = True) -> Reapplied:
    """Take out of a store what another state of it was asked to lose, project by project; with `judged`, what was
    rejected or had a secret in it, too."""
    act = _act()
    erased, blanked = _erase_marked(engine, kinds, erasures, act)
    forget: dict[str, set[str]] = defaultdict(set)
    refuse: dict[str, set[str]] = defaultdict(set)
    redact: dict[str, set[str]] = defaultdict(set)
    for page in Store(engine, kinds).memories.every():
        for memory in page.memories:
            key = (memory.project, tombstone_key(memory.fingerprint, memory.user))
            stone = erasures.tombstones.get(key)
            reason = "" if stone is None else stone.reason
            if memory.id in erasures.forgotten or reason == "forgotten":
                forget[memory.project].add(memory.id)
            elif judged and reason == "rejected" and memory.status in OPEN:
                refuse[memory.project].add(memory.id)
            elif judged and memory.id in erasures.redacted:
                redact[memory.project].add(memory.id)
    for project in {*forget, *refuse, *redact}:
        store = Store(engine, kinds, project=project)
        forget_all(store, sorted(forget[project]), act)
        for id in sorted(refuse[project]):
            reject(store, id, act)
        for id in sorted(redact[project]):
            redact_stored(store, store.memories.resolve(id), act)
    buried = _bury(engine, kinds, erasures, act)
    forgotten, rejected, redacted = (sum(map(len, of.values())) for of in (forget, refuse, redact))
    return Reapplied(forgotten, rejected, redacted, buried, erased, blanked)


def _erase_marked(engine: SqliteEngine, kinds: Kinds, erasures: Erasures, act: ActContext) -> tuple[int, int]:
    """Erase once more what was erased by name, session, user or whole, unless the backup was made after that; how many
    memories, and how many other rows."""
    missing = erasures.marks(Store(engine, kinds).tombstones.every())
    held = projects_of(engine)
    memories = others = 0
    for project, marks in sorted(
        ((project, marks) for project, every in missing.items() for marks in every),
        key=lambda one: not one[1].everything,
    ):
        for name in [project] if project in held else held:  # it was renamed when it was moved
            rows = erase_rows(Store(engine, kinds, project=name), marks, (), act)
            memories += len(rows.memories)
            others += len(rows.entities) + sum(rows.removed.values()) + sum(rows.blanked.values())
    return memories, others


def _bury(engine: SqliteEngine, kinds: Kinds, erasures: Erasures, act: ActContext) -> int:
    """Put the tombstones back, with the time and the reason they had. One on words that stand again, because the
    backup is from before they were corrected, is left out: nobody could say them otherwise."""
    standing = {
        (memory.project, tombstone_key(memory.fingerprint, memory.user))
        for page in Store(engine, kinds).memories.every()
        for memory in page.memories
        if memory.status in OPEN
    }
    count = 0
    with engine.write():
        for (project, key), stone in erasures.tombstones.items():
            if (project, key) in standing:
                continue
            store = Store(engine, kinds, project=project)
            there = store.tombstones.find([key]).get(key)
            if there is not None and (there.reason, there.at) == (stone.reason, stone.at):
                continue
            changes = Changes(store, act)
            changes.bury("restore", [key], stone.reason, at=stone.at)
            changes.write()
            count += 1
    return count


def _act() -> ActContext:
    """It repeats what passed the doors before, and only takes away, so it may do so to a person's memories too."""
    at = whole_ms(datetime.now(UTC))
    return ActContext(_ACTOR, at, new_id("act", at), PYTHON, "done again after a backup was put back")
