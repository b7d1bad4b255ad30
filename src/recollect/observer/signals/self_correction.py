"""self_correction: somebody said that what was done or believed was wrong.

The agent corrected itself or called an approach a dead end, a person corrected it, or a person refused a tool call;
the last two are the strongest there is. The files touched just before are what it was about; a refusal keeps the reason
that was given, a dead end what had failed just before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import Event, Reasoning, ToolCall, ToolResult, UserText
from recollect.observer.fingerprint import telling_line
from recollect.observer.language import Said, Turn, agent_turn, opening, user_turn
from recollect.observer.signals.note import KEY, Note, Signal, note, signal

_ABOUT = 3  # files touched before the turn that it is taken to be about
_OPEN = 32  # calls whose answer is awaited
_REASON = "the user said:"
_INTERRUPTED = "[Request interrupted"  # the host's words, not the person's
FAILED = "after "  # opens the words that say what had failed before a dead end


@dataclass(slots=True)
class SelfCorrection:
    name: ClassVar[str] = "self_correction"
    notes: dict[str, Note] = field(default_factory=dict)
    about: list[str] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    begun: bool = False
    failed: str = ""
    failed_at: int = -1
    refused: str = ""

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult) and event.rejected:
            self._refused(event)
        elif isinstance(event, ToolResult) and event.error:
            self.failed = f"{self.asked.get(event.call_id, 'a call')}: {telling_line(event.text)}"[:KEY]
            self.failed_at = event.step
        elif isinstance(event, Reasoning):
            self._said(event.step, agent_turn(event.text))
        elif isinstance(event, UserText) and not event.text.lstrip().startswith(_INTERRUPTED):
            if self.refused in self.notes:
                self.notes[self.refused].say(opening(event.text))
                self.refused = ""
            elif self.begun:
                self._said(event.step, user_turn(event.text))
            self.begun = True

    def _refused(self, event: ToolResult) -> None:
        """The reason stands in the answer, or is the next thing the person says."""
        key = f"refused: {self.asked.get(event.call_id, 'a tool call')}"[:KEY]
        self._turned(event.step, key, "refused by a person")
        _, told, reason = event.text.partition(_REASON)
        if told:
            self.notes[key].say(opening(reason))
        self.refused = "" if told else key

    def _called(self, event: ToolCall) -> None:
        self.refused = ""
        for path in event.paths:
            if path in self.about:
                self.about.remove(path)
            self.about = [*self.about, path][-_ABOUT:]
        if len(self.asked) >= _OPEN:
            del self.asked[next(iter(self.asked))]
        self.asked[event.call_id] = f"{event.tool} {event.paths[0] if event.paths else event.subject}"[:KEY]

    def _said(self, step: int, said: Said | None) -> None:
        if said is not None:
            self._turned(step, said.sentence, str(said.turn))
            if said.turn is Turn.DEAD_END and 0 <= step - self.failed_at <= gate.RETRY:
                self.notes[said.sentence[:KEY]].say(f"{FAILED}{self.failed}")

    def _turned(self, step: int, sentence: str, hunch: str) -> None:
        kept = note(self.notes, sentence)
        kept.mark(step)
        kept.name(*self.about)
        kept.say(sentence)
        kept.hunch = hunch

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, sentence, kept) for sentence, kept in self.notes.items()]
