"""Signals about how work goes: corrections, failures and retries, tests, repeated rounds, plans, cost, look-ups.

Each detector says in its docstring what it looks for. Notes are bounded, an event costs constant time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.core.lazy import Lazy
from recollect.core.tokens import CHARS_PER_TOKEN
from recollect.observer import policy
from recollect.observer.events import ActionType, Event, Reasoning, ToolCall, ToolResult, UserText
from recollect.observer.language import (
    Correction,
    SaidWrong,
    find_agent_correction,
    fingerprint,
    telling_line,
)
from recollect.observer.signals.base import MAX_KEY_CHARS, Detector, Note, Signal, make_room, note_for
from recollect.observer.tool_calls import command_name, command_words

_ABOUT = 3  # files touched before the turn that it is taken to be about
_OPEN = 32  # calls whose answer is awaited
AFTER_FAILURE = "after "  # opens the words that say what had failed before a dead end


@dataclass(slots=True)
class SelfCorrection(Detector):
    """self_correction: what was done or believed was wrong.

    The agent corrected itself or called an approach a dead end, or a person refused a tool call. The files touched just
    before are what it was about; a dead end keeps what had failed just before. What people say is a signal of its own.
    """

    name: ClassVar[str] = "self_correction"
    about: list[str] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    failed: str = ""
    failed_at: int = -1

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult) and event.rejected:
            self._refused(event)
        elif isinstance(event, ToolResult) and event.error:
            self.failed = f"{self.asked.get(event.call_id, 'a call')}: {telling_line(event.text)}"[:MAX_KEY_CHARS]
            self.failed_at = event.step
        elif isinstance(event, Reasoning):
            self._said(event.step, find_agent_correction(event.text))

    def _refused(self, event: ToolResult) -> None:
        key = f"refused: {self.asked.get(event.call_id, 'a tool call')}"[:MAX_KEY_CHARS]
        self._turned(event.step, key, "refused by a person")

    def _called(self, event: ToolCall) -> None:
        for path in event.paths:
            if path in self.about:
                self.about.remove(path)
            self.about = [*self.about, path][-_ABOUT:]
        make_room(self.asked, _OPEN)
        self.asked[event.call_id] = f"{event.tool} {event.paths[0] if event.paths else event.subject}"[:MAX_KEY_CHARS]

    def _said(self, step: int, said: SaidWrong | None) -> None:
        if said is not None:
            self._turned(step, said.sentence, str(said.turn))
            if said.turn is Correction.DEAD_END and 0 <= step - self.failed_at <= policy.RETRY_STEPS:
                self.notes[said.sentence[:MAX_KEY_CHARS]].say(f"{AFTER_FAILURE}{self.failed}")

    def _turned(self, step: int, sentence: str, hunch: str) -> None:
        kept = note_for(self.notes, sentence)
        kept.mark(step)
        kept.name(*self.about)
        kept.say(sentence)
        kept.hunch = hunch


@dataclass(slots=True)
class ErrorRetry(Detector):
    """error_retry: a tool failed and was tried again, or failed twice in the same way.

    Trying again means the same tool on the same file, or a command that begins alike, within five steps. When a try
    succeeds, its command or file is kept as what resolved it. A refusal by a person is no error.
    """

    name: ClassVar[str] = "error_retry"
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
        like = f"{event.tool} {path or ' '.join(command_words(event.subject)[:2])}"[:MAX_KEY_CHARS]
        if like in self.failed:
            step, key = self.failed[like]
            if event.step - step > policy.RETRY_STEPS:
                del self.failed[like]
            elif key in self.notes:
                self.notes[key].measure += 1
        make_room(self.asked, _OPEN)
        self.asked[event.call_id] = (like, f"{event.tool} {path or event.subject}"[:MAX_KEY_CHARS], path)

    def _error(self, event: ToolResult, like: str, path: str) -> None:
        seen = fingerprint(event.text)
        tool = like.split(" ", 1)[0]
        key = f"{tool}: {seen.shape}"[:MAX_KEY_CHARS]
        kept = note_for(self.notes, key)
        kept.mark(event.step)
        kept.say(seen.line)
        kept.hunch = "unresolved"
        if path:
            kept.name(path)
        self.failed.pop(like, None)
        make_room(self.failed, _OPEN)
        self.failed[like] = (event.step, key)

    def is_signal(self, note: Note) -> bool:
        return bool(note.count > 1 or note.measure)


_TESTING = Lazy(
    r"\b(?:pytest|unittest|jest|vitest|rspec|phpunit|tox|nox|ctest|playwright|mocha|tests?(?::\w{1,20})?)\b"
)
_RUNNERS = frozenset(
    "go npm pnpm yarn bun cargo make mise just gradle gradlew mvn dotnet mix swift deno uv poetry python "
    "python3 node npx bunx bazel rake pytest jest vitest rspec tox nox ctest mocha phpunit".split()
)
_TEST_COMMAND_WORDS = 4  # words of a command that name it


@dataclass(slots=True)
class TestOrder(Detector):
    """test_order: one test command followed another, different one: the order in which this project is tested.

    The same command again is a rerun, not an order. A command that failed or was refused, or after which a person spoke
    up, was put right by the next one: that is no order either.
    """

    __test__: ClassVar[bool] = False
    name: ClassVar[str] = "test_order"
    before: str = ""
    call: str = ""

    def see(self, event: Event) -> None:
        if isinstance(event, UserText) or (
            isinstance(event, ToolResult) and event.call_id == self.call and event.error
        ):
            self.before = ""
        if not isinstance(event, ToolCall) or event.action is not ActionType.RUN:
            return
        command = test_command(event.subject)
        if not command:
            return
        if self.before and command != self.before:
            kept = note_for(self.notes, f"{self.before} → {command}")
            kept.mark(event.step)
        self.before, self.call = command, event.call_id


def test_command(command: str) -> str:
    """The test command in short, or nothing when the command runs no tests."""
    words = command_words(command)
    if (
        not words
        or words[0].rsplit("/", 1)[-1] not in _RUNNERS
        or not _TESTING.search(" ".join(words[:_TEST_COMMAND_WORDS]))
    ):
        return ""
    return " ".join(word for word in words if not word.startswith(("-", "2>", ">")))[:120]


@dataclass(slots=True)
class ToolSequence(Detector):
    """tool_sequence: the same four tools in the same order, three or more times in one session without overlap.

    A command counts by its name. Fewer than three different tools are no recipe.
    """

    name: ClassVar[str] = "tool_sequence"
    lately: list[str] = field(default_factory=list)
    calls: int = 0

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action is ActionType.PLAN:
            return
        self.calls += 1
        self.lately = [*self.lately, label_call(event)][-policy.SEQUENCE :]
        if len(self.lately) < policy.SEQUENCE or len(set(self.lately)) < policy.SEQUENCE_TOOLS:
            return
        kept = note_for(self.notes, " → ".join(self.lately))
        if kept.count == 0 or self.calls - kept.last >= policy.SEQUENCE:
            kept.mark(event.step)
            kept.last = self.calls

    def is_signal(self, note: Note) -> bool:
        return note.count >= policy.SEQUENCES


def label_call(event: ToolCall) -> str:
    """What a call is called in a sequence."""
    if event.action is ActionType.RUN:
        return f"run {command_name(event.subject)}"
    return str(event.action) if event.action is not ActionType.OTHER else event.tool


@dataclass(slots=True)
class StepOverrun(Detector):
    """step_overrun: the session took half as many steps again as its plan led one to expect, or more.

    A plan is the longest list of items the agent wrote down; an item is expected to take a fixed number of steps
    until calibration knows better. The measure is steps taken over steps expected. Without a plan there is nothing
    to overrun.
    """

    name: ClassVar[str] = "step_overrun"
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
        taken, expected = self.last - self.begun + 1, planned * policy.STEPS_PER_PLANNED_ITEM
        if taken < policy.OVERRUN_RATIO * expected:
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


@dataclass(slots=True)
class ContextTokenSpike(Detector):
    """context_token_spike: one answer filled the context: at least 8,000 tokens and four times the session's mean
    answer.

    Sizes are estimated from characters. The subject is the tool with its file or command; the measure is the
    tokens.
    """

    name: ClassVar[str] = "context_token_spike"
    asked: dict[str, tuple[str, str]] = field(default_factory=dict)
    answers: int = 0
    mean: float = 0.0

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            make_room(self.asked, _OPEN)
            path = event.paths[0] if event.paths else ""
            self.asked[event.call_id] = (f"{event.tool} {path or event.subject}"[:MAX_KEY_CHARS], path)
        elif isinstance(event, ToolResult):
            self._answered(event)

    def _answered(self, event: ToolResult) -> None:
        what, path = self.asked.pop(event.call_id, ("?", ""))
        tokens = event.size / CHARS_PER_TOKEN
        if tokens >= policy.SPIKE_TOKENS and tokens >= policy.SPIKE_RATIO * self.mean:
            kept = note_for(self.notes, what)
            kept.mark(event.step)
            kept.measure = max(kept.measure, tokens)
            if path:
                kept.name(path)
        self.answers += 1
        self.mean += (tokens - self.mean) / self.answers


_ADDRESS = Lazy(r"https?://[^\s\"'<>?#]{1,300}")
_LATELY = 4  # look-ups that wait for an edit


@dataclass(slots=True)
class ExternalReference(Detector):
    """external_reference: something outside the project was looked up, and a file was edited within ten steps.

    The subject is the address without its query, or the words searched; the files are those it helped with. A look-up
    that led to no edit is none.
    """

    name: ClassVar[str] = "external_reference"
    lately: dict[str, int] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action is ActionType.EXTERNAL and event.subject.strip():
            self.lately[_subject(event.subject)] = event.step
            if len(self.lately) > _LATELY:
                del self.lately[next(iter(self.lately))]
        elif event.action is ActionType.EDIT and event.paths:
            for subject, step in list(self.lately.items()):
                if event.step - step > policy.REFERENCE_REACH_STEPS:
                    del self.lately[subject]
                    continue
                kept = note_for(self.notes, subject)
                if kept.last != step:
                    kept.mark(step)
                kept.name(*event.paths)


def _subject(text: str) -> str:
    address = _ADDRESS.search(text)
    return address.group().rstrip("/.,)") if address else " ".join(text.casefold().split())
