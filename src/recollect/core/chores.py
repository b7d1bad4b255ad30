"""What maintenance is made of: a plan, an budget, and what came of it. Values only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.core.ports import quiet


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a chore would do, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a chore would do now. `total` counts what waits in all; the steps may be only the next of them."""

    chore: str
    steps: tuple[Step, ...] = ()
    total: int = 0
    note: str = ""

    def __bool__(self) -> bool:
        return self.total > 0


@dataclass(frozen=True, slots=True)
class Done:
    """What a chore did, what still waits, and what a person should know about it."""

    chore: str
    done: int = 0
    waiting: int = 0
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False


@dataclass(slots=True)
class WorkBudget:
    """How much a run may do and how long it may take. A chore asks before each step and stops when it is used up."""

    most: int | None = None
    ends: float | None = None  # on the monotonic clock
    progress: Callable[[int, int], None] = quiet
    clock: Callable[[], float] = time.monotonic
    taken: int = 0

    @property
    def left(self) -> int | None:
        """How many steps are left; nothing when they are not counted."""
        return None if self.most is None else max(0, self.most - self.taken)

    @property
    def seconds(self) -> float | None:
        return None if self.ends is None else max(0.0, self.ends - self.clock())

    def allows(self) -> bool:
        return self.left != 0 and (self.ends is None or self.clock() < self.ends)

    def take(self, steps: int = 1) -> None:
        self.taken += steps
