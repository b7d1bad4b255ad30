"""A hunch: an unproven reading of what was observed, on its way to becoming a memory. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.core.kinds import Kind
from recollect.observer import gate
from recollect.observer.events import identity

EVIDENCE = 20  # sightings a memory carries; the newest are kept


@dataclass(frozen=True, slots=True)
class Sighting:
    """One session in which it was seen, at which steps, by how many agents, and what tainted it."""

    session: str
    steps: tuple[int, ...] = ()
    taint: str = ""
    agents: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunch:
    """What a memory would say, and everything that speaks for it. The newest sighting is last."""

    signal: str
    subject: str  # what recurs: two hunches of one signal and subject are the same
    kind: Kind
    text: str
    sightings: tuple[Sighting, ...]
    files: tuple[str, ...] = ()
    strength: float = 1.0  # share of the occasions on which it held
    spoken: bool = False  # a person said it
    least: int | None = None  # sessions it takes, where the signal's own number does not fit
    trigger: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] | None = None
    borne_out: bool = False  # another, weaker signal agrees

    @property
    def key(self) -> str:
        """The same for the same finding, whatever words it is told in."""
        return identity(self.signal, self.kind, self.subject)

    @property
    def needed(self) -> int:
        """How many sessions it takes; half as many for what two agents of one session saw."""
        needed = gate.GRADES[self.signal].sessions if self.least is None else self.least
        return max(1, (needed + 1) // 2) if any(one.agents > 1 for one in self.sightings) else needed

    @property
    def clean(self) -> tuple[Sighting, ...]:
        """The sightings that nothing from outside had touched."""
        return tuple(one for one in self.sightings if not one.taint)

    @property
    def taint(self) -> str:
        return next((one.taint for one in reversed(self.sightings) if one.taint), "")

    def evidence(self) -> list[dict[str, Any]]:
        """Where it was seen, as a memory carries it."""
        return [{"session": one.session, "steps": list(one.steps)} for one in self.sightings[-EVIDENCE:]]


def tag_of(signal: str) -> str:
    """The tag by which memories of one signal are found."""
    return f"observed:{signal}"
