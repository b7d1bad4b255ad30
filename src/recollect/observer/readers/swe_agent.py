"""SWE-agent trajectories: one JSON document with a list of thoughts, actions and observations, and how it exited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.observer.events import Event, Outcome, identity
from recollect.observer.readers.lines import LONGEST, Json, Maker, Tally, parsed, prose, rows, table, word

_EDITORS = frozenset(
    {"edit", "create", "insert", "str_replace_editor", "open", "search_dir", "search_file", "find_file"}
)
_TROUBLE = ("traceback (most recent call last)", "error:", "your proposed edit has introduced", "command not found",
            "no such file or directory", "usage: ", "exit code 1")  # fmt: skip


def read(lines: Iterable[str], *, tally: Tally, root: str | None = None) -> Iterator[Event]:
    """The events of a trajectory. A submission is a success, any other exit a failure; times are not recorded."""
    document = table(parsed(_whole(lines)))
    tally.lines += 1
    if not isinstance(document.get("trajectory"), list):
        tally.broken += 1
        return
    session = word(document.get("instance_id")) or word(document.get("environment")) or ""
    turns = rows(document["trajectory"])
    session = f"{session or 'trajectory'}-{identity(*(prose(table(turn).get('action')) for turn in turns[:20]))}"
    maker = Maker(session, tally, root)
    for turn in turns:
        if isinstance(turn, dict):
            yield from _turn(turn, maker)
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
        if size > LONGEST:
            return ""
        kept.append(line)
    return "".join(kept)


def _turn(turn: Json, maker: Maker) -> Iterator[Event]:
    action, seen = prose(turn.get("action")).strip(), prose(turn.get("observation"))
    maker.root = maker.root or word(_state(turn).get("working_dir")) or None
    yield from maker.reasoning("", prose(turn.get("thought")), at=None)
    if not action:
        maker.tally.skip("turn without action")
        return
    key = f"step {maker.step}"
    tool, given = _called(action)
    yield maker.call(key, tool, given, at=None)
    yield maker.result(key, seen, error=any(sign in seen[:2000].casefold() for sign in _TROUBLE), at=None)
    yield maker.stepped(at=None)


def _state(turn: Json) -> Json:
    state = turn.get("state")
    return table(parsed(state)) if isinstance(state, str) else table(state)


def _called(action: str) -> tuple[str, Json]:
    words = action.split("\n", 1)[0].split()
    if not words or words[0] not in _EDITORS:
        return "bash", {"command": action}
    if words[0] == "str_replace_editor":
        return words[0], {"command": words[1] if len(words) > 1 else "", "path": words[2] if len(words) > 2 else ""}
    target = words[1] if len(words) > 1 else ""
    if words[0] in ("open", "create"):
        return words[0], {"path": target}
    return words[0], {"pattern": target}
