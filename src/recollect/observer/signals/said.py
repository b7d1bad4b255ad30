"""The signal about what people say: their standing rules and their corrections of facts, in their own words.

An event only notes the words, within a bound; what they are is worked out when the signals are asked for. Words that a
tool printed before are the tool's, whoever pastes them; what looks like a mail, a chat, a quotation or the like is the
word of whoever wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer.events import Event, ToolResult, UserText
from recollect.observer.said import MAX_PROMPT_WORDS, KeptSaid, find_said, is_persons_prompt
from recollect.observer.signals.base import MAX_MARKS, Detector, Signal, make_room

_PROMPTS = 200  # of one session that are kept until it ends
_SESSION_CHARS = 60_000  # of them that are looked at then
_PROMPT_CHARS = 12 * MAX_PROMPT_WORDS  # what is longer is a document, and nothing of it is a rule
_REASON = "the user said:"  # opens, in the answer to a refused call, what the person said
_HOSTS_NOTE = "\n\nNote: "  # what a host adds to it
_PRINTED, _PRINTED_CHARS = 24, 2_000  # results that pasted words are looked for in, and characters of each
_RUN_WORDS, _RUN_CHARS = 4, 15  # in a row that two texts do not share by chance
_PASTED = "pasted from what a tool printed"
_OTHERS = "pasted or quoted, not the person's own words"
_ANSWERED = "told in the answer of a tool"  # any program can print what a host says of a refused call


@dataclass(slots=True)
class PersonSaid(Detector):
    """said: a person stated a rule that holds beyond this task, or corrected what an agent took for a fact.

    Prompts count; what another agent asks of a sub-agent and what a host puts in a person's place do not. The reason a
    person gives for refusing a call stands in a tool's answer, where any tool can write one: it is tainted. The subject
    is what was said, whole; the hunch its sort; the words its kind; the measure how sure it is.
    """

    name: ClassVar[str] = "said"
    prompts: dict[str, list[int]] = field(default_factory=dict)
    pasted: dict[str, list[str]] = field(default_factory=dict)  # runs of a prompt's words that a tool had printed
    hearsay: dict[str, str] = field(default_factory=dict)  # prompts that no person is known to have typed, and why
    printed: list[str] = field(default_factory=list)

    def see(self, event: Event) -> None:
        if isinstance(event, UserText):
            if not event.agent:
                self._note(event.text, event.step, event.hearsay)
        elif isinstance(event, ToolResult):
            if event.rejected and not event.agent:
                self._note(event.text.partition(_REASON)[2].partition(_HOSTS_NOTE)[0], event.step, _ANSWERED)
            else:
                self.printed = [*self.printed[1 - _PRINTED :], _plain(event.text[:_PRINTED_CHARS])]

    def _note(self, text: str, step: int, hearsay: str) -> None:
        if len(text) > _PROMPT_CHARS or not is_persons_prompt(text):
            return
        steps = self.prompts.get(text)
        if steps is None:
            make_room(self.prompts, _PROMPTS)
            steps = self.prompts[text] = []
            self.hearsay.pop(text, None)
            if hearsay:
                make_room(self.hearsay, _PROMPTS)
                self.hearsay[text] = hearsay
        elif not hearsay:
            self.hearsay.pop(text, None)  # a person said it as well
        if step not in steps and len(steps) < MAX_MARKS:
            steps.append(step)
        held = "\n".join(self.printed)
        if found := [run for run in _runs(text) if run in held]:
            make_room(self.pasted, _PROMPTS)
            self.pasted[text] = found

    def found(self, session: str) -> list[Signal]:
        signals: dict[str, Signal] = {}
        room = _SESSION_CHARS
        for prompt, steps in self.prompts.items():
            room -= len(prompt)
            for kept in find_said(prompt) if room >= 0 else ():
                signal = self._signal(session, prompt, steps, kept)
                if kept.text not in signals or (signals[kept.text].taint and not signal.taint):
                    signals[kept.text] = signal
        return list(signals.values())

    def _signal(self, session: str, prompt: str, steps: list[int], kept: KeptSaid) -> Signal:
        return Signal(
            name=self.name,
            session=session,
            subject=kept.text,
            steps=tuple(steps),
            count=len(steps),
            words=(str(kept.kind),),
            hunch=str(kept.sort),
            measure=float(kept.score),
            taint=self._taint(prompt, kept),
        )

    def _taint(self, prompt: str, kept: KeptSaid) -> str:
        words = _plain(kept.text)
        if any(run in words for run in self.pasted.get(prompt, ())):
            return _PASTED
        return _OTHERS if kept.pasted else self.hearsay.get(prompt, "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _runs(text: str) -> list[str]:
    """The words of a text, a few at a time: of a longer passage that was pasted at least one is whole."""
    words = _plain(text).split()
    runs = (" ".join(words[place : place + _RUN_WORDS]) for place in range(0, len(words) - _RUN_WORDS + 1, _RUN_WORDS))
    return [run for run in runs if len(run) >= _RUN_CHARS]
