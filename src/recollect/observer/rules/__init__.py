"""The rules: what the signals of a session, held against the sessions before it, may mean. Each yields hunches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from recollect.core.observed import Contribution
from recollect.observer.history import History
from recollect.observer.hunch import Hunch
from recollect.observer.rules import said, troubles, work

Rule = Callable[[Contribution, History], Iterator[Hunch]]

RULES: tuple[Rule, ...] = (
    said.rules_and_corrections,
    troubles.own_corrections,
    troubles.refusals,
    troubles.dead_ends,
    troubles.misuse,
    troubles.missing_files,
    work.changed_together,
    work.prefetched,
    work.hard_to_read,
    work.wrong_places,
    work.redone,
    work.settings,
    work.contested,
    work.chains,
    work.searched_for,
    work.order_of_tests,
    work.recipes,
    work.overruns,
    work.fruitless,
    work.large,
    work.looked_up,
)


def find_hunches(seen: Contribution, past: History) -> list[Hunch]:
    """Every hunch this session gives cause for, one of each finding."""
    found: dict[str, Hunch] = {}
    for rule in RULES:
        for hunch in rule(seen, past):
            found.setdefault(hunch.key, hunch)
    slow = {path for signal in seen.signals if signal.name == "time_anomaly" for path in signal.paths}
    return [replace(one, borne_out=not slow.isdisjoint(one.files)) for one in found.values()]
