"""read_abandon: a file was read once, the agent went on searching at once, never came back, and edited something else.

The file looked like the right place and was not. A file that is read again or edited later was not abandoned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal


@dataclass(slots=True)
class ReadAbandon:
    name: ClassVar[str] = "read_abandon"
    notes: dict[str, Note] = field(default_factory=dict)
    reading: str = ""
    edits: int = 0

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action in (ActionType.SEARCH, ActionType.LIST) and self.reading in self.notes:
            kept = self.notes[self.reading]
            kept.hunch = "the wrong place to look" if kept.count == 1 else ""
            kept.say(event.subject)
        self.reading = ""
        if event.action in (ActionType.READ, ActionType.EDIT):
            for path in event.paths:
                kept = note(self.notes, path)
                kept.mark(event.step)
                kept.name(path)
                kept.hunch = ""
            self.reading = event.paths[0] if event.action is ActionType.READ and event.paths else ""
            self.edits += event.action is ActionType.EDIT and bool(event.paths)

    def found(self, session: str) -> list[Signal]:
        if not self.edits:
            return []
        return [signal(self.name, session, path, kept) for path, kept in self.notes.items() if kept.hunch]
