"""What being used does to a memory, and writing it down.

Every fifth access without a correction adds a little confidence; after ten, nobody has to review it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.remember.hand import Hand
from recollect.store.codec import difference
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.core.ledger import Change

STRIDE = 5  # accesses without correction that earn one gain
GAIN = 0.05
CAP = 0.95  # use alone never makes anything certain
SETTLED = 10  # accesses without correction after which review is no longer asked for


def accessed(memory: Memory, at: datetime) -> Memory:
    """The memory after one more access at `at`."""
    streak = memory.streak + 1
    gain = GAIN if streak % STRIDE == 0 and memory.confidence < CAP else 0.0
    return memory.having(
        access_count=memory.access_count + 1,
        streak=streak,
        accessed_at=max(memory.accessed_at, at),
        confidence=min(CAP, memory.confidence + gain) if gain else memory.confidence,
        needs_review=memory.needs_review and streak < SETTLED,
    )


def note_access(store: Store, ids: Sequence[MemoryId], hand: Hand) -> None:
    """Count one access each. Not synced: losing a count in a power cut harms nobody."""
    with store.engine.write(durable=False):
        changes: list[Change] = []
        for memory in store.memories.get_many(ids).memories:
            used = accessed(memory, hand.at)
            store.memories.update(memory, used)
            before, after = difference(memory, used)
            if after:
                from recollect.core.ledger import Change as Entry  # one access in five changes anything

                changes.append(Entry("reinforce", memory.id, f"used {used.access_count} times", before, after))
        if changes:
            store.ledger.append(changes, act=hand.act, actor=hand.actor, at=hand.at)
