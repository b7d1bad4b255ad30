"""Hooks for the Claude Agent SDK: with payloads of its shapes, and, where it is installed, through its own loop.

The package is large and never a dependency: put it on the path to run the last tests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapters.loop_tools import FACT, QUESTION, Watched
from recollect.adapters.claude_agent import ClaudeMemory
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.privacy.fence import unfence


@dataclass
class HookMatcher:
    """Has the fields of the SDK's own."""

    matcher: str | None = None
    hooks: list[Any] = field(default_factory=list)
    timeout: float | None = None


def given(event: str, **fields: Any) -> dict[str, Any]:
    base = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "permission_mode": "default"}
    return {**base, "hook_event_name": event, **fields}


CALL = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_use_id": "t1"}
STORY = [
    given("UserPromptSubmit", prompt=QUESTION),
    given("PreToolUse", **CALL),
    given("PostToolUse", **CALL, tool_response={"stdout": "contents", "stderr": "", "interrupted": False}),
    given("PostToolBatch", tool_calls=[]),
    given("Stop", stop_hook_active=False, last_assistant_message="It resets."),
]


def told(beside: ClaudeMemory, story: list[Any]) -> list[dict[str, Any]]:
    """What the hooks answer, called as the SDK calls them."""
    hooks = beside.hooks(HookMatcher)

    async def run() -> list[dict[str, Any]]:
        asked = [(hooks[one["hook_event_name"]][0].hooks[0], one) for one in story]
        return [await hook(one, one.get("tool_use_id"), {"signal": None}) for hook, one in asked]

    return asyncio.run(run())


def said(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_the_prompt_is_answered_with_fenced_memory_under_its_own_event(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    answer = told(ClaudeMemory(memory), STORY[:1])[0]
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert FACT in said(answer)
    assert unfence(said(answer)).strip() == ""


def test_what_was_said_is_captured_once(memory: Recollect) -> None:
    memory.remember(FACT, kind="gotcha")
    told(ClaudeMemory(memory), STORY)
    assert [episode.content for episode in memory.sessions.episodes("s")] == [QUESTION, "It resets."]


def test_each_moment_is_seen_and_answered_and_stopping_is_never_undone(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    beside = ClaudeMemory(memory)
    answers = told(beside, STORY)
    assert [said(answer).strip() for answer in answers] == ["", "<before>", "<tool_result>", "<step>", ""]
    assert watched.names == ["UserText", "ToolCall", "ToolResult", "StepComplete", "Reasoning", "StepComplete"]
    assert (watched.seen[1].paths, watched.seen[2].text) == (("a.py",), "contents")
    assert answers[-1] == {}
    beside.close("s", "success")
    assert watched.ended == ["success"]


def test_a_failed_tool_is_an_error(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    monkeypatch.setattr(memory, "agent", lambda *_, **__: watched)
    told(ClaudeMemory(memory), [STORY[1], given("PostToolUseFailure", **CALL, error="no such file")])
    assert (watched.seen[-1].error, watched.seen[-1].text) == (True, "no such file")


@pytest.mark.parametrize(
    "odd",
    [None, [], "x", {}, {"hook_event_name": "Stop"}, given("Unheard"), given("UserPromptSubmit"), given("PreToolUse"),
     {"hook_event_name": "Stop", "session_id": 7}, given("PostToolUse", tool_use_id=None, tool_response=object())],
)  # fmt: skip
def test_an_odd_payload_is_answered_with_nothing(memory: Recollect, odd: Any) -> None:
    assert asyncio.run(ClaudeMemory(memory).hook(odd, None, None)) == {}


def test_a_memory_that_fails_everywhere_adds_nothing(memory: Recollect) -> None:
    beside = ClaudeMemory(memory)
    memory.close()
    assert told(beside, STORY) == [{}] * 5
    assert beside.notes


def test_without_the_package_the_error_says_what_to_install(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "claude_agent_sdk", None)
    with pytest.raises(RecollectError, match="claude-agent-sdk") as caught:
        ClaudeMemory(memory).hooks()
    assert "pip install claude-agent-sdk" in caught.value.hint


def test_the_sdks_own_loop_calls_the_hooks_and_carries_their_answers(memory: Recollect) -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    memory.remember(FACT, kind="gotcha")

    class Program(sdk.Transport):  # type: ignore[misc, name-defined]
        """Stands in for the Claude Code program: asks the hooks it was told of, then ends."""

        def __init__(self) -> None:
            self.lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
            self.answers: list[dict[str, Any]] = []
            self.registered: dict[str, Any] = {}

        async def connect(self) -> None: ...

        async def write(self, data: str) -> None:
            for line in filter(None, data.split("\n")):
                await self._heard(json.loads(line))

        async def _heard(self, line: dict[str, Any]) -> None:
            if line["type"] == "control_request" and line["request"]["subtype"] == "initialize":
                self.registered = line["request"]["hooks"]
                response = {"subtype": "success", "request_id": line["request_id"], "response": {}}
                await self.lines.put({"type": "control_response", "response": response})
            elif line["type"] == "user":
                await self._ask(0)
            elif line["type"] == "control_response":
                self.answers.append(line["response"]["response"])
                if len(self.answers) < len(STORY):
                    await self._ask(len(self.answers))
                else:
                    await self._finish()

        async def _ask(self, number: int) -> None:
            asked = STORY[number]
            (matcher,) = self.registered[asked["hook_event_name"]]
            request = {
                "subtype": "hook_callback",
                "callback_id": matcher["hookCallbackIds"][0],
                "input": asked,
                "tool_use_id": asked.get("tool_use_id"),
            }
            await self.lines.put({"type": "control_request", "request_id": f"r{number}", "request": request})

        async def _finish(self) -> None:
            result = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
            await self.lines.put({"type": "result", "session_id": "s", **result})
            await self.lines.put(None)

        async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
            while (line := await self.lines.get()) is not None:
                yield line

        async def close(self) -> None: ...

        def is_ready(self) -> bool:
            return True

        async def end_input(self) -> None: ...

    async def story() -> list[dict[str, Any]]:
        program = Program()
        options = sdk.ClaudeAgentOptions(hooks=ClaudeMemory(memory).hooks())
        async for _ in sdk.query(prompt=QUESTION, options=options, transport=program):
            pass
        return program.answers

    answers = asyncio.run(story())
    assert FACT in said(answers[0])
    assert answers[-1] == {}
    assert [episode.content for episode in memory.sessions.episodes("s")] == [QUESTION, "It resets."]
