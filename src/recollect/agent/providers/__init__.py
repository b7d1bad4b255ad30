"""Memory providers: what an agent loop asks for the messages to begin a turn with, and tells each turn when it ended.

The loop knows this protocol only. It keeps every turn in the operational store itself, whichever provider is chosen.
Third parties register a function from `ProviderContext` to a provider under the entry-point group
`recollect.providers`; `recollect.testing.providers` has the suite that says whether it keeps the promises below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from recollect.core.conversations import ChatMessage, Turn, Waking

if TYPE_CHECKING:
    from recollect.dialogue.context import DialogueContext
    from recollect.dialogue.tools import Tool
    from recollect.recall.reader import Reader
    from recollect.remember.writer import Writer
    from recollect.store.sessions import Sessions
    from recollect.store.turns import Turns, WorkingMemory


class MemoryProvider(Protocol):
    """What an agent remembers with. May raise: the loop notes it on the turn and goes on without memory."""

    @property
    def name(self) -> str: ...

    def init(self) -> None:
        """Make ready; called once, before anything else."""
        ...

    def on_wake(self, waking: Waking) -> None:
        """A session begins, or goes on."""
        ...

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        """What to put before the next message, oldest first; `hint` is that message."""
        ...

    def save_turn(self, turn: Turn) -> None:
        """A turn has ended, well or not. The operational store has it already; the same turn twice changes nothing."""
        ...

    def turn_count(self) -> int:
        """How many turns the session has."""
        ...

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        """The last turns of the session, oldest of them first."""
        ...

    def on_sleep(self) -> None:
        """The session pauses; it may be woken again."""
        ...

    def close(self) -> None:
        """Let go of everything. The store it was given is its owner's to close."""
        ...


@runtime_checkable
class WorkingMemoryProvider(Protocol):
    """A provider that also keeps a few things in mind for the system prompt."""

    def working_memory(self) -> str | None:
        """What is kept in mind now, in any form; the loop makes it harmless and cuts it."""
        ...


@runtime_checkable
class ToolProvider(Protocol):
    """A provider that also has tools for the agent."""

    def tools(self) -> Sequence[Tool]: ...


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What a provider may use. `memory.chats.context()` makes one."""

    reader: Reader
    writer: Writer
    turns: Turns  # the operational store, which the loop writes
    working: WorkingMemory
    sessions: Sessions
    dialogue: DialogueContext  # keeps messages as episodes and draws facts from them
    embed_waiting: Callable[[int], object] | None = None  # gives so many memories their vectors; none without a model
    options: Mapping[str, str] = field(default_factory=dict)


MakeProvider: TypeAlias = Callable[[ProviderContext], MemoryProvider]


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """A provider that can be chosen."""

    name: str
    does: str
    origin: str = "recollect"  # the package it comes from
