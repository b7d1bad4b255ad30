"""Is it news? What became a memory before is found by its key, anything else that says the same by recall.

Sentences made from one pattern look alike whatever they are about, so two statements are the same only when they also
name the same things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.likeness import jaccard, overlap
from recollect.core.query import Filter, Query
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.core.text import fingerprint, words
from recollect.observer import gate
from recollect.observer.hunch import Hunch
from recollect.observer.room import Room
from recollect.recall.recall import RetrievalContext, recall
from recollect.recall.recipes import RECIPES

_NAMED = Lazy(r"`([^`\n]{1,200})`")
_LOOKED_AT = 5  # nearest memories that are compared
_SHARED = 0.5  # share of the names two statements must have in common to be about the same
_EVIDENCE = frozenset({Kind.EPISODE, Kind.PASSAGE, Kind.REFLECTION})  # not statements of ours: nothing to reinforce


@dataclass(frozen=True, slots=True)
class Weighed:
    """A hunch and the memory that says it already; `closed` when it was said and must not be said again."""

    hunch: Hunch
    known: MemoryId | None = None
    closed: bool = False


def novel(hunches: Sequence[Hunch], room: Room) -> list[Weighed]:
    """Each hunch with what is known of it."""
    promoted = room.store.observed.promoted([one.key for one in hunches])
    prints = {fingerprint(one.text): one for one in hunches}
    buried = room.store.tombstones.find(list(prints))
    ids = [MemoryId(one.memory) for one in promoted.values()]
    known = {one.id: one for one in room.store.memories.get_many(ids).memories}
    weighed = []
    for hunch in hunches:
        before = promoted.get(hunch.key)
        if fingerprint(hunch.text) in buried:
            weighed.append(Weighed(hunch, closed=True))
        elif before is not None:
            there = known.get(MemoryId(before.memory))
            weighed.append(Weighed(hunch, closed=True) if there is None else _again(hunch, there))
        else:
            weighed.append(Weighed(hunch, _said_before(hunch, room)))
    return weighed


def _again(hunch: Hunch, there: Memory) -> Weighed:
    return Weighed(hunch, there.id, closed=there.status not in OPEN)


def _said_before(hunch: Hunch, room: Room) -> MemoryId | None:
    """The memory that says the same, whoever taught it."""
    senses = replace(
        room.senses(), recipe=RECIPES["duplicates"], reranker=None, writer=None, changes=None, anchors=None
    )  # whether a memory is outdated is another question, and asking costs
    asked = Query(hunch.text, k=_LOOKED_AT, filter=Filter(statuses=OPEN), explicit=False)
    for hit in recall(asked, senses, now=room.clock()).hits:
        known = hit.memory
        if known.kind not in _EVIDENCE and _about_the_same(hunch, known) and _alike(hunch, known, senses):
            return hit.id
    return None


def _about_the_same(hunch: Hunch, memory: Memory) -> bool:
    mine, theirs = _names(hunch.text, hunch.files), _names(memory.content, memory.files)
    if not mine or not theirs:
        return not mine and not theirs
    return overlap(mine, theirs) >= _SHARED and jaccard(mine, theirs) > 0.3


def _names(text: str, files: Sequence[str]) -> frozenset[str]:
    return frozenset({*(found.group(1) for found in _NAMED.finditer(text)), *files})


def _alike(hunch: Hunch, memory: Memory, senses: RetrievalContext) -> bool:
    if senses.dense is not None:
        try:
            return float(senses.dense.said(hunch.text) @ senses.dense.said(memory.content)) > gate.SAME
        except LookupError:
            pass  # no vectors yet: words have to do
    return jaccard(set(words(hunch.text)), set(words(memory.content))) > gate.SAME_WORDS
