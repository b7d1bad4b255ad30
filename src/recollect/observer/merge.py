"""Merging what several agents of one session saw: alike findings become one, and what two saw needs fewer sessions.

Pure. Findings are alike when they are of one signal and their words overlap by more than a set share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.core.likeness import jaccard
from recollect.core.text import words
from recollect.observer import gate
from recollect.observer.signals.note import MARKS, Signal


@dataclass(frozen=True, slots=True)
class Merged:
    """A finding, and how many agents made it."""

    signal: Signal
    agents: int = 1


def merge(pads: Mapping[str, Sequence[Signal]]) -> list[Merged]:
    """The findings of every agent without their repetitions, in the order of the agents' names."""
    kept: list[tuple[Signal, frozenset[str], set[str]]] = []
    places: dict[str, list[int]] = {}  # where the findings of one signal stand, so that only like is compared with like
    for agent in sorted(pads):
        for found in pads[agent]:
            said = _said(found)
            alike = next((n for n in places.get(found.name, ()) if _alike(said, kept[n][1], found, kept[n][0])), None)
            if alike is None:
                places.setdefault(found.name, []).append(len(kept))
                kept.append((found, said, {agent}))
            else:
                known, words_, agents = kept[alike]
                kept[alike] = (_joined(known, found), words_, agents | {agent})
    return [Merged(signal, len(agents)) for signal, _, agents in kept]


def _said(found: Signal) -> frozenset[str]:
    return frozenset(words(found.subject))


def _alike(one: frozenset[str], other: frozenset[str], found: Signal, known: Signal) -> bool:
    """Files and commands must be the very same; sentences may differ in a few words."""
    if found.subject == known.subject:
        return True
    if found.name not in gate.SPOKEN:
        return False
    return jaccard(one, other) > gate.ALIKE


def _joined(known: Signal, found: Signal) -> Signal:
    return replace(
        known,
        steps=tuple(sorted({*known.steps, *found.steps}))[:MARKS],
        count=known.count + found.count,
        paths=tuple(dict.fromkeys((*known.paths, *found.paths)))[:MARKS],
        words=tuple(dict.fromkeys((*known.words, *found.words)))[:MARKS],
        hunch=known.hunch or found.hunch,
        measure=max(known.measure, found.measure),
        taint=known.taint or found.taint,
    )
