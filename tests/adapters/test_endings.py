"""Every way an adapter can end a conversation: what was watched is learnt, once, with the outcome that was said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from recollect.adapters import mem0
from recollect.adapters.bridge import AgentBridge, AgentBridges
from recollect.adapters.claude_agent import ClaudeMemory
from recollect.adapters.google_adk import MemoryPlugin
from recollect.adapters.langchain import MemoryMiddleware
from recollect.adapters.openai_agents import AgentMemory
from recollect.adapters.pydantic_ai import MemoryCapability
from recollect.app import Recollect
from recollect.core.errors import MemoryClosed


def work(beside: AgentBridge) -> None:
    beside.speak("fix the login route")
    beside.observe_call("Read", {"file_path": "a.py"}, "c1")
    beside.observe_result("c1", "ok")


def ended(memory: Recollect) -> dict[str, str]:
    return {session.id: str(session.outcome) for session in memory.observer.sessions()}


def claude(memory: Recollect) -> str:
    adapter = ClaudeMemory(memory)
    work(adapter._bridges.get("s"))
    adapter.close("s", "failure")
    return "failure"


def claude_all(memory: Recollect) -> str:
    adapter = ClaudeMemory(memory)
    work(adapter._bridges.get("s"))
    adapter.close()
    return "unknown"


def adk(memory: Recollect) -> str:
    plugin = MemoryPlugin(memory)
    work(plugin._bridges.get("s"))
    asyncio.run(plugin.close())
    return "unknown"


def adk_one(memory: Recollect) -> str:
    plugin = MemoryPlugin(memory)
    session = SimpleNamespace(app_name="app", user_id="ada", id="1")
    context = SimpleNamespace(session=session)
    work(plugin._bridge_for(context))
    plugin.end(session, "success")
    assert ended(memory) == {"app/ada/1": "success"}
    work(plugin._bridges.get("s"))
    plugin._bridges.end("s", "success")
    return "success"


def langchain(memory: Recollect) -> str:
    adapter = MemoryMiddleware(memory, session="s")
    work(adapter._bridges.get("s"))
    adapter.close(outcome="success")
    return "success"


def pydantic(memory: Recollect) -> str:
    adapter = MemoryCapability(memory, session="s")
    work(adapter.bridges.get("s"))
    adapter.close("failure")
    return "failure"


def openai(memory: Recollect) -> str:
    adapter = AgentMemory(memory, "s")
    work(adapter._bridge)
    asyncio.run(adapter.agent_hooks.on_end(None, None, "done"))
    asyncio.run(adapter.hooks.on_agent_end(None, None, "done"))
    assert ended(memory) == {}, "a conversation with a name goes on"
    adapter.close("success")
    return "success"


@pytest.mark.parametrize("use", [claude, claude_all, adk, adk_one, langchain, pydantic, openai])
def test_a_conversation_that_is_closed_is_over_with_its_outcome(
    memory: Recollect, use: Callable[[Recollect], str]
) -> None:
    outcome = use(memory)
    assert ended(memory)["s"] == outcome
    assert memory.observer.statistics().calls >= 1


@pytest.mark.parametrize("hooks", ["hooks", "agent_hooks"])
def test_an_unnamed_conversation_ends_with_its_run(memory: Recollect, hooks: str) -> None:
    adapter = AgentMemory(memory)
    work(adapter._bridge)
    watching: Any = getattr(adapter, hooks)
    over = watching.on_agent_end if hooks == "hooks" else watching.on_end
    asyncio.run(over(None, None, "done"))
    assert list(ended(memory).values()) == ["success"]


def test_the_bridge_longest_silent_is_ended_when_there_are_too_many(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.adapters.bridge._MOST", 2)
    bridges = AgentBridges(memory, host="test", capture=False)
    for name in ("a", "b", "a", "c"):
        work(bridges.get(name))
    assert ended(memory) == {"b": "unknown"}
    bridges.end_all()
    assert sorted(ended(memory)) == ["a", "b", "c"]
    bridges.end("a", "success")
    assert ended(memory)["a"] == "unknown", "it was over already"


def test_a_mem0_memory_is_closed_by_close_and_by_leaving_it(memory: Recollect) -> None:
    with mem0.Memory(memory) as inner:
        inner.add("I like tea.", user_id="ada", infer=False)
        assert inner.get_all(filters={"user_id": "ada"})["results"]
    with pytest.raises(MemoryClosed):
        memory.recall("tea")
