"""time_anomaly: over one file the agent spent two minutes or more, and four times its mean over the others.

Time runs from the reading of a file to the next call; while a person is awaited it does not count. It only counts
together with another signal about the same file, which the pad sees to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall, UserText
from recollect.observer.signals.note import Note, Signal, note, signal


@dataclass(slots=True)
class TimeAnomaly:
    name: ClassVar[str] = "time_anomaly"
    notes: dict[str, Note] = field(default_factory=dict)
    reading: str = ""
    since: float = 0.0
    total: float = 0.0

    def see(self, event: Event) -> None:
        if isinstance(event, UserText):
            self.reading = ""
        if not isinstance(event, ToolCall) or event.at is None:
            return
        if self.reading:
            spent = max(0.0, event.at - self.since)
            note(self.notes, self.reading).measure += spent
            self.total += spent
        self.reading = event.paths[0] if event.action is ActionType.READ and event.paths else ""
        self.since = event.at
        if self.reading:
            kept = note(self.notes, self.reading)
            kept.mark(event.step)
            kept.name(self.reading)

    def found(self, session: str) -> list[Signal]:
        if len(self.notes) < 2:
            return []
        return [
            signal(self.name, session, path, kept)
            for path, kept in self.notes.items()
            if kept.measure >= gate.DWELL_SECONDS
            and kept.measure >= gate.DWELL_TIMES * (self.total - kept.measure) / (len(self.notes) - 1)
        ]
