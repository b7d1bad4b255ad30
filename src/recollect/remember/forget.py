"""Forgetting: the row, its keyword entry, its links and what the ledger says of its text are gone for good.

A tombstone and a ledger entry without content remain. It must work on a full disk, and it cannot be undone.
"""

from __future__ import annotations

from recollect.core.ids import MemoryId
from recollect.core.ledger import Change
from recollect.remember.hand import Hand
from recollect.store.store import Store


def forget(store: Store, id: str, hand: Hand) -> MemoryId:
    """Remove one memory and make sure that no copy lingers in the files of the store."""

    def act() -> MemoryId:
        with store.engine.write():
            memory = store.memories.get(store.memories.resolve(id))
            store.memories.delete(memory)
            store.links.forget(memory.id)
            store.ledger.erase_bodies(memory.id)
            store.tombstones.put(memory.fingerprint, store.project, reason="forgotten", at=hand.at)
            store.ledger.append([Change("forget", memory.id, hand.why)], act=hand.act, actor=hand.actor, at=hand.at)
            return memory.id

    forgotten = store.engine.insist(act)
    store.engine.settle()
    return forgotten
