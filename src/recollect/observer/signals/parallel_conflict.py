"""parallel_conflict: two agents of a session edited the same file, or a tool said it had changed underneath.

A file that one agent edits however often is no conflict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.signals.note import Note, Signal, note, signal

_SIGNS = (
    "modified since",
    "has been modified externally",
    "changed on disk",
    "conflict (content)",
    "merge conflict in",
    "unmerged paths",
    "index.lock",
)
_OPEN = 32  # calls whose answer is awaited


@dataclass(slots=True)
class ParallelConflict:
    name: ClassVar[str] = "parallel_conflict"
    notes: dict[str, Note] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult):
            target = self.asked.pop(event.call_id, "")
            opening = event.text[:2000].casefold() if event.error else ""
            sign = next((sign for sign in _SIGNS if sign in opening), None)
            if sign:
                kept = note(self.notes, target or sign)
                kept.mark(event.step)
                kept.hunch = "changed underneath"

    def _called(self, event: ToolCall) -> None:
        if len(self.asked) >= _OPEN:
            del self.asked[next(iter(self.asked))]
        self.asked[event.call_id] = event.paths[0] if event.paths else ""
        for path in event.paths if event.action is ActionType.EDIT else ():
            kept = note(self.notes, path)
            kept.mark(event.step)
            kept.name(path)
            kept.say(event.agent or "main")
            if len(kept.words) > 1 and not kept.hunch:
                kept.hunch = "edited by several agents"

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, key, kept) for key, kept in self.notes.items() if kept.hunch]
