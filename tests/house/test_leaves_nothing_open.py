"""Whatever opens files, threads or processes and is closed, ended or left leaves none of them behind."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import recollect
from observer_session import Session
from recollect import aio
from recollect.core.errors import RecollectError
from recollect.files.learning_turn import LearningTurn
from recollect.files.session_file import SessionFile
from recollect.interfaces.cli import main
from recollect.interfaces.mcp.handle import MemoryHandle

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells what a process has open")

Kept = list[object]  # what a user still holds when they believe that it is closed


def held() -> tuple[list[str], set[str], list[str]]:
    """The files, threads and children of this process, by name."""
    files = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            files.append(os.readlink(f"/proc/self/fd/{name}"))
    threads = {thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")}
    children = [
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
        if (task / "children").exists()
    ]
    return sorted(name for name in files if not name.startswith("/proc")), threads, sorted(children)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a store, a program and a page."""
    root = tmp_path / "project"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "cart.py").write_text("from shop.items import make\n\n\ndef fill():\n    return make()\n")
    (root / "shop" / "items.py").write_text("def make():\n    return 1\n")
    (root / "guide.md").write_text("# Guide\n\nDeploys run from main.\n")
    with recollect.open(root) as memory:
        memory.remember("Deploys run from main.")
    return root


@pytest.fixture(autouse=True)
def _settled(project: Path) -> None:
    """What the first use of a module opens for good is open before anything is counted."""
    with recollect.open(project) as memory:
        memory.recall("deploys")


def a_memory(root: Path) -> Kept:
    memory = recollect.open(root)
    memory.recall("deploys")
    view = memory.through("adapter")
    view.recall("deploys")
    memory.close()
    return [memory, view]


def a_memory_that_only_reads(root: Path) -> Kept:
    with recollect.open(root, read_only=True) as memory:
        memory.recall("deploys")
    return [memory]


def a_memory_with_a_persons_own_beside_it(root: Path) -> Kept:
    with recollect.open(":personal:") as mine:
        mine.remember("I write in French.")
    with recollect.open(root, personal=True) as memory:
        memory.recall("French")
    return [mine, memory]


def an_asynchronous_memory(root: Path) -> Kept:
    kept: Kept = []

    async def use() -> None:
        async with aio.open(root) as memory:
            kept.append(memory)
            await memory.recall("deploys")
            agent = await memory.agent("s")
            await agent.first_message("how do deploys run?")
            await agent.end()

    asyncio.run(use())
    return kept


def a_code_index(root: Path) -> Kept:
    memory = recollect.open(root)
    code = memory.code
    code.index(root)
    code.map()
    memory.close()
    return [memory, code]


def documents_and_talk(root: Path) -> Kept:
    memory = recollect.open(root)
    memory.docs.index([root])
    memory.sessions.capture("I moved to Lisbon.", session="one", role="user")
    memory.sessions.consolidate("one")
    memory.tend()
    memory.close()
    return [memory]


def work_that_was_watched(root: Path) -> Kept:
    memory = recollect.open(root)
    session = Session("w").user("fix it").read("shop/cart.py").edit("shop/cart.py").run("make", "1 failed", error=True)
    watch = memory.observer.watch(session.name)
    for event in session.events:
        watch.feed(event)
    memory.observer.finish(watch)
    agent = memory.agent("told")
    agent.first_message("how do deploys run?")
    agent.end()
    memory.close()
    return [memory, watch, agent]


def upkeep(root: Path) -> Kept:
    memory = recollect.open(root)
    made = memory.maintenance.backup(root / "copy.db")
    memory.maintenance.check()
    memory.maintenance.facts()
    memory.maintenance.try_writing()
    memory.close()
    return [memory, made]


def the_memory_of_a_server(root: Path) -> Kept:
    handle = MemoryHandle(str(root))
    memory = handle.open()
    memory.recall("deploys")
    handle.close()
    return [handle, memory]


def the_file_of_a_session(root: Path) -> Kept:
    file = SessionFile.of(str(root / ".recollect"), "s", host="claude-code")
    assert file.take_event("e1", "SessionStart", 1_000, named=True)
    file.close()
    again = SessionFile.of(str(root / ".recollect"), "s")
    assert again.count("SessionStart") == 1
    again.close()
    return [file, again]


def turns_to_learn(root: Path) -> Kept:
    store = str(root / ".recollect" / "memory.db")
    turn = LearningTurn.take(store)
    assert turn is not None
    assert LearningTurn.take(store) is None
    turn.end()
    handed = LearningTurn.take(store)
    assert handed is not None
    with handed:
        pass
    return [turn, handed]


def a_store_that_cannot_be_opened(root: Path) -> Kept:
    broken = root / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    missing, text = root / "nowhere.db", root / "guide.md"
    errors: Kept = []
    for path in (broken, missing, text):
        try:
            recollect.open(path, create=False)
        except RecollectError as error:
            errors.append(error)
    assert len(errors) == 3
    return errors


def commands(root: Path) -> Kept:
    for words in (
        ["recall", "deploys"],
        ["list"],
        ["docs", "index", str(root)],
        ["code", "index", str(root)],
        ["check"],
    ):
        assert main([*words, "--store", str(root)]) == 0
    return []


USES: list[Callable[[Path], Kept]] = [
    a_memory,
    a_memory_that_only_reads,
    a_memory_with_a_persons_own_beside_it,
    an_asynchronous_memory,
    a_code_index,
    documents_and_talk,
    work_that_was_watched,
    upkeep,
    the_memory_of_a_server,
    the_file_of_a_session,
    turns_to_learn,
    a_store_that_cannot_be_opened,
    commands,
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_what_was_closed_leaves_no_file_no_thread_and_no_process(use: Callable[[Path], Kept], project: Path) -> None:
    before = held()
    kept = use(project)
    assert held() == before
    del kept


def leftovers(folder: Path) -> Iterator[str]:
    yield from (path.name for path in folder.iterdir() if path.name.startswith(("recollect-", "tmp")))


def test_asking_git_leaves_no_folder_behind(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with recollect.open(project) as memory:
        memory.code.index(project)
        memory.tend()
    assert list(leftovers(scratch)) == []
