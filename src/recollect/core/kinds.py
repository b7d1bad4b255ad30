"""What a memory can be about: the closed list of kinds, and what each kind implies.

A kind decides the id's family, how confidence fades and which payload it carries. Only a methodology plugin may add
kinds, and only at wiring time, through `Kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from recollect.core.decay import Decay, decay_of_kind
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


EVIDENCE = frozenset({Kind.EPISODE, Kind.PASSAGE})  # kept as it came: nobody reviews it or uses it up

# Names of older drafts, still understood on import and at the doors.
ALIASES = {"workflow": Kind.WORKFLOW_RECIPE}


@dataclass(frozen=True, slots=True)
class KindRule:
    """What one kind implies."""

    name: str
    family: str  # the prefix of its ids
    decay: Decay
    payload: str | None = None  # the name of its payload's shape, see `payloads`


def _rule(kind: Kind, family: str, payload: str | None = None) -> KindRule:
    return KindRule(kind, family, decay_of_kind(kind), payload)


_SHIPPED = (
    _rule(Kind.GOTCHA, "mem"),
    _rule(Kind.DECISION, "mem"),
    _rule(Kind.PREFERENCE, "mem"),
    _rule(Kind.PATTERN, "mem"),
    _rule(Kind.REQUIREMENT, "mem"),
    _rule(Kind.ERROR_PATTERN, "mem"),
    _rule(Kind.MODULE_INSIGHT, "mem"),
    _rule(Kind.PREFETCH_PATTERN, "mem", "prefetch"),
    _rule(Kind.WORK_STATE, "mem", "work_state"),
    _rule(Kind.CAUSAL_DEPENDENCY, "mem"),
    _rule(Kind.TASK_CALIBRATION, "mem", "calibration"),
    _rule(Kind.E2E_OBSERVATION, "mem"),
    _rule(Kind.DEAD_END, "mem", "dead_end"),
    _rule(Kind.WORK_UNIT_OUTCOME, "mem"),
    _rule(Kind.WORKFLOW_RECIPE, "mem", "recipe"),
    _rule(Kind.CONTEXT_COST, "mem"),
    _rule(Kind.EPISODE, "epi"),
    _rule(Kind.FACT, "fact"),
    _rule(Kind.REFLECTION, "refl"),
    _rule(Kind.PASSAGE, "pass"),
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
