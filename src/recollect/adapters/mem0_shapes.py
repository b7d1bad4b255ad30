"""The dictionaries mem0 takes and gives: messages in, items and changes out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from hashlib import md5
from typing import Any

from recollect.adapters.drawer import Record
from recollect.app import Recollect
from recollect.core.errors import NotFound

_PROMOTED = ("user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date")

log = logging.getLogger("recollect.adapters")


def messages_of(given: Any) -> list[Mapping[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        given = [given]
    if not isinstance(given, list | tuple):
        raise ValueError("messages must be str, dict, or list[dict]")
    kept = [one for one in given if isinstance(one, Mapping) and one.get("role") and one.get("content") is not None]
    if len(kept) < len(given):
        log.warning("left out %d message(s) without a role or content", len(given) - len(kept))
    return [one for one in kept if text_of(one).strip()]


def text_of(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else [content]
    return "\n".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in parts)


def item(record: Record) -> dict[str, Any]:
    memory = record.memory
    return {
        "id": memory.id,
        "memory": memory.content,
        "hash": md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": None,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
    }


def extras(record: Record) -> dict[str, Any]:
    payload = record.value["payload"]
    promoted = {name: payload[name] for name in _PROMOTED if name in payload}
    rest = {name: value for name, value in payload.items() if name not in _PROMOTED}
    return {**promoted, **({"metadata": rest} if rest else {})}


def changes(memory: Recollect, id: str, known: Record | None) -> Iterator[dict[str, Any]]:
    try:
        entries = [one for one in memory.history(id) if one.change.action in ("add", "edit", "forget")]
    except NotFound:
        return
    edits = [one.change for one in entries if one.change.action == "edit"]
    words = [str((one.before or {})["content"]) for one in edits if "content" in (one.before or {})]
    now = None if known is None else known.memory.content
    text: str | None = words[0] if words else now
    payload = {} if known is None else known.value["payload"]
    created = entries[0].at.isoformat() if entries else None
    for entry in entries:
        event = {"add": "ADD", "edit": "UPDATE", "forget": "DELETE"}[entry.change.action]
        old = None if event == "ADD" else text
        if event == "UPDATE":
            text = (entry.change.after or {}).get("content", text)
        yield {
            "id": entry.hash,
            "memory_id": id,
            "old_memory": old,
            "new_memory": None if event == "DELETE" else text,
            "event": event,
            "created_at": created,
            "updated_at": entry.at.isoformat(),
            "is_deleted": event == "DELETE",
            "actor_id": payload.get("actor_id"),
            "role": payload.get("role"),
        }
