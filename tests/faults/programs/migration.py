"""Migrates a store in a process that may be killed at a named point, or that runs beside others."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from faults.programs.crowd import crowd
from recollect.store import migrate
from recollect.store.migrations.steps import MIGRATIONS, Migration
from recollect.store.port import Engine
from recollect.store.sqlite import backup
from recollect.store.sqlite.engine import SqliteEngine

POINTS = (
    "before the backup", "after copying the backup", "after verifying the backup", "after naming the backup",
    "before the first step", "within the first step", "after the first step", "after numbering the first step",
    "before the second step", "within the second step", "after the second step", "after numbering the second step",
    "after all",
)  # fmt: skip
FIRST = MIGRATIONS[-1].number  # the schema that is released
LAST = FIRST + 2
_NAMES = {FIRST + 1: "the first step", LAST: "the second step"}


def steps(reached: Any = lambda point: None) -> list[Migration]:
    """Two made-up steps of the kinds that occur: a new table with content made from old rows, and a new column."""

    def first(engine: Engine) -> None:
        reached("before the first step")
        engine.execute("create table lengths (id text primary key, length integer not null)")
        reached("within the first step")
        engine.execute("insert into lengths select id, length(content) from memories")
        reached("after the first step")

    def second(engine: Engine) -> None:
        reached("before the second step")
        engine.execute("alter table memories add column mood text")
        reached("within the second step")
        engine.execute("update memories set mood = 'calm'")
        reached("after the second step")

    return [*MIGRATIONS, Migration(FIRST + 1, "lengths", first), Migration(LAST, "mood", second)]


def migrate_until(path: Path, point: str | None) -> None:
    """Migrate; die at `point`, if it is given."""

    def reached(here: str) -> None:
        if here == point:
            os.kill(os.getpid(), signal.SIGKILL)

    copy_to, verify, replace = SqliteEngine.copy_to, backup.verify, os.replace
    set_schema = SqliteEngine.set_schema

    def copying(engine: SqliteEngine, target: Path) -> None:
        reached("before the backup")
        copy_to(engine, target)
        reached("after copying the backup")

    def verifying(path: Path) -> int:
        found = verify(path)
        reached("after verifying the backup")
        return found

    def naming(source: Any, target: Any) -> None:
        replace(source, target)
        reached("after naming the backup")

    def numbering(engine: SqliteEngine, number: int) -> None:
        set_schema(engine, number)
        reached(f"after numbering {_NAMES.get(number)}")

    SqliteEngine.copy_to = copying  # type: ignore[method-assign]
    SqliteEngine.set_schema = numbering  # type: ignore[method-assign]
    backup.verify = verifying
    backup.os.replace = naming  # type: ignore[attr-defined]
    engine = SqliteEngine(path)
    migrate.migrate(engine, steps(reached))
    reached("after all")
    engine.close()


def together(path: Path, processes: int) -> dict[str, Any]:
    """Several processes find the same old store at the same moment."""
    start = time.time() + 0.1

    def one() -> dict[str, Any]:
        time.sleep(max(0.0, start - time.time()))
        engine = SqliteEngine(path)
        migrate.migrate(engine, steps())
        number = engine.schema()
        engine.close()
        return {"errors": [], "schema": number}

    answers = crowd([one] * processes)
    return {
        "errors": [error for answer in answers for error in answer["errors"]],
        "schemas": sorted({answer.get("schema") for answer in answers}),
    }


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if "processes" in given:
        print(json.dumps(together(Path(given["path"]), given["processes"])))  # noqa: T201
    else:
        migrate_until(Path(given["path"]), given["point"])
