"""What a session adds to the statistics, gathered event by event: files, pairs, troubles, calls, sequences.

Constant work per event, bounded in size, and it never raises on odd events. Texts are cleaned of secrets once, at the
end, when the contribution is made.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

from recollect.core.likeness import jaccard
from recollect.core.observed import CallsSeen, Contribution, ErrorSeen, FileSeen, PairSeen, SequenceSeen, SignalSeen
from recollect.core.tokens import CHARS_PER_TOKEN
from recollect.observer import policy
from recollect.observer.commands import CommandRecorder, find_missing_program, stands_in
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult, UserText
from recollect.observer.language import fingerprint, is_request
from recollect.observer.signals.base import make_room
from recollect.observer.signals.work import label_call
from recollect.observer.tool_calls import command_name, command_words, describe_failure, is_shell
from recollect.privacy.scan import redact

FILES, PAIRS, TROUBLES, CALLS, SEQUENCES = 2_000, 4_000, 400, 400, 400  # of each that one session may add
PROMPT = 4_000  # characters of the first prompt that are kept
_LATELY = 8  # files that are remembered as touched lately
_OPEN = 32  # calls whose answer is awaited, and troubles whose remedy is
_BETWEEN = 3  # actions between a failure and its remedy that are told
_SUBJECT = 160  # characters of a command in a remedy
_STEPS = 12
THEN = " → "  # stands in a remedy between two actions
SAME_FILE = "<file>"  # stands in a remedy for the file that failed


def module_of(path: str) -> str:
    """The folder a file stands in, ending in a slash; the root is `./`."""
    return f"{posixpath.dirname(path) or '.'}/"


@dataclass(slots=True)
class _File:
    first: int
    last: int
    reads: int = 0
    edits: int = 0


@dataclass(slots=True)
class _Pair:
    forward: int = 0
    backward: int = 0
    steps: float = 0.0
    seconds: float = 0.0

    def add(self, *, forward: bool, steps: int, seconds: float) -> None:
        self.forward += forward
        self.backward += not forward
        total = self.forward + self.backward
        self.steps += (steps - self.steps) / total
        self.seconds += (seconds - self.seconds) / total


@dataclass(slots=True)
class _Trouble:
    shape: str
    example: str
    times: int = 0
    steps: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A trouble whose remedy is awaited, and what went well since; `unrunnable` is a line whose program is missing."""

    key: tuple[str, str, str]
    step: int
    command: frozenset[str] = frozenset()
    unrunnable: str = ""
    actions: tuple[str, ...] = ()


class Recorder:
    """Gathers what one session adds. Feed it every event once, in any order."""

    def __init__(self) -> None:
        self.prompt = ""
        self.started: float | None = None
        self.ended: float | None = None
        self.steps = self.calls = self.errors = self.tokens = self.planned = 0
        self.agents: dict[str, None] = {}
        self._files: dict[str, _File] = {}
        self._lately: dict[str, tuple[int, float]] = {}
        self._pairs: dict[tuple[str, str], _Pair] = {}
        self._asked: dict[str, ToolCall] = {}
        self._troubles: dict[tuple[str, str, str], _Trouble] = {}
        self._waiting: dict[tuple[str, str], _Awaited] = {}
        self._counts: dict[tuple[str, str], list[int]] = {}
        self._tools: list[str] = []
        self._sequences: Counter[str] = Counter()
        self._commands = CommandRecorder()

    def see(self, event: Event) -> None:
        """Take one event in."""
        if event.at is not None:
            self.started = event.at if self.started is None else min(self.started, event.at)
            self.ended = event.at if self.ended is None else max(self.ended, event.at)
        self.steps = max(self.steps, event.step)
        if event.agent not in self.agents and len(self.agents) < _OPEN:
            self.agents[event.agent] = None
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult):
            self._answered(event)
        elif isinstance(event, UserText) and not is_request(self.prompt):
            self.prompt = event.text[:PROMPT] if is_request(event.text) else self.prompt or event.text[:PROMPT]

    # --- calls ------------------------------------------------------------------------------------------------------

    def _called(self, call: ToolCall) -> None:
        self.calls += 1
        self.planned = max(self.planned, call.planned)
        make_room(self._asked, _OPEN)
        self._asked[call.call_id] = call
        kind = _kind(call)
        if kind in self._counts or len(self._counts) < CALLS:
            self._counts.setdefault(kind, [0, 0])[0] += 1
        if call.action in (ActionType.READ, ActionType.EDIT):
            for path in call.paths[:_LATELY]:
                self._touched(path, call)
        for path in call.changed:
            self._changed(path, call.step)
        self._order(call)
        self._commands.called(call)

    def _used(self, path: str, step: int) -> _File | None:
        known = self._files.get(path)
        if known is None:
            if len(self._files) >= FILES:
                return None
            known = self._files[path] = _File(step, step)
        known.last = max(known.last, step)
        known.first = min(known.first, step)
        return known

    def _changed(self, path: str, step: int) -> None:
        """A file was written on the way of another thing; one that is only staged after its edit is not edited again.
        What is changed in bulk tells nothing of what belongs together."""
        known = self._files.get(path)
        if known is None or not known.edits:
            used = self._used(path, step)
            if used is not None:
                used.edits += 1

    def _touched(self, path: str, call: ToolCall) -> None:
        known = self._used(path, call.step)
        if known is None:
            return
        known.reads += call.action is ActionType.READ
        known.edits += call.action is ActionType.EDIT
        at = call.at or 0.0
        for other, (step, moment) in self._lately.items():
            if other != path and 0 <= call.step - step <= policy.TOGETHER_STEPS:
                self._together(other, path, call.step - step, max(0.0, at - moment))
        self._lately.pop(path, None)
        make_room(self._lately, _LATELY)
        self._lately[path] = (call.step, at)

    def _together(self, first: str, then: str, steps: int, seconds: float) -> None:
        key = (first, then) if first < then else (then, first)
        pair = self._pairs.get(key)
        if pair is None:
            if len(self._pairs) >= PAIRS:
                return
            pair = self._pairs[key] = _Pair()
        pair.add(forward=key[0] == first, steps=steps, seconds=seconds)

    def _order(self, call: ToolCall) -> None:
        if call.action is ActionType.PLAN:
            return
        self._tools = [*self._tools, label_call(call)][-policy.SEQUENCE :]
        if len(self._tools) == policy.SEQUENCE and len(set(self._tools)) >= policy.SEQUENCE_TOOLS:
            order = " → ".join(self._tools)
            if order in self._sequences or len(self._sequences) < SEQUENCES:
                self._sequences[order] += 1

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answered(self, answer: ToolResult) -> None:
        self.tokens += answer.size // CHARS_PER_TOKEN
        self._commands.answered(answer)
        call = self._asked.pop(answer.call_id, None)
        if call is None or answer.rejected:
            return
        if answer.error:
            self._failed(call, answer)
        else:
            self._went_well(call)

    def _failed(self, call: ToolCall, answer: ToolResult) -> None:
        self.errors += 1
        kind = _kind(call)
        if kind in self._counts:
            self._counts[kind][1] += 1
        seen = fingerprint(answer.text or describe_failure(call))
        key = (*kind, seen.key)
        trouble = self._troubles.get(key)
        if trouble is None:
            if len(self._troubles) >= TROUBLES:
                return
            trouble = self._troubles[key] = _Trouble(seen.shape, seen.line)
        trouble.times += 1
        if len(trouble.steps) < _STEPS:
            trouble.steps.append(answer.step)
        for path in call.paths:
            if path not in trouble.files and len(trouble.files) < _STEPS:
                trouble.files.append(path)
        make_room(self._waiting, _OPEN)
        words = command_words(call.subject) if is_shell(call.tool) else ()
        missing = bool(words) and bool(find_missing_program(seen.line, words[0]))
        self._waiting[_like(call)] = _Awaited(
            key, call.step, _command(call), unrunnable=call.subject if missing else ""
        )

    def _went_well(self, call: ToolCall) -> None:
        for like in [like for like, waiting in self._waiting.items() if _remedies(call, like, waiting)]:
            self._remedied(self._waiting.pop(like), call)
        for like, waiting in self._waiting.items():
            if len(waiting.actions) < _BETWEEN and call.action is not ActionType.PLAN:
                self._waiting[like] = replace(waiting, actions=(*waiting.actions, _describe_action(call)))

    def _remedied(self, done: _Awaited, call: ToolCall) -> None:
        trouble = self._troubles.get(done.key)
        if trouble is None or trouble.resolution or call.step - done.step > policy.REMEDY_STEPS:
            return
        file = call.paths[0] if call.paths and not done.command else ""
        actions = (
            (*done.actions, _describe_action(call))
            if not done.command or call.tool != done.key[0]
            else _commands(done, call)
        )
        trouble.resolution = THEN.join(
            dict.fromkeys(action.replace(file, SAME_FILE) if file else action for action in actions)
        )

    # --- what it amounts to -----------------------------------------------------------------------------------------

    def files(self) -> tuple[FileSeen, ...]:
        """The files, in the order they were first used."""
        ranked = sorted(self._files.items(), key=lambda item: (item[1].first, item[0]))
        return tuple(FileSeen(path=path, module=module_of(path), reads=one.reads, edits=one.edits,
                              first_step=one.first, last_step=one.last) for path, one in ranked)  # fmt: skip

    def pairs(self) -> tuple[PairSeen, ...]:
        return tuple(PairSeen(one=one, other=other, forward=pair.forward, backward=pair.backward,
                              steps=round(pair.steps, 3), seconds=round(pair.seconds, 3))
                     for (one, other), pair in sorted(self._pairs.items()))  # fmt: skip

    def troubles(self) -> tuple[ErrorSeen, ...]:
        """The errors, without secrets, each with its remedy where one was found."""
        return tuple(
            ErrorSeen(
                tool=tool,
                words=words,
                fingerprint=key,
                shape=safe(one.shape),
                example=safe(one.example),
                files=tuple(one.files),
                steps=tuple(one.steps),
                times=one.times,
                resolution=safe(one.resolution),
            )
            for (tool, words, key), one in sorted(self._troubles.items())
        )

    def counts(self) -> tuple[CallsSeen, ...]:
        return tuple(CallsSeen(tool=tool, words=words, times=times, errors=errors)
                     for (tool, words), (times, errors) in sorted(self._counts.items()))  # fmt: skip

    def commands(self) -> tuple[SignalSeen, ...]:
        """The commands that test, check, build and run the project, without secrets, as signals."""
        found = [
            replace(one, subject=safe(one.subject), words=tuple(map(safe, one.words)))
            for one in self._commands.signals()
        ]
        return tuple({one.subject: one for one in found}.values())

    def sequences(self) -> tuple[SequenceSeen, ...]:
        """Orders of tools that came more than once."""
        found = {safe(tools): times for tools, times in sorted(self._sequences.items()) if times > 1}
        return tuple(SequenceSeen(tools=tools, times=times) for tools, times in found.items())


def safe(text: str) -> str:
    """The text without secrets, and storable."""
    return redact(text.encode("utf-8", "replace").decode().replace("\0", "")).text


def screen_contribution(seen: Contribution) -> Contribution:
    """What a session adds, without secrets in any text of it: paths, words, names and examples."""
    return cast(Contribution, _screen_record(seen, {}))


def _screen_record(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, str):
        if value not in known:
            known[value] = redact(value).text
        return known[value]
    if isinstance(value, tuple):
        several = tuple(_screen_record(item, known) for item in value)
        return several if several != value else value
    if is_dataclass(value) and not isinstance(value, type):
        texts = {field.name: getattr(value, field.name) for field in fields(value)}
        safe = {name: _screen_record(item, known) for name, item in texts.items()}
        return value if safe == texts else replace(value, **safe)
    return value


def _kind(call: ToolCall) -> tuple[str, str]:
    return call.tool, command_name(call.subject) if is_shell(call.tool) and call.action is not ActionType.SEARCH else ""


def _like(call: ToolCall) -> tuple[str, str]:
    """What makes a later call another try of this one."""
    tool, words = _kind(call)
    return tool, words or (call.paths[0] if call.paths else call.subject[:_SUBJECT])


def _command(call: ToolCall) -> frozenset[str]:
    return (
        frozenset(command_words(call.subject))
        if is_shell(call.tool) and call.action is not ActionType.SEARCH
        else frozenset()
    )


def _remedies(call: ToolCall, like: tuple[str, str], waiting: _Awaited) -> bool:
    """The same thing going well; for a command also another that shares half of its words or more, or that stands in
    for one whose program is missing."""
    if _like(call) == like:
        return True
    words = _command(call) if waiting.command and call.tool == waiting.key[0] else frozenset()
    if len(words) > 1 and jaccard(words, waiting.command) >= policy.LIKE_COMMAND_OVERLAP:
        return True
    return bool(words and waiting.unrunnable) and stands_in(call.subject, waiting.unrunnable)


def _commands(done: _Awaited, call: ToolCall) -> tuple[str, ...]:
    """What was run between a failed command and the one that went well; what was read on the way is left out."""
    ran = [action for action in done.actions if action.startswith(f"{call.tool} ")]
    edited = [action for action in done.actions if action not in ran and action.split(" ", 1)[0] in ("Edit", "Write")]
    return (*edited, *ran, _describe_action(call))


def _describe_action(call: ToolCall) -> str:
    what = call.paths[0] if call.paths and not is_shell(call.tool) else call.subject[:_SUBJECT]
    return f"{call.tool} {what}".strip()
