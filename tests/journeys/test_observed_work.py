"""From an agent's slips to a colleague's advice, through the public doors only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import recollect
from observer_session import Session
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.observer.findings import Finding

pytestmark = pytest.mark.both_engines


def lived(memory: Recollect, session: Session) -> None:
    watch = memory.observer.watch(session.name, host="claude-code")
    for event in session.events:
        watch.feed(event)
    memory.observer.finish(watch)


def slip(name: str) -> Session:
    session = (
        Session(name).user("make the linter happy").run("rtk bun lint", "unrecognized subcommand 'bun'", error=True)
    )
    return session.run("bun run lint").edit("src/cart.ts")


def test_a_slip_repeated_by_agents_becomes_advice_once_a_person_confirms_it(place: Path | str) -> None:
    with recollect.open(place, project="shop") as memory:
        lived(memory, slip("monday"))
        assert memory.review.count() == 0
        lived(memory, slip("tuesday"))
        (waiting,) = memory.observer.waiting()
        assert waiting.sessions == ("monday", "tuesday")
        assert memory.brief("how do I lint?").text == ""
        memory.confirm(waiting.memory.id)
    with recollect.open(place) as memory:
        assert "bun" in memory.brief("how do I lint with rtk bun?").text
        why = memory.why(waiting.memory.id)
        assert [entry.change.action for entry in why.history] == ["add", "confirm"]
        assert why.memory.attributes["evidence"][0] == {"session": "monday", "steps": [1]}


def test_a_review_of_a_build_teaches_at_once_and_what_a_browser_showed_waits(memory: Recollect) -> None:
    kept = memory.observer.findings(
        [
            Finding("The cart total ignores the voucher when the tax changes.", "critical", ("src/cart.ts",)),
            Finding("A label is misspelt.", "low"),
        ],
        session="qa1",
    )
    assert [(one.memory.kind, one.memory.confidence, one.memory.needs_review) for one in kept] == [
        ("error_pattern", 0.8, False)
    ]
    assert [hit.id for hit in memory.recall("voucher and tax in the cart")] == [kept[0].id]
    shown = {"type": "timing", "text": "The login form needs a second to become active."}
    (seen,) = memory.observer.ui([shown], session="e2e")
    assert (seen.memory.kind, seen.memory.confidence, seen.memory.needs_review) == ("e2e_observation", 0.75, True)
    assert not memory.recall("how long does the login form need?").hits


def test_the_observer_is_there_for_async_programs_too() -> None:
    async def told() -> int:
        from recollect.aio import AsyncRecollect

        with recollect.open(":memory:", project="p") as memory:
            wrapped = AsyncRecollect(memory)
            return int((await wrapped.observer.statistics()).sessions)

    assert asyncio.run(told()) == 0


def test_a_read_only_memory_refuses_to_learn_and_says_so(place: Path | str) -> None:
    recollect.open(place, project="p").close()
    with recollect.open(place, read_only=True) as memory:
        with pytest.raises(RecollectError) as caught:
            lived(memory, slip("monday"))
        assert caught.value.hint
