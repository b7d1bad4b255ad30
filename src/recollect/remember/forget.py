"""Forgetting: the row, its keyword entry, its links and what ledger and turns say of its text are gone for good.

A tombstone and a ledger entry without content remain. It must work on a full disk, and it cannot be undone.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.errors import StoreError
from recollect.core.ids import MemoryId
from recollect.core.ledger import Change
from recollect.core.records import Memory
from recollect.remember.hand import Hand
from recollect.store.cache import empty
from recollect.store.store import Store

_TRACE = 60  # characters of a text that are looked for in the file after it was forgotten


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten. `lingering` says why a copy of the text may still be in the file or its log; empty: none."""

    id: MemoryId
    lingering: str = ""


def forget(store: Store, id: str, hand: Hand) -> Forgotten:
    """Remove one memory and make sure that no copy lingers in the files of the store."""

    memory = store.memories.get(store.memories.resolve(id))
    texts = _ever_said(store, memory)

    def act() -> MemoryId:
        with store.engine.write():
            memory = store.memories.get(store.memories.resolve(id))
            store.memories.delete(memory)
            store.entities.drop_unmentioned(memory.entities)
            store.links.forget(memory.id)
            _erase_observed(store, memory)
            store.ledger.erase_bodies(memory.id)
            store.turns.forget(texts)
            store.working.forget(texts)
            store.tombstones.put(memory.fingerprint, store.project, reason="forgotten", at=hand.at)
            store.ledger.append([Change("forget", memory.id, hand.why)], act=hand.act, actor=hand.actor, at=hand.at)
            return memory.id

    forgotten = store.engine.insist(act)
    try:
        clean = _scrub(store, memory, texts)
    except StoreError as error:  # it is forgotten all the same; the next one tries again
        return Forgotten(forgotten, str(error))
    return Forgotten(forgotten, "" if clean else "another process is reading; the log is emptied by the next write")


def _erase_observed(store: Store, memory: Memory) -> None:
    """What the observer drew it from goes too."""
    if signal := memory.attributes.get("signal"):
        trigger = memory.attributes.get("trigger", {})
        store.observed.erase(
            str(signal), memory.provenance, str(trigger.get("fingerprint", "")), store.project
        )  # fmt: skip


def _ever_said(store: Store, memory: Memory) -> list[str]:
    """The texts of a memory, now and before each edit."""
    bodies = [
        part for entry in store.ledger.of(memory.id) for part in (entry.change.before, entry.change.after) if part
    ]
    return [memory.content, *(str(body["content"]) for body in bodies if "content" in body)]


def _scrub(store: Store, memory: Memory, texts: list[str]) -> bool:
    """Empty cache and log, and rewrite the file when splitting a page once left a copy of the text in a gap. False when
    the log could not be emptied."""
    empty(store.engine)
    settled = store.engine.settle()
    said_elsewhere = store.memories.by_fingerprint([memory.fingerprint], store.project)
    if not said_elsewhere and any(store.engine.holds(text[:_TRACE]) for text in texts):
        store.engine.rewrite()
        settled = store.engine.settle()
    return settled
