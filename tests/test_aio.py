"""The asyncio twin answers what the synchronous memory answers, room by room."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import aio
from recollect.core.errors import MemoryClosed


class Recorder:
    """Stands for any room: keeps every call and answers with what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*values: Any, **options: Any) -> str:
            self.calls.append((name, values, options))
            return f"{name} answered"

        return call


def test_what_a_twin_is_told_reaches_the_agents_session_and_its_answer_comes_back() -> None:
    inner = Recorder()
    twin = aio.AsyncAgentSession(inner)  # type: ignore[arg-type]
    asyncio.run(twin.at_work("coding", unit="u1"))
    assert inner.calls == [("at_work", ("coding",), {"unit": "u1"})]


def test_every_room_and_property_is_the_one_of_the_memory_behind(tmp_path: Path) -> None:
    async def story() -> None:
        async with aio.open(tmp_path / "m.db", project="p") as memory:
            inner = memory._inner
            assert isinstance(memory, aio.AsyncRecollect)
            for name, member in vars(aio.AsyncRecollect).items():
                if not isinstance(member, property):
                    continue
                mine, theirs = getattr(memory, name), getattr(inner, name)
                if isinstance(mine, aio.Twin):
                    assert mine._inner is theirs, name
                else:
                    assert mine == theirs, name
            assert (memory.path, memory.project) == (tmp_path / "m.db", "p")
            for name in ("base", "layout"):
                assert getattr(memory.docs, name) == getattr(inner.docs, name)
            agent = await memory.agent("s", host="h", arm="control")
            assert (agent._inner.session, agent._inner.arm, agent.notes) == ("s", "control", agent._inner.notes)
            async with memory.chats.open(memory="recency", session="talk", model="none") as chat:
                assert (chat.session, chat.notes) == ("talk", chat._inner.notes)
        memory_again = await aio.open(tmp_path / "m.db")
        assert isinstance(memory_again, aio.AsyncRecollect)
        await memory_again.close()

    asyncio.run(story())


def test_a_memory_tells_the_same_both_ways_and_is_closed_at_the_end(tmp_path: Path) -> None:
    async def story() -> tuple[str, Any]:
        async with aio.open(tmp_path / "m.db") as memory:
            id = (await memory.remember("Ship from main.")).id
            assert (await memory.recall("ship")).hits[0].memory.id == id
            assert await memory.count() == 1
            (tmp_path / "tree").mkdir()
            (tmp_path / "tree" / "a.py").write_text("x = 1\n", encoding="utf-8")
            stop = [done async for done in _first(memory.code.watch(tmp_path / "tree"))]
            assert stop[0].added == ("a.py",)
        return id, memory

    id, memory = asyncio.run(story())
    with pytest.raises(MemoryClosed):
        asyncio.run(memory.count())
    with recollect.open(tmp_path / "m.db") as again:
        assert again.get(id).content == "Ship from main."


async def _first(values: Any) -> Any:
    assert inspect.isasyncgen(values)
    async for value in values:
        yield value
        break
    await values.aclose()
