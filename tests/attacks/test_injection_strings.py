"""Words that are syntax elsewhere, in values and in keys: SQL, FTS5, JSON paths, LIKE patterns, format strings.

Each goes into every filter, name, tag, payload key and order that a door takes. It finds what it names and nothing
else, and is refused, if at all, by an error that says so.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recollect
from faults.fault_tools import base_seed, report, size
from recollect.app import Recollect
from recollect.core.errors import InvalidInput, NotFound, Refused
from recollect.core.query import Filter
from recollect.store.sqlite.hook_file import open_hook_reader
from test_naughty import naughty

HEADS = ("", "'", '"', "`", "]", ")", "')", '")', "';", '";', "\\", "\\'", "%", "a' ", 'a" ', "x\x00", "\n", "$.", "$[")
BODIES = (
    "or 1=1", "or '1'='1'", "union select null, sql from sqlite_schema", "; drop table memories", "and sleep(9)",
    "order by 99", "limit -1", "having 1", "like '%'", "glob '*'", "match 'a'", "rowid > 0", "body : a", "{names} : a",
    "NEAR(a b, 9)", "^a", "a*", "a + b", "- a", "NOT a", "AND OR", "json_extract(x, '$')", "#>> '{}'",
    "randomblob(1e9)",
    "load_extension('x')", "attach 'x' as y", "pragma user_version = 9", "{0.__class__}", "%s%n%x", "${x}", "{{x}}",
)  # fmt: skip
TAILS = ("", "--", "/*", "#", "'", '"', ")", ";", "\x00", "%00", "*")
EXPECTED = (InvalidInput, NotFound, Refused)


def strings() -> list[str]:
    made = ["".join(parts) for parts in itertools.product(HEADS, BODIES, TAILS)]
    return [*naughty(), *made]


def storable(text: str) -> bool:
    return "\x00" not in text


def ways(memory: Recollect, text: str) -> dict[str, Callable[[], Any]]:
    """Every place a string can be put in when something is asked."""
    filters = {
        name: (lambda name=name: memory.list(Filter(**{name: text}), limit=100))  # type: ignore[arg-type,misc]
        for name in ("files", "modules", "tags", "sessions", "documents", "labels", "types", "kinds", "user")
    }
    return {
        **filters,
        "recall": lambda: memory.recall(text, k=20),
        "recall with a tag": lambda: memory.recall("pump", k=20, filter=Filter(tags=text)),
        "order": lambda: memory.list(order=text),  # type: ignore[arg-type]
        "mode": lambda: memory.recall("pump", mode=text),  # type: ignore[arg-type]
        "id": lambda: memory.get(text),
        "history": lambda: memory.history(text),
        "session": lambda: memory.sessions.get(text),
        "entity": lambda: memory.sessions.entity(text),
        "docs": lambda: memory.docs.search(text, label=text),
        "code": lambda: memory.code.impact(text),
        "job": lambda: memory.tend(job=text, dry_run=True),
        "relation": lambda: memory.relate(text, text, to=text),
    }


def test_no_string_is_syntax_wherever_it_is_put(tmp_path: Path) -> None:
    seed = base_seed()
    chance = random.Random(seed)
    every = strings()
    chosen = every if size(0, 1) else chance.sample(every, 250)
    path = tmp_path / "memory.db"
    recollect.open(path, project="here").close()  # whose file it is
    with recollect.open(path, project="other") as other:
        for number in range(5):
            other.remember(f"A foreign pump {number}.", tags=["foreign"], files=["foreign.py"])
    tried = refused = 0
    with recollect.open(path, project="here") as memory:
        for number in range(10):
            memory.remember(f"Pump {number} needs oil.", tags=["oil"], files=["a.py"])
        for text in chosen:
            for name, way in ways(memory, text).items():
                tried += 1
                try:
                    found = way()
                except EXPECTED:
                    refused += 1
                    continue
                told = repr(found)
                assert "foreign" not in told or "foreign" in text, (name, text, told[:200])
                if name in ("files", "modules", "tags", "sessions", "documents", "labels", "types"):
                    assert not found.memories, (name, text)  # nothing has that name
        assert memory.maintenance.check().ok
        assert memory.count() == 10
    reader = open_hook_reader(str(path), now=2_000_000_000_000)
    for text in chosen:
        tried += 1
        for told in (reader.search(text, ["fact"], limit=9), reader.about([text], [text], limit=9, facet=text)):
            assert not any("foreign" in one.content for one in told)
    report(f"injection strings: {len(chosen)} of {len(every)}, asked: {tried}, refused: {refused}, foreign rows: 0")


def test_strings_that_are_kept_are_found_by_their_own_name_only(tmp_path: Path) -> None:
    chance = random.Random(base_seed())
    chosen = [text for text in chance.sample(strings(), size(60, 2_000)) if storable(text) and text.strip()]
    kept: dict[str, str] = {}
    with recollect.open(tmp_path / "memory.db", project="'; drop table memories; --") as memory:
        for number, text in enumerate(chosen):
            try:
                receipt = memory.remember(
                    f"Statement {number} of its own kind, like no other {number * 7919}.",
                    tags=[text[:200]],
                    attributes={text: {text: number}},
                    session=text[:60],
                    again=True,
                )
            except InvalidInput:
                continue
            kept[receipt.id] = text
        assert len(kept) > len(chosen) // 2
        for id in kept:
            memory_ = memory.get(id)
            (tag,) = memory_.tags
            found = {one.id for one in memory.list(Filter(tags=tag), limit=1_000).memories}
            assert id in found
            assert all(tag in memory.get(one).tags for one in found)
            assert dict(memory_.attributes).keys() <= {kept[id], kept[id].strip()} or memory_.attributes
        assert memory.maintenance.check().ok
