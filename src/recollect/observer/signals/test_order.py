"""test_order: one test command followed another, different one: the order in which this project is tested.

The same command again is a rerun, not an order. The measure is the share of first commands that had failed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.core.lazy import Lazy
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.signals.note import Note, Signal, note, signal
from recollect.observer.tool_calls import command_words

_TESTING = Lazy(
    r"\b(?:pytest|unittest|jest|vitest|rspec|phpunit|tox|nox|ctest|playwright|mocha|tests?(?::\w{1,20})?)\b"
)
_RUNNERS = frozenset(
    "go npm pnpm yarn bun cargo make mise just gradle gradlew mvn dotnet mix swift deno uv poetry python "
    "python3 node npx bunx bazel rake pytest jest vitest rspec tox nox ctest mocha phpunit".split()
)
_NAMED = 4  # words of a command that name it


@dataclass(slots=True)
class TestOrder:
    __test__: ClassVar[bool] = False
    name: ClassVar[str] = "test_order"
    notes: dict[str, Note] = field(default_factory=dict)
    before: str = ""
    call: str = ""
    failed: bool = False

    def see(self, event: Event) -> None:
        if isinstance(event, ToolResult) and event.call_id == self.call:
            self.failed = event.error
        if not isinstance(event, ToolCall) or event.action is not ActionType.RUN:
            return
        command = tested(event.subject)
        if not command:
            return
        if self.before and command != self.before:
            kept = note(self.notes, f"{self.before} → {command}")
            kept.mark(event.step)
            kept.measure += (float(self.failed) - kept.measure) / kept.count
        self.before, self.call, self.failed = command, event.call_id, False

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, order, kept) for order, kept in self.notes.items()]


def tested(command: str) -> str:
    """The test command in short, or nothing when the command runs no tests."""
    words = command_words(command)
    if not words or words[0].rsplit("/", 1)[-1] not in _RUNNERS or not _TESTING.search(" ".join(words[:_NAMED])):
        return ""
    return " ".join(word for word in words if not word.startswith(("-", "2>", ">")))[:120]
