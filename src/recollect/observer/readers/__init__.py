"""Readers of transcripts, and which of them fits one: told from its first lines, never from its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Protocol

from recollect.observer.events import Event
from recollect.observer.readers import claude_code, hook, logs, trajectories
from recollect.observer.readers.base import Json, ReadingTally, parse_json

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
    (
        "openhands",
        lambda line: isinstance(line.get("history"), list) or ("source" in line and not _OPENHANDS.isdisjoint(line)),
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
    return "swe_agent" if '"trajectory"' in opening and opening.lstrip().startswith("{") else None


def peek(lines: Iterable[str]) -> tuple[list[str], Iterator[str]]:
    """The first lines of a stream, to look at, and the stream with them put back."""
    stream = iter(lines)
    first = list(islice(stream, LOOKED))
    return first, chain(first, stream)


def read_events(lines: Iterable[str], *, tally: ReadingTally, root: str | None = None) -> Iterator[Event]:
    """The events of a transcript in any known format; of one in no known format each line is counted."""
    opening, stream = peek(lines)
    name = detect_format(opening)
    if name is not None:
        yield from READERS[name](stream, tally=tally, root=root)
        return
    for _ in stream:
        tally.lines += 1
        tally.broken += 1
