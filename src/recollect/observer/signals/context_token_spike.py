"""context_token_spike: one answer filled the context: at least 8,000 tokens and four times the session's mean answer.

Sizes are estimated from characters. The subject is the tool with its file or command; the measure is the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.signals.note import KEY, Note, Signal, note, signal

_OPEN = 32  # calls whose answer is awaited


@dataclass(slots=True)
class ContextTokenSpike:
    name: ClassVar[str] = "context_token_spike"
    notes: dict[str, Note] = field(default_factory=dict)
    asked: dict[str, tuple[str, str]] = field(default_factory=dict)
    answers: int = 0
    mean: float = 0.0

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            if len(self.asked) >= _OPEN:
                del self.asked[next(iter(self.asked))]
            path = event.paths[0] if event.paths else ""
            self.asked[event.call_id] = (f"{event.tool} {path or event.subject}"[:KEY], path)
        elif isinstance(event, ToolResult):
            self._answered(event)

    def _answered(self, event: ToolResult) -> None:
        what, path = self.asked.pop(event.call_id, ("?", ""))
        tokens = event.size / gate.TOKEN
        if tokens >= gate.SPIKE_TOKENS and tokens >= gate.SPIKE_TIMES * self.mean:
            kept = note(self.notes, what)
            kept.mark(event.step)
            kept.measure = max(kept.measure, tokens)
            if path:
                kept.name(path)
        self.answers += 1
        self.mean += (tokens - self.mean) / self.answers

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, what, kept) for what, kept in self.notes.items()]
