"""pydantic-ai's own loop with its FunctionModel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adapters.loop_tools import FACT, QUESTION, Watched
from recollect.app import Recollect
from recollect.privacy.fence import unfence

pytest.importorskip("pydantic_ai.capabilities")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect.adapters.pydantic_ai import MemoryCapability


class Scripted:
    """Answers in order and keeps what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.given: list[list[str]] = []
        self.instructions: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.given.append([_stripped(part) for message in messages for part in message.parts])
        self.instructions.append(info.instructions or "")
        return ModelResponse(parts=[self.answers.pop(0)])


def _stripped(part: Any) -> str:
    return repr(replace(part, timestamp=None) if hasattr(part, "timestamp") else part)


def agent(model: Callable[..., ModelResponse], capability: MemoryCapability) -> Agent[None, str]:
    made = Agent(FunctionModel(model), capabilities=[capability], instructions="Be brief.")

    @made.tool_plain
    def read_file(path: str) -> str:
        if path == "absent.py":
            raise FileNotFoundError(path)
        return f"contents of {path}"

    return made


def read(path: str, id: str) -> ToolCallPart:
    return ToolCallPart("read_file", {"path": path}, tool_call_id=id)


def texts(given: list[str]) -> str:
    return "\n".join(given)


def test_memory_reaches_the_model_fenced_and_what_it_saw_stays_a_prefix(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(read("a.py", "1"), read("b.py", "2"), TextPart("ok"))
    result = asyncio.run(agent(model, MemoryCapability(memory)).run(QUESTION))
    assert result.output == "ok"
    seen = texts(model.given[0]).replace("\\n", "\n") + model.instructions[0]
    assert FACT in seen
    assert FACT not in unfence(seen)
    assert model.instructions[0].startswith("Be brief.")
    assert len(set(model.instructions)) == 1
    for before, after in zip(model.given, model.given[1:], strict=False):
        assert after[: len(before)] == before


def test_what_was_injected_is_neither_in_the_history_nor_learnt_again(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(TextPart("It resets."), TextPart("Yes."))
    one = agent(model, MemoryCapability(memory, session="s"))

    async def story() -> Any:
        first = await one.run(QUESTION)
        return await one.run("Really?", message_history=first.all_messages())

    result = asyncio.run(story())
    assert "recollect-memory" not in repr([message.parts for message in result.all_messages()])
    said = [episode.content for episode in memory.sessions.episodes("s")]
    assert said == [QUESTION, "It resets.", "Really?", "Yes."]
    assert model.given[1][: len(model.given[0])] == model.given[0]


def test_the_observer_sees_each_call_and_its_result_once_and_speaks_before_the_next_step(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    model = Scripted(read("a.py", "1"), TextPart("ok"))
    asyncio.run(agent(model, MemoryCapability(memory)).run("Read a.py"))
    assert watched.names == ["UserText", "StepComplete", "ToolCall", "ToolResult", "Reasoning", "StepComplete"]
    assert (watched.seen[2].paths, watched.seen[3].text) == (("a.py",), "contents of a.py")
    assert "<before>\\n<tool_result>\\n<step>" in model.given[1][-1]
    assert watched.ended == ["success"]


def test_a_tool_that_raises_is_seen_as_an_error_and_raises_on(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    with pytest.raises(FileNotFoundError):
        asyncio.run(agent(Scripted(read("absent.py", "1")), MemoryCapability(memory)).run("Read it"))
    assert (watched.names[-1], watched.seen[-1].error) == ("ToolResult", True)
    assert watched.ended == ["failure"]


def test_two_conversations_at_once_do_not_see_each_others_blocks(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    models = [Scripted(TextPart("a")), Scripted(TextPart("b"))]
    capability = MemoryCapability(memory)

    async def story() -> None:
        await asyncio.gather(*(agent(model, capability).run(QUESTION) for model in models))

    asyncio.run(story())
    seen = [texts(model.given[0]) + model.instructions[0] for model in models]
    assert [one.count("<recollect-memory") for one in seen] == [1, 1]


def test_a_memory_that_fails_everywhere_does_not_break_the_run(memory: Recollect) -> None:
    model = Scripted(read("a.py", "1"), TextPart("done"))
    capability = MemoryCapability(memory, session="s")
    memory.close()
    assert asyncio.run(agent(model, capability).run("Read a.py")).output == "done"
    assert [UserPromptPart.__name__ in part for part in model.given[1]] == [True, False, False]
    assert capability.notes
