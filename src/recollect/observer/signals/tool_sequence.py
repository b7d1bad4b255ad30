"""tool_sequence: the same four tools in the same order, three or more times in one session without overlap.

A command counts by its name. Fewer than three different tools are no recipe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal
from recollect.observer.tool_calls import command_name


@dataclass(slots=True)
class ToolSequence:
    name: ClassVar[str] = "tool_sequence"
    notes: dict[str, Note] = field(default_factory=dict)
    lately: list[str] = field(default_factory=list)
    calls: int = 0

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action is ActionType.PLAN:
            return
        self.calls += 1
        self.lately = [*self.lately, label(event)][-gate.SEQUENCE :]
        if len(self.lately) < gate.SEQUENCE or len(set(self.lately)) < gate.SEQUENCE_TOOLS:
            return
        kept = note(self.notes, " → ".join(self.lately))
        if kept.count == 0 or self.calls - kept.last >= gate.SEQUENCE:
            kept.mark(event.step)
            kept.last = self.calls

    def found(self, session: str) -> list[Signal]:
        return [
            signal(self.name, session, tools, kept)
            for tools, kept in self.notes.items()
            if kept.count >= gate.SEQUENCES
        ]


def label(event: ToolCall) -> str:
    """What a call is called in a sequence."""
    if event.action is ActionType.RUN:
        return f"run {command_name(event.subject)}"
    return str(event.action) if event.action is not ActionType.OTHER else event.tool
