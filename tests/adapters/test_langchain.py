"""LangChain's own agent loop with its fake chat model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.loop_tools import FACT, QUESTION, Watched
from recollect.app import Recollect
from recollect.privacy.fence import unfence

pytest.importorskip("langchain.agents")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from recollect.adapters.langchain import MemoryMiddleware


class Scripted(GenericFakeChatModel):
    """Answers in order and keeps what it was given."""

    given: list[list[tuple[str, str]]] = Field(default_factory=list)

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> Any:
        self.given.append([(message.type, message.text) for message in messages])
        return super()._generate(messages, *rest, **options)


def scripted(*answers: AIMessage) -> Scripted:
    return Scripted(messages=iter(answers))


def read(path: str, id: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "read_file", "args": {"path": path}, "id": id, "type": "tool_call"}])


def read_file(path: str) -> str:
    """Read a file."""
    return f"contents of {path}"


def agent(model: Any, middleware: MemoryMiddleware, **options: Any) -> Any:
    return create_agent(model, [read_file], system_prompt="Be brief.", middleware=[middleware], **options)


def asked(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def run(made: Any, prompt: str, how: str, **options: Any) -> Any:
    if how == "sync":
        return made.invoke(asked(prompt), **options)
    return asyncio.run(made.ainvoke(asked(prompt), **options))


@pytest.mark.parametrize("how", ["sync", "async"])
def test_memory_reaches_the_model_fenced_and_what_it_saw_stays_a_prefix(memory: Recollect, how: str) -> None:
    memory.remember(FACT, kind="gotcha")
    model = scripted(read("a.py", "1"), read("b.py", "2"), AIMessage("ok"))
    result = run(agent(model, MemoryMiddleware(memory)), QUESTION, how)
    assert result["messages"][-1].text == "ok"
    assert FACT in "\n".join(text for _, text in model.given[0])
    assert FACT not in unfence("\n".join(text for _, text in model.given[0]))
    assert model.given[0][0][1].startswith("Be brief.")
    for before, after in zip(model.given, model.given[1:], strict=False):
        assert after[: len(before)] == before
    assert "recollect-memory" not in repr(result)


def test_a_thread_is_a_session_whose_words_are_captured_once(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = scripted(AIMessage("It resets."), AIMessage("Yes."))
    made = agent(model, MemoryMiddleware(memory), checkpointer=InMemorySaver())
    for prompt in (QUESTION, "Really?"):
        made.invoke(asked(prompt), {"configurable": {"thread_id": "t1"}})
    assert [episode.content for episode in memory.sessions.episodes("t1")] == [
        QUESTION,
        "It resets.",
        "Really?",
        "Yes.",
    ]
    assert model.given[1][: len(model.given[0])] == model.given[0]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_observer_sees_each_call_and_its_result_once_and_speaks_before_the_next_step(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    model = scripted(read("a.py", "1"), AIMessage("ok"))
    run(agent(model, MemoryMiddleware(memory)), "Read a.py", how)
    assert watched.names == ["UserText", "StepComplete", "ToolCall", "ToolResult", "Reasoning", "StepComplete"]
    assert (watched.seen[2].paths, watched.seen[3].text) == (("a.py",), "contents of a.py")
    assert model.given[1][-1][1].split() == ["<before>", "<tool_result>", "<step>"]
    assert watched.ended == ["success"]


def test_a_named_session_goes_on_until_it_is_closed(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    middleware = MemoryMiddleware(memory, "s")
    run(agent(scripted(AIMessage("ok")), middleware), "Hi", "sync")
    assert watched.ended == []
    middleware.close()
    assert watched.ended == ["unknown"]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_memory_that_fails_everywhere_does_not_break_the_run(memory: Recollect, how: str) -> None:
    model = scripted(read("a.py", "1"), AIMessage("done"))
    middleware = MemoryMiddleware(memory, "s")
    memory.close()
    assert run(agent(model, middleware), "Read a.py", how)["messages"][-1].text == "done"
    assert [type for type, _ in model.given[1]] == ["system", "human", "ai", "tool"]
    assert middleware.notes
