"""Migrations: one transaction for all of them, a verified backup first, counts and hashes compared around each step.

A migration that would lose or change what people taught is rolled back, whatever its author intended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

from recollect.core.errors import MigrationFailed, RecollectError
from recollect.store.meta import FILE, Meta
from recollect.store.migrations.steps import MIGRATIONS, Migration
from recollect.store.port import Engine
from recollect.store.schema import CANONICAL, FIRST, create


@dataclass(frozen=True, slots=True)
class Census:
    """What must be the same on both sides of a migration."""

    counts: tuple[tuple[str, int], ...]
    digest: str


_STATEMENTS = "select id, project, kind, content, status, created_at from memories order by id"


def every_step(engine: Engine) -> tuple[Migration, ...]:
    """All steps this engine's stores can have gone through, in order."""
    return (*(Migration(*step) for step in engine.upgrades()), *MIGRATIONS)


def census(engine: Engine) -> Census:
    """Row counts of the canonical tables and a hash of every statement."""
    return _census(engine, engine.schema())


def _census(engine: Engine, schema: int) -> Census:
    made = [] if engine.upgrades() else [*CANONICAL]
    for step in every_step(engine):
        if step.number <= schema:
            old, new = step.renamed or ("", "")
            made = [new if table == old else table for table in (*made, *step.canonical)]
    counts = tuple((table, _count(engine, table)) for table in made)
    seen = sha256()
    for row in engine.rows(_STATEMENTS):
        seen.update(repr(row).encode())
    return Census(counts, seen.hexdigest())


def migrate(
    engine: Engine,
    steps: Sequence[Migration] | None = None,
    *,
    facts: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Bring the store to the last of `steps`. Safe to call from several processes at once, and after a crash.

    An empty one is made with the common schema. `facts` about the store are written in the same transaction that makes
    it, so that none can exist without them.
    """
    if steps is None:
        steps = every_step(engine)
    with engine.migration():  # under the lock, and it makes the file when there is none
        current = engine.schema()
        if current == 0 and steps[-1].number >= FIRST:
            create(engine)
            for name, value in facts.items():
                Meta(engine, FILE).put(name, value)
        missing = [step for step in steps if step.number > engine.schema()]
        if missing:
            backup = "nowhere: the store was empty" if current == 0 else _backed_up(engine, missing[-1].number)
            for step in missing:
                for _ in engine.each_store():
                    _apply(engine, step, backup)
                engine.set_schema(step.number)


def _backed_up(engine: Engine, number: int) -> str:
    """Where a backup of the store as it is now lies: one that an earlier try left, or a new one. The lock is held, so
    several processes that want to migrate make one."""
    reason = f"before-schema-{number}"
    return str(engine.backup(reason, unless_same=True) or "nowhere: this engine keeps none")


def _apply(engine: Engine, step: Migration, backup: str) -> None:
    empty = engine.schema() == 0
    before = None if empty else census(engine)
    try:
        step.apply(engine)
    except RecollectError:
        raise
    except Exception as error:  # whatever a migration raises, the store stays as it was and the backup is named
        raise MigrationFailed(number=step.number, why=str(error), backup=backup) from error
    if before is not None and _loses(before, _after(engine, step), step):
        raise MigrationFailed(number=step.number, why="it would have changed stored memories", backup=backup)


def _loses(before: Census, after: Census | None, step: Migration) -> bool:
    """Did a step lose or change anything? New tables are no loss, nor are rows added to a table it renamed."""
    if after is None or after.digest != before.digest:
        return True
    old, new = step.renamed or ("", "")
    now = dict(after.counts)
    for table, count in before.counts:
        if table == old:
            if now.get(new, -1) < count:
                return True
        elif now.get(table) != count:
            return True
    return False


def _after(engine: Engine, step: Migration) -> Census | None:
    """The census after a step; nothing when the step left no table to count."""
    schema = max(step.number, engine.schema()) if step in MIGRATIONS else engine.schema()
    try:
        return _census(engine, schema)
    except Exception as error:  # the driver's own: a canonical table or column is gone
        if isinstance(error, RecollectError):
            raise
        return None


_COUNT = "select count(*) from {table}"


def _count(engine: Engine, table: str) -> int:
    row = engine.row(_COUNT.format(table=table))
    return int(row[0]) if row else 0
