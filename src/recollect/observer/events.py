"""What an agent did, one event at a time, in the same few shapes whichever program wrote the transcript.

Events are values: readers make them, detectors look at them, nobody changes them. They know nothing of transcripts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from recollect.observer.acts import Act as Act
from recollect.observer.answers import RESULT_HEAD as RESULT_HEAD
from recollect.observer.answers import RESULT_TAIL as RESULT_TAIL
from recollect.observer.answers import clipped as clipped

TEXT_KEPT = 8000  # characters of what was said; the lesson of a long text stands at its ends


class Outcome(StrEnum):
    """How a session ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened: `id` is the same on every replay, `at` is seconds since 1970 where known."""

    id: str
    session: str
    step: int
    at: float | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Event):
    """A tool was asked for: `paths` are project files, `subject` its pattern, command or address.

    `inside` is where a search looks, `shape` the look of the text an edit replaces, `disk` what the disk said of it
    before, where somebody looked.
    """

    call: str
    tool: str
    act: Act
    paths: tuple[str, ...] = ()
    subject: str = ""
    inside: str = ""
    shape: str = ""
    planned: int = 0
    disk: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(Event):
    """A tool answered. `text` is clipped, `size` is the whole length; `rejected` means a person said no."""

    call: str
    error: bool = False
    rejected: bool = False
    text: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(Event):
    """What the agent said or thought."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText(Event):
    """What a person said; `branch` is that of the work tree then, where the host tells."""

    text: str
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepComplete(Event):
    """A step ended; `tokens` is the size of the context then, where the host tells."""

    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionComplete(Event):
    """The session ended."""

    outcome: Outcome = Outcome.UNKNOWN


def identity(*parts: object) -> str:
    """The id of an event from what makes it that event: the same parts give the same id on every replay."""
    joined = "\x1f".join(str(part) for part in parts).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=8).hexdigest()
