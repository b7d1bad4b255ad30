"""Forgetting: the row, its keyword entry, its links and what log and turns say of its text are gone for good.

A tombstone and a log entry without content remain. It must work on a full disk, and it cannot be undone. Pruning and
redacting erase in the same way, but leave no tombstone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.core.errors import StoreError
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.remember.act import ActContext
from recollect.remember.acts import require_revision
from recollect.remember.agents import may_bury, require_written
from recollect.remember.changes import Changes
from recollect.remember.rights import require_right
from recollect.store.cache import empty
from recollect.store.store import Store
from recollect.store.tombstones import tombstone_key

_TRACE = 60  # characters of a text that are looked for in the file after it was forgotten
_LOOKED_FOR = 50  # texts: to look for more of them takes longer than to write the file again


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten. `lingering` says why a copy of the text may still be in the file or its log; empty: none."""

    id: MemoryId
    lingering: str = ""


def forget(store: Store, id: str, hand: ActContext, *, expected: int | None = None) -> Forgotten:
    """Remove one memory and make sure that no copy lingers in the files of the store."""
    return forget_all(store, [id], hand, expected=expected)[0]


def forget_all(store: Store, ids: Sequence[str], hand: ActContext, *, expected: int | None = None) -> list[Forgotten]:
    """Remove some memories, all or none, and make sure once that no copy of any lingers."""
    named = [store.memories.get(id) for id in dict.fromkeys(store.memories.resolve(id) for id in ids)]
    if not named:
        return []
    texts = {memory.id: ever_said(store, memory) for memory in named}

    def act() -> None:
        with store.engine.write():
            changes = Changes(store, hand)
            going = [store.memories.get(one.id) for one in named]
            for memory in going:
                require_revision(memory, expected)
                require_written(store, memory, hand)
                require_right(store, memory, "forget")
            buried = [memory for memory in going if may_bury(store, memory, hand)]
            changes.remove("forget", going, hand.why, erase=True)
            changes.drop_unmentioned("forget", list(dict.fromkeys(id for memory in going for id in memory.entities)))
            for memory in going:
                erase_observed(store, memory)
                if hand.is_persons:  # what was said in a chat is a person's to erase
                    store.turns.forget(texts[memory.id])
                    store.working.forget(texts[memory.id])
            changes.bury("forget", [tombstone_key(one.fingerprint, one.user) for one in buried], "forgotten")
            changes.write()

    store.engine.retry_with_reserve(act)
    try:
        clean = scrub(store, named, texts)
    except StoreError as error:  # it is forgotten all the same; the next one tries again
        return [Forgotten(one.id, str(error)) for one in named]
    lingering = "" if clean else "another process is reading; the log is emptied by the next write"
    return [Forgotten(one.id, lingering) for one in named]


def prune(store: Store, memory: Memory, act: ActContext) -> None:
    """Delete what expired long ago. Unlike forgetting it leaves no tombstone: the words may be said again."""
    with store.engine.write():
        changes = Changes(store, act)
        changes.remove("prune", [memory], act.why, erase=True)
        changes.drop_unmentioned("prune", memory.entities)
        changes.write()


def erase_observed(store: Store, memory: Memory) -> None:
    """What the observer drew it from goes too."""
    if signal := memory.attributes.get("signal"):
        trigger = memory.attributes.get("trigger", {})
        store.observed.erase(
            str(signal), memory.provenance, str(trigger.get("fingerprint", ""))
        )  # fmt: skip


def ever_said(store: Store, memory: Memory) -> list[str]:
    """The texts of a memory, now and before each edit."""
    bodies = [
        part for entry in store.log.whole_of(memory.id) for part in (entry.change.before, entry.change.after) if part
    ]
    return [memory.content, *(str(body["content"]) for body in bodies if "content" in body)]


def scrub(store: Store, memories: Sequence[Memory], texts: Mapping[MemoryId, list[str]]) -> bool:
    """Empty cache and log, and rewrite the file when splitting a page once left a copy of a text in a gap. False when
    the log could not be emptied."""
    empty(store.engine)
    settled = store.engine.checkpoint()
    said_elsewhere = store.memories.by_fingerprint([memory.fingerprint for memory in memories])
    gone = [text for memory in memories if memory.fingerprint not in said_elsewhere for text in texts[memory.id]]
    if len(gone) > _LOOKED_FOR or any(store.engine.contains_bytes(text[:_TRACE]) for text in gone):
        store.engine.vacuum()
        settled = store.engine.checkpoint()
    return settled
