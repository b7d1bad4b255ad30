"""The hot path: what is said becomes an episode in one durable write. No model, no embedding, shaped names only.

What we injected is cut out before anything is kept, so a memory can never become evidence of itself. Nothing else is
lost: a long message is kept in parts, the same message told twice is kept once, and what is left out is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidField, Tombstoned
from recollect.core.ids import MemoryId
from recollect.core.instants import whole_ms
from recollect.core.scope import Scope, Source
from recollect.core.text import clean, require_storable
from recollect.dialogue.policy import PART, ROLE_NAME, SESSION_NAME
from recollect.dialogue.room import Room
from recollect.entities.resolve import link
from recollect.privacy.fence import own_words
from recollect.privacy.scan import redact
from recollect.remember.remember import remember

EMPTY = "there is no visible text in it"
INJECTED = "it holds nothing but memories we injected"
KNOWN = "it was captured before"
FORGOTTEN = "it was forgotten and stays gone"


@dataclass(frozen=True, slots=True)
class Message:
    """Something said: by whom, in which session, when. With an id, telling it twice keeps it once."""

    text: str
    session: str
    role: str = "user"
    at: datetime | None = None  # None: now
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a message: the episodes that keep it, or why there are none."""

    session: str
    episodes: tuple[MemoryId, ...] = ()
    left_out: str = ""
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """A message that is to be kept, in its parts, under its identity."""

    place: int  # among the messages told together
    message: Message
    at: datetime
    key: str
    parts: tuple[str, ...]
    left_out: str = ""


def capture(messages: Sequence[Message], room: Room) -> list[Captured]:
    """Keep some messages in one durable write. Each answer says what became of its message."""
    now = room.now()
    said = [_said(place, message, now) for place, message in enumerate(messages)]
    try:
        return _keep(said, room, now)
    except Tombstoned:
        if len(said) == 1:
            return [Captured(said[0].message.session, left_out=FORGOTTEN)]
        return [_one(one, room, now) for one in said]


def _one(said: _Said, room: Room, now: datetime) -> Captured:
    try:
        return _keep([said], room, now)[0]
    except Tombstoned:
        return Captured(said.message.session, left_out=FORGOTTEN)


def _said(place: int, message: Message, now: datetime) -> _Said:
    session = _name(message.session, "session", SESSION_NAME)
    role = _name(message.role, "role", ROLE_NAME)
    if not isinstance(message.text, str):
        raise InvalidField("text", f"expected a text, not {type(message.text).__name__}")
    at = now if message.at is None else _utc(message.at)
    own = own_words(require_storable(message.text, "text"))
    text = clean(own)[0]
    left_out = "" if text else INJECTED if clean(message.text)[0] else EMPTY
    told = Message(text, session, role, at, message.id)
    return _Said(place, told, at, _key(told, given=message), _parts(text), left_out)


def _key(told: Message, *, given: Message) -> str:
    """What makes a message the same one: its id, or else who said what when. Without a time it is always a new one."""
    if given.id is None and given.at is None:
        return ""
    which = [given.id] if given.id is not None else [told.role, str(told.at), told.text]
    return blake2b("\0".join([told.session, *which]).encode(), digest_size=12).hexdigest()


def _parts(text: str) -> tuple[str, ...]:
    """A text in pieces that fit an episode, cut at a line or a space where there is one near the end."""
    parts: list[str] = []
    while len(text) > PART:
        cut = max(text.rfind("\n", PART // 2, PART), text.rfind(" ", PART // 2, PART))
        cut = PART if cut < 0 else cut + 1
        parts.append(text[:cut])
        text = text[cut:]
    return (*parts, text) if text.strip() else tuple(parts)


def _keep(said: Sequence[_Said], room: Room, now: datetime) -> list[Captured]:
    found = {one.place: [room.finders.find(redact(part).text) for part in one.parts] for one in said}
    store = room.store
    with store.engine.write():
        known = store.memories.carried("message", [one.key for one in said if one.key])
        fresh = _fresh(said, known)
        names = [mentions for one in fresh for mentions in found[one.place]]
        linked = link(names, store, now=now, identity=room.identity)
        drafts = [draft for one in fresh for draft in _drafts(one)]
        drafts = [_with(draft, ids) for draft, ids in zip(drafts, linked, strict=True)]
        receipts = remember(
            drafts,
            store,
            now=now,
            identity=room.identity,
            actor=room.actor,
        )
        _register(fresh, room, now)
    kept = iter(receipts)
    taken = {one.place: [next(kept) for _ in one.parts] for one in fresh}
    return [_captured(one, taken.get(one.place)) for one in said]


def _captured(one: _Said, receipts: Sequence[Receipt] | None) -> Captured:
    if receipts is None:
        return Captured(one.message.session, left_out=one.left_out or KNOWN)
    fired = dict.fromkeys(rule for receipt in receipts for rule in receipt.redacted)
    return Captured(one.message.session, tuple(receipt.id for receipt in receipts), redacted=tuple(fired))


def _fresh(said: Sequence[_Said], known: set[str]) -> list[_Said]:
    """Those with something to keep that are not kept yet, each once."""
    fresh = []
    for one in said:
        if not one.left_out and one.parts and (not one.key or one.key not in known):
            fresh.append(one)
            known.add(one.key)
    return fresh


def _drafts(said: _Said) -> list[Draft]:
    of = len(said.parts)
    marks: dict[str, object] = {"message": said.key} if said.key else {}
    return [
        Draft(
            part,
            kind="episode",
            source=Source.MCP_AUTO,
            scope=Scope.GLOBAL,
            session=said.message.session,
            source_role=said.message.role,
            event_at=said.at,
            confidence=1.0,
            skip_conflict_check=True,  # evidence is kept whatever else was said
            attributes={**marks, "part": number, "of": of} if of > 1 else marks,
        )
        for number, part in enumerate(said.parts, start=1)
    ]


def _with(draft: Draft, entities: tuple[str, ...]) -> Draft:
    return replace(draft, entities=entities) if entities else draft


def _register(fresh: Sequence[_Said], room: Room, now: datetime) -> None:
    """Sessions are known with their first message; a new one queues the open ones before it."""
    for session in dict.fromkeys(one.message.session for one in fresh):
        last = max(one.at for one in fresh if one.message.session == session)
        if room.store.sessions.touch(session, seen=now, last=last):
            room.store.sessions.queue_others(session, at=now)


def _name(given: str, field: str, limit: int) -> str:
    if not isinstance(given, str):
        raise InvalidField(field, f"expected a text, not {type(given).__name__}")
    name = clean(require_storable(given, field))[0].replace("\n", " ")
    if not name or len(name) > limit:
        raise InvalidField(field, f"{given[:40]!r} is not a name of 1 to {limit} characters")
    return name


def _utc(at: datetime) -> datetime:
    if not isinstance(at, datetime):
        raise InvalidField("at", f"expected a date and time, not {type(at).__name__}")
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return whole_ms(at)
