"""Undo: the last act that was not undone yet is taken back, entry by entry, in reverse.

Nothing is removed from the log: undoing is an act of its own that names the one it reverts. What is taken back is one's
own last change in this project, unless an act, a memory or another actor is named. A named act is taken back as it is
or not at all: never another one in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.doors import is_agents
from recollect.core.errors import AlreadyUndone, CannotUndo, NothingToUndo, PersonOnly
from recollect.core.forms import moment, parse_link, with_fields
from recollect.core.ids import MemoryId
from recollect.core.log import OLD_REPLICA, Change, Entry
from recollect.remember.act import ActContext
from recollect.remember.acts import require_revision
from recollect.remember.changes import Changes
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back."""

    act: str
    actions: tuple[str, ...]
    memories: tuple[MemoryId, ...]


def undo(
    store: Store,
    act: ActContext,
    *,
    memory: str | None = None,
    actor: str | None = None,
    reverts: str | None = None,
    expected: int | None = None,
) -> Undone:
    """Revert the last act of who acts, of `actor`, or the last one that touched `memory`, whoever it was by; or the act
    with the id `reverts`, unless it was undone already or its memories were changed again since."""
    with store.engine.write():
        if reverts is not None and store.log.is_undone(reverts):
            raise AlreadyUndone(reverts)
        named = None if memory is None else _named(store, memory)
        if named is not None and expected is not None:
            require_revision(store.memories.get(named), expected)
        entries = store.log.last_act(actor=actor or act.actor, subject=named, act=reverts)
        if not entries:
            raise NothingToUndo
        if not act.is_persons and not all(is_agents(entry.door) for entry in entries):
            raise PersonOnly("take back a person's change")
        changes = Changes(store, act)
        for entry in reversed(entries):
            _revert(store, entry, act, changes)
        changes.write(undoes=entries[0].act)
    told = [entry for entry in entries if entry.is_shown]
    touched = dict.fromkeys(entry.change.memory for entry in told if entry.change.memory)
    return Undone(entries[0].act, tuple(entry.change.action for entry in told), tuple(touched))


def _named(store: Store, given: str) -> str:
    """An id as given when the memory itself is gone, resolved otherwise."""
    return given if store.log.of(given) else store.memories.resolve(given)


def _revert(store: Store, entry: Entry, act: ActContext, changes: Changes) -> None:
    change = entry.change
    if change.action in ("forget", "erase", "redact"):
        raise CannotUndo(
            {"forget": "forgetting", "erase": "erasing"}.get(change.action, "redacting"),
            "the text is gone from the store, as it was meant to be",
        )
    if entry.erased:
        raise CannotUndo(change.action, "its record was erased")
    match change.about:
        case "memory":
            _revert_memory(store, entry, act, changes)
        case "link":
            _revert_link(change, changes)
        case "tombstone":
            _revert_tombstone(change, changes)
        case _:
            changes.note("undo", None, act.why or f"undo {change.action}", about="note")
    if entry.replica == OLD_REPLICA:
        _revert_old_tombstones(change, act, changes)


def _revert_memory(store: Store, entry: Entry, act: ActContext, changes: Changes) -> None:
    change, why = entry.change, act.why or f"undo {entry.change.action}"
    if change.subject is None:
        return
    if store.log.later(change.subject, entry):
        raise CannotUndo(
            change.action,
            f"{change.subject} was changed again since",
            hint=f"Undo that first: `recollect undo {change.subject}`.",
        )
    now = store.memories.get(change.subject)
    if change.action == "add":
        changes.remove("undo", [now], why)
        return
    fields = {name: value for name, value in (change.before or {}).items() if name not in _OLD_MARKS}
    then = with_fields(now, fields, store.kinds).having(updated_at=act.at, revision=now.revision + 1)
    changes.update("undo", now, then, why)


def _revert_link(change: Change, changes: Changes) -> None:
    source = change.subject or ""
    if change.before is not None:
        changes.put_links("undo", [parse_link(source, change.before)])
    elif change.after is not None:
        changes.remove_link("undo", parse_link(source, change.after))


def _revert_tombstone(change: Change, changes: Changes) -> None:
    key = change.subject or ""
    if change.before is not None:
        changes.bury("undo", [key], str(change.before["reason"]), at=moment(change.before["at"]))
    else:
        changes.lift("undo", key)


# Entries from before there were replicas tell of tombstones among the fields of the memory.
_OLD_MARKS = frozenset({"tombstone", "reason"})


def _revert_old_tombstones(change: Change, act: ActContext, changes: Changes) -> None:
    before, after = change.before or {}, change.after or {}
    if put := after.get("tombstone"):
        changes.lift("undo", str(put))
    if lifted := before.get("tombstone"):
        changes.bury("undo", [str(lifted)], str(before.get("reason", "rejected")))
