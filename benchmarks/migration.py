"""Upgrading a store of an earlier release: is anything lost, how long does it take, and does a kill at any moment leave
the old store or the new one?

    python benchmarks/migration.py --release <sources of the release> [--memories 100000] [--kills 20]

The store is made by the earlier release itself, in a process of its own. The census counts every row of every table
before and after, and hashes the statements. Then copies of the old store are upgraded by processes that are killed at
random moments, opened again, and counted once more.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recollect.core.kinds import Kinds
from recollect.store.check import check
from recollect.store.migrate import census
from recollect.store.open import open_store
from recollect.store.sqlite.engine import SqliteEngine

_FILL = """
import random, sys
from pathlib import Path
import recollect
chance = random.Random(7)
words = [f"word{number}" for number in range(20_000)]
path, count = Path(sys.argv[1]), int(sys.argv[2])
with recollect.open(path, project="bench") as memory:
    for start in range(0, count, 1_000):
        drafts = []
        for number in range(start, min(count, start + 1_000)):
            text = f"statement {number} " + " ".join(chance.choices(words, k=30))
            if number % 2:
                drafts.append(recollect.Draft(text, kind="episode", session=f"s{number % 97}", source_role="user"))
            else:
                drafts.append(recollect.Draft(text, tags=(f"t{number % 50}",), files=(f"f{number % 400}.py",)))
        made = memory.remember_all(drafts)
        memory.relate(made[0].id, "validates", to=made[2].id)
        memory.reject(made[4].id)
        memory.forget(made[6].id)
"""
_OPEN = """
import sys
from pathlib import Path
from recollect.core.kinds import Kinds
from recollect.store.open import open_store
open_store(Path(sys.argv[1]), Kinds()).close()
"""
_TABLES = (
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'keywords%'"
)
_GROWS = frozenset({"ledger", "meta"})  # the log tells once more what is there; facts name the replica


def tables(path: Path) -> dict[str, int]:
    """How many rows every table has."""
    engine = SqliteEngine(path, read_only=True)
    try:
        names = [row[0] for row in engine.rows(_TABLES)]
        return {name: int(engine.rows(f"select count(*) from {name}")[0][0]) for name in names}
    finally:
        engine.close()


def digest(path: Path) -> str:
    engine = SqliteEngine(path, read_only=True)
    try:
        return census(engine).digest
    finally:
        engine.close()


def lost(before: dict[str, int], after: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Tables with other numbers of rows than before; of the log, fewer."""
    found = {name: (count, after.get(name, 0)) for name, count in before.items() if name not in _GROWS}
    found["ledger"] = (before["ledger"], min(before["ledger"], after["log"]))
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def upgraded(path: Path) -> dict[str, int]:
    """Open the store, which upgrades it; what is wrong with it then is an error."""
    store = open_store(path, Kinds())
    try:
        findings = check(store, quick=True).findings
        if findings:
            raise SystemExit(f"not sound: {findings[:3]}")
    finally:
        store.close()
    return tables(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=Path, required=True, help="the src folder of the earlier release")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=20)
    asked = parser.parse_args()
    chance = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old" / "memory.db"
        old.parent.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(asked.release)}
        subprocess.run([sys.executable, "-c", _FILL, str(old), str(asked.memories)], env=environment, check=True)
        before, said = tables(old), digest(old)
        print(f"{asked.memories:,} memories, {old.stat().st_size / 2**20:.0f} MB, {sum(before.values()):,} rows")
        whole = _copied(old, "whole")
        began = time.perf_counter()
        after = upgraded(whole)
        took = time.perf_counter() - began
        same = digest(whole) == said
        print(f"upgraded in {took:.1f} s; lost: {lost(before, after) or 'nothing'}; same statements: {same}")
        for number in range(asked.kills):
            path = _copied(old, f"kill{number}")
            process = subprocess.Popen([sys.executable, "-c", _OPEN, str(path)])
            delay = chance.uniform(0.1, took * 1.1)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            state = SqliteEngine(path, read_only=True)
            schema = state.schema()
            state.close()
            missing = lost(before, upgraded(path)) or "nothing"
            print(f"killed after {delay:5.1f} s at schema {schema}; resumed, lost: {missing}")
            shutil.rmtree(path.parent)


def _copied(old: Path, name: str) -> Path:
    folder = old.parent.parent / name
    folder.mkdir()
    for suffix in ("", "-wal"):
        if (part := Path(f"{old}{suffix}")).exists():
            shutil.copyfile(part, folder / f"memory.db{suffix}")
    return folder / "memory.db"


if __name__ == "__main__":
    main()
