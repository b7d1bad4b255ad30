"""The hot path: what is said becomes an episode in one durable write. No model, no embedding, shaped names only.

What we injected is cut out before anything is kept, so a memory can never become evidence of itself. Nothing else is
lost: a long message is kept in parts, the same message told twice is kept once, and what is left out is said.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidField, Tombstoned
from recollect.core.given_json import parse_given_json
from recollect.core.ids import MemoryId, whole_ms
from recollect.core.query import read_user
from recollect.core.scope import Scope, Source
from recollect.core.text import clean, require_storable
from recollect.dialogue.context import PART, ROLE_NAME, SESSION_NAME, DialogueContext
from recollect.privacy.fence import own_words
from recollect.privacy.scan import redact
from recollect.privacy.values import redact_name

_CLOCKS_DIFFER = timedelta(days=1)  # by zones and wrong clocks; who claims more is not believed

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
    user: str | None = None  # the one user of an assistant it belongs to


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


def capture(messages: Sequence[Message], room: DialogueContext) -> list[Captured]:
    """Keep some messages in one durable write. Each answer says what became of its message."""
    now = room.writer.now()
    said = [_read_message(place, message, now) for place, message in enumerate(messages)]
    try:
        return _keep(said, room, now)
    except Tombstoned:
        if len(said) == 1:
            return [Captured(said[0].message.session, left_out=FORGOTTEN)]
        return [_one(one, room, now) for one in said]


def _one(said: _Said, room: DialogueContext, now: datetime) -> Captured:
    try:
        return _keep([said], room, now)[0]
    except Tombstoned:
        return Captured(said.message.session, left_out=FORGOTTEN)


def _read_message(place: int, message: Message, now: datetime) -> _Said:
    session = redact_name(_name(message.session, "session", SESSION_NAME))
    role = _name(message.role, "role", ROLE_NAME)
    if not isinstance(message.text, str):
        raise InvalidField("text", f"expected a text, not {type(message.text).__name__}")
    told_at = now if message.at is None else _utc(message.at)
    at = told_at if told_at <= now + _CLOCKS_DIFFER else now  # nobody has spoken tomorrow
    own = own_words(require_storable(message.text, "text"))
    text = clean(own)[0]
    left_out = "" if text else INJECTED if clean(message.text)[0] else EMPTY
    told = replace(message, text=text, session=session, role=role, at=at, user=read_user(message.user))
    return _Said(place, told, at, _key(told, told_at, given=message), _parts(text), left_out)


def _key(told: Message, told_at: datetime, *, given: Message) -> str:
    """What makes a message the same one: its id, or else who said what when. Without a time it is always a new one."""
    if given.id is None and given.at is None:
        return ""
    which = [require_storable(given.id, "id")] if given.id is not None else [told.role, str(told_at), told.text]
    whose = [] if told.user is None else ["user", told.user]
    return blake2b("\0".join([told.session, *which, *whose]).encode(), digest_size=12).hexdigest()


def _parts(text: str) -> tuple[str, ...]:
    """A text in pieces that fit an episode, cut at a line or a space where there is one near the end."""
    parts: list[str] = []
    while len(text) > PART:
        cut = max(text.rfind("\n", PART // 2, PART), text.rfind(" ", PART // 2, PART))
        cut = PART if cut < 0 else cut + 1
        parts.append(text[:cut])
        text = text[cut:]
    return (*parts, text) if text.strip() else tuple(parts)


def _keep(said: Sequence[_Said], room: DialogueContext, now: datetime) -> list[Captured]:
    found = {one.place: [room.finders.find(redact(part).text) for part in one.parts] for one in said}
    with room.writer.transaction():
        known = room.reader.carried("message", [one.key for one in said if one.key])
        fresh = _fresh(said, known)
        linked = room.link([mentions for one in fresh for mentions in found[one.place]])
        drafts = [draft for one in fresh for draft in _drafts(one)]
        receipts = room.writer.remember([_with(draft, ids) for draft, ids in zip(drafts, linked, strict=True)])
        kept = iter(receipts)
        taken = {one.place: [next(kept) for _ in one.parts] for one in fresh}
        _register(fresh, taken, room, now)
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
            source=Source.SAID,
            scope=Scope.GLOBAL,
            session=said.message.session,
            user=said.message.user,
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


def _register(
    fresh: Sequence[_Said], taken: Mapping[int, Sequence[Receipt]], room: DialogueContext, now: datetime
) -> None:
    """Sessions are known with their first message; a new one queues the open ones before it. Their times are those of
    their episodes, so that they can be told from them again."""
    for session in dict.fromkeys(one.message.session for one in fresh):
        here = [one for one in fresh if one.message.session == session]
        seen = min(receipt.memory.created_at for one in here for receipt in taken[one.place])
        if room.sessions.touch(session, seen=seen, last=max(one.at for one in here)):
            room.sessions.queue_others(session, at=now)


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


# --- chats from elsewhere -------------------------------------------------------------------------------------------

Format: TypeAlias = Literal["auto", "chatgpt", "claude", "jsonl"]
_LARGEST = 1 << 30  # bytes of one export; it is held in memory several times over
_EXPORT = "conversations.json"


def read_chats(path: Path, format: Format = "auto") -> Iterator[Message]:
    """The messages of an export of ChatGPT or Claude, or of lines of JSON, in the order they were said, chat by chat.

    Each keeps its own id and time, so importing a newer export of the same chats adds what is new and nothing else.
    """
    yield from _identified(_read_chats(path, format))


def _identified(messages: Iterable[Message]) -> Iterator[Message]:
    """A message without an id and a time is known again by its words and by how often they came before in its session:
    importing the same file twice adds nothing, and what was said twice stays said twice."""
    times: Counter[tuple[str, str, str]] = Counter()
    for message in messages:
        if message.id is None and message.at is None:
            said = (message.session, message.role, message.text)
            times[said] += 1
            words = "\0".join((*said, str(times[said]))).encode("utf-8", "replace")
            message = replace(message, id=f"words:{blake2b(words, digest_size=12).hexdigest()}")
        yield message


def _read_chats(path: Path, format: Format) -> Iterator[Message]:
    text = _text(path)
    found = _detected(text, path) if format == "auto" else format
    if found == "jsonl":
        yield from _jsonl(text)
        return
    chats = _parsed(text, path)
    read = _chatgpt if found == "chatgpt" else _claude
    for number, chat in enumerate(chats):
        if not isinstance(chat, dict):
            raise InvalidField(str(path), f"conversation {number + 1} is no object")
        yield from read(chat)


def _text(path: Path) -> str:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                name = next((name for name in archive.namelist() if name.rpartition("/")[2] == _EXPORT), None)
                if name is None or archive.getinfo(name).file_size > _LARGEST:
                    raise InvalidField(str(path), f"there is no readable {_EXPORT} in it")
                return archive.read(name).decode("utf-8-sig")
        if path.is_dir():
            path = path / _EXPORT
        if path.stat().st_size > _LARGEST:
            raise InvalidField(
                str(path), f"it is larger than {_LARGEST >> 20:,} MB", hint="Split it, and import each part."
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidField(str(path), f"byte {error.start} is not UTF-8") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidField(str(path), f"it cannot be read ({error})") from None


def _detected(text: str, path: Path) -> str:
    """An export is one list; lines of JSON are not. Chats of ChatGPT have a tree of messages, Claude's a list."""
    if not text.lstrip().startswith("["):
        return "jsonl"
    chats = _parsed(text, path)
    first = next((chat for chat in chats if isinstance(chat, dict)), {})
    if "mapping" in first:
        return "chatgpt"
    if "chat_messages" in first or not chats:
        return "claude"
    raise InvalidField(str(path), "it is neither an export of ChatGPT nor of Claude", hint="Say which with --format.")


def _parsed(text: str, path: Path) -> list[Any]:
    value = parse_given_json(text, str(path))
    if not isinstance(value, list):
        raise InvalidField(str(path), "an export is a list of conversations")
    return value


# --- ChatGPT -------------------------------------------------------------------------------------------------------


def _chatgpt(chat: Mapping[str, Any]) -> Iterator[Message]:
    """The branch that was shown last: from the current node up to the root, then read downwards."""
    nodes = chat.get("mapping")
    nodes = nodes if isinstance(nodes, dict) else {}
    session = f"chatgpt:{chat.get('conversation_id') or chat.get('id') or chat.get('title') or 'untitled'}"[:200]
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    at = chat.get("current_node") or _leaf(nodes)
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = nodes[at] if isinstance(nodes[at], dict) else {}
        branch.append(node)
        at = node.get("parent")
    for node in reversed(branch):
        message = node.get("message")
        if isinstance(message, dict) and (told := _chatgpt_message(message, session)) is not None:
            yield told


def _leaf(nodes: Mapping[str, Any]) -> str | None:
    return next(
        (id for id, node in reversed(list(nodes.items())) if isinstance(node, dict) and not node.get("children")), None
    )


def _chatgpt_message(message: Mapping[str, Any], session: str) -> Message | None:
    content = message.get("content") if isinstance(message.get("content"), dict) else {}
    author = message.get("author") if isinstance(message.get("author"), dict) else {}
    parts = content.get("parts") if isinstance(content, dict) else None
    text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
    role = str((author or {}).get("role") or "user")
    if not text.strip() or role == "system":
        return None
    return Message(text, session, role, _moment(message.get("create_time")), str(message.get("id") or "") or None)


# --- Claude --------------------------------------------------------------------------------------------------------


def _claude(chat: Mapping[str, Any]) -> Iterator[Message]:
    session = f"claude:{chat.get('uuid') or chat.get('name') or 'untitled'}"[:200]
    messages = chat.get("chat_messages")
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict):
            continue
        text = message.get("text") or _claude_text(message.get("content"))
        role = {"human": "user", "assistant": "assistant"}.get(str(message.get("sender")), str(message.get("sender")))
        if isinstance(text, str) and text.strip():
            at = _moment(message.get("created_at"))
            yield Message(text, session, role, at, str(message.get("uuid") or "") or None)


def _claude_text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


# --- lines of JSON -------------------------------------------------------------------------------------------------

_TEXT = ("content", "text", "message")
_TIME = ("at", "timestamp", "time", "created_at", "date")
_SESSION = ("session", "session_id", "thread", "conversation", "conversation_id")


def _jsonl(text: str) -> Iterator[Message]:
    """One message a line: role, content, and where known session, time and id."""
    for number, line in enumerate(text.split("\n"), start=1):  # U+2028 inside a text ends no line
        if not line.strip():
            continue
        told = parse_given_json(line, f"line {number}")
        if not isinstance(told, dict) or not isinstance(_first(told, _TEXT), str):
            raise InvalidField(f"line {number}", "a message is an object with `content`")
        when = _first(told, _TIME)
        at = _moment(when)
        if when is not None and at is None:
            raise InvalidField(f"line {number}", f"{when!r} is not a time")
        role = str(told.get("role") or told.get("speaker") or "user")
        session = str(_first(told, _SESSION) or "imported")
        yield Message(str(_first(told, _TEXT)), session, role, at, None if told.get("id") is None else str(told["id"]))


def _first(told: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _moment(value: Any) -> datetime | None:
    """A time as seconds since 1970 or as ISO 8601; nothing when it is neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
