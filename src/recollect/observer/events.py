"""What an agent did, one event at a time, in the same few shapes whichever program told of it.

A `ToolCall` is the one type of a tool call from the hook to the signal. Events are values that nobody changes once
made; they know nothing of transcripts. Plain classes, because a hook process has no time for dataclasses.
"""

from __future__ import annotations

from enum import StrEnum


class ActionType(StrEnum):
    """What a tool call does to the project, whatever its host calls the tool."""

    READ = "read"
    EDIT = "edit"
    SEARCH = "search"
    LIST = "list"
    RUN = "run"
    PLAN = "plan"
    EXTERNAL = "external"
    OTHER = "other"


class Outcome(StrEnum):
    """How a session ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"
    UNKNOWN = "unknown"


class Value:
    """A plain class that is equal to another when its parts are, the slots of its bases included."""

    __slots__: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls.parts = (*cls.parts, *cls.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, part) == getattr(other, part) for part in self.parts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{part}={getattr(self, part)!r}' for part in self.parts)})"


class Event(Value):
    """One thing that happened: `id` is the same on every replay, `at` is seconds since 1970 where known."""

    __slots__ = ("agent", "at", "id", "session", "step")

    def __init__(self, *, id: str, session: str, step: int, at: float | None = None, agent: str = "") -> None:
        self.id = id
        self.session = session
        self.step = step
        self.at = at
        self.agent = agent


class ToolCall(Event):
    """A tool was asked for: `paths` are project files, `subject` its pattern, command or address.

    `changed` are the files it writes, moves or commits, `folder` is where a shell line begins. `call_id` is the host's
    name for the call, which its result repeats. `inside` is where a search looks, `planned` the items of a
    plan, `disk` what the disk, or the transcript so far, said of the call before it was made.
    """

    __slots__ = (
        "action",
        "call_id",
        "changed",
        "disk",
        "folder",
        "inside",
        "paths",
        "planned",
        "subject",
        "tool",
    )

    def __init__(
        self,
        *,
        tool: str,
        action: ActionType,
        paths: tuple[str, ...] = (),
        changed: tuple[str, ...] = (),
        folder: str = "",
        subject: str = "",
        inside: str = "",
        planned: int = 0,
        disk: str = "",
        call_id: str = "",
        id: str = "",
        session: str = "",
        step: int = 0,
        at: float | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.tool = tool
        self.action = action
        self.paths = paths
        self.changed = changed
        self.folder = folder
        self.subject = subject
        self.inside = inside
        self.planned = planned
        self.disk = disk
        self.call_id = call_id


class ToolResult(Event):
    """A tool answered. `text` is clipped, `size` is the whole length; `rejected` means a person said no."""

    __slots__ = ("call_id", "error", "rejected", "size", "text")

    def __init__(
        self,
        *,
        call_id: str,
        error: bool = False,
        rejected: bool = False,
        text: str = "",
        size: int = 0,
        id: str = "",
        session: str = "",
        step: int = 0,
        at: float | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.call_id = call_id
        self.error = error
        self.rejected = rejected
        self.text = text
        self.size = size


class Reasoning(Event):
    """What the agent said or thought."""

    __slots__ = ("text",)

    def __init__(
        self, *, text: str, id: str, session: str, step: int, at: float | None = None, agent: str = ""
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.text = text


class UserText(Event):
    """What a person said; `branch` is that of the work tree then, where the host tells.

    `hearsay` says why no person is known to have said it, where that is so.
    """

    __slots__ = ("branch", "hearsay", "text")

    def __init__(
        self,
        *,
        text: str,
        branch: str = "",
        hearsay: str = "",
        id: str,
        session: str,
        step: int,
        at: float | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.text = text
        self.branch = branch
        self.hearsay = hearsay


class StepComplete(Event):
    """A step ended; `tokens` is the size of the context then, where the host tells."""

    __slots__ = ("tokens",)

    def __init__(
        self,
        *,
        tokens: int | None = None,
        id: str,
        session: str,
        step: int,
        at: float | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.tokens = tokens


class SessionComplete(Event):
    """The session ended."""

    __slots__ = ("outcome",)

    def __init__(
        self,
        *,
        outcome: Outcome = Outcome.UNKNOWN,
        id: str,
        session: str,
        step: int,
        at: float | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(id=id, session=session, step=step, at=at, agent=agent)
        self.outcome = outcome


def identity(*parts: object) -> str:
    """An id made from what makes a thing that thing: the same parts give the same id on every replay."""
    from hashlib import blake2b  # a hook makes no ids and has no time for it

    joined = "\x1f".join(str(part) for part in parts).encode("utf-8", "replace")
    return blake2b(joined, digest_size=8).hexdigest()
