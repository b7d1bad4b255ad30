"""What an agent's door may do. The Writer asks here for every act, so no door can forget it.

An agent can add, change or reject what agents wrote, and forget what it wrote itself. Nothing it does makes anything
surer, verified or a person's word, and what a person wrote or confirmed keeps its words: against that it can only
dispute, or propose.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.doors import COMPOSED, HEARSAY, MARKS, RECORD, SPOKEN, TAINTED, ActDoor, reserved_marks
from recollect.core.errors import OthersMemory, PersonsMemory
from recollect.core.kinds import Kind
from recollect.core.records import Memory
from recollect.core.scope import Source, Status

if TYPE_CHECKING:
    from recollect.core.drafts import Draft
    from recollect.remember.act import ActContext
    from recollect.store.store import Store

_USER = "user"  # the role in which people speak
AGENT_CONFIDENCE = 0.8  # the most an agent's own word counts


def is_persons(memory: Memory) -> bool:
    """Is it a person's: taught or confirmed by one, pinned, or said by one in a conversation? A passage is its
    document's, and no agent's either."""
    if memory.verified or memory.pinned or memory.source is Source.USER_TAUGHT or memory.kind == Kind.PASSAGE:
        return True
    if memory.attributes.get(SPOKEN):
        return True
    said = memory.kind == Kind.EPISODE and memory.source_role == _USER
    return said and RECORD not in memory.attributes and HEARSAY not in memory.attributes


def require_own(memory: Memory, door: ActDoor) -> None:
    """Refuse an agent's change of what is a person's."""
    if not door.is_persons and is_persons(memory):
        raise PersonsMemory(memory.id)


_SAID_BY = frozenset({"add", "import", "merge"})  # entries that tell who said what a memory says


def require_written(store: Store, memory: Memory, act: ActContext) -> None:
    """Refuse that an agent removes for good what it did not write itself: by the same door, under the same name, and
    nobody else said or brought it in, too."""
    require_own(memory, act.door)
    if act.is_persons or act.door.is_ours or _is_record(memory, act.door):
        return
    hands = {
        (entry.door, entry.actor) for entry in store.log.whole_of(memory.id) if entry.change.action in _SAID_BY
    }  # fmt: skip
    if hands != {(act.door.name, act.actor)}:
        raise OthersMemory(memory.id)


def may_bury(store: Store, memory: Memory, act: ActContext) -> bool:
    """May an act put a tombstone on what a memory says? An agent's may not where a person says the same."""
    if act.is_persons:
        return True
    alike = store.memories.by_fingerprint([memory.fingerprint]).get(memory.fingerprint, [])
    return not any(is_persons(one) for one in alike if one.id != memory.id)


def limit_draft(draft: Draft, door: ActDoor) -> Draft:
    """A draft as its door may write it: through an agent's at most `agent_explicit`, unverified, without our marks, and
    a candidate when it reads like orders to a model. What our own code heard a person say is the person's word."""
    if door.is_persons:
        return draft
    changes: dict[str, Any] = {}
    if draft.source == Source.USER_TAUGHT and not (door.is_ours and _is_heard(draft)):
        changes["source"] = Source.AGENT_EXPLICIT
    if draft.verified or draft.pinned:
        changes.update(verified=False, pinned=False)
    record = door.vouches and RECORD in draft.attributes
    if draft.decay is not None and not door.is_ours and not record:
        changes["decay"] = None  # what an agent says fades as its kind does
    if door.is_ours:
        return replace(draft, **changes) if changes else draft
    hearsay = draft.kind == Kind.EPISODE and not door.vouches
    marks = reserved_marks(door)
    if hearsay or not marks.isdisjoint(draft.attributes):
        kept = {name: value for name, value in draft.attributes.items() if name not in marks}
        changes["attributes"] = {**kept, **({HEARSAY: True} if hearsay else {})}
    if draft.provenance:
        changes["provenance"] = ()  # in which sessions it was seen is counted, not claimed
    if draft.confidence is not None and draft.kind != Kind.EPISODE:
        changes["confidence"] = min(draft.confidence, AGENT_CONFIDENCE)
    if draft.override_tombstone and not record:
        changes["override_tombstone"] = False  # what a person rejected, an agent cannot bring back
    if draft.kind != Kind.EPISODE and _gives_orders(draft.content):
        changes.update(status=Status.CANDIDATE, needs_review=True)
    return replace(draft, **changes) if changes else draft


_STRANGERS = frozenset({Source.SAID, Source.EXTRACTED, Source.OBSERVER_INFERRED})


def limit_stranger(memory: Memory, now: datetime) -> Memory:
    """A memory out of a file that nothing proves to be this person's: an agent's word at most, unverified, unread, and
    without our marks. What was said in a conversation is only claimed to have been."""
    kept = {name: value for name, value in memory.attributes.items() if name not in MARKS and name != RECORD}
    episode = memory.kind == Kind.EPISODE
    orders = not episode and _gives_orders(memory.content)
    return memory.having(
        source=memory.source if memory.source in _STRANGERS else Source.AGENT_EXPLICIT,
        verified=False,
        pinned=False,
        confidence=memory.confidence if episode else min(memory.confidence, AGENT_CONFIDENCE),
        attributes={**kept, HEARSAY: True} if episode else kept,
        provenance=(memory.session,) if memory.session else (),
        entities=(),
        decay=None,
        access_count=0,
        streak=0,
        accessed_at=min(memory.created_at, now),
        embedding_model=None,
        span=None if memory.kind != Kind.PASSAGE else memory.span,
        status=Status.CANDIDATE if orders and memory.status is Status.ACTIVE else memory.status,
        needs_review=memory.needs_review or orders,
    )


def _is_heard(draft: Draft) -> bool:
    return draft.attributes.get(SPOKEN) is True and not draft.attributes.get(TAINTED)


def limit_change(before: Memory, after: Memory, door: ActDoor) -> Memory:
    """What an agent's act makes of a memory, with everything that would raise it taken back. New words of an agent are
    an agent's words, whoever wrote the old ones."""
    if door.is_persons:
        return after
    limited = after.having(
        verified=after.verified and before.verified,
        pinned=before.pinned,
        needs_review=after.needs_review or before.needs_review,
        confidence=min(after.confidence, before.confidence),
        source=before.source if after.source is Source.USER_TAUGHT else after.source,
        status=before.status if after.status is Status.ACTIVE and not _is_record(before, door) else after.status,
    )
    if door.is_ours:
        return limited
    reserved = reserved_marks(door)
    marks = {name: value for name, value in before.attributes.items() if name in reserved}
    reworded = after.fingerprint != before.fingerprint
    if reworded:
        marks = {name: value for name, value in marks.items() if name not in (COMPOSED, SPOKEN)}
    if marks or not reserved.isdisjoint(after.attributes):
        kept = {name: value for name, value in after.attributes.items() if name not in reserved}
        limited = limited.having(attributes={**kept, **marks})
    if reworded and limited.source is not Source.SAID:
        limited = limited.having(source=Source.AGENT_EXPLICIT)
        if _gives_orders(limited.content):
            limited = limited.having(status=Status.CANDIDATE, needs_review=True)
    return limited


def _is_record(memory: Memory, door: ActDoor) -> bool:
    """Does a framework's adapter change what it keeps under a key of its own?"""
    return door.vouches and RECORD in memory.attributes


def _gives_orders(text: str) -> bool:
    """Does it read like orders to a model?"""
    from recollect.privacy.fence import gives_orders  # what people teach is not asked

    return gives_orders(text)
