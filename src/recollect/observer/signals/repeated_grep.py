"""repeated_grep: the same pattern was searched three or more times in one session.

Upper and lower case and surrounding blanks make no difference. What is looked for so often should be known; the files
opened right after a search are where it was found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import KEY, Note, Signal, note, signal


@dataclass(slots=True)
class RepeatedGrep:
    name: ClassVar[str] = "repeated_grep"
    notes: dict[str, Note] = field(default_factory=dict)
    searched: str = ""

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action is ActionType.SEARCH and event.subject.strip():
            self.searched = event.subject.strip().casefold()[:KEY]
            note(self.notes, self.searched).mark(event.step)
        elif event.action in (ActionType.READ, ActionType.EDIT) and event.paths:
            if self.searched in self.notes:
                self.notes[self.searched].name(event.paths[0])
            self.searched = ""

    def found(self, session: str) -> list[Signal]:
        return [
            signal(self.name, session, pattern, kept)
            for pattern, kept in self.notes.items()
            if kept.count >= gate.SEARCHES
        ]
