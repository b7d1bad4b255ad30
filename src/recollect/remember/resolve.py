"""Third step of remembering: how does this statement stand to what is already known? Pure.

Deliberately timid: only the same words are `same`; two statements `contradict` when the judge says that they exclude
each other; the newer one `supersedes` the older when it also says that something changed. Everything else is `new`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.drafts import Verdict
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.remember.contradiction import WORDING, read_claim

SAID_SO = "said so"  # the reason of a verdict that somebody stated


@dataclass(frozen=True, slots=True)
class Resolution:
    """The verdict, and the memories it is about."""

    verdict: Verdict
    against: tuple[MemoryId, ...] = ()
    because: str = ""


def resolve(memory: Memory, neighbours: Sequence[Memory]) -> Resolution:
    """Weigh a memory against its neighbours. The first that agrees or conflicts decides, nearest first."""
    same = tuple(near.id for near in neighbours if near.fingerprint == memory.fingerprint)
    if same:
        return Resolution("same", same[:1], "the same words")
    changes = read_claim(memory.content).change
    for near in neighbours:
        if near.kind != memory.kind or near.scope != memory.scope:
            continue
        judgement = WORDING.judge(memory.content, near.content)
        if judgement.excludes:
            newer = memory.confidence >= near.confidence and memory.happened_at >= near.happened_at
            stronger = changes and newer and memory.user == near.user
            verdict: Verdict = "supersedes" if stronger else "contradicts"
            return Resolution(verdict, (near.id,), judgement.reasons[0])
    return Resolution("new")
