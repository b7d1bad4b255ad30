"""Readers of transcripts, and which of them fits one: told from its first lines, never from its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Protocol

from recollect.observer.events import Event
from recollect.observer.readers import claude_code, hook, logs, trajectories
from recollect.observer.readers.base import MAX_LINE_CHARS, Json, ReadingTally, parse_json

_OPENHANDS = frozenset({"action", "observation"})
LOOKED = 40  # lines that are looked at before giving up


class Read(Protocol):
    """A reader: lines in, events out, what it did not understand in the tally."""

    def __call__(self, lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]: ...


READERS: dict[str, Read] = {
    "claude_code": claude_code.read_claude_code,
    "codex": logs.read_codex,
    "copilot": logs.read_copilot,
    "swe_agent": trajectories.read_swe_agent,
    "mini_swe_agent": trajectories.read_mini_swe_agent,
    "openhands": trajectories.read_openhands,
    "plain": trajectories.read_plain,
    "hook": hook.read_hook,
}
_SIGNS: tuple[tuple[str, Callable[[Json], bool]], ...] = (
    (
        "hook",
        lambda line: isinstance(line.get("payload"), dict) and "host" in line and "hook_event_name" in line["payload"],
    ),
    ("codex", lambda line: line.get("type") in ("session_meta", "response_item", "event_msg") and "payload" in line),
    ("copilot", lambda line: "." in str(line.get("type")) and isinstance(line.get("data"), dict)),
    ("claude_code", lambda line: "sessionId" in line and "type" in line),
    ("swe_agent", lambda line: isinstance(line.get("trajectory"), list)),
    ("mini_swe_agent", lambda line: str(line.get("trajectory_format")).startswith("mini-swe-agent")),
    (
        "openhands",
        lambda line: (
            isinstance(line.get("history"), list)
            or ("source" in line and not _OPENHANDS.isdisjoint(line))
            or line.get("kind") in ("MessageEvent", "SystemPromptEvent", "ActionEvent")
        ),
    ),
    ("plain", lambda line: line.get("k") in ("user", "assistant", "tool")),
)


def detect_format(lines: Iterable[str]) -> str | None:
    """The name of the reader these first lines want, or None when none knows them."""
    looked = list(islice(lines, LOOKED))
    for line in looked:
        found = parse_json(line)
        if isinstance(found, dict):
            for name, fits in _SIGNS:
                if fits(found):
                    return name
    opening = "".join(looked)[:20_000]
    if not opening.lstrip().startswith(("{", "[")):
        return None
    if '"trajectory"' in opening:
        return "swe_agent"
    return "openhands" if '"source"' in opening and any(f'"{name}"' in opening for name in _OPENHANDS) else None


def _is_one_document(opening: list[str]) -> bool:
    """Is this one JSON value over many lines, or a list of objects, and no file of lines?"""
    first = next((line for line in opening if line.strip()), "").strip()
    return first.startswith("[") or (first.startswith("{") and parse_json(first) is None)


def _split_document(lines: Iterable[str]) -> Iterator[str]:
    """The objects of a JSON document, one a line; the lines as they are where it is none."""
    kept, size = [], 0
    stream = iter(lines)
    for line in stream:
        kept.append(line)
        size += len(line)
        if size > MAX_LINE_CHARS:
            yield from chain(kept, stream)
            return
    value = parse_json("".join(kept))
    if not isinstance(value, dict | list):
        yield from kept
        return
    for one in value if isinstance(value, list) else [value]:
        yield json.dumps(one, ensure_ascii=False)


def peek(lines: Iterable[str]) -> tuple[list[str], Iterator[str]]:
    """The first lines of a stream, to look at, and the stream with them put back."""
    stream = iter(lines)
    first = list(islice(stream, LOOKED))
    return first, chain(first, stream)


def read_events(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a transcript in any known format; of one in no known format each line is counted."""
    opening, stream = peek(lines)
    if _is_one_document(opening):
        opening, stream = peek(_split_document(stream))
    name = detect_format(opening)
    if name is not None:
        yield from READERS[name](stream, tally=tally, root=root)
        return
    for _ in stream:
        tally.lines += 1
        tally.broken += 1
