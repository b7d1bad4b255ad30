"""backtrack: a file was edited again within five steps, and something in between says why.

A failure in between means a wrong assumption, reading or searching means missing context, an edit elsewhere a
cascading change. Edits that follow each other with nothing in between are one change in several parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.signals.note import Note, Signal, note, signal

_LATELY = 12  # happenings that are remembered


@dataclass(slots=True)
class Backtrack:
    name: ClassVar[str] = "backtrack"
    notes: dict[str, Note] = field(default_factory=dict)
    edited: dict[str, int] = field(default_factory=dict)
    lately: list[tuple[int, str, str]] = field(default_factory=list)
    order: int = 0

    def see(self, event: Event) -> None:
        self.order += 1
        if isinstance(event, ToolResult) and event.error and not event.rejected:
            self._happened("wrong assumption", "")
        elif isinstance(event, ToolCall) and event.action in (ActionType.READ, ActionType.SEARCH):
            self._happened("missing context", event.paths[0] if event.paths else "")
        elif isinstance(event, ToolCall) and event.action is ActionType.EDIT:
            for path in event.paths:
                self._edit(path, event.step)
                self._happened("cascading change", path)

    def _happened(self, cause: str, path: str) -> None:
        self.lately = [*self.lately, (self.order, cause, path)][-_LATELY:]

    def _edit(self, path: str, step: int) -> None:
        kept = note(self.notes, path)
        since = self.edited.pop(path, None)
        if since is not None and 0 <= step - kept.last <= gate.REEDIT:
            between = [(cause, other) for order, cause, other in self.lately if order > since and other != path]
            causes = {cause for cause, _ in between}
            for cause in ("wrong assumption", "missing context", "cascading change"):
                if cause in causes:
                    kept.mark(step)
                    kept.name(path, *(other for named, other in between if named == cause and other))
                    kept.hunch = cause
                    break
        kept.last = step
        self.edited[path] = self.order
        if len(self.edited) > _LATELY:
            del self.edited[next(iter(self.edited))]

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, path, kept) for path, kept in self.notes.items() if kept.count]
