"""The rules: what the signals of a session, held against the sessions before it, may mean. Each yields hunches.

A rule is here only when its sentence tells a stranger what to do, where and why. The other signals are observed and
counted, and become no memories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recollect.core.observed import Contribution
from recollect.observer.history import History
from recollect.observer.hunch import Hunch
from recollect.observer.rules import said, troubles, work

Rule = Callable[[Contribution, History], Iterator[Hunch]]

RULES: tuple[Rule, ...] = (
    said.rules_and_corrections,
    troubles.refusals,
    troubles.misuse,
    troubles.missing_files,
    work.changed_together,
    work.prefetched,
)


def find_hunches(seen: Contribution, past: History) -> list[Hunch]:
    """Every hunch this session gives cause for, one of each finding."""
    found: dict[str, Hunch] = {}
    for rule in RULES:
        for hunch in rule(seen, past):
            found.setdefault(hunch.key, hunch)
    return list(found.values())
