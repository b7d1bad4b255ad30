"""Between scoring and packing: what the world has moved past counts for less, and says why.

Four layers: somebody marked it stale; nobody needed it for longer than its half-life; its files changed since its
commit; its file is much newer than it. A memory anchored to a symbol is checked against the symbol itself. What waits
for a person's word, and what is dated after the question, counts a little less than what holds. Only the best few are
looked at, because looking asks git and the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.core.decay import HalfLife
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.ports import Anchors, Changes, Standing
from recollect.core.query import Candidate
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.recall.recipes import FILE_OUTGREW, FILES_CHANGED, MARKED_STALE, TO_COME, WAITING


def lower_stale(
    ranking: Sequence[Candidate],
    *,
    top: int,
    kinds: Kinds,
    now: datetime,
    plain: bool = False,
    changes: Changes | None = None,
    anchors: Anchors | None = None,
) -> list[Candidate]:
    """The ranking with its first `top` weighed by whether they still hold. What is doubted stays, lower and marked.
    `plain` looks only at what the world has moved past."""
    head, tail = ranking[:top], ranking[top:]
    memories = [one.memory for one in head if one.memory]
    anchored = anchors.standing([memory for memory in memories if memory.node]) if anchors is not None else {}
    settled = head if plain else [_wait(one, one.memory, now) if one.memory else one for one in head]
    doubted = [_doubted(one, one.memory, kinds, now, changes, anchored) if one.memory else one for one in settled]
    if doubted == list(head):
        return list(ranking)
    return sorted([*doubted, *tail], key=lambda one: (-one.score, one.id))


def _wait(one: Candidate, memory: Memory, now: datetime) -> Candidate:
    """A candidate that counts less while a person's word or its own day is awaited."""
    factors = dict(one.factors)
    if memory.needs_review and memory.stale_at is None and memory.status is not Status.DISPUTED:
        factors["waiting"] = WAITING
    if memory.event_at is not None and memory.event_at > now:
        factors["to_come"] = TO_COME
    if len(factors) == len(one.factors):
        return one
    return replace(one, score=one.score * factors.get("waiting", 1.0) * factors.get("to_come", 1.0), factors=factors)


def _doubted(
    one: Candidate,
    memory: Memory,
    kinds: Kinds,
    now: datetime,
    changes: Changes | None,
    anchored: Mapping[MemoryId, Standing],
) -> Candidate:
    factor, doubts = 1.0, []
    if memory.stale_at is not None and memory.stale_at <= now:
        factor *= MARKED_STALE
        doubts.append(f"marked stale on {memory.stale_at.date().isoformat()}")
    if _is_forgotten(memory, kinds, now):
        doubts.append("unused for longer than its half-life")  # its faded confidence has lowered it already
    if memory.id in anchored:
        standing = anchored[memory.id]
        factor *= standing.factor
        if standing.state != "valid":
            doubts.append(f"{standing.state}: {standing.note}")
    elif changes is not None and memory.files:
        lost, said = _outdated(memory, changes)
        factor *= 1 - lost
        doubts += said
    if not doubts:
        return one
    score = one.score * factor
    return replace(one, score=score, doubts=tuple(doubts), factors={**one.factors, "standing": factor})


def _is_forgotten(memory: Memory, kinds: Kinds, now: datetime) -> bool:
    curve = memory.decay or kinds.rule(memory.kind).decay
    idle = now - max(memory.accessed_at, memory.created_at)
    return isinstance(curve, HalfLife) and not memory.pinned and idle > timedelta(days=curve.days)


def _outdated(memory: Memory, changes: Changes) -> tuple[float, list[str]]:
    """The share of the score that its changed files cost, and what to say of files that outgrew it."""
    said: list[str] = []
    lost = 0.0
    if memory.commit and (moved := changes.changed(memory.files, since=memory.commit)):
        lost = FILES_CHANGED * len(moved) / len(memory.files)
        said.append(f"changed since {memory.commit[:10]}: {', '.join(moved[:3])}")
    if outgrown := find_outgrown(memory, changes):
        said.append(outgrown)
    return lost, said


def find_outgrown(memory: Memory, changes: Changes) -> str:
    """Why a person should look at a memory again: a file of it changed long after it was written; else nothing. A file
    that git says is unchanged is not newer, whenever it was checked out."""
    stands_for = max(memory.updated_at, memory.event_at or memory.updated_at)
    suspect = changes.changed(memory.files, since=memory.commit) if memory.commit else memory.files
    for file in suspect:
        written = changes.modified(file)
        if written is not None and written - stands_for > FILE_OUTGREW:
            return f"{file} is {(written - stands_for).days} days newer: review it"
    return ""
