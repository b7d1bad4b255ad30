"""Hook payloads as hooks left them: one line per event, `{"v": 1, "host": …, "at": …, "payload": {…}, "disk": …}`.

Claude Code and Codex name the call they speak of; its event has the id the transcript's reader gives it. Gemini CLI
names none, so its answers are matched with its calls in order. Cursor tells shell commands and edits a second time,
which counts only where it told no tool calls at all.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recollect.observer.events import Event, Outcome
from recollect.observer.readers.base import (
    EventMaker,
    Json,
    ReadingTally,
    parse_json,
    prose,
    read_objects,
    seconds,
    table,
    word,
)
from recollect.observer.readers.logs import tells_failure

_BEFORE = frozenset({"PreToolUse", "BeforeTool", "preToolUse"})
_AFTER = frozenset({"PostToolUse", "AfterTool", "postToolUse"})
_FAILED = frozenset({"PostToolUseFailure", "postToolUseFailure"})
_REFUSED = frozenset({"PermissionDenied"})
_ASKED = frozenset({"UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"})
_SAID = {"Stop": "last_assistant_message", "SubagentStop": "last_assistant_message", "AfterAgent": "prompt_response",
         "afterAgentResponse": "text", "afterAgentThought": "text"}  # fmt: skip
_ENDED = frozenset({"SessionEnd", "sessionEnd"})
_STEPPED = frozenset({"PostToolBatch"})
_ALSO = frozenset({"afterShellExecution", "afterMCPExecution", "afterFileEdit"})
_SILENT = frozenset(
    "SessionStart sessionStart Setup Notification PreCompact PostCompact PreCompress preCompact SubagentStart stop "
    "BeforeModel AfterModel BeforeToolSelection InstructionsLoaded CwdChanged FileChanged ConfigChange MessageDisplay "
    "PermissionRequest StopFailure TaskCreated TaskCompleted TeammateIdle UserPromptExpansion PreModelSwitch "
    "PostModelSwitch WorktreeCreate WorktreeRemove DirectoryAdded Elicitation ElicitationResult".split()
)
_DISK = frozenset({"missing", "absent", "several"})  # what a hook says it found on the disk before a call
_OPENS, _CLOSES = "<hook_context>", "</hook_context>"  # Gemini tells a prompt with what hooks added
_PEOPLE = frozenset({"", "user", "sdk"})  # sources of a prompt that a person stands behind
BY_TOOL = "by_hook_tool"  # marks an event that came by our MCP tool, which a model can call as well as its host
_TOLD_BY_TOOL = "told through the hook tool"
_TEXTS = ("stdout", "output", "llmContent", "content", "text", "result", "message", "returnDisplay", "error")
_OUTCOMES = {"completed": Outcome.SUCCESS, "aborted": Outcome.ABANDONED, "error": Outcome.FAILURE}
NO = "The user doesn't want to proceed with this tool use."


@dataclass(slots=True)
class _Session:
    """One session while it is read."""

    maker: EventMaker
    unanswered: dict[str, deque[str]] = field(
        default_factory=dict
    )  # calls without a name of their own, by what they are
    made: int = 0
    answered: bool = False  # since the last step
    calls_told: bool = False
    outcome: Outcome = Outcome.UNKNOWN
    session_ended: bool = False


def read_hook(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of every session in the file; the first directory a session names is its project unless told."""
    sessions: dict[str, _Session] = {}
    for line in read_objects(lines, tally):
        payload = table(line.get("payload"))
        id = word(payload.get("session_id")) or word(payload.get("conversation_id"))
        if not id:
            tally.skip("line without a session")
            continue
        one = sessions.get(id)
        if one is None:
            one = sessions[id] = _Session(EventMaker(id, tally, root or _project(payload)))
        stands = word(payload.get("cwd"))
        one.maker.folder = stands if stands != one.maker.root else ""
        disk = word(line.get("disk"))
        yield from _one(word(payload.get("hook_event_name")), payload, one, seconds(line.get("at")), disk)
    for one in sessions.values():
        yield one.maker.done(one.outcome)


def session_ended(lines: Iterable[str]) -> bool:
    """Does the file tell that its session ended, and nothing after that?"""
    over = False
    for line in read_objects(lines, ReadingTally()):
        name = word(table(line.get("payload")).get("hook_event_name"))
        over = name in _ENDED or (over and name in _SILENT)
    return over


def _one(event: str, payload: Json, one: _Session, at: float | None, disk: str) -> Iterator[Event]:
    agent = word(payload.get("agent_id"))
    if event in _BEFORE | _AFTER | _FAILED | _REFUSED:
        one.calls_told = True
        yield from _tool(event, payload, one, at, agent, disk if disk in _DISK else "")
    elif event in _ALSO and not one.calls_told:
        yield from _also(event, payload, one, at)
    elif event in _ASKED and word(payload.get("source")) in _PEOPLE and not payload.get("isMeta"):
        hearsay = _TOLD_BY_TOOL if payload.get(BY_TOOL) else ""
        key, said = word(payload.get("prompt_id")), _read_prompt(payload)
        yield from one.maker.user(key, said, at=at, agent=agent, hearsay=hearsay)
    elif event in _SAID:
        yield from one.maker.reasoning("", prose(payload.get(_SAID[event])), at=at, agent=agent)
    elif event in _STEPPED:
        yield one.maker.stepped(at=at)
        one.maker.step += 1
        one.answered = False
    elif event in _ENDED or event == "stop":
        one.outcome = _OUTCOMES.get(word(payload.get("status") or payload.get("final_status")), one.outcome)
    elif event not in _SILENT | _ASKED | _ALSO:
        one.maker.tally.skip(event or "line without an event")


def _tool(event: str, payload: Json, one: _Session, at: float | None, agent: str, disk: str) -> Iterator[Event]:
    tool, given = word(payload.get("tool_name")), payload.get("tool_input")
    given = parse_json(given) if isinstance(given, str) and given[:1] in "{[" else given
    before = event in _BEFORE
    key = word(payload.get("tool_use_id")) or _nameless(tool, given, one, before=before)
    if before and one.answered:
        one.maker.step += 1
        one.answered = False
    yield one.maker.call(key, tool, given, at=at, agent=agent, disk=disk)
    if before:
        return
    one.answered = True
    answer = payload.get("tool_response", payload.get("tool_output"))
    text = _text(answer) if event in _AFTER else prose(payload.get("error") or payload.get("error_message"))
    if event in _REFUSED:
        text = f"{NO} {prose(payload.get('reason'))}".strip()
    bad = event not in _AFTER or _tells_failure(answer, text)
    yield one.maker.result(key, text, error=bad, at=at, agent=agent)


def _also(event: str, payload: Json, one: _Session, at: float | None) -> Iterator[Event]:
    one.made += 1
    one.maker.step += 1
    key = f"{event} {one.made}"
    if event == "afterShellExecution":
        yield one.maker.call(key, "Shell", {"command": payload.get("command")}, at=at)
        yield one.maker.result(key, prose(payload.get("output")), error=False, at=at)
    elif event == "afterFileEdit":
        yield one.maker.call(key, "Edit", {"file_path": payload.get("file_path")}, at=at)
        yield one.maker.result(key, "", error=False, at=at)
    else:
        yield one.maker.call(key, f"mcp__{word(payload.get('tool_name'))}", payload.get("tool_input"), at=at)
        yield one.maker.result(key, prose(payload.get("result_json")), error=False, at=at)


def _nameless(tool: str, given: object, one: _Session, *, before: bool) -> str:
    """A name for a call that has none: an answer takes that of the oldest like call still open."""
    like = f"{tool} {json.dumps(given, sort_keys=True, default=str)[:2000]}"
    if not before and one.unanswered.get(like):
        return one.unanswered[like].popleft()
    one.made += 1
    if before:
        one.unanswered.setdefault(like, deque(maxlen=64)).append(f"call {one.made}")
    return f"call {one.made}"


def _project(payload: Json) -> str | None:
    roots = payload.get("workspace_roots")
    first = word(roots[0]) if isinstance(roots, list) and roots else ""
    return word(payload.get("cwd")) or first or None


def _read_prompt(payload: Json) -> str:
    """The prompt without what hooks had added to it."""
    kept, rest = [], prose(payload.get("prompt"))
    while _OPENS in rest:
        before, _, after = rest.partition(_OPENS)
        kept.append(before)
        rest = after.partition(_CLOSES)[2]
    return "".join([*kept, rest])


def _text(answer: object) -> str:
    """What a tool answered, however its host wraps it."""
    if isinstance(answer, str):
        inner = parse_json(answer) if answer[:1] == "{" else None
        return _text(inner) if isinstance(inner, dict) else answer
    if isinstance(answer, list):
        return prose(answer)
    wrapped = table(answer)
    inside = table(wrapped.get("file"))
    parts = [prose(wrapped.get(name)) for name in _TEXTS] + [prose(wrapped.get("stderr")), prose(inside.get("content"))]
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _tells_failure(answer: object, text: str) -> bool:
    wrapped = table(parse_json(answer) if isinstance(answer, str) and answer[:1] == "{" else answer)
    if wrapped.get("is_error") is True or wrapped.get("success") is False or wrapped.get("error"):
        return True
    code = wrapped.get("exit_code", wrapped.get("exitCode"))
    if isinstance(code, int) and not isinstance(code, bool):
        return code != 0
    return isinstance(answer, str) and tells_failure(text, answer)
