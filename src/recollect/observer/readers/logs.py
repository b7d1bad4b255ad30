"""Logs of command line hosts: Codex rollouts and Copilot CLI event logs, one object per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recollect.observer.events import Event, Outcome
from recollect.observer.readers.base import (
    EventMaker,
    Json,
    ReadingTally,
    parse_json,
    prose,
    read_objects,
    rows,
    seconds,
    table,
    word,
)

_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit_code\"?:) {0,2}(\d{1,6})")
_SUBAGENT = "subagent"  # in a session's source: an agent began it, and the prompts are the agent's
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_SILENT = frozenset(
    {
        "message",
        "agent_reasoning",
        "task_started",
        "patch_apply_end",
        "exec_command_end",
        "exec_command_begin",
        "turn_context",
        "compacted",
        "web_search_end",
        "mcp_tool_call_end",
        "thread_settings_applied",
    }
)


def read_codex(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a rollout. A call is a step; a finished task is a success, an interrupted one abandoned."""
    maker = EventMaker("", tally, root)
    outcome = Outcome.UNKNOWN
    asked_by = ""
    for line in read_objects(lines, tally):
        payload, at = table(line.get("payload")), seconds(line.get("timestamp"))
        kind = word(payload.get("type") if line.get("type") in ("response_item", "event_msg") else line.get("type"))
        if kind == "session_meta":
            if maker.session and word(payload.get("id")) != maker.session:
                yield maker.done(outcome, at=at)
                outcome = Outcome.UNKNOWN
            maker = EventMaker(word(payload.get("id")), tally, root or word(payload.get("cwd")) or None)
            maker.branch = word(table(payload.get("git")).get("branch"))
            asked_by = _SUBAGENT if table(payload.get("source")).get(_SUBAGENT) else ""
        elif kind == "task_complete":
            outcome = Outcome.SUCCESS
        elif kind == "turn_aborted":
            outcome = Outcome.ABANDONED
        else:
            yield from _one(kind, payload, maker, at, asked_by)
    if tally.events:
        yield maker.done(outcome)


def _one(kind: str, payload: Json, maker: EventMaker, at: float | None, asked_by: str = "") -> Iterator[Event]:
    key = word(payload.get("call_id"))
    if kind in _CALLS:
        maker.step += 1
        yield maker.call(key, word(payload.get("name")) or "local_shell", _arguments(payload), at=at)
    elif kind == "web_search_call":
        maker.step += 1
        yield maker.call(key or word(payload.get("id")), "web_search", table(payload.get("action")), at=at)
    elif kind in _RESULTS:
        text = _output(payload.get("output"))
        yield maker.result(key, text, error=tells_failure(text, payload.get("output")), at=at)
    elif kind == "user_message":
        yield from maker.user("", prose(payload.get("message")), at=at, agent=asked_by)
    elif kind == "agent_message":
        yield from maker.reasoning("", prose(payload.get("message")), at=at)
    elif kind == "reasoning":
        yield from maker.reasoning("", prose(rows(payload.get("summary"))), at=at)
    elif kind == "token_count":
        usage = table(table(payload.get("info")).get("last_token_usage")).get("input_tokens")
        yield maker.stepped(at=at, tokens=usage if isinstance(usage, int) else None)
    elif kind not in _SILENT:
        maker.tally.skip(kind)


def _arguments(payload: Json) -> object:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    inner = parse_json(given) if isinstance(given, str) and given[:1] in "{[" else None
    return inner if isinstance(inner, dict) else given


def _output(output: object) -> str:
    inner = parse_json(output) if isinstance(output, str) and output.startswith("{") else output
    if isinstance(inner, dict):
        return prose(inner.get("output")) or prose(inner)
    return prose(output)


def tells_failure(text: str, output: object) -> bool:
    """Does what a command printed say that it failed?"""
    raw = output if isinstance(output, str) else text
    if raw.startswith("{"):
        code = table(table(parse_json(raw)).get("metadata")).get("exit_code")
        return isinstance(code, int) and code != 0
    found = _EXIT.search(text[:400])
    return found is not None and int(found.group(1)) != 0


# --- Copilot CLI ---------------------------------------------------------------------------------------------------


_COPILOT_SILENT = (
    "hook.",
    "permission.",
    "session.",
    "system.",
    "assistant.turn_start",
    "assistant.usage",
    "assistant.intent",
)


def read_copilot(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a log. A turn of the assistant is a step."""
    maker = EventMaker("", tally, root)
    for line in read_objects(lines, tally):
        kind, data, at = word(line.get("type")), table(line.get("data")), seconds(line.get("timestamp"))
        if kind == "session.start":
            if maker.session and tally.events:
                yield maker.done(at=at)
            context = table(data.get("context"))
            place = word(context.get("gitRoot")) or word(context.get("cwd"))
            maker = EventMaker(word(data.get("sessionId")), tally, root or place or None)
        else:
            yield from _copilot_one(kind, line, data, maker, at)
    if tally.events:
        yield maker.done()


def _copilot_one(kind: str, line: Json, data: Json, maker: EventMaker, at: float | None) -> Iterator[Event]:
    key = word(data.get("toolCallId"))
    if kind == "tool.execution_start":
        yield maker.call(key, word(data.get("toolName")), data.get("arguments"), at=at)
    elif kind == "tool.execution_complete":
        text = prose(data.get("result")) or prose(table(data.get("error")).get("message"))
        yield maker.result(key, text, error=data.get("success") is False, at=at)
    elif kind == "user.message":
        yield from maker.user(word(line.get("id")), prose(data.get("content")), at=at)
    elif kind == "assistant.message":
        said = "\n".join(part for part in (prose(data.get("reasoningText")), prose(data.get("content"))) if part)
        yield from maker.reasoning(word(line.get("id")), said, at=at)
    elif kind == "assistant.turn_end":
        yield maker.stepped(at=at)
        maker.step += 1
    elif not kind.startswith(_COPILOT_SILENT):
        maker.tally.skip(kind)
