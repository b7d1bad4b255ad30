"""Codex rollouts: `session_meta`, `turn_context`, `response_item` and `event_msg` lines, each with a payload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recollect.observer.events import Event, Outcome
from recollect.observer.readers.lines import Json, Maker, Tally, objects, parsed, prose, rows, seconds, table, word

_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit_code\"?:) {0,2}(\d{1,6})")
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


def read(lines: Iterable[str], *, tally: Tally, root: str | None = None) -> Iterator[Event]:
    """The events of a rollout. A call is a step; a finished task is a success, an interrupted one abandoned."""
    maker = Maker("", tally, root)
    outcome = Outcome.UNKNOWN
    for line in objects(lines, tally):
        payload, at = table(line.get("payload")), seconds(line.get("timestamp"))
        kind = word(payload.get("type") if line.get("type") in ("response_item", "event_msg") else line.get("type"))
        if kind == "session_meta":
            if maker.session and word(payload.get("id")) != maker.session:
                yield maker.done(outcome, at=at)
                outcome = Outcome.UNKNOWN
            maker = Maker(word(payload.get("id")), tally, root or word(payload.get("cwd")) or None)
            maker.branch = word(table(payload.get("git")).get("branch"))
        elif kind == "task_complete":
            outcome = Outcome.SUCCESS
        elif kind == "turn_aborted":
            outcome = Outcome.ABANDONED
        else:
            yield from _one(kind, payload, maker, at)
    if tally.events:
        yield maker.done(outcome)


def _one(kind: str, payload: Json, maker: Maker, at: float | None) -> Iterator[Event]:
    key = word(payload.get("call_id"))
    if kind in _CALLS:
        maker.step += 1
        yield maker.call(key, word(payload.get("name")) or "local_shell", _arguments(payload), at=at)
    elif kind == "web_search_call":
        maker.step += 1
        yield maker.call(key or word(payload.get("id")), "web_search", table(payload.get("action")), at=at)
    elif kind in _RESULTS:
        text = _output(payload.get("output"))
        yield maker.result(key, text, error=failed(text, payload.get("output")), at=at)
    elif kind == "user_message":
        yield from maker.user("", prose(payload.get("message")), at=at)
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
    inner = parsed(given) if isinstance(given, str) and given[:1] in "{[" else None
    return inner if isinstance(inner, dict) else given


def _output(output: object) -> str:
    inner = parsed(output) if isinstance(output, str) and output.startswith("{") else output
    if isinstance(inner, dict):
        return prose(inner.get("output")) or prose(inner)
    return prose(output)


def failed(text: str, output: object) -> bool:
    """Does what a command printed say that it failed?"""
    raw = output if isinstance(output, str) else text
    if raw.startswith("{"):
        code = table(table(parsed(raw)).get("metadata")).get("exit_code")
        return isinstance(code, int) and code != 0
    found = _EXIT.search(text[:400])
    return found is not None and int(found.group(1)) != 0
