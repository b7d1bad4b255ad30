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
        return tuple(relay for relay in self.relays if relay.target == stage and source in (None, relay.source))


# --- those that ship -------------------------------------------------------------------------------------------------


def native() -> Methodology:
    """A spec is planned, split into subtasks, coded, reviewed and fixed."""
    return Methodology(
        name="native",
        title="Specs and subtasks",
        phases={
            "planning": Phase.DEFINE,
            "spec": Phase.DEFINE,
            "coding": Phase.IMPLEMENT,
            "qa_review": Phase.VALIDATE,
            "qa_fix": Phase.REFINE,
            "debugging": Phase.REFINE,
            "insights": Phase.EXPLORE,
        },
        levels=("spec", "subtask"),
        relays=(
            Relay("planner", "coder"),
            Relay("coder", "qa_reviewer"),
            Relay("qa_reviewer", "qa_fixer", frozenset({"error_pattern", "requirement"})),
        ),
    )


def bmad() -> Methodology:
    """Analyst, product manager, architect, scrum master, developer and QA work through epics and stories."""
    return Methodology(
        name="bmad",
        title="BMAD (epics and stories)",
        phases={
            "analysis": Phase.EXPLORE,
            "brief": Phase.EXPLORE,
            "prd": Phase.DEFINE,
            "architecture": Phase.DEFINE,
            "epic": Phase.DEFINE,
            "story": Phase.DEFINE,
            "development": Phase.IMPLEMENT,
            "dev": Phase.IMPLEMENT,
            "review": Phase.VALIDATE,
            "qa": Phase.VALIDATE,
            "acceptance": Phase.VALIDATE,
            "course_correction": Phase.REFINE,
            "fix": Phase.REFINE,
            "retrospective": Phase.REFLECT,
        },
        levels=("epic", "story", "task"),
        relays=(
            Relay("analyst", "pm"),
            Relay("pm", "architect", frozenset({"requirement", "decision", "preference"})),
            Relay("architect", "sm", frozenset({"decision", "pattern", "requirement"})),
            Relay("sm", "dev"),
            Relay("dev", "qa"),
            Relay("qa", "dev", frozenset({"error_pattern", "requirement", "e2e_observation"})),
        ),
    )


def tdd() -> Methodology:
    """Test-driven: red (say what should hold), green (make it hold), refactor (make it good)."""
    return Methodology(
        name="tdd",
        title="Test-driven development",
        phases={
            "red": Phase.DEFINE,
            "write_test": Phase.DEFINE,
            "green": Phase.IMPLEMENT,
            "make_pass": Phase.IMPLEMENT,
            "run_tests": Phase.VALIDATE,
            "refactor": Phase.REFINE,
            "spike": Phase.EXPLORE,
            "retro": Phase.REFLECT,
        },
        levels=("feature", "cycle"),
        relays=(
            Relay("red", "green", frozenset({"requirement", "gotcha", "dead_end"})),
            Relay("green", "refactor", frozenset({"pattern", "gotcha", "causal_dependency"})),
            Relay("refactor", "red"),
        ),
    )
