"""Methodologies: how a way of working names its phases and work units, in terms the rest of the house understands.

A plugin maps its phases onto the six universal ones, says which stage hands memories to which, formats what is handed
over, and may add kinds. Third parties register a function that returns a Methodology under the entry-point group
`recollect.methodologies`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.core.kinds import KindRule
from recollect.core.payloads import WorkState
from recollect.core.records import Memory, WorkUnit
from recollect.core.scope import Phase


@dataclass(frozen=True, slots=True)
class Relay:
    """One stage hands what it learnt to the next; only some kinds, when they are named."""

    source: str
    target: str
    kinds: frozenset[str] = frozenset()

    def passes(self, memory: Memory) -> bool:
        return not self.kinds or memory.kind in self.kinds


def format_relay(memories: Sequence[Memory], stage: str) -> str:
    """What a stage is told of the one before it."""
    if not memories:
        return ""
    lines = "\n".join(f"- [{memory.kind}] {memory.content}" for memory in memories)
    return f"Handed to {stage}:\n{lines}"


def format_work_state(state: WorkState) -> str:
    """Where work stopped, in the order a person would tell it."""
    parts = [
        ("Done", "; ".join(state.completed)),
        ("In progress", state.in_progress),
        ("Next step", state.next_step),
        ("Decided", "; ".join(state.key_decisions)),
    ]
    return "\n".join(f"{name}: {text}" for name, text in parts if text)


@dataclass(frozen=True, slots=True)
class Methodology:
    """One way of working."""

    name: str
    title: str
    phases: Mapping[str, Phase]
    levels: tuple[str, ...]  # names of the work unit's hierarchy, outermost first
    relays: tuple[Relay, ...] = ()
    kinds: tuple[KindRule, ...] = ()
    otherwise: Phase = Phase.EXPLORE  # the phase of a name nobody mapped
    relay_text: Callable[[Sequence[Memory], str], str] = field(default=format_relay)
    work_state_text: Callable[[WorkState], str] = field(default=format_work_state)

    def phase(self, name: str) -> Phase:
        """The universal phase that this methodology's `name` stands for."""
        return self.phases.get(name.lower(), self.otherwise)

    def work_unit(self, **context: str | None) -> WorkUnit | None:
        """The work unit a context names, by the levels it fills from the outside in; nothing when it names none."""
        named = [(level, value) for level in self.levels if (value := context.get(level))]
        if not named:
            return None
        label = " / ".join(f"{level.replace('_', ' ').capitalize()} {value}" for level, value in named)
        return WorkUnit(self.name, tuple(value for _, value in named), label)

    def relays_to(self, stage: str, source: str | None = None) -> tuple[Relay, ...]:
        """The transitions that end in a stage; from one other stage when it is named."""
        return tuple(one for one in self.relays if one.target == stage and source in (None, one.source))
