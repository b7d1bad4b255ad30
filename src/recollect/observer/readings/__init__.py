"""Readings: what the signals of a session, held against the sessions before it, may mean. Each yields hunches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from recollect.core.observed import Contribution
from recollect.observer.hunch import Hunch
from recollect.observer.past import Past
from recollect.observer.readings import files, said, troubles, work

Reading = Callable[[Contribution, Past], Iterator[Hunch]]

READINGS: tuple[Reading, ...] = (
    said.corrections,
    said.refusals,
    said.dead_ends,
    troubles.misuse,
    troubles.missing_files,
    files.changed_together,
    files.prefetched,
    files.hard_to_read,
    files.wrong_places,
    files.redone,
    files.settings,
    files.contested,
    files.chains,
    work.searched_for,
    work.order_of_tests,
    work.recipes,
    work.overruns,
    work.fruitless,
    work.large,
    work.looked_up,
)


def hunches(seen: Contribution, past: Past) -> list[Hunch]:
    """Every hunch this session gives cause for, one of each finding."""
    found: dict[str, Hunch] = {}
    for reading in READINGS:
        for hunch in reading(seen, past):
            found.setdefault(hunch.key, hunch)
    slow = {path for one in seen.signals if one.name == "time_anomaly" for path in one.paths}
    return [replace(one, borne_out=not slow.isdisjoint(one.files)) for one in found.values()]
