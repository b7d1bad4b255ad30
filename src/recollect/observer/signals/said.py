"""The signal about what people say: their standing rules and their corrections of facts, in their own words.

An event only notes the words, within a bound; what they are is worked out when the signals are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer.events import Event, ToolResult, UserText
from recollect.observer.said import MAX_PROMPT_WORDS, find_said, is_persons_prompt
from recollect.observer.signals.base import MAX_MARKS, Detector, Signal, make_room

_PROMPTS = 200  # of one session that are kept until it ends
_SESSION_CHARS = 60_000  # of them that are looked at then
_PROMPT_CHARS = 12 * MAX_PROMPT_WORDS  # what is longer is a document, and nothing of it is a rule
_REASON = "the user said:"  # opens, in the answer to a refused call, what the person said
_HOSTS_NOTE = "\n\nNote: "  # what a host adds to it


@dataclass(slots=True)
class PersonSaid(Detector):
    """said: a person stated a rule that holds beyond this task, or corrected what an agent took for a fact.

    Prompts count, and the reason a person gives for refusing a call; what another agent asks of a sub-agent and what a
    host puts in a person's place do not. The subject is what was said, whole; the hunch its sort; the words its kind;
    the measure how sure it is.
    """

    name: ClassVar[str] = "said"
    prompts: dict[str, list[int]] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, UserText) and not event.agent:
            self._note(event.text, event.step)
        elif isinstance(event, ToolResult) and event.rejected and not event.agent:
            _, told, reason = event.text.partition(_REASON)
            if told:
                self._note(reason.partition(_HOSTS_NOTE)[0], event.step)

    def _note(self, text: str, step: int) -> None:
        if len(text) > _PROMPT_CHARS or not is_persons_prompt(text):
            return
        steps = self.prompts.get(text)
        if steps is None:
            make_room(self.prompts, _PROMPTS)
            steps = self.prompts[text] = []
        if step not in steps and len(steps) < MAX_MARKS:
            steps.append(step)

    def found(self, session: str) -> list[Signal]:
        signals: dict[str, Signal] = {}
        room = _SESSION_CHARS
        for prompt, steps in self.prompts.items():
            room -= len(prompt)
            for kept in find_said(prompt) if room >= 0 else ():
                signals.setdefault(
                    kept.text,
                    Signal(
                        name=self.name,
                        session=session,
                        subject=kept.text,
                        steps=tuple(steps),
                        count=len(steps),
                        words=(str(kept.kind),),
                        hunch=str(kept.sort),
                        measure=float(kept.score),
                    ),
                )
        return list(signals.values())
