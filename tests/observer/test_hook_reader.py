"""Hook payloads of four hosts become the same events as their transcripts, whatever is missing or out of order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from recollect.observer.events import (
    ActionType,
    Event,
    Outcome,
    Reasoning,
    SessionComplete,
    ToolCall,
    ToolResult,
    UserText,
)
from recollect.observer.readers import detect_format, hook, read_events
from recollect.observer.readers.base import ReadingTally
from recollect.observer.watcher import SessionWatcher


def line(event: str, *, host: str = "claude-code", at: float = 1000.0, session: str = "s", **payload: Any) -> str:
    whole = {"session_id": session, "cwd": "/p", "hook_event_name": event, **payload}
    return json.dumps({"v": 1, "host": host, "at": at, "payload": whole})


def events(lines: Iterable[str], tally: ReadingTally | None = None) -> list[Event]:
    return list(read_events(lines, tally=tally or ReadingTally()))


def of(kind: type[Any], lines: Iterable[str]) -> list[Any]:
    return [event for event in events(lines) if isinstance(event, kind)]


CLAUDE = [
    line("SessionStart", source="startup"),
    line("UserPromptSubmit", prompt="fix the cart", at=1001.0),
    line("PreToolUse", tool_name="Read", tool_input={"file_path": "/p/a.py"}, tool_use_id="t1", at=1002.0),
    line("PostToolUse", tool_name="Read", tool_input={"file_path": "/p/a.py"}, tool_use_id="t1", at=1003.0,
         tool_response={"type": "text", "file": {"filePath": "/p/a.py", "content": "x = 1"}}),
    line("PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t2", at=1004.0),
    line("PostToolUseFailure", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t2", at=1005.0,
         error="make: *** no rule"),
    line("Stop", last_assistant_message="Done.", at=1006.0),
    line("SessionEnd", reason="exit", at=1007.0),
]  # fmt: skip

TRANSCRIPT = [
    json.dumps({"type": "user", "sessionId": "s", "cwd": "/p", "uuid": "u1", "timestamp": "2026-01-01T00:00:00Z",
                "message": {"content": "fix the cart"}}),
    json.dumps({"type": "assistant", "sessionId": "s", "uuid": "u2", "timestamp": "2026-01-01T00:00:01Z",
                "message": {"id": "m1", "content": [
                    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/p/a.py"}}]}}),
    json.dumps({"type": "user", "sessionId": "s", "uuid": "u3", "timestamp": "2026-01-01T00:00:02Z",
                "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]}}),
    json.dumps({"type": "assistant", "sessionId": "s", "uuid": "u4", "timestamp": "2026-01-01T00:00:03Z",
                "message": {"id": "m2", "content": [
                    {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}}]}}),
    json.dumps({"type": "user", "sessionId": "s", "uuid": "u5", "timestamp": "2026-01-01T00:00:04Z",
                "message": {"content": [{"type": "tool_result", "tool_use_id": "t2", "is_error": True,
                                         "content": "make: *** no rule"}]}}),
]  # fmt: skip


def test_claude_codes_hooks_are_recognised_by_their_lines() -> None:
    assert detect_format(CLAUDE) == "hook"
    calls = of(ToolCall, CLAUDE)
    assert {(call.call_id, call.action, call.paths) for call in calls} == {
        ("t1", ActionType.READ, ("a.py",)),
        ("t2", ActionType.RUN, ()),
    }
    assert [(one.call_id, one.error, one.text) for one in of(ToolResult, CLAUDE)] == [
        ("t1", False, "x = 1"),
        ("t2", True, "make: *** no rule"),
    ]
    assert [one.text for one in of(UserText, CLAUDE)] == ["fix the cart"]
    assert [one.text for one in of(Reasoning, CLAUDE)] == ["Done."]


def test_a_call_has_the_same_id_whether_a_hook_or_the_transcript_told_of_it() -> None:
    def ids(lines: list[str]) -> set[str]:
        return {event.id for event in events(lines) if isinstance(event, ToolCall | ToolResult)}

    assert ids(CLAUDE) == ids(TRANSCRIPT)


def test_a_session_told_by_hooks_and_by_its_transcript_in_one_watch_counts_each_call_once() -> None:
    watch = SessionWatcher("s")
    for event in [*events(CLAUDE), *events(TRANSCRIPT)]:
        watch.feed(event)
    seen = watch.contribution()
    assert (seen.session.calls, seen.session.errors) == (2, 1)


def test_a_prompt_that_no_person_wrote_is_no_prompt() -> None:
    assert of(UserText, [line("UserPromptSubmit", prompt="wake up", source="loop_wakeup")]) == []


def test_a_denied_permission_is_a_refusal_with_its_reason() -> None:
    (answer,) = of(
        ToolResult,
        [
            line(
                "PermissionDenied", tool_name="Bash", tool_input={"command": "rm x"}, tool_use_id="t", reason="not that"
            )
        ],
    )
    assert answer.rejected
    assert "not that" in answer.text


def test_codex_tells_failures_in_plain_text() -> None:
    lines = [
        line("PreToolUse", host="codex", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="c1"),
        line("PostToolUse", host="codex", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="c1",
             tool_response="Exit code: 2\nno rule"),
    ]  # fmt: skip
    assert [one.error for one in of(ToolResult, lines)] == [True]


def test_gemini_names_no_calls_so_answers_are_matched_in_order_and_our_own_context_is_left_out() -> None:
    shell = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}
    lines = [
        line("BeforeAgent", host="gemini", prompt="<hook_context>remembered: x</hook_context>fix it"),
        line("BeforeTool", host="gemini", **shell),
        line("BeforeTool", host="gemini", **shell),
        line("AfterTool", host="gemini", tool_response={"llmContent": "ok"}, **shell),
        line("AfterTool", host="gemini", tool_response={"llmContent": "no", "error": {"message": "bad"}}, **shell),
        line("AfterAgent", host="gemini", prompt_response="Fixed."),
    ]
    assert [one.text for one in of(UserText, lines)] == ["fix it"]
    watch = SessionWatcher("s")
    for event in events(lines):
        watch.feed(event)
    seen = watch.contribution()
    assert (seen.session.calls, seen.session.errors) == (2, 1)
    assert [(call.words, call.times, call.errors) for call in seen.calls] == [("make", 2, 1)]


def cursor(event: str, **payload: Any) -> str:
    whole = {"conversation_id": "s", "workspace_roots": ["/p"], "hook_event_name": event, **payload}
    return json.dumps({"v": 1, "host": "cursor", "at": 1000.0, "payload": whole})


def test_cursor_tells_outputs_as_json_text_and_its_doubles_do_not_count() -> None:
    lines = [
        cursor("beforeSubmitPrompt", prompt="fix it"),
        cursor("preToolUse", tool_name="Shell", tool_input={"command": "make"}, tool_use_id="t"),
        cursor("afterShellExecution", command="make", output="no rule"),
        cursor("postToolUse", tool_name="Shell", tool_input={"command": "make"}, tool_use_id="t",
               tool_output=json.dumps({"output": "no rule", "exitCode": 2})),
        cursor("stop", status="aborted"),
    ]  # fmt: skip
    assert {one.call_id for one in of(ToolCall, lines)} == {"t"}
    assert [(one.error, one.text) for one in of(ToolResult, lines)] == [(True, "no rule")]
    assert [one.outcome for one in of(SessionComplete, lines)] == [Outcome.ABANDONED]


def test_where_cursor_told_no_tool_calls_its_doubles_count() -> None:
    lines = [cursor("afterFileEdit", file_path="/p/a.py", edits=[]), cursor("afterShellExecution", command="ls")]
    assert [(one.action, one.paths) for one in of(ToolCall, lines)] == [
        (ActionType.EDIT, ("a.py",)),
        (ActionType.LIST, ()),
    ]


def test_answers_before_their_calls_lost_answers_and_two_sessions_in_one_file_do_no_harm() -> None:
    mixed = [CLAUDE[3], CLAUDE[2], CLAUDE[5], line("PreToolUse", session="other", tool_name="Read", tool_input=None)]
    tally = ReadingTally()
    found = events(mixed, tally)
    assert {one.session for one in found} == {"s", "other"}
    watch = SessionWatcher("s")
    for event in found:
        watch.feed(event)
    assert watch.contribution().session.calls == 2


def test_subagents_are_told_apart() -> None:
    lines = [
        line("PreToolUse", tool_name="Edit", tool_input={"file_path": "/p/a.py"}, tool_use_id="t1"),
        line("PreToolUse", tool_name="Edit", tool_input={"file_path": "/p/a.py"}, tool_use_id="t2", agent_id="helper"),
    ]
    watch = SessionWatcher("s")
    for event in events(lines):
        watch.feed(event)
    assert [signal.hunch for signal in watch.signals() if signal.name == "parallel_conflict"] == [
        "edited by several agents"
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "{cut off",
        "\x00\xff\x00",
        "[]",
        '"text"',
        json.dumps({"v": 1, "host": "x", "at": "never", "payload": {"session_id": 7, "hook_event_name": []}}),
        json.dumps({"v": 1, "host": "x", "payload": {"session_id": "s", "hook_event_name": "PostToolUse"}}),
        json.dumps({"v": 1, "host": "x", "payload": {"session_id": "s", "hook_event_name": "Invented"}}),
        json.dumps({"v": 1, "host": "x", "payload": None}),
        line("PostToolUse", tool_name=5, tool_input=[1], tool_response=7, tool_use_id={}),
    ],
)
def test_a_line_nobody_can_read_is_counted_and_the_rest_is_learnt(bad: str) -> None:
    tally = ReadingTally()
    found = events([*CLAUDE, bad, bad], tally)
    assert len([one for one in found if isinstance(one, UserText)]) == 1
    assert all(isinstance(one, Event) for one in found)


def test_an_answer_of_ten_megabytes_is_clipped_and_its_size_is_known() -> None:
    (answer,) = of(
        ToolResult,
        [line("PostToolUse", tool_name="Bash", tool_input={"command": "x"}, tool_use_id="t",
              tool_response={"stdout": "y" * 10_000_000})],
    )  # fmt: skip
    assert answer.size == 10_000_000
    assert len(answer.text) < 5_000


def test_what_we_injected_ourselves_is_not_taken_for_something_new() -> None:
    nonce = "a" * 16
    block = f"<recollect-memory {nonce}>\nold news\n</recollect-memory {nonce}>\n"
    (said,) = of(UserText, [line("UserPromptSubmit", prompt=f"{block}fix it")])
    assert said.text == "fix it"


def test_a_session_is_over_when_its_end_was_told_and_nothing_after_it() -> None:
    assert hook.session_ended(CLAUDE)
    assert not hook.session_ended(CLAUDE[:-1])
    assert not hook.session_ended([*CLAUDE, line("UserPromptSubmit", prompt="one more thing")])
