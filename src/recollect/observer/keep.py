"""Writing down what a session taught, in one transaction: its statistics, new memories, and those it bears out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recollect.core.drafts import Draft
from recollect.core.errors import Tombstoned
from recollect.core.ids import MemoryId
from recollect.core.observed import Contribution, Promotion, SessionSeen
from recollect.core.records import Memory
from recollect.core.scope import Scope, Source
from recollect.core.text import counted, fingerprint
from recollect.observer import gate
from recollect.observer.hunch import EVIDENCE, Hunch, tag_of
from recollect.observer.novelty import Weighed
from recollect.observer.record import module_of
from recollect.observer.room import ACTOR, Room
from recollect.remember.reinforce import witnessed
from recollect.remember.remember import remember


@dataclass(frozen=True, slots=True)
class Proposal:
    """A hunch that shall become a memory, and how sure we are."""

    hunch: Hunch
    confidence: float


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory a session added or bore out, and why."""

    memory: Memory
    why: str


@dataclass(frozen=True, slots=True)
class Written:
    """What was written; `put` is false when more of the session was known already."""

    put: bool
    added: tuple[Kept, ...] = ()
    reinforced: tuple[Kept, ...] = ()


def keep(seen: Contribution, proposals: Sequence[Proposal], known: Sequence[Weighed], room: Room) -> Written:
    """Write everything or nothing. What another process promoted meanwhile is not promoted again."""
    drafts = {one.hunch.key: room.placed(drafted(one, seen.session)) for one in proposals}
    with room.store.engine.write():
        if not room.store.observed.put(seen):
            return Written(put=False)
        taken = room.store.observed.promoted(drafts)
        added = [
            kept
            for one in proposals
            if one.hunch.key not in taken and (kept := _added(one.hunch, drafts[one.hunch.key], seen, room))
        ]
        reinforced = [kept for one in known if (kept := _borne_out(one, seen, room))]
    return Written(True, tuple(added), tuple(reinforced))


def _added(hunch: Hunch, draft: Draft, seen: Contribution, room: Room) -> Kept | None:
    now = room.now()
    try:
        receipt = remember([draft], room.store, now=now, identity=room.identity, actor=ACTOR)[0]
    except Tombstoned:
        return None  # somebody rejected these words between reading and writing
    _note(hunch, receipt.id, seen, room, now)
    return Kept(receipt.memory, draft.why)


def _borne_out(one: Weighed, seen: Contribution, room: Room) -> Kept | None:
    """Seen again: only what nothing from outside has touched counts, and a tainted memory waits for a person."""
    if one.known is None:
        return None
    memory = room.store.memories.get(one.known)
    clean = list(dict.fromkeys(sighting.session for sighting in one.hunch.clean))
    now = room.now()
    if one.hunch.key not in room.store.observed.promoted([one.hunch.key]):
        _note(one.hunch, one.known, seen, room, now)
    needed = memory.attributes.get("needed", gate.GRADES[one.hunch.signal].sessions)
    enough = len({*memory.provenance, *clean}) >= max(3, gate.SHOWN_AFTER * int(needed))
    better = _told_better(one.hunch, memory)
    done = witnessed(
        room.store,
        one.known,
        room.hand(),
        sessions=clean,
        attributes={
            "evidence": _joined(memory.attributes.get("evidence"), one.hunch),
            **({"told": fingerprint(better), "trigger": dict(one.hunch.trigger)} if better else {}),
        },
        content=better,
        active=enough and not memory.attributes.get("tainted", False),
    )
    return None if done is None else Kept(done, _why(one.hunch))


def _told_better(hunch: Hunch, memory: Memory) -> str | None:
    """The sentence as more sessions tell it, for a memory of ours that nobody has touched and no model has worded."""
    told = memory.attributes.get("told")
    ours = memory.source is Source.OBSERVER_INFERRED and memory.needs_review and told == memory.fingerprint
    return hunch.text if ours and not hunch.taint and fingerprint(hunch.text) != told else None


def _note(hunch: Hunch, memory: MemoryId, seen: Contribution, room: Room, now: datetime) -> None:
    noted = Promotion(key=hunch.key, memory=memory, session=seen.session.id, at=now.timestamp())
    room.store.observed.note_promotions([noted])


def drafted(one: Proposal, session: SessionSeen) -> Draft:
    """The draft of a hunch that a session completed."""
    hunch, started = one.hunch, session.started
    return Draft(
        hunch.text,
        kind=hunch.kind,
        confidence=one.confidence,
        source=Source.OBSERVER_INFERRED,
        scope=Scope.MODULE if hunch.files else Scope.GLOBAL,
        tags=(tag_of(hunch.signal),),
        files=hunch.files,
        modules=tuple(dict.fromkeys(module_of(path) for path in hunch.files)),
        event_at=None if started is None else datetime.fromtimestamp(started, UTC),
        session=session.id,
        provenance=tuple(dict.fromkeys(sighting.session for sighting in hunch.sightings)),
        needs_review=True,
        payload=hunch.payload,
        attributes={
            "signal": hunch.signal,
            "evidence": hunch.evidence(),
            "tainted": bool(hunch.taint),
            **({"taint": hunch.taint} if hunch.taint else {}),
            "needed": hunch.needed,
            "told": fingerprint(hunch.text),
            "trigger": dict(hunch.trigger),
        },
        skip_conflict_check=True,
        why=_why(hunch),
    )


def _why(hunch: Hunch) -> str:
    return f"seen in {counted(len({sighting.session for sighting in hunch.sightings}), 'session')}"


def _joined(known: Any, hunch: Hunch) -> list[dict[str, Any]]:
    """The evidence of a memory with that of a hunch, each session once."""
    before = {one["session"]: one for one in known or () if isinstance(one, dict) and "session" in one}
    clean = {one.session: {"session": one.session, "steps": list(one.steps)} for one in hunch.clean}
    return list({**before, **clean}.values())[-EVIDENCE:]
