"""Transcripts of agents that write a file, or a folder of events, per run: OpenHands streams, histories and
conversations, trajectories of SWE-agent and mini-swe-agent, and the plain JSONL that any program can write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recollect.observer.events import ActionType, Event, Outcome, ToolCall, identity
from recollect.observer.readers.base import (
    MAX_LINE_CHARS,
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

_TOOLS = {
    "read": "read", "write": "write", "edit": "edit", "run": "bash", "run_ipython": "run_ipython",
    "browse": "browse", "browse_interactive": "browse", "call_tool_mcp": "mcp__tool", "task_tracking": "task_tracker",
}  # fmt: skip
_REJECTED = "The user doesn't want to proceed with this tool use."
_SPOKEN = frozenset({"message", "think", "system", "recall", "finish", "change_agent_state", "condensation", "null"})


def read_openhands(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a stream or of every history in the file. A recorded error is a failure."""
    loose: EventMaker | None = None
    for line in read_objects(lines, tally):
        if isinstance(line.get("history"), list):
            yield from _history(line, tally, root)
        elif word(line.get("kind")) in _KINDS:
            if loose is None:
                loose = EventMaker(f"conversation-{identity(line.get('timestamp'), line.get('id'))}", tally, root)
            yield from _typed(line, loose)
        elif "action" in line or "observation" in line:
            if loose is None:
                named = word(line.get("sid")) or f"stream-{identity(line.get('timestamp'), line.get('id'))}"
                loose = EventMaker(named, tally, root or "/workspace")
            yield from _one(line, loose)
        else:
            tally.skip(",".join(sorted(line))[:60])
    if loose is not None:
        yield loose.done()


def _history(line: Json, tally: ReadingTally, root: str | None) -> Iterator[Event]:
    history = rows(line["history"])
    first = table(history[0]) if history else {}
    named = word(line.get("instance_id")) or "history"
    maker = EventMaker(f"{named}-{identity(first.get('timestamp'), len(history))}", tally, root or "/workspace")
    for entry in history:
        for event in entry if isinstance(entry, list) else [entry]:
            if isinstance(event, dict):
                yield from _one(event, maker)
            else:
                tally.skip(type(event).__name__)
    failed = bool(line.get("error"))
    yield maker.done(Outcome.FAILURE if failed else Outcome.UNKNOWN)


def _one(event: Json, maker: EventMaker) -> Iterator[Event]:
    at, key, given = seconds(event.get("timestamp")), word(event.get("id")), table(event.get("args"))
    action, seen = word(event.get("action")), word(event.get("observation"))
    if action in _TOOLS:
        maker.step += 1
        yield from maker.reasoning(f"{key}.thought", prose(given.get("thought")), at=at)
        yield maker.call(key, _TOOLS[action], given, at=at)
    elif action == "message" and event.get("source") == "user":
        yield from maker.user(key, prose(given.get("content")) or prose(event.get("message")), at=at)
    elif action in ("message", "think", "finish"):
        said = given.get("content") or given.get("thought") or event.get("message")
        yield from maker.reasoning(key, prose(said), at=at)
    elif seen and seen not in _SPOKEN and seen != "agent_state_changed":
        yield maker.result(word(event.get("cause")), prose(event.get("content")), error=_failed(event, seen), at=at)
    elif action not in _SPOKEN and not seen:
        maker.tally.skip(action)


# Releases since 1.0 write events of named kinds, one file each; a call and its answer share `tool_call_id`.
_KINDS = frozenset({"MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation",
                    "SystemPromptEvent", "ConversationStateUpdateEvent", "Condensation", "CondensationRequest",
                    "CondensationSummaryEvent", "PauseEvent", "TokenEvent", "ConversationErrorEvent"})  # fmt: skip
_ANSWERS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
_TYPED_TOOLS = {"terminal": "bash", "execute_bash": "bash", "file_editor": "str_replace_editor"}


def _typed(event: Json, maker: EventMaker) -> Iterator[Event]:
    kind, at = word(event.get("kind")), seconds(event.get("timestamp"))
    key = word(event.get("tool_call_id")) or word(event.get("id"))
    if kind == "MessageEvent":
        said = prose(table(event.get("llm_message")).get("content"))
        told = maker.user if event.get("source") == "user" else maker.reasoning
        yield from told(key, said, at=at)
    elif kind == "ActionEvent":
        maker.step += 1
        yield from maker.reasoning(f"{key}.thought", prose(event.get("thought")), at=at)
        given = table(event.get("action")) or table(parse_json(prose(table(event.get("tool_call")).get("arguments"))))
        tool = word(event.get("tool_name"))
        if tool in ("think", "finish"):
            yield from maker.reasoning(key, prose(given.get("thought") or given.get("message")), at=at)
        else:
            yield maker.call(key, _TYPED_TOOLS.get(tool, tool), given, at=at)
    elif kind in _ANSWERS:
        yield from _typed_answer(event, kind, key, at, maker)


def _typed_answer(event: Json, kind: str, key: str, at: float | None, maker: EventMaker) -> Iterator[Event]:
    seen = table(event.get("observation"))
    if kind == "UserRejectObservation":
        text = f"{_REJECTED} {prose(event.get('rejection_reason'))}".strip()
    else:
        text = prose(seen.get("content")) or prose(seen.get("output")) or prose(event.get("error"))
    code = seen.get("exit_code", table(seen.get("metadata")).get("exit_code"))
    failed = kind != "ObservationEvent" or seen.get("is_error") is True or bool(seen.get("error"))
    yield maker.result(key, text, error=failed or (isinstance(code, int) and code > 0), at=at)


def _failed(event: Json, seen: str) -> bool:
    extras = table(event.get("extras"))
    code = extras.get("exit_code", table(extras.get("metadata")).get("exit_code"))
    return seen == "error" or (isinstance(code, int) and code > 0)


# --- SWE-agent -----------------------------------------------------------------------------------------------------


_EDITORS = frozenset(
    {"edit", "create", "insert", "str_replace_editor", "open", "search_dir", "search_file", "find_file"}
)
_ON_OPEN_FILE = frozenset({"edit", "insert"})  # they change the file that is open
_SHOWS_FILE = "[File: "  # opens what an editor shows of a file
_REFUSED_EDIT = ("your proposed edit has introduced", "no replacement was performed", "the edit was not applied",
                 "text not found", "your edit was not applied")  # fmt: skip
_EDITORS_TROUBLE = ("error: ", "error executing", "usage: ", "file not found", "no file open", "no file is open",
                    "invalid `path`", "the path ")  # fmt: skip
_SHELLS_TROUBLE = re.compile(
    r"\A(?:(?:[\w./-]{1,60}: )?(?:line \d{1,9}: )?[^\n]{1,200}: (?:command not found|No such file or directory|"
    r"Permission denied)|usage: |Traceback \(most recent call last\))"
)
_LAST_LINE_TROUBLE = re.compile(
    r"\A(?:[\w.]{1,80}(?:Error|Exception)\b|={1,100}+ .{0,100}\b[1-9]\d{0,6} (?:failed|errors?)\b|FAILED \()"
)
_CODES = ("exit_code", "returncode", "exitCode")


def read_swe_agent(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a trajectory. A submission is a success, any other exit a failure; times are not recorded."""
    document = table(parse_json(_whole(lines)))
    tally.lines += 1
    if not isinstance(document.get("trajectory"), list):
        tally.broken += 1
        return
    session = word(document.get("instance_id")) or word(document.get("environment")) or ""
    turns = rows(document["trajectory"])
    session = f"{session or 'trajectory'}-{identity(*(prose(table(turn).get('action')) for turn in turns[:20]))}"
    maker = EventMaker(session, tally, root)
    opened = ""
    for turn in turns:
        if isinstance(turn, dict):
            opened = word(_state(turn).get("open_file")).replace("n/a", "") or opened
            yield from _turn(turn, maker, opened)
            opened = _shown_file(prose(turn.get("observation"))) or opened
            maker.step += 1
        else:
            tally.skip(type(turn).__name__)
    status = word(table(document.get("info")).get("exit_status"))
    ended = Outcome.SUCCESS if status == "submitted" else Outcome.FAILURE if status else Outcome.UNKNOWN
    yield maker.done(ended)


def _whole(lines: Iterable[str]) -> str:
    kept, size = [], 0
    for line in lines:
        size += len(line)
        if size > MAX_LINE_CHARS:
            return ""
        kept.append(line)
    return "".join(kept)


def _shown_file(seen: str) -> str:
    """The file an editor shows, which is then open."""
    return seen[len(_SHOWS_FILE) :].split(" (", 1)[0].split("]", 1)[0][:300] if seen.startswith(_SHOWS_FILE) else ""


def _turn(turn: Json, maker: EventMaker, opened: str) -> Iterator[Event]:
    action, seen = prose(turn.get("action")).strip(), prose(turn.get("observation"))
    stands = word(_state(turn).get("working_dir"))
    maker.root = maker.root or stands or None
    maker.folder = stands if stands != maker.root else ""
    yield from maker.reasoning("", prose(turn.get("thought")), at=None)
    if not action:
        maker.tally.skip("turn without action")
        return
    key = f"step {maker.step}"
    tool, given = _called(action, opened)
    call = maker.call(key, tool, given, at=None)
    yield call
    yield maker.result(key, seen, error=_went_wrong(turn, call, seen), at=None)
    yield maker.stepped(at=None)


def _state(turn: Json) -> Json:
    state = turn.get("state")
    return table(parse_json(state)) if isinstance(state, str) else table(state)


def _went_wrong(turn: Json, call: ToolCall, seen: str) -> bool:
    """Did a turn fail? Its exit code tells; without one its answer does, but source that is shown is no error."""
    code = next((turn[name] for name in _CODES if isinstance(turn.get(name), int)), None)
    if code is not None:
        return bool(code)
    opening = seen[:400].lstrip()
    if call.tool != "bash":
        low = opening.casefold()
        return low.startswith((*_REFUSED_EDIT, *_EDITORS_TROUBLE)) or any(sign in low for sign in _REFUSED_EDIT[:2])
    if _SHELLS_TROUBLE.match(opening):
        return True
    last = seen.rstrip().rsplit("\n", 1)[-1][:400]
    return call.action is ActionType.RUN and _LAST_LINE_TROUBLE.match(last) is not None


def _called(action: str, opened: str) -> tuple[str, Json]:
    words = action.split("\n", 1)[0].split()
    if not words or words[0] not in _EDITORS:
        return "bash", {"command": action}
    if words[0] == "str_replace_editor":
        return words[0], {"command": words[1] if len(words) > 1 else "", "path": words[2] if len(words) > 2 else ""}
    target = words[1] if len(words) > 1 else ""
    if words[0] in ("open", "create"):
        return words[0], {"path": target}
    if words[0] in _ON_OPEN_FILE:
        return words[0], {"path": opened}
    return words[0], {"pattern": target}


# --- mini-swe-agent ------------------------------------------------------------------------------------------------


_TEMPLATE = "wrapped in an agent's own instructions"  # the request stands among words no person wrote


def read_mini_swe_agent(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a run: messages whose `extra` holds the commands and their exit codes."""
    document = table(parse_json(_whole(lines)))
    tally.lines += 1
    messages = [table(message) for message in rows(document.get("messages"))]
    info = table(document.get("info"))
    folder = word(table(table(table(info.get("config"))).get("environment")).get("cwd"))
    named = identity(*(prose(message.get("content"))[:400] for message in messages[1:20]))
    maker = EventMaker(f"run-{named}", tally, root or folder or None)
    waiting: list[str] = []
    for message in messages:
        extra = table(message.get("extra"))
        at = seconds(extra.get("timestamp"))
        if message.get("role") == "assistant":
            maker.step += 1
            yield from maker.reasoning("", prose(message.get("content")), at=at)
            actions = [table(action) for action in rows(extra.get("actions"))]
            waiting = [word(one.get("tool_call_id")) or f"{maker.step}.{place}" for place, one in enumerate(actions)]
            for key, action in zip(waiting, actions, strict=True):
                yield maker.call(key, "bash", {"command": prose(action.get("command"))}, at=at)
        elif isinstance(extra.get("returncode"), int) and waiting:
            named_call = word(message.get("tool_call_id"))
            key = named_call if named_call in waiting else waiting[0]
            waiting.remove(key)
            text = prose(extra.get("raw_output", message.get("content")))
            failed = bool(extra["returncode"]) or bool(extra.get("exception_info"))
            yield maker.result(key, text, error=failed, at=at)
        elif message.get("role") == "user":
            yield from maker.user("", prose(message.get("content")), at=at, hearsay=_TEMPLATE)
    status = word(info.get("exit_status"))
    yield maker.done(Outcome.SUCCESS if status == "Submitted" else Outcome.FAILURE if status else Outcome.UNKNOWN)


# --- plain JSONL ---------------------------------------------------------------------------------------------------


def read_plain(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of every session in the file; sessions may be interleaved. A tool row is a step,
    and a path that is not relative lies outside the project unless `root` says where that is."""
    makers: dict[str, EventMaker] = {}
    for row in read_objects(lines, tally):
        session = word(row.get("s")) or "session"
        maker = makers.setdefault(session, EventMaker(session, tally, root or "."))
        yield from _plain_one(row, maker)
    for maker in makers.values():
        yield maker.done()


def _plain_one(row: Json, maker: EventMaker) -> Iterator[Event]:
    kind, at = row.get("k"), seconds(row.get("ts"))
    if kind == "user":
        yield from maker.user("", prose(row.get("text")), at=at)
    elif kind == "assistant":
        yield from maker.reasoning("", prose(row.get("text")), at=at)
    elif kind == "tool":
        yield from _tool(row, maker, at)
    elif kind == "outcome":
        ended = word(row.get("outcome"))
        yield maker.done(Outcome(ended) if ended in list(Outcome) else Outcome.UNKNOWN, at=at)
    else:
        maker.tally.skip(kind)


def _tool(row: Json, maker: EventMaker, at: float | None) -> Iterator[Event]:
    agent = "side" if row.get("side") is True else word(row.get("agent"))
    key = word(row.get("id")) or f"step {maker.step}"
    maker.step += 1
    yield maker.call(key, word(row.get("tool")), table(row.get("args")), at=at, agent=agent)
    if "result" in row or "error" in row:
        size = row.get("result_len")
        yield maker.result(
            key,
            prose(row.get("result")),
            error=row.get("error") is True,
            at=seconds(row.get("end")) or at,
            agent=agent,
            size=size if isinstance(size, int) and size >= 0 else None,
        )
    yield maker.stepped(at=at)
