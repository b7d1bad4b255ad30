"""What each level of trust would have told: what agents were told lately, judged again at every level. Pure.

What a bolder level would have told beside it nobody wrote down; how many memories it may tell now is counted instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.agent.ingest import ToldMemory
from recollect.agent.injection import MOMENTS, NOT_SURE, find_objection
from recollect.agent.trust import LEVELS, THRESHOLDS
from recollect.core.kinds import EVIDENCE, Kind
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status
from recollect.core.summary import MemorySummary

MOST_TOLD = 5_000  # tellings that are looked at
_MOMENTS = {one.name: one for one in MOMENTS}


@dataclass(frozen=True, slots=True)
class LevelPreview:
    """One level: how sure a memory must be, how many may be told now, and what it would have made of what was told
    lately."""

    level: str
    threshold: float
    may_tell: int  # memories that are sure enough now
    told: int  # tellings that it would have let through
    withheld: tuple[ToldMemory, ...]  # those it would not, the latest first


@dataclass(frozen=True, slots=True)
class TrustPreview:
    """All levels, from the most careful to the boldest, beside how many memories and tellings there were."""

    days: int
    memories: int
    told: int
    levels: tuple[LevelPreview, ...]


def preview_levels(
    told: Sequence[ToldMemory], known: Mapping[str, MemorySummary], may_tell: Mapping[str, int]
) -> tuple[LevelPreview, ...]:
    """What each level makes of what was told, as the memories are now; of those that are gone no level withholds any.
    `may_tell` says how many memories each may tell."""
    found = []
    for level in LEVELS:
        withheld = tuple(one for one in told if _is_withheld(one, known, level))
        found.append(LevelPreview(level, THRESHOLDS[level], may_tell[level], len(told) - len(withheld), withheld))
    return tuple(found)


def _is_withheld(told: ToldMemory, known: Mapping[str, MemorySummary], level: str) -> bool:
    memory, moment = known.get(told.id), _MOMENTS.get(told.moment)
    if memory is None or moment is None:
        return False
    return find_objection(memory, moment, level=level, given=()) == NOT_SURE


def tellable(level: str | None) -> Filter:
    """The memories a level may tell unasked, as far as a filter can say; without a level all that say something."""
    said = Filter(kinds=[kind for kind in Kind if kind not in EVIDENCE], statuses=Status.ACTIVE, user=ANY_USER)
    return said if level is None else replace(said, needs_review=False, min_confidence=THRESHOLDS[level])
