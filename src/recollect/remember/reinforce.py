"""What being used does to a memory, and writing it down.

Every fifth access without a correction adds a little confidence; after ten, nobody has to review it any more, unless
it contradicts something: reading settles no contradiction, and makes neither side surer. Seen
again in another session, a guess gains too, and after enough of them it is shown. That holds for what a person stands
behind and for what we composed of local facts: however often the words of a tool or an agent are read or repeated,
that makes them no truer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.core.doors import COMPOSED, SPOKEN, TAINTED
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Source, Status
from recollect.core.text import fingerprint
from recollect.remember.act import ActContext
from recollect.remember.agents import is_persons
from recollect.store.store import Store

STRIDE = 5  # accesses without correction that earn one gain
GAIN = 0.05
CAP = 0.95  # use alone never makes anything certain
_WITNESSES = 100  # sessions a memory keeps that it was seen in
SETTLED = 10  # accesses without correction after which review is no longer asked for


def accessed(memory: Memory, at: datetime, *, contested: bool = False) -> Memory:
    """The memory after one more access at `at`. What is contested earns nothing by it."""
    streak = memory.streak + 1
    earns = gains_by_use(memory) and not contested
    gain = GAIN if earns and streak % STRIDE == 0 and memory.confidence < CAP else 0.0
    return memory.having(
        access_count=memory.access_count + 1,
        streak=streak,
        accessed_at=max(memory.accessed_at, at),
        confidence=min(CAP, memory.confidence + gain) if gain else memory.confidence,
        needs_review=memory.needs_review and not (earns and streak >= SETTLED),
    )


def gains_by_use(memory: Memory) -> bool:
    """Does being used or seen again speak for it? It is undisputed, untainted, and nobody else's words."""
    if memory.status is Status.DISPUTED or memory.attributes.get(TAINTED):
        return False
    ours = memory.source is Source.OBSERVER_INFERRED
    return is_persons(memory) or (ours and bool(memory.attributes.get(COMPOSED, True)))


def _is_heard(memory: Memory) -> bool:
    """Did our own code hear a person say it?"""
    return memory.source is Source.USER_TAUGHT and memory.attributes.get(SPOKEN) is True


def note_access(store: Store, ids: Sequence[MemoryId], hand: ActContext) -> None:
    """Count one access each. Not synced: losing a count in a power cut harms nobody."""
    with store.engine.write(durable=False):
        changed: list[tuple[Memory, Memory]] = []
        memories = store.memories.get_many(ids).memories
        waiting = [memory.id for memory in memories if memory.needs_review]
        contested = store.links.rivals(waiting) if waiting else {}
        for memory in memories:
            used = accessed(memory, hand.at, contested=memory.id in contested)
            store.memories.update(memory, used)
            if (used.confidence, used.needs_review) != (memory.confidence, memory.needs_review):
                changed.append((memory, used))
        if changed:  # one access in five changes anything
            from recollect.remember.changes import Changes

            changes = Changes(store, hand)
            for memory, used in changed:
                changes.updated("reinforce", memory, used, f"used {used.access_count} times")
            changes.write()


def witnessed(
    store: Store,
    id: MemoryId,
    hand: ActContext,
    *,
    sessions: Sequence[str],
    attributes: Mapping[str, Any],
    active: bool,
    content: str | None = None,
    files: Sequence[str] | None = None,
    confidence: float | None = None,
) -> Memory | None:
    """A memory was seen in further sessions. Nothing when none of them is new, or it is no longer open.

    What gains by use is as sure as `confidence` says, where the caller counted how often it held; otherwise each new
    session adds a little. `active` shows such a candidate from now on; that never un-shows anything. `content` and
    `files` tell it better, as long as nobody has looked at it.
    """
    from recollect.privacy.values import redact_name, redact_value  # counting accesses does without

    sessions, attributes = list(map(redact_name, sessions)), redact_value(dict(attributes))
    content = redact_value(content)
    with store.engine.write():
        memory = store.memories.get(id)
        new = [session for session in sessions if session not in memory.provenance]
        if memory.status not in OPEN or not new:
            return None
        gains = gains_by_use(memory) and memory.source is Source.OBSERVER_INFERRED
        settled = active and memory.status is Status.CANDIDATE and (gains or _is_heard(memory))
        added = max(memory.confidence, min(CAP, memory.confidence + GAIN * len(new)))
        gained = added if confidence is None else min(CAP, confidence)
        if is_persons(memory):
            attributes, content, files = {}, None, None
        seen = memory.having(
            provenance=(*memory.provenance, *new)[-_WITNESSES:],
            confidence=gained if gains else memory.confidence,
            attributes={**memory.attributes, **attributes},
            content=content or memory.content,
            fingerprint=fingerprint(content) if content else memory.fingerprint,
            files=tuple(map(redact_name, files)) if files is not None else memory.files,
            status=Status.ACTIVE if settled else memory.status,
            needs_review=memory.needs_review and not (settled and _is_heard(memory)),
            updated_at=hand.at,
            revision=memory.revision + 1,
        )
        from recollect.remember.changes import Changes

        changes = Changes(store, hand)
        changes.update("reinforce", memory, seen, f"seen again in {len(new)} session(s)")
        changes.write()
    return seen
