"""Sessions drawn with a seed, and everything the observer makes of them, as approved.

Each detector, the recorder, the rules and the predictor meet their limits from both sides here: what happened at which
step, how often, with which files and words, what was learnt, warned of and foreseen.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from random import Random
from typing import Any

from approval import approve
from conftest import HandClock
from observer_session import Session
from recollect import Filter, Status
from recollect.app import Recollect
from recollect.interfaces.payloads.memories import memory_json
from recollect.observer.events import Outcome, SessionComplete, ToolCall
from recollect.observer.watcher import SessionWatcher

_FILES = [
    "api/routes.py", "api/view.py", "core/schema.py", "core/store.py", "core/cache.py", "tests/test_api.py",
    "tests/test_core.py", "pyproject.toml", "Makefile", "docs/guide.md", "web/app.ts", "web/page.ts",
]  # fmt: skip
_TASKS = ["fix the login route", "add a cache to the store", "rename the schema field", "make the page faster"]
_SAID = [
    "Reading on to see how it works.",
    "I was wrong about the cache: it is per user.",
    "This approach won't work here. Going back to the first one.",
    "The tests pass because the schema was generated before.",
]
_TOLD = ["go on", "No, use the other store instead.", "Never edit docs/guide.md by hand.", "that is wrong, revert it"]
_ERRORS = [
    "api/routes.py:12: undefined: login",
    "File has been modified since read",
    "1 failed, 11 passed",
    "ModuleNotFoundError: No module named 'gen'",
]


def drawn(number: int, steps: int = 45) -> Session:
    """A session that reads, searches, edits, runs and fails; `make test` fails after an edit of the schema until
    `make gen` ran."""
    chance = Random(number)
    session = Session(f"drawn{number}")
    session.at += 86_400.0 * number
    session.user(f"{_TASKS[number % len(_TASKS)]}, attempt {number}")
    if number % 3 == 0:
        session.call("TodoWrite", todos=[{"content": f"item {one}"} for one in range(2 + number % 4)])
    files = chance.sample(_FILES, 6)
    stale = False
    for _ in range(steps):
        what, file = chance.random(), chance.choice(files)
        wait = chance.choice([2.0, 10.0, 10.0, 10.0, 10.0, 400.0])
        agent = chance.choice(["", "", "", "", "", "side"])
        if what < 0.28:
            imports = f"import {chance.choice(files).removesuffix('.py').replace('/', '.')}\n"
            size = chance.choice([None, None, None, 30_000, 60_000])
            session.read(file, imports, size=size, wait=wait, agent=agent)
        elif what < 0.48:
            failed = chance.random() < 0.2
            refused = failed and chance.random() < 0.3
            session.edit(file, _ERRORS[1] if failed else "ok", error=failed, rejected=refused, wait=wait, agent=agent)
            stale = stale or (file == "core/schema.py" and not failed)
        elif what < 0.60:
            session.grep(chance.choice(["login", "login", "cache", "Schema"]), wait=wait)
        elif what < 0.66:
            session.call("Glob", "\n".join(f"/p/{one}" for one in chance.sample(_FILES, 3)), pattern="**/*.py")
        elif what < 0.82:
            command = chance.choice(["make test", "make test", "pytest tests/test_api.py", "go build ./..."])
            failed = stale if command == "make test" else chance.random() < 0.3
            session.run(command, chance.choice(_ERRORS) if failed else "12 passed", error=failed)
        elif what < 0.86:
            session.run("make gen")
            stale = False
        elif what < 0.90:
            session.call("WebFetch", "a page", url=f"https://docs.example.org/{chance.choice('ab')}?x=1")
        elif what < 0.95:
            session.says(chance.choice(_SAID))
        else:
            session.user(chance.choice(_TOLD))
    outcome = chance.choice([Outcome.SUCCESS, Outcome.FAILURE, Outcome.UNKNOWN])
    session.events.append(
        SessionComplete(id="end", session=session.name, step=session.step, at=session.at, outcome=outcome)
    )
    return session


def watched(session: Session) -> SessionWatcher:
    ticks = iter(range(10**9))
    watch = SessionWatcher(session.name, host="test", clock=lambda: next(ticks) * 1e-6)
    for event in session.events:
        watch.feed(event)
    assert not watch.troubles
    return watch


def told(value: Any) -> str:
    """A record in one line, without what is empty."""
    return ", ".join(f"{name}={found!r}" for name, found in asdict(value).items() if found not in ("", 0, (), None))


def test_drawn_sessions_contribute_what_was_approved() -> None:
    table = {}
    for number in range(5):
        watch = watched(drawn(number))
        added = watch.contribution()
        table[watch.session] = {
            "session": told(added.session),
            "files": [told(one) for one in added.files],
            "pairs": [told(one) for one in added.pairs],
            "errors": [told(one) for one in added.errors],
            "calls": [told(one) for one in added.calls],
            "sequences": [told(one) for one in added.sequences],
            "signals": [told(one) for one in added.signals],
            "features": len(added.features),
            "urgent": [f"{one.priority} {one.signal.name} {one.signal.subject}" for one in watch.acute()],
        }
    approve("observer-contributions", table)


def test_a_session_that_is_put_down_and_taken_up_again_sees_what_an_unbroken_one_sees() -> None:
    session = drawn(7)
    whole = session.collector()
    for cut in (1, len(session.events) // 2, len(session.events) - 1):
        broken = Session(session.name)
        broken.events = session.events[:cut]
        collector = type(whole).resume(broken.collector().checkpoint())
        for event in session.events[cut:]:
            collector.feed(event)
        assert collector.signals() == whole.signals()


def test_sixteen_drawn_sessions_teach_warn_and_foresee_as_approved(memory: Recollect, clock: HandClock) -> None:
    learnt, warned = [], []
    for number in range(16):
        session = drawn(number)
        watch = memory.observer.watch(session.name, host="test")
        state = memory.observer.feature_state()
        for event in session.events:
            if isinstance(event, ToolCall):
                warned += [
                    f"{session.name} {event.step}: {one.pattern.tool} {one.pattern.what} {one.likelihood:.3f}"
                    for one in memory.observer.warnings(event, feature_state=state)
                ]
            state.see(event)
            watch.feed(event)
        done = memory.observer.finish(watch)
        learnt.append(
            {
                "session": done.session,
                "added": [f"{one.memory.kind}: {one.memory.content} ({one.why})" for one in done.added],
                "reinforced": len(done.reinforced),
                "left_out": dict(sorted(done.left_out.items())),
            }
        )
        clock.pass_(days=1)
    memory.tend()
    kept = ("content", "kind", "confidence", "status", "source", "files", "payload", "needs_review", "attributes")
    memories = [
        {name: value for name, value in memory_json(one).items() if name in kept}
        for one in memory.list(Filter(statuses=frozenset(Status)), limit=500, order="oldest")
    ]
    value = {
        "learnt": learnt,
        "warned": warned,
        "memories": sorted(memories, key=str),
        "patterns": [str(one) for one in memory.observer.patterns()],
        "threshold": round(memory.observer.threshold(), 4),
        "foreseen": {
            task: [f"{one.path} {one.score:.4f} {'; '.join(one.because)}" for one in memory.observer.foresee(task)]
            for task in _TASKS
        },
        "tally": told(replace(memory.observer.statistics(), slow=0)),
        "waiting": memory.review.count(),
    }
    approve("observer-drawn", value)
