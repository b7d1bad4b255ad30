"""Undo: the last act that was not undone yet is taken back, entry by entry, in reverse.

Nothing is removed from the ledger: undoing is an act of its own that names the one it reverts.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.errors import CannotUndo, NothingToUndo
from recollect.core.ids import MemoryId
from recollect.core.ledger import Change, Entry
from recollect.core.records import Memory
from recollect.remember.act import ActContext
from recollect.store.codec import difference, patched
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back."""

    act: str
    actions: tuple[str, ...]
    memories: tuple[MemoryId, ...]


def undo(store: Store, hand: ActContext, *, memory: str | None = None) -> Undone:
    """Revert the last act, or the last one that touched `memory`."""
    with store.engine.write():
        named = None if memory is None else _named(store, memory)
        entries = store.ledger.last_act(named)
        if not entries:
            raise NothingToUndo
        act = entries[0].act
        changes = [_reverted(store, entry, hand) for entry in reversed(entries)]
        store.ledger.append(changes, act=hand.act, actor=hand.actor, at=hand.at, undoes=act)
    touched = dict.fromkeys(entry.change.memory for entry in entries if entry.change.memory)
    return Undone(act, tuple(entry.change.action for entry in entries), tuple(touched))


def _named(store: Store, given: str) -> str:
    """An id as given when the memory itself is gone, resolved otherwise."""
    return given if store.ledger.of(given) else store.memories.resolve(given)


def _reverted(store: Store, entry: Entry, hand: ActContext) -> Change:
    change = entry.change
    if change.action == "forget":
        raise CannotUndo("forgetting", "the text is gone from the store, as it was meant to be")
    if entry.erased:
        raise CannotUndo(change.action, "its record was erased")
    if change.memory is None:
        _restore_tombstones(store, entry, hand)
        return Change("undo", None, hand.why or f"undo {change.action}")
    if store.ledger.later(change.memory, entry):
        raise CannotUndo(change.action, f"{change.memory} was changed again since; undo that first")
    if change.action == "add":
        store.memories.delete(store.memories.get(change.memory))
        store.links.forget(change.memory)
        return Change("undo", change.memory, hand.why or "undo add")
    _restore_tombstones(store, entry, hand)
    before, after = _restored(store, store.memories.get(change.memory), entry, hand)
    return Change("undo", change.memory, hand.why or f"undo {change.action}", before, after)


def _restored(store: Store, now: Memory, entry: Entry, hand: ActContext) -> tuple[dict[str, object], dict[str, object]]:
    columns = {name: value for name, value in (entry.change.before or {}).items() if name not in _MARKS}
    then = patched(now, columns, store.kinds).having(updated_at=hand.at, revision=now.revision + 1)
    store.memories.update(now, then)
    return difference(now, then)


_MARKS = frozenset({"tombstone", "reason"})


def _restore_tombstones(store: Store, entry: Entry, hand: ActContext) -> None:
    before, after = entry.change.before or {}, entry.change.after or {}
    if put := after.get("tombstone"):
        store.tombstones.lift(str(put))
    if lifted := before.get("tombstone"):
        store.tombstones.put(str(lifted), reason=str(before.get("reason", "rejected")), at=hand.at)
