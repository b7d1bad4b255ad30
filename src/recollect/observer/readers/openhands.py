"""OpenHands: streams of actions and observations, one per line, or `output.jsonl` lines with a whole `history`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.observer.events import Event, Outcome, identity
from recollect.observer.readers.lines import Json, Maker, Tally, objects, prose, rows, seconds, table, word

_TOOLS = {
    "read": "read", "write": "write", "edit": "edit", "run": "bash", "run_ipython": "run_ipython",
    "browse": "browse", "browse_interactive": "browse", "call_tool_mcp": "mcp__tool", "task_tracking": "task_tracker",
}  # fmt: skip
_SPOKEN = frozenset({"message", "think", "system", "recall", "finish", "change_agent_state", "condensation", "null"})


def read(lines: Iterable[str], *, tally: Tally, root: str | None = None) -> Iterator[Event]:
    """The events of a stream or of every history in the file. A recorded error is a failure."""
    loose: Maker | None = None
    for line in objects(lines, tally):
        if isinstance(line.get("history"), list):
            yield from _history(line, tally, root)
        elif "action" in line or "observation" in line:
            if loose is None:
                named = word(line.get("sid")) or f"stream-{identity(line.get('timestamp'), line.get('id'))}"
                loose = Maker(named, tally, root or "/workspace")
            yield from _one(line, loose)
        else:
            tally.skip(",".join(sorted(line))[:60])
    if loose is not None:
        yield loose.done()


def _history(line: Json, tally: Tally, root: str | None) -> Iterator[Event]:
    history = rows(line["history"])
    first = table(history[0]) if history else {}
    named = word(line.get("instance_id")) or "history"
    maker = Maker(f"{named}-{identity(first.get('timestamp'), len(history))}", tally, root or "/workspace")
    for entry in history:
        for event in entry if isinstance(entry, list) else [entry]:
            if isinstance(event, dict):
                yield from _one(event, maker)
            else:
                tally.skip(type(event).__name__)
    failed = bool(line.get("error"))
    yield maker.done(Outcome.FAILURE if failed else Outcome.UNKNOWN)


def _one(event: Json, maker: Maker) -> Iterator[Event]:
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


def _failed(event: Json, seen: str) -> bool:
    extras = table(event.get("extras"))
    code = extras.get("exit_code", table(extras.get("metadata")).get("exit_code"))
    return seen == "error" or (isinstance(code, int) and code > 0)
