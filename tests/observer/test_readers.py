"""Readers: every format becomes the same events, nothing hostile raises, and a replay gives the same ids."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from recollect.app import Recollect
from recollect.observer.events import (
    ActionType,
    Event,
    Outcome,
    Reasoning,
    SessionComplete,
    StepComplete,
    ToolCall,
    ToolResult,
    UserText,
)
from recollect.observer.readers import READERS, detect_format, read_events
from recollect.observer.readers.base import ReadingTally, seconds
from recollect.privacy.fence import block, item

TRACES = next(
    (found for up in Path(__file__).resolve().parents if (found := up / "shared/data/traces").is_dir()),
    Path("shared/data/traces"),
)

CLAUDE = [
    {
        "type": "user",
        "sessionId": "s",
        "cwd": "/p",
        "uuid": "1",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": "fix it"},
    },
    {
        "type": "assistant",
        "sessionId": "s",
        "cwd": "/p",
        "uuid": "2",
        "timestamp": "2026-01-01T00:00:01Z",
        "message": {
            "id": "m",
            "content": [
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/p/a.py"}},
            ],
        },
    },
    {
        "type": "user",
        "sessionId": "s",
        "cwd": "/p",
        "uuid": "3",
        "timestamp": "2026-01-01T00:00:02Z",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": [{"text": "no"}]}]
        },
    },
]
CODEX = [
    {"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s", "cwd": "/p"}},
    {
        "type": "event_msg",
        "timestamp": "2026-01-01T00:00:00Z",
        "payload": {"type": "user_message", "message": "fix it"},
    },
    {
        "type": "event_msg",
        "timestamp": "2026-01-01T00:00:01Z",
        "payload": {"type": "agent_message", "message": "I look"},
    },
    {
        "type": "response_item",
        "timestamp": "2026-01-01T00:00:01Z",
        "payload": {
            "type": "function_call",
            "name": "exec_command",
            "call_id": "t",
            "arguments": '{"cmd": "cat /p/a.py"}',
        },
    },
    {
        "type": "response_item",
        "timestamp": "2026-01-01T00:00:02Z",
        "payload": {"type": "function_call_output", "call_id": "t", "output": "Process exited with code 1\nno"},
    },
]
COPILOT = [
    {
        "type": "session.start",
        "timestamp": "2026-01-01T00:00:00Z",
        "data": {"sessionId": "s", "context": {"cwd": "/p"}},
    },
    {"type": "user.message", "id": "1", "timestamp": "2026-01-01T00:00:00Z", "data": {"content": "fix it"}},
    {"type": "assistant.message", "id": "2", "timestamp": "2026-01-01T00:00:01Z", "data": {"content": "I look"}},
    {
        "type": "tool.execution_start",
        "timestamp": "2026-01-01T00:00:01Z",
        "data": {"toolCallId": "t", "toolName": "view", "arguments": {"path": "/p/a.py"}},
    },
    {
        "type": "tool.execution_complete",
        "timestamp": "2026-01-01T00:00:02Z",
        "data": {"toolCallId": "t", "success": False, "error": {"message": "no"}},
    },
]
SWE = [
    {
        "instance_id": "s",
        "info": {"exit_status": "submitted"},
        "trajectory": [
            {"thought": "I look", "action": "open a.py", "observation": "Error: no", "state": '{"working_dir": "/p"}'}
        ],
    },
]
OPENHANDS = [
    {
        "instance_id": "s",
        "history": [
            {
                "id": 0,
                "source": "user",
                "action": "message",
                "args": {"content": "fix it"},
                "timestamp": "2026-01-01T00:00:00",
            },
            {
                "id": 1,
                "source": "agent",
                "action": "read",
                "args": {"path": "/workspace/a.py", "thought": "I look"},
                "timestamp": "2026-01-01T00:00:01",
            },
            {
                "id": 2,
                "source": "agent",
                "observation": "error",
                "cause": 1,
                "content": "no",
                "timestamp": "2026-01-01T00:00:02",
            },
        ],
    },
]
PLAIN = [
    {"k": "user", "s": "s", "ts": "2026-01-01T00:00:00Z", "text": "fix it"},
    {"k": "assistant", "s": "s", "ts": "2026-01-01T00:00:01Z", "text": "I look"},
    {
        "k": "tool",
        "s": "s",
        "ts": "2026-01-01T00:00:01Z",
        "id": "t",
        "tool": "Read",
        "args": {"file_path": "./a.py"},
        "result": "no",
        "error": True,
        "end": "2026-01-01T00:00:02Z",
    },
]
FORMATS = {
    "claude_code": CLAUDE,
    "codex": CODEX,
    "copilot": COPILOT,
    "swe_agent": SWE,
    "openhands": OPENHANDS,
    "plain": PLAIN,
}


def lines(rows: list[dict[str, object]]) -> list[str]:
    return [json.dumps(row) + "\n" for row in rows]


def events(text: list[str], tally: ReadingTally | None = None) -> list[Event]:
    return list(read_events(text, tally=tally or ReadingTally()))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised_and_read_as_the_same_story(name: str) -> None:
    text = lines(FORMATS[name])
    assert detect_format(text) == name
    found = events(text)
    (call,) = [one for one in found if isinstance(one, ToolCall)]
    (result,) = [one for one in found if isinstance(one, ToolResult)]
    assert (call.action, call.paths) == (ActionType.READ, ("a.py",))
    assert (result.call_id, result.error) == (call.call_id, True)
    assert "no" in result.text
    assert [one.text for one in found if isinstance(one, Reasoning)] == ["I look"]
    assert [one.text for one in found if isinstance(one, UserText)] == ([] if name == "swe_agent" else ["fix it"])
    assert isinstance(found[-1], SessionComplete)


@pytest.mark.parametrize("name", FORMATS)
def test_a_replay_gives_the_same_ids_and_no_two_events_share_one(name: str) -> None:
    text = lines(FORMATS[name])
    ids = [event.id for event in events(text)]
    assert ids == [event.id for event in events(text)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", FORMATS)
def test_broken_lines_are_counted_and_the_rest_is_read(name: str) -> None:
    text = lines(FORMATS[name])
    if name == "swe_agent":
        tally = ReadingTally()
        assert events([text[0][:-20]], tally) == []
        assert tally.broken == 1
        return
    tally = ReadingTally()
    hostile = [*text[:1], "{\n", "[" * 100_000 + "\n", "\0\ud800\n", "null\n", '"x"\n', "NaN\n", *text[1:]]
    assert [event.id for event in events(hostile, tally)] == [event.id for event in events(text)]
    assert tally.broken == 6


WRONG: list[object] = [
    None,
    0,
    -1,
    1e400,
    True,
    "",
    "x" * 5000,
    [],
    [None, 1, "a"],
    {},
    {"type": 3},
    [{"type": "text"}],
]


@pytest.mark.parametrize("name", FORMATS)
def test_a_value_of_any_wrong_shape_raises_nothing(name: str) -> None:
    def twisted(value: object, wrong: object) -> list[object]:
        if isinstance(value, dict):
            return [{**value, key: other} for key in value for other in [wrong, *twisted(value[key], wrong)]]
        if isinstance(value, list):
            return [
                [*value[:at], other, *value[at + 1 :]]
                for at in range(len(value))
                for other in [wrong, *twisted(value[at], wrong)]
            ]
        return []

    read = 0
    for wrong in WRONG:
        for rows in twisted(FORMATS[name], wrong):
            assert isinstance(rows, list)
            tally = ReadingTally()
            list(READERS[name]([json.dumps(row) + "\n" for row in rows], tally=tally))
            read += tally.lines
    assert read > 100


def test_a_file_in_no_known_format_has_no_events_and_every_line_is_counted() -> None:
    tally = ReadingTally()
    assert events(["hello\n", '{"a": 1}\n'], tally) == []
    assert (tally.lines, tally.broken) == (2, 2)


def test_unknown_kinds_are_counted_by_name() -> None:
    tally = ReadingTally()
    events(lines([*PLAIN, {"k": "dream", "s": "s"}]), tally)
    assert tally.unknown == {"dream": 1}


def test_ten_megabytes_of_output_are_clipped_and_their_size_is_kept() -> None:
    rows = [*PLAIN, {"k": "tool", "s": "s", "id": "big", "tool": "Bash", "args": {}, "result": "x" * 10_000_000}]
    big = next(event for event in events(lines(rows)) if isinstance(event, ToolResult) and event.call_id == "big")
    assert big.size == 10_000_000
    assert len(big.text) < 5_000


def test_a_refusal_by_a_person_is_marked() -> None:
    rows = [{**PLAIN[2], "result": "The user doesn't want to proceed with this tool use."}]
    (result,) = [event for event in events(lines(rows)) if isinstance(event, ToolResult)]
    assert result.rejected


def test_a_call_dropped_because_another_failed_is_no_error() -> None:
    rows = [{**PLAIN[2], "result": "<tool_use_error>Sibling tool call errored</tool_use_error>"}]
    (result,) = [event for event in events(lines(rows)) if isinstance(event, ToolResult)]
    assert not result.error


def test_files_outside_the_project_are_no_project_files() -> None:
    rows = [{**PLAIN[2], "args": {"file_path": path}} for path in ("/etc/passwd", "../../x", "~/x", "./src/../b.py")]
    assert [event.paths for event in events(lines(rows)) if isinstance(event, ToolCall)] == [(), (), (), ("b.py",)]


def test_a_submitted_trajectory_succeeded_and_another_exit_failed() -> None:
    for status, outcome in (("submitted", Outcome.SUCCESS), ("exit_cost", Outcome.FAILURE)):
        last = events(lines([{**SWE[0], "info": {"exit_status": status}}]))[-1]
        assert isinstance(last, SessionComplete)
        assert last.outcome is outcome


@pytest.mark.skipif(not TRACES.is_dir(), reason="the trace sets are not beside this checkout (../shared/data/traces)")
@pytest.mark.parametrize(
    ("file", "name", "calls", "errors"),
    [("claude_code", "claude_code", 25, 4), ("codex_cli", "codex", 98, 4), ("copilot_cli", "copilot", 68, 1)],
)
def test_a_real_transcript_is_read_whole(file: str, name: str, calls: int, errors: int) -> None:
    with gzip.open(TRACES / "raw_formats" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as opened:
        text = opened.readlines()
    tally = ReadingTally()
    assert detect_format(text) == name
    found = events(text, tally)
    results = [one for one in found if isinstance(one, ToolResult)]
    made = [one for one in found if isinstance(one, ToolCall)]
    assert (len(made), len(results), sum(result.error for result in results)) == (calls, calls, errors)
    assert {one.call_id for one in made} == {result.call_id for result in results}
    assert any(isinstance(one, StepComplete) for one in found)
    assert not any(path.startswith("/") for one in made for path in one.paths)
    assert (tally.broken, dict(tally.unknown)) == (0, {})


def test_what_we_told_the_agent_is_not_what_it_said_or_saw() -> None:
    ours = block([item(1, "gotcha", "granite")], nonce="0123456789abcdef")
    said = [
        {"type": "user", "sessionId": "s", "uuid": "1", "message": {"content": f"{ours}fix it"}},
        {"type": "assistant", "sessionId": "s", "uuid": "2",
         "message": {"id": "m", "content": [{"type": "text", "text": f"I see {ours}"}]}},
        {"type": "user", "sessionId": "s", "uuid": "3",
         "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": f"out\n{ours}"}]}},
        {"type": "user", "sessionId": "s", "uuid": "4", "message": {"content": ours}},
    ]  # fmt: skip
    events = list(read_events([json.dumps(line) for line in said], tally=ReadingTally()))
    texts = [event.text for event in events if isinstance(event, UserText | Reasoning | ToolResult)]
    assert texts == ["fix it", "I see ", "out\n"]


@pytest.mark.parametrize(
    "told", [1e300, float("inf"), float("nan"), 10**400, -1, True, "9999-12-31T23:59:59-14:00", "x" * 50]
)
def test_a_time_that_cannot_be_is_no_time(told: object) -> None:
    assert seconds(told) is None


def _turns(*turns: tuple[str, str]) -> list[dict[str, object]]:
    state = '{"open_file": "n/a", "working_dir": "/p"}'
    return [{"thought": "", "action": action, "observation": seen, "state": state} for action, seen in turns]


def test_a_trajectory_edits_the_file_that_is_open_and_shown_source_is_no_error() -> None:
    shown = (
        "[File: /p/a.py (9 lines total)]\n1:try:\n2:    x()\n3:except TypeError:\n4:    raise ValueError('error: x')"
    )
    turns = _turns(
        ("open a.py", shown),
        ("edit 1:2\nfoo\nend_of_edit", shown),
        ("edit 1:2\nfoo", "Your proposed edit has introduced new syntax error(s)."),
        ("cat a.py", "raise ValueError('Traceback')\nValueError"),
        ("python a.py", 'Traceback (most recent call last):\n  File "a.py"\nValueError: no'),
        ("pytest", "...\n===== 2 failed, 3 passed in 1s ====="),
    )
    found = events(lines([{"instance_id": "s", "info": {}, "trajectory": turns}]))
    calls = [event for event in found if isinstance(event, ToolCall)]
    assert [call.changed for call in calls[:3]] == [(), ("a.py",), ("a.py",)]
    errors = [event.error for event in found if isinstance(event, ToolResult)]
    assert errors == [False, False, True, False, True, True]


def test_a_json_array_and_a_document_over_many_lines_are_read_like_lines() -> None:
    history: Any = OPENHANDS[0]["history"]
    array = json.dumps(history, indent=2).splitlines(keepends=True)
    assert [type(event) for event in events(array)] == [type(event) for event in events(lines(history))]
    assert detect_format(array) == "openhands"
    assert events(json.dumps(SWE[0], indent=1).splitlines(keepends=True)) == events(lines(SWE))


@pytest.mark.parametrize(
    ("line", "text", "failed"),
    [
        ("cd x && grep -r foo src", "Exit code 1", False),
        ("diff a b", "Exit code 1\n1c1\n< a", False),
        ("git diff --quiet", "Exit code 1", False),
        ("grep foo nowhere.txt", "Exit code 2\ngrep: nowhere.txt: No such file or directory", True),
        ("grep foo a && make", "Exit code 1\nmake: failed", True),
        ("npm test", "Exit code 1", True),
    ],
)
def test_a_question_answered_with_no_is_no_error(line: str, text: str, failed: bool) -> None:
    rows = [{**PLAIN[2], "tool": "bash", "args": {"command": line}, "result": text, "error": True}]
    (result,) = [event for event in events(lines(rows)) if isinstance(event, ToolResult)]
    assert result.error is failed


# --- agents that keep runs in shapes of their own -------------------------------------------------------------------

# As mini-swe-agent 2.4 writes it (`trajectory_format` 1.1), with commands in the text and as tool calls.
MINI = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"exit_status": "Submitted", "config": {"environment": {"cwd": "/p"}}},
    "messages": [
        {"role": "system", "content": "You can use a computer."},
        {"role": "user", "content": "Please solve this issue: make f return 2. Always run every command alone."},
        {
            "role": "assistant",
            "content": "I test",
            "extra": {"actions": [{"command": "pytest -q"}], "timestamp": 1.7e9},
        },
        {"role": "user", "content": "<returncode>1</returncode>", "extra": {"raw_output": "1 failed", "returncode": 1}},
        {
            "role": "assistant",
            "content": "I change it",
            "extra": {"actions": [{"command": "sed -i s/1/2/ src/app.py", "tool_call_id": "c2"}]},
        },
        {"role": "tool", "tool_call_id": "c2", "content": "", "extra": {"raw_output": "", "returncode": 0}},
        {"role": "exit", "content": "done", "extra": {"exit_status": "Submitted"}},
    ],
}


def test_a_run_of_mini_swe_agent_is_read_with_its_exit_codes_and_no_word_of_its_template_is_a_persons() -> None:
    text = json.dumps(MINI, indent=1).splitlines(keepends=True)  # as it stands on disk: one document over many lines
    found = events(text)
    calls = [event for event in found if isinstance(event, ToolCall)]
    results = [event for event in found if isinstance(event, ToolResult)]
    assert [call.changed for call in calls] == [(), ("src/app.py",)]
    assert [(result.call_id, result.error) for result in results] == [(calls[0].call_id, True), ("c2", False)]
    assert [event.hearsay for event in found if isinstance(event, UserText)] == [
        "wrapped in an agent's own instructions"
    ]
    ended = found[-1]
    assert isinstance(ended, SessionComplete)
    assert ended.outcome is Outcome.SUCCESS


# As OpenHands keeps a conversation since its release 1.0: a file an event, of named kinds.
CONVERSATION = [
    {"kind": "SystemPromptEvent", "id": "e0", "timestamp": "2026-01-01T00:00:00", "source": "agent"},
    {
        "kind": "MessageEvent",
        "id": "e1",
        "timestamp": "2026-01-01T00:00:01",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": "never edit generated files"}]},
    },
    {
        "kind": "ActionEvent",
        "id": "e2",
        "timestamp": "2026-01-01T00:00:02",
        "source": "agent",
        "tool_name": "terminal",
        "tool_call_id": "t1",
        "thought": [{"type": "text", "text": "I test"}],
        "action": {"kind": "TerminalAction", "command": "make test"},
    },
    {
        "kind": "ObservationEvent",
        "id": "e3",
        "timestamp": "2026-01-01T00:00:03",
        "source": "environment",
        "tool_call_id": "t1",
        "observation": {"content": [{"type": "text", "text": "no rule"}], "exit_code": 2},
    },
    {
        "kind": "ActionEvent",
        "id": "e4",
        "timestamp": "2026-01-01T00:00:04",
        "source": "agent",
        "tool_name": "file_editor",
        "tool_call_id": "t2",
        "action": {"kind": "FileEditorAction", "command": "str_replace", "path": "src/app.py"},
    },
]


def test_a_folder_of_events_is_one_session(memory: Recollect, tmp_path: Path) -> None:
    folder = tmp_path / "0a1b" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate(CONVERSATION):
        (folder / f"event-{number:05d}-{event['id']}.json").write_text(json.dumps(event, indent=1))
    (tmp_path / "0a1b" / "base_state.json").write_text("{}")
    done = memory.observer.replay([tmp_path / "0a1b"])
    assert done.sessions == 1
    (seen,) = memory.observer.sessions()
    assert (seen.calls, seen.errors, seen.prompt) == (2, 1, "never edit generated files")
    assert [kept.memory.content for kept in done.learned[0].added] == ["never edit generated files"]
    found = events(lines(CONVERSATION))
    assert [call.paths for call in found if isinstance(call, ToolCall)] == [(), ("src/app.py",)]
