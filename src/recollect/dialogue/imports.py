"""Chats from elsewhere: the exports of ChatGPT and Claude, and plain lines of JSON. Reading only; capturing is theirs.

Each message keeps its own id and time, so importing a newer export of the same chats adds what is new and nothing else.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recollect.core.errors import InvalidField
from recollect.dialogue.episodes import Message

Format: TypeAlias = Literal["auto", "chatgpt", "claude", "jsonl"]
_LARGEST = 2 << 30  # bytes of one export
_EXPORT = "conversations.json"


def read_chats(path: Path, format: Format = "auto") -> Iterator[Message]:
    """The messages of an export in the order they were said, chat by chat."""
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
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidField(str(path), f"it is not JSON ({error})") from None
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
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidField(f"line {number}", "it is not JSON") from None
        if not isinstance(told, dict) or not isinstance(_first(told, _TEXT), str):
            raise InvalidField(f"line {number}", "a message is an object with `content`")
        when = _first(told, _TIME)
        at = _moment(when)
        if when is not None and at is None:
            raise InvalidField(f"line {number}", f"{when!r} is not a time")
        role = str(told.get("role") or told.get("speaker") or "user")
        session = str(_first(told, _SESSION) or "imported")
        yield Message(str(_first(told, _TEXT)), session, role, at, str(told["id"]) if "id" in told else None)


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
