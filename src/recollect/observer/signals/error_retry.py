"""error_retry: a tool failed and was tried again, or failed twice in the same way.

Trying again means the same tool on the same file, or a command that begins alike, within five steps. When a try
succeeds, its command or file is kept as what resolved it. A refusal by a person is no error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.fingerprint import fingerprint
from recollect.observer.signals.note import KEY, Note, Signal, note, signal
from recollect.observer.tool_calls import command_words

_OPEN = 32  # calls whose answer is awaited, and failures whose retry is


@dataclass(slots=True)
class ErrorRetry:
    name: ClassVar[str] = "error_retry"
    notes: dict[str, Note] = field(default_factory=dict)
    asked: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    failed: dict[str, tuple[int, str]] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult) and event.call_id in self.asked and not event.rejected:
            like, what, path = self.asked.pop(event.call_id)
            if event.error:
                self._error(event, like, path)
            elif like in self.failed:
                _, key = self.failed.pop(like)
                if key in self.notes and self.notes[key].measure:
                    self.notes[key].say(f"resolved by {what}")
                    self.notes[key].hunch = "resolved"

    def _called(self, event: ToolCall) -> None:
        path = event.paths[0] if event.paths else ""
        like = f"{event.tool} {path or ' '.join(command_words(event.subject)[:2])}"[:KEY]
        if like in self.failed:
            step, key = self.failed[like]
            if event.step - step > gate.RETRY:
                del self.failed[like]
            elif key in self.notes:
                self.notes[key].measure += 1
        _bound(self.asked)
        self.asked[event.call_id] = (like, f"{event.tool} {path or event.subject}"[:KEY], path)

    def _error(self, event: ToolResult, like: str, path: str) -> None:
        seen = fingerprint(event.text)
        tool = like.split(" ", 1)[0]
        key = f"{tool}: {seen.shape}"[:KEY]
        kept = note(self.notes, key)
        kept.mark(event.step)
        kept.say(seen.line)
        kept.hunch = "unresolved"
        if path:
            kept.name(path)
        self.failed.pop(like, None)
        _bound(self.failed)
        self.failed[like] = (event.step, key)

    def found(self, session: str) -> list[Signal]:
        return [
            signal(self.name, session, key, kept) for key, kept in self.notes.items() if kept.count > 1 or kept.measure
        ]


def _bound(waiting: dict[str, tuple[str, str, str]] | dict[str, tuple[int, str]]) -> None:
    if len(waiting) >= _OPEN:
        del waiting[next(iter(waiting))]
