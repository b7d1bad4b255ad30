"""repeated_grep: the same pattern was searched three or more times in one session.

Upper and lower case and surrounding blanks make no difference. What is looked for so often should be known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import Act, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal


@dataclass(slots=True)
class RepeatedGrep:
    name: ClassVar[str] = "repeated_grep"
    notes: dict[str, Note] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall) and event.act is Act.SEARCH and event.subject.strip():
            note(self.notes, event.subject.strip().casefold()).mark(event.step)

    def found(self, session: str) -> list[Signal]:
        return [
            signal(self.name, session, pattern, kept)
            for pattern, kept in self.notes.items()
            if kept.count >= gate.SEARCHES
        ]
