"""step_overrun: the session took half as many steps again as its plan led one to expect, or more.

A plan is the longest list of items the agent wrote down; an item is expected to take a fixed number of steps until
calibration knows better. The measure is steps taken over steps expected. Without a plan there is nothing to overrun.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal


@dataclass(slots=True)
class StepOverrun:
    name: ClassVar[str] = "step_overrun"
    notes: dict[str, Note] = field(default_factory=dict)
    listed: int = 0
    added: int = 0
    begun: int = -1
    last: int = 0

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        self.last = max(self.last, event.step)
        if event.action is ActionType.PLAN and event.planned:
            self.begun = event.step if self.begun < 0 else self.begun
            if event.planned == 1:
                self.added += 1
            self.listed = max(self.listed, event.planned)

    def found(self, session: str) -> list[Signal]:
        planned = max(self.listed, self.added)
        if not planned:
            return []
        taken, expected = self.last - self.begun + 1, planned * gate.PLANNED_STEPS
        if taken < gate.OVERRUN * expected:
            return []
        return [
            Signal(
                name=self.name,
                session=session,
                subject=f"{planned} planned",
                steps=(self.begun, self.last),
                count=1,
                words=(f"{planned} items planned, {taken} steps taken",),
                measure=round(taken / expected, 3),
            )
        ]
