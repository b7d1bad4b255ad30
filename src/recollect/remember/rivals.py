"""What deciding about one side of a contradiction does to the other, within the same act.

Confirming one side closes the other: the older statement held until the newer one, the newer one was wrong. Closing a
side ends the question for the other. Only a person's act settles anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.core.doors import TAINTED
from recollect.core.errors import StaleEdit
from recollect.core.kinds import EVIDENCE
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import Relation, Source, Status
from recollect.store.tombstones import tombstone_key

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.core.ids import MemoryId
    from recollect.remember.act import ActContext
    from recollect.remember.changes import Changes
    from recollect.store.store import Store


def open_rivals(store: Store, memory: Memory) -> list[Memory]:
    """The open memories that contradict one, whichever side says so."""
    ids = store.links.rivals([memory.id]).get(memory.id, ())
    return [store.memories.get(id) for id in ids]


def require_seen(memory: Memory, rivals: list[Memory], seen: Mapping[MemoryId, int] | None) -> None:
    """Refuse a decision about other words than a person saw, of either side."""
    if seen is None:
        return
    for one in (memory, *rivals):
        if seen.get(one.id) != one.revision:
            raise StaleEdit(one.id, expected=seen.get(one.id, 0), found=one.revision)


def close_rivals(store: Store, memory: Memory, rivals: list[Memory], act: ActContext, changes: Changes) -> None:
    """Close what a confirmed memory contradicts: an older statement is superseded, a newer one was wrong."""
    for rival in rivals:
        if rival.kind in EVIDENCE:
            continue
        settle_rivals(store, rival, act, changes, but=memory)
        if _order(rival) < _order(memory):
            closed = rival.having(
                status=Status.SUPERSEDED,
                superseded_by=memory.id,
                valid_until=memory.happened_at,
                needs_review=False,
            )
            changes.update("supersede", rival, _touched(closed, act), f"{memory.id} was confirmed instead")
            changes.put_links("supersede", [Link(memory.id, Relation.SUPERSEDES, rival.id, None, 1.0, False, act.at)])
        else:
            closed = rival.having(status=Status.REJECTED, confidence=0.0, needs_review=False, verified=False, streak=0)
            changes.update("reject", rival, _touched(closed, act), f"{memory.id} was confirmed instead")
            changes.bury("reject", [tombstone_key(rival.fingerprint, rival.user)], "rejected")


def settle_rivals(
    store: Store, closed: Memory, act: ActContext, changes: Changes, *, but: Memory | None = None
) -> None:
    """A person is about to close a memory: what waits only because it contradicts that waits no longer."""
    if not act.is_persons:
        return
    for rival in open_rivals(store, closed):
        if but is not None and rival.id == but.id:
            continue
        others = [one for one in open_rivals(store, rival) if one.id != closed.id]
        if rival.needs_review and not others and not _asks_otherwise(rival, act.at):
            settled = _touched(rival.having(needs_review=False), act)
            changes.update("edit", rival, settled, f"{closed.id}, which it contradicted, is closed")


def settle_as_both(store: Store, memory: Memory, rivals: list[Memory], act: ActContext, changes: Changes) -> Memory:
    """A memory and its rivals are both right: they no longer contradict each other."""
    for rival in rivals:
        links = [*store.links.from_(memory.id), *store.links.from_(rival.id)]
        for link in links:
            if link.relation is Relation.CONFLICTS_WITH and {link.source, link.target} == {memory.id, rival.id}:
                changes.remove_link("edit", link)
        if rival.needs_review and not open_rivals(store, rival) and not _asks_otherwise(rival, act.at):
            settled = _touched(rival.having(needs_review=False), act)
            changes.update("edit", rival, settled, f"it and {memory.id} are both right")
    return memory.having(needs_review=_asks_otherwise(memory, act.at))


def _order(memory: Memory) -> tuple[datetime, datetime, str]:
    return memory.happened_at, memory.created_at, memory.id


def _asks_otherwise(memory: Memory, now: datetime) -> bool:
    """Does a memory wait for a person for another reason than a contradiction?"""
    inferred = memory.source is Source.OBSERVER_INFERRED and not memory.verified
    stale = memory.stale_at is not None and memory.stale_at <= now
    return memory.status is not Status.ACTIVE or inferred or stale or bool(memory.attributes.get(TAINTED))


def _touched(memory: Memory, act: ActContext) -> Memory:
    return memory.having(updated_at=act.at, revision=memory.revision + 1)
