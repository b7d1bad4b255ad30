"""The acts that change what is remembered: edit, confirm, reject, dispute, pin.

Each is one transaction: read the row as it is now, work out the new one, write it with its log entries. Whatever
moves a confidence also moves its neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.core.decay import Exponential
from recollect.core.doors import CORRECTS, FILES_GONE, OUTGROWN, PROPOSES, SPOKEN
from recollect.core.drafts import Draft
from recollect.core.errors import InvalidField, MemoryNotFound, MemoryNotOpen, PersonOnly, PersonsMemory, StaleEdit
from recollect.core.fields import EDITABLE
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.links import Link
from recollect.core.log import Action
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Relation, Status, choose, share
from recollect.core.text import require_storable
from recollect.privacy.scan import redact
from recollect.privacy.values import redact_name, redact_value
from recollect.remember.act import ActContext
from recollect.remember.agents import is_persons, limit_change, may_bury, require_own
from recollect.remember.changes import Changes
from recollect.remember.rights import require_audience, require_clean, require_right
from recollect.remember.rivals import close_rivals, open_rivals, require_seen, settle_as_both, settle_rivals
from recollect.remember.screen import screen
from recollect.remember.shape import asks_by_itself, mark_state, shape
from recollect.store.store import Store
from recollect.store.tombstones import tombstone_key

CERTAIN = 1.0  # what a person confirmed
_ANSWERED = frozenset({PROPOSES, CORRECTS, OUTGROWN})  # marks of questions that a confirmation answers


def confirm(
    store: Store,
    id: str,
    hand: ActContext,
    *,
    expected: int | None = None,
    seen: Mapping[MemoryId, int] | None = None,
    content: str | None = None,
) -> Memory:
    """A person says it is right, in better words where `content` has some: certain, reviewed, and protected if it is a
    fact. What it contradicts and what it was proposed to replace is closed. An agent's confirmation changes nothing.

    `seen` has the revisions of both sides as they were shown."""

    def confirmed(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        rivals = open_rivals(store, memory)
        require_seen(memory, rivals, seen)
        if not hand.is_persons:
            return memory
        if content is not None:
            memory = _reworded(store, memory, hand, {"content": content}, changes)
        replaced = _close_replaced(store, memory, hand, changes)
        close_rivals(store, memory, [rival for rival in rivals if rival.id != replaced], hand, changes)
        return certain(memory, hand)

    return change_memory(store, id, "confirm", confirmed, hand)


def certain(memory: Memory, hand: ActContext) -> Memory:
    """A memory as a person has looked at it and says that it is right."""
    attributes = {name: value for name, value in memory.attributes.items() if name not in _ANSWERED}
    if FILES_GONE in attributes:  # it holds although they are gone: that is not asked again
        attributes[FILES_GONE] = {"files": list_gone(memory)}
    return memory.having(
        attributes=attributes,
        verified=True,
        needs_review=False,
        confidence=CERTAIN,
        status=Status.ACTIVE,
        stale_at=None if memory.stale_at is not None and memory.stale_at <= hand.at else memory.stale_at,
        decay=Exponential(0.0) if memory.kind == Kind.FACT else memory.decay,
    )


def list_gone(memory: Memory) -> list[str]:
    """The files of a memory that are known to be deleted."""
    note = memory.attributes.get(FILES_GONE)
    files = note.get("files") if isinstance(note, Mapping) else None
    return [str(file) for file in files] if isinstance(files, list | tuple) else []


def reject(
    store: Store,
    id: str,
    hand: ActContext,
    *,
    expected: int | None = None,
    seen: Mapping[MemoryId, int] | None = None,
) -> Memory:
    """It is wrong. It leaves recall, keeps its history, and a tombstone keeps it from coming back. What it contradicted
    is no longer in question."""

    def rejected(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        require_seen(memory, open_rivals(store, memory), seen)
        require_own(memory, hand.door)
        if may_bury(store, memory, hand):
            changes.bury("reject", [tombstone_key(memory.fingerprint, memory.user)], "rejected")
        settle_rivals(store, memory, hand, changes)
        return memory.having(status=Status.REJECTED, confidence=0.0, needs_review=False, verified=False, streak=0)

    return change_memory(store, id, "reject", rejected, hand)


def keep_both(store: Store, id: str, hand: ActContext, *, seen: Mapping[MemoryId, int] | None = None) -> Memory:
    """It and what it seemed to contradict are both right. To say so is a person's act."""
    if not hand.is_persons:
        raise PersonOnly("settle a contradiction")

    def kept(memory: Memory, changes: Changes) -> Memory:
        rivals = open_rivals(store, memory)
        require_seen(memory, rivals, seen)
        if not rivals:
            raise InvalidField("keep_both", f"{memory.id} contradicts no open memory")
        return settle_as_both(store, memory, rivals, hand, changes)

    return change_memory(store, id, "edit", kept, hand)


def dispute(
    store: Store,
    id: str,
    hand: ActContext,
    *,
    expected: int | None = None,
    seen: Mapping[MemoryId, int] | None = None,
) -> Memory:
    """Somebody doubts it. It stays in recall, marked, at a lower weight, until confirmed or rejected. That a person
    confirmed it is taken back by a person only."""

    def disputed(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        require_seen(memory, open_rivals(store, memory), seen)
        if memory.status is Status.DISPUTED:
            raise MemoryNotOpen(memory.id, memory.status)
        verified = memory.verified and not hand.is_persons
        return memory.having(status=Status.DISPUTED, needs_review=True, verified=verified, streak=0)

    return change_memory(store, id, "dispute", disputed, hand)


def pin(store: Store, id: str, hand: ActContext, *, pinned: bool, expected: int | None = None) -> Memory:
    """A pinned memory never fades. To pin is a person's act."""
    if not hand.is_persons:
        raise PersonOnly("pin a memory")

    def changed(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        return memory.having(pinned=pinned)

    return change_memory(store, id, "pin" if pinned else "unpin", changed, hand)


def require_revision(memory: Memory, expected: int | None) -> None:
    """Whoever decides about a memory decides about the words they saw."""
    if expected is not None and memory.revision != expected:
        raise StaleEdit(memory.id, expected=expected, found=memory.revision)


def edit(store: Store, id: str, hand: ActContext, *, changes: dict[str, Any], expected: int | None = None) -> Memory:
    """Change some fields in place. New words put a tombstone on the old ones, so the correction sticks.

    `changes` speaks the language of a Draft (content, kind, confidence, tags …); everything is checked like one.
    """

    def edited(memory: Memory, noted: Changes) -> Memory:
        require_revision(memory, expected)
        require_own(memory, hand.door)
        return _reworded(store, memory, hand, changes, noted)

    return change_memory(store, id, "edit", edited, hand)


def _reworded(store: Store, memory: Memory, hand: ActContext, changes: dict[str, Any], noted: Changes) -> Memory:
    shaped = _reshaped(memory, store, hand, changes)
    if shaped.fingerprint != memory.fingerprint:
        if may_bury(store, memory, hand):
            noted.bury("edit", [tombstone_key(memory.fingerprint, memory.user)], "corrected")
        if hand.is_persons:
            noted.lift("edit", tombstone_key(shaped.fingerprint, memory.user))
    return shaped


def supersede(store: Store, id: str, hand: ActContext, *, by: Memory, until: datetime, confidence: float) -> Memory:
    """Close `id` in favour of `by`, valid until then. It stays as evidence, at no more than this confidence."""

    def closed(memory: Memory, changes: Changes) -> Memory:
        if not memory_gives_way(memory, by, hand):
            raise PersonsMemory(memory.id)
        changes.put_links("supersede", [Link(by.id, Relation.SUPERSEDES, memory.id, None, 1.0, True, hand.at)])
        return memory.having(
            status=Status.SUPERSEDED,
            superseded_by=by.id,
            valid_until=until,
            confidence=min(memory.confidence, confidence),
            needs_review=False,
        )

    return change_memory(store, id, "supersede", closed, hand)


def memory_gives_way(memory: Memory, by: Memory, act: ActContext) -> bool:
    """May `by` take its place in this act? A person's memory gives way to a person's act or a person's words only."""
    return act.is_persons or not is_persons(memory) or is_persons(by) or bool(by.attributes.get(SPOKEN))


def _close_replaced(store: Store, memory: Memory, act: ActContext, changes: Changes) -> str | None:
    """Close what a confirmed proposal was to replace, if that is still open; the id of what was closed."""
    replaced = memory.attributes.get(PROPOSES)
    if not isinstance(replaced, str):
        return None
    try:
        old = store.memories.get(replaced)
    except MemoryNotFound:
        return None
    if old.status not in OPEN:
        return None
    closed = old.having(
        status=Status.SUPERSEDED,
        superseded_by=memory.id,
        valid_until=memory.happened_at,
        needs_review=False,
        updated_at=act.at,
        revision=old.revision + 1,
    )
    changes.update("supersede", old, closed, f"superseded by {memory.id}")
    changes.put_links("supersede", [Link(memory.id, Relation.SUPERSEDES, old.id, None, 1.0, False, act.at)])
    if memory.attributes.get(CORRECTS):
        changes.bury("supersede", [tombstone_key(old.fingerprint, old.user)], "corrected")
    return replaced


def expire(store: Store, id: str, hand: ActContext) -> Memory:
    """It faded until nobody would rely on it. It leaves recall and stays as evidence."""

    def expired(memory: Memory, changes: Changes) -> Memory:
        if not hand.door.is_ours:
            require_own(memory, hand.door)
        return memory.having(status=Status.EXPIRED, valid_until=memory.valid_until or hand.at, needs_review=False)

    return change_memory(store, id, "expire", expired, hand)


def annotate(store: Store, id: str, hand: ActContext, **fields: Any) -> Memory:
    """Add what was worked out about a memory, such as whom it mentions. What it says does not change."""
    return change_memory(store, id, "annotate", lambda memory, _: memory.having(**redact_value(fields)), hand)


def cite(store: Store, id: MemoryId, act: ActContext, *, sources: Sequence[MemoryId], session: str | None) -> None:
    """A memory was said again: it gains its new sources, and is as fresh as its last saying."""
    with store.engine.write():
        known = store.memories.get(id)
        cited = {link.target for link in store.links.from_(id)}
        links = [
            Link(id, Relation.DERIVED_FROM, source, None, 1.0, False, act.at)
            for source in dict.fromkeys(sources)
            if source not in cited
        ]
        if not links:
            return
        changes = Changes(store, act)
        changes.put_links("merge", links)
        again = known.having(
            provenance=tuple(dict.fromkeys((*known.provenance, *([redact_name(session)] if session else [])))),
            accessed_at=max(known.accessed_at, act.at),
            updated_at=act.at,
            revision=known.revision + 1,
        )
        changes.update("merge", known, again, act.why)
        changes.write()


def relate(
    store: Store, id: str, hand: ActContext, *, relation: str, to: str | None, file: str | None, confidence: float
) -> Link:
    """Link a memory to exactly one target: another memory or a file."""
    if (to is None) == (file is None):
        raise InvalidField("to", "a relation has exactly one target: a memory or a file")
    with store.engine.write():
        source = store.memories.resolve(id)
        target = None if to is None else store.memories.resolve(to)
        about = store.memories.get(source)
        require_own(about, hand.door)
        if target is not None:
            require_visible(store, [target], about.user)
            if relation == Relation.SUPERSEDES:
                require_own(store.memories.get(target), hand.door)
        link = Link(
            source=source,
            relation=choose(Relation, relation, "relation"),
            target=target,
            file=None if file is None else redact(require_storable(file, "file")).text,
            confidence=share(confidence, "confidence"),
            automatic=False,
            created_at=hand.at,
        )
        changes = Changes(store, hand)
        changes.put_links("link", [link], f"{link.relation} {link.target or link.file}")
        changes.write()
    return link


def require_visible(store: Store, ids: Sequence[MemoryId], user: str | None) -> None:
    """Refuse to point to what the user of a memory does not see: whoever may read it could follow the link."""
    for memory in store.memories.get_many(ids).memories:
        if memory.user not in (None, user):
            raise MemoryNotFound(memory.id)


def _reshaped(memory: Memory, store: Store, hand: ActContext, changes: dict[str, Any]) -> Memory:
    for unknown in sorted(set(changes) - set(EDITABLE)):
        raise InvalidField(unknown, "an edit cannot change it", hint=f"It can change: {', '.join(sorted(EDITABLE))}.")
    kept = ("content", "kind", "confidence", "source", "scope", "visibility", "payload")
    asked = {**{name: getattr(memory, name) for name in kept}, **changes}
    screened = screen(Draft(**asked))
    shaped = shape(
        screened.draft,
        project=memory.project,
        kinds=store.kinds,
        now=hand.at,
        identity=lambda family, at: memory.id,
        redacted=bool(screened.redacted) or memory.flagged,
    ).memory
    fields = {name: getattr(shaped, name) for name in ("content", "fingerprint", "flagged", *changes)}
    content_changed = shaped.fingerprint != memory.fingerprint
    if content_changed:
        fields["attributes"] = mark_state(shaped.content, shaped.kind, fields.get("attributes", memory.attributes))
    edited = memory.having(**fields, streak=0 if content_changed else memory.streak)
    asks = bool({"status", "stale_at"} & set(changes)) and asks_by_itself(edited.status, edited.stale_at, hand.at)
    return edited.having(needs_review=True) if asks else edited


def change_memory(
    store: Store, id: str, action: Action, change: Callable[[Memory, Changes], Memory], hand: ActContext
) -> Memory:
    """Read, change, write, log, let confidence travel. One transaction."""
    with store.engine.write():
        memory = store.memories.get(store.memories.resolve(id))
        if memory.status not in OPEN:
            raise MemoryNotOpen(memory.id, memory.status)
        changes = Changes(store, hand)
        changed = limit_change(memory, change(memory, changes), hand.door)
        if changed == memory:
            return memory
        require_right(store, memory, action)
        if store.member is not None and (changed.visibility, changed.team) != (memory.visibility, memory.team):
            require_audience(store.member, changed.visibility, changed.team, store.project)
        require_clean(store, [changed])
        changed = changed.having(updated_at=hand.at, revision=memory.revision + 1)
        changes.update(action, memory, changed, hand.why)
        _move_neighbours(store, memory, changed, hand, changes)
        changes.write()
    return changed


def _move_neighbours(store: Store, before: Memory, after: Memory, hand: ActContext, changes: Changes) -> None:
    """Let a change of confidence travel along the links."""
    if not travels(before.confidence, after.confidence):
        return
    known: dict[MemoryId, Memory] = {}

    def confidence(id: MemoryId) -> float | None:
        try:
            known[id] = store.memories.get(id)
        except MemoryNotFound:
            return None
        # What was said stays said, and one user's doubts are not another's, nor an agent's a person's.
        if known[id].kind == Kind.EPISODE or known[id].user != before.user:
            return None
        return None if not hand.is_persons and is_persons(known[id]) else known[id].confidence

    settled = propagate(
        before.id, before=before.confidence, after=after.confidence, links=store.links.from_, confidence=confidence
    )
    for id, value in settled.items():
        if value < known[id].confidence or (value > known[id].confidence and hand.is_persons):
            move_confidence = known[id].having(confidence=value, updated_at=hand.at, revision=known[id].revision + 1)
            changes.update("propagate", known[id], move_confidence, f"{before.id} changed")


# --- how a change of confidence travels along links ------------------------------------------------------------------

# The change travels, not the level: setting a neighbour to `source × factor` would let any conflict zero it and any
# validation lower it.


THRESHOLD = 0.05  # a change must be larger than this to travel
_ROUNDING = 1e-9  # 0.55 - 0.5 is a hair more than 0.05

FACTORS: Mapping[Relation, float] = {
    Relation.VALIDATES: 0.6,
    Relation.REQUIRED_WITH: 0.3,
    Relation.CONFLICTS_WITH: -0.4,
    Relation.SUPERSEDES: 0.8,
    Relation.DERIVED_FROM: 0.5,
}


def travels(before: float, after: float) -> bool:
    """Is the change large enough to move the neighbours?"""
    return abs(after - before) > THRESHOLD + _ROUNDING


def move_confidence(target: float, link: Link, *, source: float, change: float) -> float:
    """The confidence of a link's target after its source changed by `change` to `source`."""
    factor = FACTORS[link.relation]
    if link.relation is Relation.SUPERSEDES:
        return _clamp(target * (1 - factor * link.confidence * source))
    return _clamp(target + factor * link.confidence * change)


def propagate(
    start: MemoryId,
    *,
    before: float,
    after: float,
    links: Callable[[MemoryId], Sequence[Link]],
    confidence: Callable[[MemoryId], float | None],
) -> dict[MemoryId, float]:
    """New confidences of everything that the change at `start` reaches, each touched once, cycles safe."""
    settled: dict[MemoryId, float] = {}
    visited = {start}
    queue = deque([(start, before, after)])
    while queue:
        id, old, new = queue.popleft()
        if not travels(old, new):
            continue
        for link in links(id):
            if link.target is None or link.target in visited:
                continue
            current = confidence(link.target)
            if current is None:
                continue
            visited.add(link.target)
            settled[link.target] = move_confidence(current, link, source=new, change=new - old)
            queue.append((link.target, current, settled[link.target]))
    return settled


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
