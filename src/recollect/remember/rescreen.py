"""Secrets in what is stored already: rules grow, and what came in before they did must not escape them.

Every text of the store's tables is looked at. What is fixed leaves no copy: rows, the log's bodies, the cache, and the
gaps that deleted rows leave in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.text import fingerprint
from recollect.privacy.scan import redact, scan
from recollect.privacy.values import redact_value, rules_in
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.remember.screen import screen_memory
from recollect.store.cache import empty
from recollect.store.store import Store, projects_of
from recollect.store.texts import OWN_WRITERS, StoredTexts


class SecretPlace(NamedTuple):
    """Where something with a secret is: what sort of place, and which one."""

    sort: str
    name: str


def secrets_in_store(store: Store, progress: Callable[[int], None]) -> Iterator[tuple[SecretPlace, tuple[str, ...]]]:
    """Every place of the store's tables that holds a secret, with the rules that fire there."""
    seen = 0
    for page in store.memories.every():
        for memory in page.memories:
            seen += 1
            progress(seen)
            if rules := screen_memory(memory)[1]:
                yield SecretPlace("memory", memory.id), rules
    for entry in store.log.bodies():
        if rules := rules_in_text(entry.body):
            yield SecretPlace("log", str(entry.number)), rules
    found: dict[SecretPlace, dict[str, None]] = {}
    for held in StoredTexts(store.engine).every(without=OWN_WRITERS):
        if rules := rules_in_text(held.text):
            place = SecretPlace(_SORTS.get(held.table, held.table), redact(held.name).text)
            found.setdefault(place, {}).update(dict.fromkeys(rules))
    yield from ((place, tuple(rules)) for place, rules in found.items())


# How a person calls what a table holds.
_SORTS = {
    "turns": "chat turn",
    "turn_calls": "chat turn",
    "working_memory": "working memory",
    "documents": "document",
    "document_links": "document",
    "entities": "entity",
    "entity_names": "entity",
    "sessions": "session",
    "agent_sessions": "session",
}


def redact_store(store: Store, act: Callable[[], ActContext]) -> None:
    """Replace every secret in the store's tables and erase what the log says of it. Damaged rows stay as they are."""
    for page in list(store.memories.every()):
        for memory in page.memories:
            if screen_memory(memory)[1]:
                redact_stored(store, memory.id, act())
    with store.engine.write():
        StoredTexts(store.engine).reword(_redacted)
        for project in projects_of(store.engine):
            changes = Changes(Store(store.engine, store.kinds, project=project), act())
            said = (entry for entry in store.log.bodies() if entry.project == project)
            holding = [entry for entry in said if rules_in_text(entry.body)]
            changes.empty_entries("redact", holding, "secret erased from the log")
            changes.write()
    empty(store.engine)
    store.engine.vacuum()
    store.engine.checkpoint()


def redact_stored(store: Store, id: MemoryId, hand: ActContext) -> Memory:
    """Replace the secrets of one memory. What the log kept of its old words is erased with them."""
    with store.engine.write():
        memory = store.memories.get(id)
        safe, rules = screen_memory(memory)
        safe = safe.having(
            fingerprint=fingerprint(safe.content), flagged=True, updated_at=hand.at, revision=memory.revision + 1
        )
        changes = Changes(store, hand)
        changes.rewrite("redact", memory, safe, f"secret: {', '.join(sorted(rules))}")
        changes.write()
    return safe


def rules_in_text(text: str) -> tuple[str, ...]:
    """The rules that fire on a text. One that is JSON is read value by value, as `_redacted` takes them out and as a
    memory is screened: what is named here can be taken out, and what was taken out is not named again."""
    value = _parsed(text)
    return tuple(finding.rule for finding in scan(text)) if isinstance(value, str) else rules_in(value)


def _redacted(text: str) -> str:
    """The text without secrets; one that is JSON stays JSON."""
    value = _parsed(text)
    if isinstance(value, str):
        return redact(text).text
    safe = redact_value(value)
    if safe is value:
        return text
    return json.dumps(safe, ensure_ascii=False, separators=(",", ":"))


def _parsed(text: str) -> Any:
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
