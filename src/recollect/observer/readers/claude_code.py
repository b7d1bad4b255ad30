"""Claude Code transcripts: one object per line with a message of content blocks; subagents are side chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.observer.events import Event
from recollect.observer.readers.base import (
    EventMaker,
    Json,
    ReadingTally,
    prose,
    read_objects,
    rows,
    seconds,
    table,
    word,
)

_SILENT = frozenset({"progress", "file-history-snapshot", "summary", "queue-operation", "system", "custom-title"})

_PEOPLE = frozenset({"", "user", "human", "cli"})  # kinds of origin that a person stands behind
_HOSTS_WORDS = ("isMeta", "isCompactSummary")  # marks of what the host itself puts in a person's place


def read_claude_code(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a transcript, in its order; the working directory of the first line is the project unless told."""
    makers: dict[str, EventMaker] = {}
    messages: dict[str, str] = {}
    for line in read_objects(lines, tally):
        session = word(line.get("sessionId"))
        kind = word(line.get("type"))
        if kind not in ("user", "assistant") or not session:
            if kind not in _SILENT:
                tally.skip(kind)
            continue
        maker = makers.get(session)
        if maker is None:
            maker = makers[session] = EventMaker(session, tally, root or word(line.get("cwd")) or None)
        stands = word(line.get("cwd"))
        maker.folder = stands if stands != maker.root else ""
        maker.branch = word(line.get("gitBranch")) or maker.branch
        if kind == "user":
            yield from _user(line, maker)
            continue
        message = word(table(line.get("message")).get("id")) or word(line.get("uuid"))
        if messages.get(session) not in (None, message):
            yield maker.stepped(at=seconds(line.get("timestamp")), tokens=_tokens(line))
            maker.step += 1
        messages[session] = message
        yield from _assistant(line, maker)
    for maker in makers.values():
        yield maker.done()


def _user(line: Json, maker: EventMaker) -> Iterator[Event]:
    at, key = seconds(line.get("timestamp")), word(line.get("uuid"))
    content = table(line.get("message")).get("content")
    told_by = word(table(line.get("origin")).get("kind"))  # a notification that stands in a person's place says so
    is_said = not any(line.get(mark) for mark in _HOSTS_WORDS) and told_by in _PEOPLE
    if isinstance(content, str):
        if is_said:
            yield from maker.user(key, content, at=at, agent=_agent(line))
        return
    for place, block in enumerate(rows(content)):
        part = table(block)
        if part.get("type") == "tool_result":
            yield maker.result(
                word(part.get("tool_use_id")),
                prose(part.get("content")),
                error=part.get("is_error") is True,
                at=at,
                agent=_agent(line),
            )
        elif part.get("type") == "text" and is_said:
            yield from maker.user(f"{key}.{place}", prose(part.get("text")), at=at, agent=_agent(line))
        else:
            maker.tally.skip(f"user/{part.get('type')}")


def _assistant(line: Json, maker: EventMaker) -> Iterator[Event]:
    at, key, agent = seconds(line.get("timestamp")), word(line.get("uuid")), _agent(line)
    for place, block in enumerate(rows(table(line.get("message")).get("content"))):
        part = table(block)
        if part.get("type") == "tool_use":
            yield maker.call(word(part.get("id")), word(part.get("name")), part.get("input"), at=at, agent=agent)
        elif part.get("type") in ("text", "thinking"):
            said = prose(part.get("text") or part.get("thinking"))
            yield from maker.reasoning(f"{key}.{place}", said, at=at, agent=agent)
        else:
            maker.tally.skip(f"assistant/{part.get('type')}")


def _agent(line: Json) -> str:
    return word(line.get("agentId")) or "side" if line.get("isSidechain") is True else ""


def _tokens(line: Json) -> int | None:
    usage = table(table(line.get("message")).get("usage"))
    counts = [usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None
