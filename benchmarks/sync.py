"""How long a sync takes: 10,000 changes from a file to a server and on to a second file, over HTTP on this machine.

The baseline in the same run is writing the same 10,000 memories into a file without any sync. Writes
`benchmarks/results/sync.md`. PostgreSQL is measured where `RECOLLECT_TEST_POSTGRES` names a server or the wheel of the
tests is installed.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import uvicorn

import recollect
from recollect import Draft
from recollect.app import Recollect
from recollect.config import Settings
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import Application
from recollect.interfaces.http.server import StoppableServer
from recollect.interfaces.http.stores import ServedStores
from recollect.sync.api import Sync, SyncSettings

ROOT = Path(__file__).parent
CHANGES = int(os.environ.get("RECOLLECT_SYNC_CHANGES", "10000"))
LIMIT = 20.0  # seconds for 10,000 changes
PLAIN = Settings(embedder="none")


@contextmanager
def serving(store: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A server on a thread: its address and a person's token."""
    memory = recollect.open(store, project="team", door="panel", settings=PLAIN)
    stores = ServedStores(memory, lambda: recollect.open(":memory:", door="panel"))
    access = AccessFile(str(folder / "access"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        application = Application(stores, access, key="key", hosts=[host])
        server = StoppableServer(uvicorn.Config(application.asgi(), log_level="error", lifespan="on"), application)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://{host}", access.make_token(f"bench {host}", scope="write", is_persons=True)
        finally:
            server.should_exit = True
            thread.join(30)
            stores.close()


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def drafts() -> list[Draft]:
    stones = ("granite", "slate", "marble", "basalt", "gneiss", "chalk", "flint")
    return [
        Draft(
            f"Deposit {number} holds {stones[number % 7]} and is reached by track {number % 131} after the bridge.",
            tags=(stones[number % 7],),
        )
        for number in range(CHANGES)
    ]


def room(memory: Recollect, url: str, token: str) -> Sync:
    return Sync(memory.store, memory.writer, SyncSettings(url, token), memory._origin)


def measure(engine: str, store: str, folder: Path) -> dict[str, float]:
    """Seconds for each step of one run."""
    found: dict[str, float] = {}
    with (
        serving(store, folder) as (url, token),
        recollect.open(folder / f"{engine}-a.db", project="team", settings=PLAIN) as first,
        recollect.open(folder / f"{engine}-b.db", project="team", settings=PLAIN) as second,
    ):
        found["remember"] = timed(lambda: first.remember_all(drafts()))
        sender, receiver = room(first, url, token), room(second, url, token)
        found["send"] = timed(sender.run)
        found["fetch"] = timed(receiver.run)
        found["nothing new"] = timed(receiver.run)
        ids = [one.id for page in first.store.memories.every() for one in page.memories]
        for id in ids[: CHANGES // 100]:
            first.edit(id, tags=("edited",))
        found["send edits of 1 %"] = timed(sender.run)
        found["fetch edits of 1 %"] = timed(receiver.run)
        assert second.get(ids[0]).tags == ("edited",)
        assert sum(second.store.memories.tally().values()) == CHANGES
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = {"file": measure("file", str(folder / "server.db"), folder)}
        try:
            sys.path.insert(0, str(ROOT.parent / "tests"))
            from postgres_server import database_dsn, drop_database  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            print("PostgreSQL: not here")
        else:
            runs["PostgreSQL"] = measure("postgresql", f"{database_dsn()}&tenant=bench", folder)
            drop_database()
    page = [
        "# Sync",
        "",
        f"`benchmarks/sync.py`: {CHANGES:,} new memories from one file to a server and on to another file, over HTTP",
        "(gzip, one process) on this machine; the server on a file and on PostgreSQL. *remember* writes the same",
        "memories into the first file without sync: the baseline. Seconds of one run on a machine that did other work.",
        "",
        "| step | " + " | ".join(runs) + " |",
        "|---|" + "---|" * len(runs),
    ]
    page += [f"| {step} | " + " | ".join(f"{run[step]:.1f}" for run in runs.values()) + " |" for step in runs["file"]]
    for engine, run in runs.items():
        ratio = max(run["send"], run["fetch"]) / run["remember"]
        page += ["", f"{engine}: the slower direction takes {ratio:.1f} × remembering them; limit {LIMIT:.0f} s."]
    (ROOT / "results" / "sync.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return int(any(max(run["send"], run["fetch"]) > LIMIT for run in runs.values()))


if __name__ == "__main__":
    raise SystemExit(main())
