"""external_reference: something outside the project was looked up, and a file was edited within ten steps.

The subject is the address without its query, or the words searched; the files are those it helped with. A look-up
that led to no edit is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.core.lazy import Lazy
from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal

_ADDRESS = Lazy(r"https?://[^\s\"'<>?#]{1,300}")
_LATELY = 4  # look-ups that wait for an edit


@dataclass(slots=True)
class ExternalReference:
    name: ClassVar[str] = "external_reference"
    notes: dict[str, Note] = field(default_factory=dict)
    lately: dict[str, int] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action is ActionType.EXTERNAL and event.subject.strip():
            self.lately[_subject(event.subject)] = event.step
            if len(self.lately) > _LATELY:
                del self.lately[next(iter(self.lately))]
        elif event.action is ActionType.EDIT and event.paths:
            for subject, step in list(self.lately.items()):
                if event.step - step > gate.REFERENCE_REACH:
                    del self.lately[subject]
                    continue
                kept = note(self.notes, subject)
                if kept.last != step:
                    kept.mark(step)
                kept.name(*event.paths)

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, subject, kept) for subject, kept in self.notes.items()]


def _subject(text: str) -> str:
    address = _ADDRESS.search(text)
    return address.group().rstrip("/.,)") if address else " ".join(text.casefold().split())
