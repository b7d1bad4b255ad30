"""What a memory can be about: the closed list of kinds, and what each kind implies.

A kind decides the id's family, how confidence fades and which payload it carries. Only a methodology plugin may add
kinds, and only at wiring time, through `Kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from recollect.core.decay import NEVER, Decay, Exponential, HalfLife, Hourly
from recollect.core.errors import InvalidField, UnknownChoice


class Kind(StrEnum):
    """The kinds that ship."""

    GOTCHA = "gotcha"
    DECISION = "decision"
    PREFERENCE = "preference"
    PATTERN = "pattern"
    REQUIREMENT = "requirement"
    ERROR_PATTERN = "error_pattern"
    MODULE_INSIGHT = "module_insight"
    PREFETCH_PATTERN = "prefetch_pattern"
    WORK_STATE = "work_state"
    CAUSAL_DEPENDENCY = "causal_dependency"
    TASK_CALIBRATION = "task_calibration"
    E2E_OBSERVATION = "e2e_observation"
    DEAD_END = "dead_end"
    WORK_UNIT_OUTCOME = "work_unit_outcome"
    WORKFLOW_RECIPE = "workflow_recipe"
    CONTEXT_COST = "context_cost"
    EPISODE = "episode"
    FACT = "fact"
    REFLECTION = "reflection"
    PASSAGE = "passage"


# Names of older drafts, still understood on import and at the doors.
ALIASES = {"workflow": Kind.WORKFLOW_RECIPE}


@dataclass(frozen=True, slots=True)
class KindRule:
    """What one kind implies."""

    name: str
    family: str  # the prefix of its ids
    decay: Decay
    payload: str | None = None  # the name of its payload's shape, see `payloads`


_USUAL = HalfLife(90)  # days; kinds the design gives no figure of their own

_SHIPPED = (
    KindRule(Kind.GOTCHA, "mem", HalfLife(60)),
    KindRule(Kind.DECISION, "mem", NEVER),
    KindRule(Kind.PREFERENCE, "mem", _USUAL),
    KindRule(Kind.PATTERN, "mem", _USUAL),
    KindRule(Kind.REQUIREMENT, "mem", _USUAL),
    KindRule(Kind.ERROR_PATTERN, "mem", HalfLife(60)),
    KindRule(Kind.MODULE_INSIGHT, "mem", HalfLife(90)),
    KindRule(Kind.PREFETCH_PATTERN, "mem", _USUAL, "prefetch"),
    KindRule(Kind.WORK_STATE, "mem", HalfLife(7), "work_state"),
    KindRule(Kind.CAUSAL_DEPENDENCY, "mem", HalfLife(120)),
    KindRule(Kind.TASK_CALIBRATION, "mem", HalfLife(180), "calibration"),
    KindRule(Kind.E2E_OBSERVATION, "mem", HalfLife(30)),
    KindRule(Kind.DEAD_END, "mem", HalfLife(90), "dead_end"),
    KindRule(Kind.WORK_UNIT_OUTCOME, "mem", _USUAL),
    KindRule(Kind.WORKFLOW_RECIPE, "mem", HalfLife(120), "recipe"),
    KindRule(Kind.CONTEXT_COST, "mem", _USUAL),
    KindRule(Kind.EPISODE, "epi", NEVER),  # evidence: it fades from view by rank, not by doubt
    KindRule(Kind.FACT, "fact", Exponential(0.1)),
    KindRule(Kind.REFLECTION, "refl", NEVER),
    KindRule(Kind.PASSAGE, "pass", Hourly(0.995, floor=0.1)),
)


class Kinds:
    """The kinds one store knows: those that ship and those its methodology plugins add."""

    def __init__(self, added: Iterable[KindRule] = ()) -> None:
        self._rules = {str(rule.name): rule for rule in _SHIPPED}
        for rule in added:
            if rule.name in self._rules:
                raise InvalidField("kind", f"{rule.name!r} is already defined, a plugin cannot redefine it")
            self._rules[rule.name] = rule

    def rule(self, name: str) -> KindRule:
        """The rule for `name`; an unknown kind is an error that lists the known ones."""
        found = self._rules.get(ALIASES.get(name, name))
        if found is None:
            raise UnknownChoice("kind", name, self._rules)
        return found

    def __iter__(self) -> Iterator[KindRule]:
        return iter(self._rules.values())
