"""What every reader shares: parsing a line without raising, counting what was not understood, building events.

A transcript is somebody else's format and changes without notice, so every value is looked at before it is used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from recollect.observer.events import (
    Outcome,
    Reasoning,
    SessionComplete,
    StepComplete,
    ToolCall,
    ToolResult,
    UserText,
    identity,
)
from recollect.observer.readers.texts import ShownTexts
from recollect.observer.tool_calls import (
    RESULT_HEAD,
    RESULT_TAIL,
    TEXT_KEPT,
    answers_no,
    clip_middle,
    is_shell,
    judge_answer,
    read_tool_call,
)
from recollect.privacy.fence import own_words

MAX_LINE_CHARS = 64_000_000  # characters of one line; more is counted as broken
_KINDS_COUNTED = 200  # different unknown kinds that are counted by name
_SHORT_LINE, _LINES_KEPT = 1_000, 64  # characters of a shell line that may be a question, and how many are awaited
_EARLIEST, _MILLISECONDS = 0.0, 100_000_000_000.0
_LATEST = 7_258_118_400.0  # seconds since 1970: the year 2200, after which nothing has happened

Json = Mapping[str, Any]


@dataclass(slots=True)
class ReadingTally:
    """How a reading went: what was read, and what was not understood and skipped."""

    lines: int = 0
    events: int = 0
    broken: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def skip(self, kind: object) -> None:
        """Count something this reader does not know."""
        name = str(kind)[:80]
        self.unknown[name if name in self.unknown or len(self.unknown) < _KINDS_COUNTED else "…"] += 1


def read_objects(lines: Iterable[str], tally: ReadingTally) -> Iterator[Json]:
    """The JSON objects of a file of lines; anything else is counted and skipped."""
    for line in lines:
        if not line.strip():
            continue
        tally.lines += 1
        found = parse_json(line)
        if isinstance(found, dict):
            yield found
        else:
            tally.broken += 1


def parse_json(text: str) -> object:
    """The value a JSON text holds, or None when it holds none."""
    if len(text) > MAX_LINE_CHARS:
        return None
    try:
        value: object = json.loads(text)
        return _whole(value) if "\\u" in text else value
    except (ValueError, RecursionError):
        return None


def _whole(value: object) -> object:
    """The value without halves of characters, which JSON can spell and no text can hold."""
    text = json.dumps(value, ensure_ascii=False)
    plain = text.encode("utf-8", "replace").decode()
    return value if plain == text else json.loads(plain)


def table(value: object) -> Json:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: object) -> str:
    """A short name: text or a number as text, else nothing."""
    return str(value)[:200] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def prose(value: object) -> str:
    """Text however it is wrapped: plain, in blocks with a `text`, or in an object with a `content`."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (part if isinstance(part, str) else table(part).get("text") for part in value)
        return "\n".join(part for part in parts if isinstance(part, str))
    inner = table(value).get("content") or table(value).get("text")
    return inner if isinstance(inner, str) else ""


def seconds(value: object) -> float | None:
    """A moment as seconds since 1970, from ISO text, seconds or milliseconds; None when it is none of these."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not _EARLIEST <= value <= _LATEST * 1000:
            return None
        return value / 1000.0 if value > _MILLISECONDS else float(value)
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        told = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return told if _EARLIEST <= told <= _LATEST else None


@dataclass(slots=True)
class EventMaker:
    """Builds the events of one session with ids that are the same on every replay.

    What we told the agent is left out of what it said and saw: a memory must not become evidence of itself.
    `step` counts what the agent did, `root` makes paths relative, `folder` is where the shell stands, `key` is the
    transcript's own id where it has one.
    """

    session: str
    tally: ReadingTally
    root: str | None = None
    step: int = 0
    branch: str = ""
    folder: str = ""  # where the host's shell stands
    _nameless: int = 0
    _lines: dict[str, str] = field(default_factory=dict)  # short shell lines whose answer is awaited
    _shown: ShownTexts = field(default_factory=ShownTexts)

    def call(
        self, key: str, tool: str, arguments: object, *, at: float | None, agent: str = "", disk: str = ""
    ) -> ToolCall:
        self.tally.events += 1
        call = read_tool_call(tool, arguments, self.root, folder=self.folder, call_id=key, disk=disk,
                              id=self._id("call", key, at), session=self.session, step=self.step, at=at,
                              agent=agent)  # fmt: skip
        call.disk = disk or self._shown.look(call, arguments)
        if is_shell(tool) and isinstance(arguments, Mapping):
            line = arguments.get("command") or arguments.get("cmd")
            if isinstance(line, str) and len(line) <= _SHORT_LINE:
                if len(self._lines) >= _LINES_KEPT:
                    del self._lines[next(iter(self._lines))]
                self._lines[key] = line
        return call

    def result(
        self, key: str, text: str, *, error: bool, at: float | None, agent: str = "", size: int | None = None
    ) -> ToolResult:
        self.tally.events += 1
        text = own_words(text)
        error, rejected = judge_answer(text, error=error)
        line = self._lines.pop(key, "")
        error = error and not (line and answers_no(line, text))
        self._shown.answered(key, text, failed=error)
        return ToolResult(id=self._id("result", key, at), session=self.session, step=self.step, at=at, agent=agent,
                          call_id=key, error=error, rejected=rejected, text=clip_middle(text, RESULT_HEAD, RESULT_TAIL),
                          size=len(text) if size is None else size)  # fmt: skip

    def reasoning(self, key: str, text: str, *, at: float | None, agent: str = "") -> Iterator[Reasoning]:
        text = own_words(text)
        if text.strip():
            self.tally.events += 1
            yield Reasoning(id=self._id("reasoning", key or text, at), session=self.session, step=self.step, at=at,
                            agent=agent, text=clip_middle(text, TEXT_KEPT // 2, TEXT_KEPT // 2))  # fmt: skip

    def user(self, key: str, text: str, *, at: float | None, agent: str = "", hearsay: str = "") -> Iterator[UserText]:
        """What was asked; `agent` where not a person but an agent asks, of the agent of that name."""
        text = own_words(text)
        if text.strip():
            self.tally.events += 1
            yield UserText(id=self._id("user", key or text, at), session=self.session, step=self.step, at=at,
                           agent=agent, text=clip_middle(text, TEXT_KEPT // 2, TEXT_KEPT // 2),
                           branch=self.branch, hearsay=hearsay)  # fmt: skip

    def stepped(self, *, at: float | None, tokens: int | None = None) -> StepComplete:
        self.tally.events += 1
        return StepComplete(
            id=self._id("step", str(self.step), 0.0), session=self.session, step=self.step, at=at, tokens=tokens
        )

    def done(self, outcome: Outcome = Outcome.UNKNOWN, *, at: float | None = None) -> SessionComplete:
        self.tally.events += 1
        return SessionComplete(
            id=self._id("done", "", 0.0), session=self.session, step=self.step, at=at, outcome=outcome
        )

    def _id(self, kind: str, key: str, at: float | None) -> str:
        """A call and its answer are known by the call's name, whoever tells of them. Other things are by their moment,
        and without one by their place in the file."""
        if key and kind in ("call", "result"):
            return identity(self.session, kind, key)
        if at is None:
            self._nameless += 1
            return identity(self.session, kind, key, "place", self._nameless)
        return identity(self.session, kind, key, at)
