"""How a call looks in its situation: what it runs or touches, and the state the session is in when it does.

A trait is what calls that fail alike have in common. Pure and quick: a few set look-ups per call, so that a hook can
afford it. It knows neither errors nor statistics.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import NamedTuple

from recollect.observer.deeds import command_name, is_shell
from recollect.observer.events import Act, Event, ToolCall, ToolResult, UserText

COMMANDS = 6  # commands of one line that are looked at
READ = 6000  # characters of a text in which paths are noticed
SEEN = 20_000  # paths that a session remembers as seen
_SUBJECT = 80  # characters of a subject that make a trait
_OPEN = 64  # calls whose answer is awaited

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|<<.*", re.DOTALL)
_REDIRECTED = re.compile(r"\d?>&\d|&>\S*|\d?>{1,2}\s*\S+")
_BETWEEN = re.compile(r"(&&|\|\||;|\n|\|)")
_PATHS = re.compile(r"(?<![\w.@~/-])(?:[\w.@~-]*(?:/[\w.@-]+)+|[\w-]+\.\w+)")
_HIDING = frozenset({"|", "||", ";"})  # what follows a command whose failure nobody is told of


class Trait(NamedTuple):
    """What calls have in common: `sort` and `what` name it, `state` is how the session stood."""

    sort: str
    what: str
    state: str = ""


class Situation:
    """What a session has read, changed, run and seen so far; enough to tell how a call stands."""

    __slots__ = ("_asked", "_calls", "_changed", "_edited", "_failed", "_known", "_ran", "_read", "_seen", "_spoken")

    def __init__(self, known: Container[str] = ()) -> None:
        """`known` holds the files and folders that earlier sessions found to exist."""
        self._known = known
        self._read: dict[str, int] = {}
        self._edited: dict[str, int] = {}
        self._seen: set[str] = set()
        self._ran: dict[str, int] = {}
        self._failed: set[str] = set()
        self._asked: dict[str, ToolCall] = {}
        self._calls = self._spoken = 0
        self._changed = -1

    def see(self, event: Event) -> None:
        """Take one event in; a call after its traits were asked for."""
        if isinstance(event, ToolCall):
            self._calls += 1
            if len(self._asked) >= _OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[event.call] = event
        elif isinstance(event, ToolResult):
            self._notice(event.text)
            call = self._asked.pop(event.call, None)
            if call is not None and not event.rejected:
                self._answered(call, error=event.error)
        elif isinstance(event, UserText):
            self._spoken = self._calls
            self._notice(event.text)

    def traits(self, call: ToolCall) -> tuple[Trait, ...]:
        """The traits of a call that is about to be made, the broadest first."""
        if is_shell(call.tool):
            found = commands(call.subject)
            return tuple(Trait("command", name, self._running(name, told=told)) for name, told in found)
        if call.paths and call.act in (Act.READ, Act.EDIT):
            return self._touching(call)
        if call.inside:
            state = self._standing(call.inside)
            return Trait("state", state), Trait("file", call.inside, state)
        if call.subject and call.act is Act.OTHER:
            return (Trait("subject", call.subject[:_SUBJECT]),)
        return (Trait("any", ""),)

    def _running(self, name: str, *, told: bool) -> str:
        """Would a failure be told; was anything edited since the last run; how did that one end?"""
        before = "first" if name not in self._ran else "failed" if name in self._failed else "again"
        edited = "edited" if self._changed > self._ran.get(name, -1) else "same"
        return f"{'told' if told else 'hidden'} {edited} {before}"

    def _touching(self, call: ToolCall) -> tuple[Trait, ...]:
        path = call.paths[0]
        ending = path.rsplit("/", 1)[-1].rpartition(".")[2]
        state = self._editing(path) if call.act is Act.EDIT else self._standing(path)
        found = [Trait("state", state), Trait("file", path, state)]
        if call.shape:
            found.append(Trait("shape", f"{ending} {call.shape}"))
        if ending:
            found.append(Trait("ending", ending, state))
        return tuple(found)

    def _editing(self, path: str) -> str:
        last = max(self._read.get(path, -1), self._edited.get(path, -1))
        return "unread" if last < 0 else "long ago" if last < self._spoken else "read"

    def _standing(self, path: str) -> str:
        if path in self._seen or path in self._read or path in self._edited:
            return "seen"
        return "known" if path in self._known else "new"

    def _answered(self, call: ToolCall, *, error: bool) -> None:
        if is_shell(call.tool):
            for name, _ in commands(call.subject):
                self._ran[name] = self._calls
                (self._failed.add if error else self._failed.discard)(name)
        if error or call.act not in (Act.READ, Act.EDIT):
            return
        for path in call.paths:
            (self._read if call.act is Act.READ else self._edited)[path] = self._calls
        if call.act is Act.EDIT:
            self._changed = self._calls

    def _notice(self, text: str) -> None:
        """Remember the paths of a text, and the folders they stand in."""
        if len(self._seen) >= SEEN:
            return
        named = " ".join(word for word in text[:READ].split() if "/" in word or "." in word)
        for found in set(_PATHS.findall(named)):
            path = found.removeprefix("./")
            if path not in self._seen:
                self._seen.update(with_folders(path))


def with_folders(path: str) -> list[str]:
    """A path and every folder it stands in."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]


@lru_cache(maxsize=256)
def commands(line: str) -> tuple[tuple[str, bool], ...]:
    """The commands of a shell line by name, each with whether its failure would be told; none that a pipe feeds."""
    parts = _BETWEEN.split(_REDIRECTED.sub(" ", _QUOTED.sub(" … ", line)))
    found: dict[tuple[str, bool], None] = {}
    for place in range(0, len(parts), 2):
        name = command_name(parts[place].strip()) if parts[place].strip() else ""
        if name and (place == 0 or parts[place - 1] != "|"):
            found[(name, place + 1 >= len(parts) or parts[place + 1] not in _HIDING)] = None
    return tuple(found)[:COMMANDS]
