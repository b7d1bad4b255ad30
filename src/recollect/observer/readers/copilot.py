"""Copilot CLI event logs: dotted types with a `data` object; hooks and permissions are the host's own business."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.observer.events import Event
from recollect.observer.readers.lines import Json, Maker, Tally, objects, prose, seconds, table, word

_SILENT = ("hook.", "permission.", "session.", "system.", "assistant.turn_start", "assistant.usage", "assistant.intent")


def read(lines: Iterable[str], *, tally: Tally, root: str | None = None) -> Iterator[Event]:
    """The events of a log. A turn of the assistant is a step."""
    maker = Maker("", tally, root)
    for line in objects(lines, tally):
        kind, data, at = word(line.get("type")), table(line.get("data")), seconds(line.get("timestamp"))
        if kind == "session.start":
            if maker.session and tally.events:
                yield maker.done(at=at)
            context = table(data.get("context"))
            place = word(context.get("gitRoot")) or word(context.get("cwd"))
            maker = Maker(word(data.get("sessionId")), tally, root or place or None)
        else:
            yield from _one(kind, line, data, maker, at)
    if tally.events:
        yield maker.done()


def _one(kind: str, line: Json, data: Json, maker: Maker, at: float | None) -> Iterator[Event]:
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
    elif not kind.startswith(_SILENT):
        maker.tally.skip(kind)
