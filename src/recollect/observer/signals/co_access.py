"""co_access: two files were touched within three steps of each other.

The pair has a direction, first touched to then touched; its measure is the mean time between, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal

_LATELY = 8  # files that are remembered as touched lately
ARROW = " → "


@dataclass(slots=True)
class CoAccess:
    name: ClassVar[str] = "co_access"
    notes: dict[str, Note] = field(default_factory=dict)
    lately: dict[str, tuple[int, float]] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action not in (ActionType.READ, ActionType.EDIT):
            return
        at = event.at or 0.0
        for path in event.paths[:_LATELY]:
            for other, (step, moment) in self.lately.items():
                if other != path and 0 <= event.step - step <= gate.TOGETHER:
                    self._pair(other, path, event.step, max(0.0, at - moment))
            self.lately.pop(path, None)
            self.lately[path] = (event.step, at)
            if len(self.lately) > _LATELY:
                del self.lately[next(iter(self.lately))]

    def _pair(self, first: str, then: str, step: int, gap: float) -> None:
        kept = note(self.notes, f"{first}{ARROW}{then}")
        kept.mark(step)
        kept.name(first, then)
        kept.measure += (gap - kept.measure) / kept.count

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, pair, kept) for pair, kept in self.notes.items()]
