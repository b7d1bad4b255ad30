"""The OpenAI Agents SDK's own loop with a scripted model: history, injection, observation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.loop_tools import FACT, Watched
from recollect.app import Recollect
from recollect.privacy.fence import unfence

pytest.importorskip("agents")

from agents import Agent, ModelResponse, Runner, Session, SQLiteSession, Usage, function_tool
from agents.memory import SessionSettings
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from recollect.adapters.openai_agents import AgentMemory, RecollectSession


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    from agents import set_tracing_disabled

    set_tracing_disabled(True)


def message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


def call(name: str, arguments: dict[str, Any], id: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(type="function_call", name=name, arguments=json.dumps(arguments), call_id=id)


class Scripted(Model):
    """Answers in order and keeps what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.inputs: list[list[Any]] = []
        self.instructions: list[str | None] = []

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.instructions.append(system_instructions)
        self.inputs.append(json.loads(json.dumps(input)))
        answer = self.answers.pop(0)
        return ModelResponse(output=answer if isinstance(answer, list) else [answer], usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **options: Any) -> AsyncIterator[Any]:
        answer = await self.get_response(*given, **options)
        response = Response(
            id="r",
            created_at=1,
            model="m",
            object="response",
            output=answer.output,
            tool_choice="none",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(type="response.completed", sequence_number=0, response=response)


@function_tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"contents of {path}"


def agent(model: Model) -> Agent[Any]:
    return Agent(name="a", instructions="Be brief.", model=model, tools=[read_file])


async def ask(beside: AgentMemory, model: Model, prompt: str) -> Any:
    return await Runner.run(
        agent(model), prompt, session=beside.session, hooks=beside.hooks, run_config=beside.run_config()
    )


# --- the session ----------------------------------------------------------------------------------------------------

ITEMS: list[Any] = [
    {"role": "user", "content": "hello"},
    {"role": "user", "content": "hello"},
    {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "1", "output": "é \u200b\r\n"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "hi", "annotations": []}]},
]


async def both(memory: Recollect, act: Any, **settings: Any) -> tuple[Any, Any]:
    answers = []
    for session in (SQLiteSession("s", **settings), RecollectSession(memory, "s", **settings)):
        await session.add_items(ITEMS)
        answers.append(await act(session))
    return answers[0], answers[1]


@pytest.mark.parametrize("limit", [None, 0, 1, 3, 5, 99, -1])
def test_a_limit_means_what_it_means_for_their_session(memory: Recollect, limit: int | None) -> None:
    theirs, ours = asyncio.run(both(memory, lambda session: session.get_items(limit)))
    assert ours == theirs


def test_a_limit_in_the_settings_holds_when_none_is_asked_for(memory: Recollect) -> None:
    async def act(session: Any) -> Any:
        return [await session.get_items(), await session.get_items(1)]

    theirs, ours = asyncio.run(both(memory, act, session_settings=SessionSettings(limit=2)))
    assert ours == theirs


def test_items_are_popped_and_cleared_as_their_session_does(memory: Recollect) -> None:
    async def act(session: Any) -> Any:
        told = [await session.pop_item(), await session.pop_item(), await session.get_items()]
        await session.add_items([{"role": "user", "content": "again"}])
        told.append(await session.get_items())
        await session.clear_session()
        return [*told, await session.pop_item(), await session.get_items()]

    theirs, ours = asyncio.run(both(memory, act))
    assert ours == theirs


def test_sessions_of_another_name_and_of_another_process_are_kept_apart_and_together(memory: Recollect) -> None:
    async def story() -> Any:
        await RecollectSession(memory, "one").add_items(ITEMS[:2])
        await RecollectSession(memory, "One").add_items(ITEMS[2:3])
        return await RecollectSession(memory, "one").get_items()

    assert asyncio.run(story()) == ITEMS[:2]
    assert isinstance(RecollectSession(memory, "one"), Session)


def test_what_was_said_becomes_episodes_once_and_what_was_taken_back_leaves_recall(memory: Recollect) -> None:
    async def story() -> None:
        session = RecollectSession(memory, "s")
        await session.add_items([{"role": "user", "content": "The lighthouse is red."}, *ITEMS[2:4]])
        await session.add_items([{"role": "user", "content": "The harbour is blue."}])
        await session.pop_item()
        await session.add_items([{"role": "user", "content": "The harbour is blue."}])
        await session.pop_item()

    asyncio.run(story())
    shown = [episode.content for episode in memory.sessions.episodes("s") if episode.status == "active"]
    assert shown == ["The lighthouse is red."]
    assert not memory.recall("harbour blue").hits


def test_a_cleared_session_leaves_nothing_behind(memory: Recollect) -> None:
    async def story() -> None:
        session = RecollectSession(memory, "s")
        await session.add_items(ITEMS)
        await session.clear_session()

    asyncio.run(story())
    assert memory.store.memories.tally() == {}


def test_a_session_that_cannot_be_written_goes_on_and_catches_up(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.core.errors import StoreError

    def fail(*_: Any, **__: Any) -> Any:
        raise StoreError("the disk is full")

    async def story() -> Any:
        session = RecollectSession(memory, "s", capture=False)
        await session.add_items(ITEMS[:1])
        with monkeypatch.context() as patched:
            patched.setattr(Recollect, "remember_all", fail)
            patched.setattr(Recollect, "list", fail)
            await session.add_items(ITEMS[2:3])
            meanwhile = await session.get_items()
        await session.add_items(ITEMS[3:4])
        return meanwhile, await RecollectSession(memory, "s").get_items(), session.notes

    meanwhile, later, notes = asyncio.run(story())
    assert meanwhile == [ITEMS[0], ITEMS[2]]
    assert later == [ITEMS[0], ITEMS[2], ITEMS[3]]
    assert "disk is full" in notes[0]


# --- the loop -------------------------------------------------------------------------------------------------------


def test_memory_reaches_the_model_fenced_and_what_it_saw_stays_a_prefix(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), call("read_file", {"path": "b.py"}, "2"), message("ok"))

    async def story() -> None:
        beside = AgentMemory(memory, "s")
        await ask(beside, model, "Why is my staging data gone?")
        beside.close()

    asyncio.run(story())
    first = json.dumps(model.inputs[0]) + str(model.instructions[0])
    assert FACT in first
    assert FACT not in unfence("\n".join(str(item.get("content")) for item in model.inputs[0]))
    assert FACT not in unfence(str(model.instructions[0]))
    assert str(model.instructions[0]).startswith("Be brief.")
    for before, after in zip(model.inputs, model.inputs[1:], strict=False):
        assert after[: len(before)] == before
        assert len(after) > len(before)
    assert len(set(model.instructions)) == 1


def test_a_second_run_of_the_conversation_begins_with_what_the_first_one_saw(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(message("one"), message("two"))

    async def story() -> None:
        beside = AgentMemory(memory, "s")
        await ask(beside, model, "Why is my staging data gone?")
        await ask(beside, model, "And now?")

    asyncio.run(story())
    assert model.inputs[1][: len(model.inputs[0])] == model.inputs[0]


def test_no_memory_is_told_twice_in_a_conversation(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(message("one"), message("two"), message("three"))

    async def story() -> None:
        beside = AgentMemory(memory, "s")
        for _ in range(3):
            await ask(beside, model, "Why is my staging data gone?")

    asyncio.run(story())
    seen = str(model.instructions[-1]) + "\n".join(str(item.get("content")) for item in model.inputs[-1])
    assert seen.count(f"   {FACT}\n") == 1


def test_what_was_injected_is_neither_saved_nor_learnt_again(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(message("It resets."))

    async def story() -> Any:
        beside = AgentMemory(memory, "s")
        await ask(beside, model, "Why is my staging data gone?")
        return await beside.session.get_items()

    items = asyncio.run(story())
    assert "recollect-memory" not in json.dumps(items)
    assert [episode.content for episode in memory.sessions.episodes("s")] == [
        "Why is my staging data gone?",
        "It resets.",
    ]


def test_the_observer_sees_each_call_and_its_result_once_and_speaks_before_the_next_step(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), message("ok"))
    asyncio.run(ask(AgentMemory(memory), model, "Read a.py"))
    assert watched.names == ["UserText", "StepComplete", "ToolCall", "ToolResult", "Reasoning", "StepComplete"]
    assert (watched.seen[2].paths, watched.seen[2].action, watched.seen[3].text) == (
        ("a.py",),
        "read",
        "contents of a.py",
    )
    assert len({one.id for one in watched.seen}) == len(watched.seen)
    assert model.inputs[1][-1]["content"].split() == ["<before>", "<tool_result>", "<step>"]
    assert watched.ended == ["success"]


def test_calls_that_run_at_the_same_time_are_each_seen_with_their_own_result(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    calls = [call("read_file", {"path": f"{number}.py"}, str(number)) for number in range(8)]
    asyncio.run(ask(AgentMemory(memory, "s"), Scripted(calls, message("ok")), "Read all"))
    asked = {one.call_id: one.paths for one in watched.seen if type(one).__name__ == "ToolCall"}
    told = {one.call_id: one.text for one in watched.seen if type(one).__name__ == "ToolResult"}
    assert asked == {str(number): (f"{number}.py",) for number in range(8)}
    assert told == {str(number): f"contents of {number}.py" for number in range(8)}


def test_a_streamed_run_is_told_and_seen_like_any_other(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), message("ok"))

    async def story() -> Any:
        beside = AgentMemory(memory, "s")
        streamed = Runner.run_streamed(
            agent(model),
            "Why is my staging data gone?",
            session=beside.session,
            hooks=beside.hooks,
            run_config=beside.run_config(),
        )
        async for _ in streamed.stream_events():
            pass
        return streamed.final_output, await beside.session.get_items()

    output, items = asyncio.run(story())
    assert (output, len(items)) == ("ok", 4)
    assert FACT in json.dumps(model.inputs[0]) + str(model.instructions[0])
    assert model.inputs[1][: len(model.inputs[0])] == model.inputs[0]


def test_hooks_of_a_single_agent_see_the_same(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), message("ok"))
    beside = AgentMemory(memory, "s")
    one = agent(model)
    one.hooks = beside.agent_hooks
    asyncio.run(Runner.run(one, "Read a.py", run_config=beside.run_config()))
    assert "ToolResult" in watched.names
    assert watched.ended == []


def test_a_memory_that_fails_everywhere_does_not_break_the_run(memory: Recollect) -> None:
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), message("done"))
    beside = AgentMemory(memory, "s")
    memory.close()
    result = asyncio.run(ask(beside, model, "Read a.py"))
    assert result.final_output == "done"
    assert [item.get("role", item.get("type")) for item in model.inputs[1]] == [
        "user",
        "function_call",
        "function_call_output",
    ]
    assert beside.notes


def test_what_was_watched_is_learnt_when_the_conversation_is_closed(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    model = Scripted(call("read_file", {"path": "a.py"}, "1"), message("It resets."))
    beside = AgentMemory(memory, "s")
    asyncio.run(ask(beside, model, "Why is my staging data gone?"))
    assert memory.store.observed.sessions() == []
    beside.close("success")
    (seen,) = memory.store.observed.sessions()
    assert (seen.id, seen.outcome, seen.calls) == ("s", "success", 1)
    assert "staging data" in seen.prompt
    assert [file.path for file in memory.store.observed.get("s").files] == ["a.py"]  # type: ignore[union-attr]
    assert len(memory.store.injections.of("s")) == 1
    assert seen.started is not None


def test_clearing_a_session_says_so_in_the_history(memory: Recollect) -> None:
    async def story() -> None:
        session = RecollectSession(memory, "s")
        await session.add_items(ITEMS)
        await session.clear_session()

    asyncio.run(story())
    gone = [entry.change.why for entry in memory.history() if entry.change.action == "forget"]
    assert gone
    assert set(gone) == {"the session was cleared"}
