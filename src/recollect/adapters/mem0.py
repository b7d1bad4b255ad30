"""A class with the methods and the dictionaries of mem0's `Memory`, on a memory of ours. Needs nothing of mem0.

Two things differ, on purpose. `infer` calls no language model: what was said is kept as it was said. And what is
deleted is gone: its history says when, not what.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from hashlib import md5
from itertools import combinations
from typing import Any
from uuid import uuid4

from recollect.adapters.records import Key, Record, RecordStore
from recollect.app import Recollect
from recollect.core.errors import NotFound

PROCEDURAL = "procedural_memory"
_UNSET: Any = object()

log = logging.getLogger("recollect.adapters")


class Memory:
    """mem0's synchronous client. `Memory()` opens the memory of the project you are in."""

    def __init__(self, memory: Recollect | None = None) -> None:
        if memory is None:
            from recollect.wiring import open

            memory = open()
        self.memory = memory
        self._records = RecordStore(memory, "mem0")

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Memory:
        """Takes `path`, as `recollect.open` does. What configures mem0's own parts has nothing to configure here."""
        from recollect.wiring import open

        if ignored := sorted(set(config_dict) - {"path"}):
            log.warning("no use for the settings %s: storage, models and embedding are Recollect's", ", ".join(ignored))
        return cls(open(config_dict.get("path")))

    # --- writing -------------------------------------------------------------------------------------------------

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keep what was said. With `infer` only what is new in its scope, and said by people unless an agent learns."""
        if timestamp is not None:
            raise ValueError("timestamp is not supported; put the date into metadata.")
        scope = scoped(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not scope:
            raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        if memory_type not in (None, PROCEDURAL):
            raise ValueError(f"Invalid 'memory_type'. Please pass {PROCEDURAL} to create procedural memories.")
        payload = {**_free(metadata), **scope}
        if (until := parse_expiry(expiration_date)) is not None:
            payload["expiration_date"] = until
        said = [one for one in messages_of(messages) if one["role"] != "system"]
        if memory_type == PROCEDURAL and agent_id is not None:
            return {"results": self._procedure(said, payload)}
        if infer:
            return {"results": self._inferred(said, payload, scope)}
        return {"results": [self._raw(one, payload) for one in said]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        known = self._known(memory_id)
        payload = {**known.value["payload"], **_free(metadata)}
        if expiration_date is not _UNSET:
            payload["expiration_date"] = parse_expiry(expiration_date)
        new = known.memory.content if text is None else text
        self._records.put(known.key, {"payload": payload}, text=new, marks=_marks(payload))
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        known = self._find(memory_id)
        if known is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        self._records.drop(known.key)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        scope = scoped(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not scope:
            raise ValueError(
                "At least one filter is required to delete all memories. "
                "If you want to delete all memories, use the `reset()` method."
            )
        self._records.clear(self._records.under(*_mark(scope)))
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Forget everything that was added here, and nothing else that the memory knows."""
        self._records.clear(self._records.under())

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, memory_id: str) -> dict[str, Any] | None:
        known = self._find(memory_id)
        return None if known is None else {**to_item(known), "score": None, **extras(known)}

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        scope, rest = self._asked("get_all", filters, kwargs)
        _require_count(top_k)
        found = self._records.under(*_mark(scope))
        kept = [one for one in found if _admitted(one, rest, show_expired=show_expired)][:top_k]
        return {"results": [{**to_item(one), **extras(one)} for one in kept]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Recall within a scope. Scores lie between 0 and 1; whether to rerank is a setting of the memory."""
        if reference_date is not None:
            raise ValueError("reference_date is not supported.")
        scope, rest = self._asked("search", filters, kwargs)
        _require_count(top_k)
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
        if not isinstance(query, str) or not query.strip():
            raise ValueError("Invalid query: cannot be empty or whitespace-only.")
        keep = partial(_admitted, asked=rest, show_expired=show_expired)
        found = self._records.search(query.strip(), k=top_k, mark=_mark(scope), keep=keep)
        results = [
            {**to_item(one), "score": share, **extras(one), **({"score_details": {"score": score}} if explain else {})}
            for one, score in found
            if (share := score / (1 + score)) >= (threshold or 0)
        ]
        return {"results": results}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Every change of the words, oldest first. Of what was deleted only that and when."""
        return list(changes(self.memory, memory_id, self._find(memory_id)))

    def close(self) -> None:
        self.memory.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def chat(self, query: str) -> None:
        """As mem0's own: there, and refused."""
        raise NotImplementedError("Chat function not implemented yet.")

    # --- inside --------------------------------------------------------------------------------------------------

    def _raw(self, message: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
        name = message.get("name")
        told = {**payload, "role": message["role"], **({"actor_id": name} if name else {})}
        id, text = self._keep(text_of(message), told)
        return {"id": id, "memory": text, "event": "ADD", "actor_id": name, "role": message["role"]}

    def _inferred(
        self, said: Sequence[Mapping[str, Any]], payload: Mapping[str, Any], scope: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        learns = "agent_id" in scope and "user_id" not in scope
        texts = dict.fromkeys(text_of(one) for one in said if learns or one["role"] != "assistant")
        results = []
        for text in texts:
            key = (self._records.mark("said", *_mark(scope), text),)
            known = self._records.get(key)
            if known is not None and known.memory.content == text.strip():
                continue
            id, kept = self._keep(text, payload, key=key if known is None else None)
            results.append({"id": id, "memory": kept, "event": "ADD"})
        return results

    def _procedure(self, said: Sequence[Mapping[str, Any]], payload: Mapping[str, Any]) -> list[dict[str, Any]]:
        text = "\n".join(f"{one['role']}: {text_of(one)}" for one in said)
        id, kept = self._keep(text, {**payload, "memory_type": PROCEDURAL})
        return [{"id": id, "memory": kept, "event": "ADD"}]

    def _keep(self, text: str, payload: Mapping[str, Any], key: Key | None = None) -> tuple[str, str]:
        key = key or (self._records.mark("id", uuid4().hex),)  # digits at random might be redacted
        made = self._records.put(key, {"payload": dict(payload)}, text=text, marks=_marks(payload))
        return made.memory.id, made.memory.content

    def _asked(
        self, method: str, filters: Mapping[str, Any] | None, given: Mapping[str, Any]
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """The scope in some filters, and the rest of them."""
        if wrong := SCOPES & set(given):
            raise ValueError(
                f"Top-level entity parameters {wrong} are not supported in {method}(). "
                "Use filters={'user_id': '...'} instead."
            )
        asked = dict(filters or {})
        scope = scoped(**{name: asked.pop(name) for name in SCOPES if name in asked})
        if not scope:
            raise ValueError(
                "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
            )
        return scope, asked

    def _find(self, id: str) -> Record | None:
        try:
            memory = self.memory.get(id)
        except NotFound:
            return None
        key = memory.attributes.get("key")
        found = self._records.get(tuple(key)) if key and memory.id == id else None
        return found if found is not None and found.memory.id == id else None

    def _known(self, id: str) -> Record:
        found = self._find(id)
        if found is None:
            raise ValueError(f"Memory with id {id} not found. Please provide a valid 'memory_id'")
        return found


class AsyncMemory:
    """mem0's asynchronous client: the same methods, awaitable."""

    def __init__(self, memory: Recollect | None = None) -> None:
        self._memory = Memory(memory)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        return cls(Memory.from_config(config_dict).memory)

    async def add(self, messages: Any, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(partial(self._memory.add, messages, **options))

    async def update(self, memory_id: str, text: str | None = None, **options: Any) -> dict[str, str]:
        return await asyncio.to_thread(partial(self._memory.update, memory_id, text, **options))

    async def delete(self, memory_id: str) -> dict[str, str]:
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        return await asyncio.to_thread(self._memory.delete_all, user_id, agent_id, run_id)

    async def reset(self) -> None:
        await asyncio.to_thread(self._memory.reset)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(self, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(partial(self._memory.get_all, **options))

    async def search(self, query: str, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(partial(self._memory.search, query, **options))

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        return await asyncio.to_thread(self._memory.history, memory_id)

    def close(self) -> None:
        self._memory.close()


def _free(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata without what says whose a memory is: that is never changed by the way."""
    return {name: value for name, value in (metadata or {}).items() if name not in IDENTITY}


def _mark(scope: Mapping[str, Any]) -> Key:
    return ("scope", *(f"{name}={scope[name]}" for name in sorted(scope) if name in SCOPES))


def _marks(payload: Mapping[str, Any]) -> list[Key]:
    """A mark for every way to ask for a scope: by user, by user and run, and so on."""
    names = sorted(SCOPES & set(payload))
    chosen = (some for size in range(1, len(names) + 1) for some in combinations(names, size))
    return [_mark({name: payload[name] for name in some}) for some in chosen]


def _require_count(top_k: Any) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def _admitted(record: Record, asked: Mapping[str, Any], *, show_expired: bool) -> bool:
    payload = record.value["payload"]
    return (show_expired or not expired(payload, today=datetime.now(UTC).date())) and matches(payload, asked)


# --- mem0's filters over plain dictionaries: scopes, expiry dates, conditions with operators -------------------------


SCOPES = frozenset({"user_id", "agent_id", "run_id"})
IDENTITY = SCOPES | {"actor_id"}


def scoped(**given: Any) -> dict[str, str]:
    """The ids that are given, as texts without blanks around them; one that cannot be an id is an error."""
    scope = {}
    for name, value in given.items():
        if value is None:
            continue
        id = str(value).strip()
        if not id:
            raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
        if any(letter.isspace() for letter in id):
            raise ValueError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
        scope[name] = id
    return scope


def parse_expiry(given: Any) -> str | None:
    """An expiry date as YYYY-MM-DD."""
    if given is None:
        return None
    if isinstance(given, datetime):
        return given.date().isoformat()
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, str):
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError as error:
            raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from error
    raise ValueError("expiration_date must be a date string in YYYY-MM-DD format.")


def expired(payload: Mapping[str, Any], *, today: date) -> bool:
    until = payload.get("expiration_date")
    return bool(until) and date.fromisoformat(str(until)) < today


def matches(payload: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Does a payload meet every condition?"""
    return all(_holds(payload, name, condition) for name, condition in asked.items())


def _holds(payload: Mapping[str, Any], name: str, condition: Any) -> bool:
    if name in ("AND", "OR", "NOT"):
        if not isinstance(condition, list) or (name != "AND" and not condition):
            raise ValueError(f"{name} operator requires a non-empty list of conditions")
        met = [matches(payload, one) for one in condition]
        return all(met) if name == "AND" else any(met) if name == "OR" else not any(met)
    if condition == "*":
        return name in payload
    if isinstance(condition, Mapping):
        return all(_compared(payload.get(name), str(operator), bound) for operator, bound in condition.items())
    return bool(payload.get(name) == condition)


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda have, want: bool(have == want),
    "ne": lambda have, want: bool(have != want),
    "in": lambda have, want: have in want,
    "nin": lambda have, want: have not in want,
    "gt": lambda have, want: bool(have > want),
    "gte": lambda have, want: bool(have >= want),
    "lt": lambda have, want: bool(have < want),
    "lte": lambda have, want: bool(have <= want),
    "contains": lambda have, want: want in have,
    "icontains": lambda have, want: str(want).casefold() in str(have).casefold(),
}


def _compared(have: Any, operator: str, want: Any) -> bool:
    if operator not in _OPERATORS:
        raise ValueError(f"Unsupported metadata filter operator: {operator}")
    if have is None and operator not in ("eq", "ne", "nin"):
        return False
    try:
        return _OPERATORS[operator](have, want)
    except TypeError:  # a number is neither more nor less than a text
        return False


# --- the dictionaries mem0 takes and gives: messages in, items and changes out ---------------------------------------


_PROMOTED = ("user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date")


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


def to_item(record: Record) -> dict[str, Any]:
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
        every = memory.history(id, limit=sys.maxsize)
        entries = [one for one in every if one.change.action in ("add", "edit", "forget")]
    except NotFound:
        return
    edits = [entry.change for entry in entries if entry.change.action == "edit"]
    words = [str((edit.before or {})["content"]) for edit in edits if "content" in (edit.before or {})]
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
