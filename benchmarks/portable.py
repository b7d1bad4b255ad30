"""How fast and how large: export and import of a store, each way and format, against a raw copy of its rows in the same
run; and the memory of the process, measured in processes of their own.

    python benchmarks/portable.py 100000            # lines of JSON and archive, both ways
    python benchmarks/portable.py 1000000 --export  # only out: the memory it takes
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import recollect
from recollect.core.drafts import Draft
from recollect.core.forms import whole
from recollect.core.ids import new_id
from recollect.core.kinds import Kinds
from recollect.core.log import Change
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status
from recollect.core.text import fingerprint
from recollect.store.contents import Contents
from recollect.store.open import open_store

_WORDS = (
    "staging database resets every night deploy friday rollback plan harbour boats scheduler adds one calendar year"
    " never edit generated files use make test instead cache key holds tenant locale queue retries twice then parks"
).split()
_BATCH = 2_000
_CAREFUL = 100_000  # memories that are remembered one by one; more are put in as rows
_KINDS = ("fact", "gotcha", "decision", "preference", "pattern")


def fill(path: Path, count: int) -> None:
    """A store of so many memories of about thirty words, each with tags and files, remembered as any other."""
    chance = random.Random(7)
    with recollect.open(path, project="bench") as memory:
        for start in range(0, count, _BATCH):
            memory.remember_all(
                Draft(
                    f"{number} " + " ".join(chance.choices(_WORDS, k=30)),
                    kind=chance.choice(_KINDS),
                    tags=(f"tag{number % 50}",),
                    files=(f"src/file{number % 500}.py",),
                    skip_conflict_check=True,
                )
                for number in range(start, min(start + _BATCH, count))
            )


def fill_quickly(path: Path, count: int) -> None:
    """The same, put in as rows with their keyword and log entries: nothing is screened or compared."""
    fill(path, 1)
    chance = random.Random(7)
    store = open_store(path, Kinds(), project="bench")
    pattern = next(Contents(store).memories(Filter(statuses=Status, user=ANY_USER)))[0].memory
    at = pattern.created_at
    for start in range(1, count, _BATCH):
        made = []
        for number in range(start, min(start + _BATCH, count)):
            content = f"{number} " + " ".join(chance.choices(_WORDS, k=30))
            made.append(
                pattern.having(
                    id=new_id("mem", at), content=content, fingerprint=fingerprint(content),
                    kind=chance.choice(_KINDS), tags=(f"tag{number % 50}",), files=(f"src/file{number % 500}.py",),
                )
            )  # fmt: skip
        with store.engine.write(durable=False):
            store.memories.add(made)
            told = [Change("add", memory.id, after=whole(memory)) for memory in made]
            store.log.append(told, act=str(new_id("act", at)), actor="bench", at=at)
    store.close()


def copy_rows(source: Path, target: Path) -> float:
    """The seconds of a raw copy: every memory read and inserted with its keyword entry, and the log row by row, without
    JSON, checks or screening."""
    begun = time.perf_counter()
    here, there = open_store(source, Kinds(), read_only=True), open_store(target, Kinds(), project="bench")
    for page in Contents(here).memories(Filter(statuses=Status, user=ANY_USER)):
        with there.engine.write():
            there.memories.add([kept.memory for kept in page], [kept.ordinal for kept in page])
    for rows in Contents(here).entries():
        with there.engine.write():
            Contents(there).add_entries(rows)
    here.close()
    there.close()
    return time.perf_counter() - begun


def measured(step: str, *words: str) -> dict[str, float]:
    """Run one step in a process of its own: its seconds, and the most memory it held."""
    done = subprocess.run(
        [sys.executable, __file__, "--step", step, *words], check=True, stdout=subprocess.PIPE, text=True
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def most_memory() -> float:
    """Megabytes this process held at most; what it inherited from its parent does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        return (
            int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]) / 2**10
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run_step(step: str, words: list[str]) -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    path, file, format = Path(words[0]), Path(words[1]), words[2]
    if step == "export":
        with recollect.open(path, read_only=True) as memory:
            memory.export(file, format=format, personal=True)
    elif step == "copy":
        copy_rows(path, file)
    elif step == "idle":
        with recollect.open(path, read_only=True) as memory:
            memory.recall("boats")
    else:
        with recollect.open(path, project="bench") as memory:
            memory.import_memories(file)
    seconds, spent = time.perf_counter() - begun, time.process_time() - cpu
    most = most_memory()
    print(json.dumps({"seconds": round(seconds, 1), "cpu": round(spent, 1), "mb": round(most)}))


def main() -> None:
    if sys.argv[1:2] == ["--step"]:
        run_step(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--export", action="store_true", help="only out")
    parser.add_argument("--store", type=Path, help="a store made by an earlier run; made if it is not there")
    known = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.setdefault("XDG_STATE_HOME", str(folder / "state"))
        store = known.store or folder / "a.db"
        if not store.exists():
            (fill_quickly if known.count > _CAREFUL else fill)(store, known.count)
        raw = measured("copy", str(store), str(folder / "raw.db"), "")
        idle = measured("idle", str(store), "", "")
        print(f"{known.count:,} memories, {store.stat().st_size >> 20} MB; opened and asked once: {idle['mb']} MB")
        print(f"raw copy of the rows: {tell(raw, raw)}", flush=True)
        for format in ("jsonl", "archive"):
            file = folder / f"e.{format}"
            sent = measured("export", str(store), str(file), format)
            print(f"{format}: out {tell(sent, raw)}, file {file.stat().st_size >> 20} MB", flush=True)
            if not known.export:
                got = measured("import", str(folder / f"{format}.db"), str(file), format)
                print(f"{format}: in {tell(got, raw)}", flush=True)


def tell(found: dict[str, float], raw: dict[str, float]) -> str:
    """Seconds by the clock and of the processor, against the raw copy, and memory."""
    return f"{found['seconds']} s ({found['cpu']} s CPU, {found['cpu'] / raw['cpu']:.1f} × the copy), {found['mb']} MB"


if __name__ == "__main__":
    main()
