"""Whole answers as users get them: rankings with their reasons, code graphs, passages, facts of talk, what work taught.

A change of any of them is seen here and accepted on purpose (see `approval.py`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from approval import approve
from code_programs import PROGRAMS
from conftest import HandClock
from observer_session import Session
from recollect import Filter, Status
from recollect.app import Recollect
from recollect.interfaces.payloads.memories import briefing_json, memory_json
from recollect.interfaces.payloads.rooms import impact_json, map_json

_TOLD: list[tuple[str, dict[str, Any]]] = [
    ("Deploys run `make ship` from main, never from a branch.", {"kind": "gotcha", "files": ["Makefile"]}),
    (
        "Run make gen before the tests, or the parser tests fail.",
        {"kind": "gotcha", "files": ["Makefile", "parser/gen.py"]},
    ),
    ("We chose SQLite because one file is easy to back up.", {"kind": "decision", "files": ["store/engine.py"]}),
    ("We chose Redis for the cache of sessions.", {"kind": "decision", "files": ["cache/redis.py"]}),
    ("The cache of sessions expires after 30 minutes.", {"files": ["cache/redis.py"], "confidence": 0.6}),
    ("Tests in tests/slow need a running PostgreSQL.", {"kind": "gotcha", "tags": ["tests"]}),
    (
        "The parser falls back to plain text when a grammar is missing.",
        {"kind": "module_insight", "files": ["parser/core.py"]},
    ),
    ("Retrying the upload without a key creates duplicates.", {"kind": "error_pattern", "files": ["net/upload.py"]}),
    ("Ada prefers tabs in Makefiles and spaces elsewhere.", {"kind": "preference"}),
    ("The release checklist is in docs/release.md.", {"files": ["docs/release.md"], "tags": ["release"]}),
    (
        "Rewriting the queue with threads was a dead end: the lock starved readers.",
        {"kind": "dead_end", "files": ["queue.py"]},
    ),
    ("Every endpoint must answer within 200 ms.", {"kind": "requirement"}),
    (
        "To add a migration: write the SQL, bump the version, run make migrate.",
        {"kind": "pattern", "files": ["store/migrations.py"]},
    ),
    ("On 3 February the search index was rebuilt after the outage.", {"kind": "episode", "session": "s1"}),
    ("The outage on Monday came from a full disk.", {"kind": "episode", "session": "s2"}),
    ("Logs are kept for 14 days in /var/log/app.", {"confidence": 0.4}),
]


def tell(memory: Recollect, clock: HandClock) -> None:
    """Sixteen memories over forty days; some used, one pinned, one disputed, one withdrawn, one replaced."""
    ids = []
    for content, how in _TOLD:
        ids.append(memory.remember(content, **how).id)
        clock.pass_(days=2.5)
    memory.pin(ids[11])
    memory.dispute(ids[4], why="it is 20 minutes")
    memory.reject(ids[15])
    memory.correct(ids[9], "The release checklist is in docs/how-to/release.md.", why="moved")
    for _ in range(3):
        memory.recall("make gen before tests")
        clock.pass_(days=1)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("why do the parser tests fail", {}),
        ("how do I deploy to production", {"k": 3}),
        ("why did we choose SQLite over Redis", {}),
        ("what happened in February", {}),
        ("what went wrong on Monday before the release", {}),
        ("cache session expiry", {"files": ["cache/redis.py"]}),
        ("how to add a migration", {"phase": "implement"}),
        ('the "dead end" with threads', {"mode": "keyword"}),
        ("what does Ada like", {"filter": Filter(kinds=frozenset({"preference"}))}),
        ("outage", {"last_sessions": 1}),
        ("tests", {"filter": Filter(tags=frozenset({"tests"}))}),
        ("completely unrelated zebra", {}),
    ],
)  # fmt: skip
def test_a_recall_ranks_as_approved(
    memory: Recollect, clock: HandClock, question: str, options: dict[str, Any]
) -> None:
    tell(memory, clock)
    found = briefing_json(memory.recall(question, track=False, **options))
    for hit in found["hits"]:
        hit["memory"] = hit["memory"]["content"]
        hit["factors"] = {name: round(value, 4) for name, value in hit["factors"].items()}
        hit["score"] = round(hit["score"], 4)
        hit["confidence"] = round(hit["confidence"], 4)
    approve("recall-" + "-".join(question.replace('"', "").lower().split()[:4]), found)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_a_code_graph_is_as_approved(memory: Recollect, tmp_path: Path, program: str) -> None:
    root = tmp_path / "tree"
    for name, text in PROGRAMS[program].files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    memory.code.index(root)
    graph = memory.store.graph
    nodes = list(graph.nodes(sorted(graph.numbers().values())).values())
    edges = [(e.source, e.type, e.target, round(e.confidence, 3), e.layer, round(e.weight, 3)) for e in graph.edges()]
    passages = [one.content for one in memory.list(Filter(kinds=frozenset({"passage"})), limit=500)]
    busiest = max(sorted(PROGRAMS[program].files), key=lambda file: sum(edge[2].startswith(file) for edge in edges))
    value = {
        "nodes": sorted([node.key, node.type, node.start, node.end] for node in nodes),
        "edges": sorted(edges),
        "passages": sorted(passages),
        "map": map_json(memory.code.map()),
        "impact": impact_json(memory.code.impact(busiest)),
        "deps": impact_json(memory.code.deps(busiest)),
        "related": {node.key: memory.code.related(node.key) for node in nodes if node.type == "file"},
    }
    approve(f"code-{program}", value, root=root)


_SAID = [
    ("user", "Hi, I am Caroline. I moved from Berlin to Lisbon in March 2024."),
    ("assistant", "Welcome to Lisbon, Caroline!"),
    ("user", "My sister Melanie works at Initech as a nurse. I have two cats and a dog named Bruno."),
    ("user", "I prefer tea, but my husband Peter likes coffee."),
    ("assistant", "Noted: tea for you."),
    ("user", "Actually I have three cats now. We adopted Minka last Tuesday."),
    ("user", "I used to play the violin; I quit two years ago."),
    ("user", "Next week I will fly to Madrid for a conference about databases."),
    ("user", "Please always answer in short sentences. I don't like long explanations."),
    ("user", "Peter's birthday is on 5 May. He turned 41 this year."),
]


def test_what_was_said_becomes_the_approved_facts_people_and_context(memory: Recollect, clock: HandClock) -> None:
    for session in ("one", "two"):
        for role, text in _SAID if session == "one" else _SAID[5:8]:
            memory.sessions.capture(text, session=session, role=role)
            clock.pass_(minutes=3)
        clock.pass_(days=3)
        memory.sessions.consolidate(session)
    kept = ("content", "kind", "confidence", "status", "source", "tags", "event_at", "attributes", "supersedes")
    facts = [
        {name: value for name, value in memory_json(one).items() if name in kept} for one in memory.sessions.facts()
    ]
    people = [[one.name, str(one.type), sorted(one.aliases), one.mentions] for one in memory.sessions.entities()]
    approve("dialogue", {"facts": facts, "entities": sorted(people), "context": str(memory.sessions.context("two"))})


_PAGE = """\
---
title: Guide
---
# Guide

Opening words with a [link](install.md#linux) and <https://example.org>.

## Install

Use `pip install x`. See [the notes][n] or [[notes]].

1. First step
2. Second step
   - nested *point*

```sh
# not a heading
make all
```

| a | b |
|---|---|
| 1 | 2 |

### Linux

> Quoted words.

Use apt.

## Run

Go. ![picture](img.png)

[n]: ../notes.txt "Notes"
"""


def test_documents_become_the_approved_passages_and_findings(memory: Recollect, tmp_path: Path) -> None:
    root = tmp_path / "docs"
    texts = {
        "guide.md": _PAGE,
        "install.md": "# Install\n\n## Linux\n\nUse apt. See [gone](missing.md) and [back](guide.md#no-such).\n",
        "notes.txt": "Plain notes about deploying.\n\nSecond paragraph about the cache.\n",
        "old.rst": "Title\n=====\n\nWords with a `link <install.md>`_.\n\nPart\n----\n\n* one\n* two\n",
        "page.html": "<html><title>T</title><body><h1>Head</h1><p>Words <a href='guide.md'>x</a></p></body></html>",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    memory.docs.index([root])
    passages = [
        {name: value for name, value in memory_json(one).items() if name in ("content", "files", "tags", "attributes")}
        for one in memory.list(Filter(kinds=frozenset({"passage"})), limit=100)
    ]
    found = memory.docs.search("deploying with the cache")
    value = {
        "passages": sorted(passages, key=json.dumps),
        "found": [(one.document.path, one.document.title, one.passage.content) for one in found.matches],
        "checked": str(memory.docs.check()),
    }
    approve("documents", value, root=root)


def work(memory: Recollect, number: int, clock: HandClock) -> None:
    session = Session(f"work{number}")
    session.user(f"fix the login route, attempt {number}")
    session.read("api/routes.py").read("core/schema.py").grep("login")
    session.run("rtk make test", "error: unrecognized subcommand 'make'", error=True).run("make test", "12 passed")
    session.edit("api/view.py", "File has not been read yet. Read it first before writing to it.", error=True)
    session.read("api/view.py").edit("api/view.py").edit("core/schema.py")
    session.says("I must regenerate the schema after every change of core/schema.py.")
    session.run("make gen").run("make test", "1 failed", error=True).edit("api/routes.py").run("make test", "12 passed")
    watch = memory.observer.watch(session.name)
    for event in session.events:
        watch.feed(event)
    memory.observer.finish(watch)
    clock.pass_(days=1)


def test_work_teaches_the_approved_memories_warnings_and_predictions(memory: Recollect, clock: HandClock) -> None:
    for number in range(6):
        work(memory, number, clock)
    memory.tend()
    clock.pass_(days=1)
    memory.tend()
    kept = ("content", "kind", "confidence", "status", "source", "files", "payload", "needs_review")
    learnt = [
        {name: value for name, value in memory_json(one).items() if name in kept}
        for one in memory.list(Filter(statuses=frozenset(Status)), limit=200)
    ]
    value = {
        "learnt": sorted(learnt, key=json.dumps),
        "patterns": sorted(str(one) for one in memory.observer.patterns()),
        "foreseen": [
            (one.path, round(one.score, 3), list(one.because)) for one in memory.observer.foresee("the login route")
        ],
        "sessions": [str(replace(one, slow=0)) for one in memory.observer.sessions()],
        "waiting": [str(one) for one in memory.observer.waiting()],
    }
    approve("observer", value)
