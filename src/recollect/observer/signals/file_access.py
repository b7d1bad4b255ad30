"""file_access: a project file was read or edited.

Every file counts once a session; which files a kind of task always needs shows only across sessions. A file read four
or more times and never edited is hard to read, which is its hunch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal


@dataclass(slots=True)
class FileAccess:
    name: ClassVar[str] = "file_access"
    notes: dict[str, Note] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action not in (ActionType.READ, ActionType.EDIT):
            return
        for path in event.paths:
            kept = note(self.notes, path)
            kept.mark(event.step)
            kept.name(path)
            if event.action is ActionType.EDIT:
                kept.hunch = "edited"
            elif kept.hunch != "edited":
                kept.measure += 1
                kept.hunch = "hard to read" if kept.measure >= gate.REREAD else ""

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, path, kept) for path, kept in self.notes.items()]
