"""glob_ignore: a listing offered files, and none of them was touched for the rest of the session.

The pattern looked right and led nowhere. A listing of which one file is opened, or that found nothing, is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.signals.note import KEY, Note, Signal, note, signal
from recollect.observer.tool_calls import relative_path

_OFFERS = 2000  # files offered that are remembered
_OPEN = 32  # listings whose answer is awaited


@dataclass(slots=True)
class GlobIgnore:
    name: ClassVar[str] = "glob_ignore"
    notes: dict[str, Note] = field(default_factory=dict)
    offers: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            if event.action is ActionType.LIST and event.subject:
                if len(self.asked) >= _OPEN:
                    del self.asked[next(iter(self.asked))]
                self.asked[event.call_id] = event.subject[:KEY]
            for path in event.paths:
                self._used(path)
        elif isinstance(event, ToolResult) and event.call_id in self.asked:
            pattern = self.asked.pop(event.call_id)
            if not event.error:
                self._offered(pattern, event)

    def _offered(self, pattern: str, event: ToolResult) -> None:
        names = [found for line in event.text.split("\n", gate.OFFERED)[: gate.OFFERED] if (found := _file(line))]
        if not names:
            return
        kept = note(self.notes, pattern)
        kept.mark(event.step)
        kept.hunch = kept.hunch or "led nowhere"
        for found in names:
            kept.name(found)
            self.offers.pop(_tail(found), None)
            self.offers[_tail(found)] = pattern
            if len(self.offers) > _OFFERS:
                self._used(next(iter(self.offers)))  # no longer followed up, so it gets the benefit of the doubt

    def _used(self, path: str) -> None:
        pattern = self.offers.pop(_tail(path), None)
        if pattern in self.notes and pattern is not None:
            self.notes[pattern].hunch = "useful"

    def found(self, session: str) -> list[Signal]:
        return [
            signal(self.name, session, key, kept) for key, kept in self.notes.items() if kept.hunch == "led nowhere"
        ]


def _file(line: str) -> str | None:
    found = relative_path(line, None) if " " not in line.strip() else None
    return found if found and "." in found.rsplit("/", 1)[-1] else None


def _tail(path: str) -> str:
    """Listings are absolute or relative as the host likes, so names are compared: in doubt it was useful."""
    return path.rsplit("/", 1)[-1][-KEY:]
