"""Every row a sitting leaves in the store, as approved: what each act writes, and what it leaves alone."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

import recollect
from approval import approve
from conftest import HandClock
from observer_session import Session
from recollect import Draft
from recollect.app import Recollect

_DERIVED = re.compile(r"keywords|vectors|sqlite_|entity_names|_data$|_idx$|_config$|_docsize$|_content$")
_DRAWN = re.compile(r"\b[0-9a-f]{20,64}\b|(?<=rep_)[0-9a-f]+")
_MOMENT = re.compile(
    r"\b(17\d{8})\d{3}\b|(T\d\d:\d\d:\d\d)\.\d{3}Z"
)  # how often the clock is asked is nobody's business
_OF_THIS_RUN = ("checksum", "mtime_ns", "slow")


def rows(path: Path) -> dict[str, list[str]]:
    """The rows of every table that holds more than an index, in the order they were made."""
    found = {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        tables = [name for (name,) in store.execute("select name from sqlite_schema where type = 'table' order by 1")]
        for table in tables:
            if not _DERIVED.search(table):
                columns = [column[1] for column in store.execute(f"pragma table_info({table})")]
                told = [
                    ", ".join(
                        f"{column}={_told(value)}"
                        for column, value in zip(columns, row, strict=True)
                        if value not in (None, "", 0, "[]", "{}") and column not in _OF_THIS_RUN
                    )
                    for row in store.execute(f"select * from {table}")
                ]
                if told := [one for one in told if not one.startswith("name=mark:")]:  # the key of whoever runs this
                    found[table] = told
    return found


def _told(value: object) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, float):
        return f"{value:.6g}"
    return _DRAWN.sub("…", _MOMENT.sub(r"\1\2…", str(value)))


def act(memory: Recollect, clock: HandClock) -> None:
    """Each act on memories once, a session of talk, a session of work, some documents."""
    first = memory.remember("Run make gen before the tests.", kind="gotcha", files=["Makefile"], tags=["b"], why="seen")
    second = memory.remember("The cache expires after 30 minutes.", confidence=0.6, session="s1", user="ada")
    third, fourth = memory.remember_all([Draft("Deploys run from main."), Draft("Logs rotate at noon.", kind="fact")])
    clock.pass_(days=2)
    memory.recall("make gen")
    memory.edit(second.id, content="The cache expires after 20 minutes.", why="measured")
    memory.correct(third.id, "Deploys run from release.", why="moved")
    memory.confirm(first.id, why="tried")
    memory.pin(first.id)
    memory.dispute(fourth.id, why="midnight")
    memory.undo(why="was right")
    memory.reject(fourth.id, why="wrong")
    clock.pass_(hours=5)
    gone = memory.remember("My number is 555-0100.")
    memory.forget(gone.id, why="private")
    for role, text in (
        ("user", "I am Caroline. I moved to Lisbon."),
        ("assistant", "Welcome!"),
        ("user", "I prefer tea."),
    ):
        memory.sessions.capture(text, session="talk", role=role)
        clock.pass_(minutes=1)
    clock.pass_(days=1)
    memory.sessions.consolidate("talk")
    work = Session("work").user("fix the route").read("api.py").edit("api.py").run("make test", "1 failed", error=True)
    work.edit("api.py").run("make test", "12 passed").says("I was wrong about the cache: it is per user.")
    watch = memory.observer.watch("work", host="test")
    for event in work.events:
        watch.feed(event)
    memory.observer.finish(watch)
    memory.tend()


def test_a_sitting_leaves_the_approved_rows(
    tmp_path: Path, clock: HandClock, counted_ids: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Guide\n\nDeploys run from main.\n\n## Cache\n\nIt expires. See [x](other.md).\n")
    path = tmp_path / "m.db"
    with recollect.open(path, project="quay", actor="ada", clock=clock) as memory:
        act(memory, clock)
        memory.docs.index([docs])
        memory.docs.search("deploys cache")
    approve("rows", rows(path), root=tmp_path)
