"""What was erased from a project, so that no older copy brings it back: memories, names, links, history of an import.

Marks come from erasures here, from a store that was moved here, or from a store that nobody proved to be this person's.
The last count only for copies of that very store: a stranger's marks must not keep anything else away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.core.entities import Entity, EntityId
from recollect.core.erasing import copy_of_mark, is_mark, marks_by_copy
from recollect.core.forms import whole
from recollect.core.records import Memory
from recollect.remember.commit import tombstone_keys
from recollect.remember.erase import marks_of
from recollect.store.codec import from_ms
from recollect.store.port import Row
from recollect.store.store import Store
from recollect.store.tombstones import ERASED_ELSEWHERE, ERASED_REASON, Tombstone

_STATEMENT = "statement-"  # begins the mark of one statement that was erased in a store of another
_STATEMENT_MARK = re.compile(r"statement-[0-9a-f]{16,64}@[^@\s]{1,100}")


class ErasedHere:
    """What was erased from a project by name, session, user or whole. It was erased here, or in a store that was moved
    here."""

    def __init__(self, store: Store, replica: str = "") -> None:
        """`replica` is the copy that something comes from: all of that goes when everything was erased there."""
        stones = [stone for (project, _), stone in store.tombstones.every().items() if project == store.project]
        told = [
            stone
            for stone in stones
            if stone.reason == ERASED_REASON
            or (stone.reason == ERASED_ELSEWHERE and copy_of_mark(stone.fingerprint) == replica)
        ]
        self.own = marks_of(store).key
        self._replica = replica
        self._marks = marks_by_copy(stone.fingerprint for stone in told)
        self._statements = {stone.fingerprint for stone in told if stone.fingerprint.startswith(_STATEMENT)}
        self._until = max((stone.at for stone in told), default=None)
        copies = {self.own, replica}
        self._everything = any(marks.has_project(store.project) for marks in self._marks if marks.key in copies)

    def covers(self, memory: Memory, *, said_at: datetime | None = None) -> bool:
        """Was a memory there before the last erasure, and does it hold what was erased? `said_at` is when it was said,
        where that is not when it was made."""
        if self._until is None:
            return False
        if any(_statement_mark(key, self._replica) in self._statements for key in tombstone_keys(memory)):
            return True
        return self.holds(said_at or memory.created_at, memory.session, memory.user, whole(memory))

    def holds(self, created_at: datetime | None, session: str | None, user: str | None, told: Any) -> bool:
        """The same for what another program kept; without a time it counts as old."""
        if not self._is_old(created_at):
            return False
        if self._everything or any(marks.has_session(session) or marks.has_user(user) for marks in self._marks):
            return True
        return self._hold(told)

    def says(self, at: datetime | None, told: Any) -> bool:
        """Does something that was there before the last erasure hold words that were erased?"""
        return self._is_old(at) and self._hold(told)

    def says_entry(self, row: Row) -> bool:
        """The same for an entry of a log: who acted, on what, and what it says."""
        ms, actor, subject, body = row[5], row[6], row[10], row[11]
        if self._until is None or not self._is_old(from_ms(ms)):
            return False
        return self._hold([actor, subject, _parsed(body)])

    def cleaned(self, entity: Entity) -> Entity | None:
        """What may come in of an entity; nothing when it is named as somebody who was erased."""
        if not self._is_old(entity.created_at):
            return entity
        if self._everything or self._hold(entity.name):
            return None
        aliases = tuple(name for name in entity.aliases if not self._hold(name))
        return entity.having(aliases=aliases, summary="" if self._hold(entity.summary) else entity.summary)

    def _is_old(self, at: datetime | None) -> bool:
        return self._until is not None and (at is None or at <= self._until)

    def _hold(self, told: Any) -> bool:
        return any(marks.has_words and marks.hold_any(told) for marks in self._marks)


class EntitySupport:
    """Which entities of an import are spoken of by memories that are here, and which only by memories that were
    refused. One that stands for another is supported by what speaks of the other."""

    def __init__(self) -> None:
        self._here: set[str] = set()
        self._refused: set[str] = set()
        self._waiting: dict[EntityId, Entity] = {}

    def note(self, entities: Iterable[str], *, is_here: bool) -> None:
        """A memory speaks of some entities, and is here or was refused."""
        (self._here if is_here else self._refused).update(entities)

    def sift(self, entities: Sequence[Entity]) -> list[Entity]:
        """Those of some entities that may come in, with those of earlier ones that may come in because of them."""
        self._waiting |= {entity.id: entity for entity in entities}
        found: list[Entity] = []
        ready = [id for id in reversed(self._waiting) if id in self._here or id not in self._refused]
        while ready:
            entity = self._waiting.pop(ready.pop(), None)
            if entity is None:
                continue
            found.append(entity)
            if entity.merged_into is not None:
                self._here.add(entity.merged_into)
                ready.append(entity.merged_into)
        return found


def as_strangers_mark(stone: Tombstone, replica: str, own: str, now: datetime) -> Tombstone | None:
    """What a tombstone may say here that comes from a store nobody proved to be this person's: that its copies do not
    bring back what was erased there. Nothing for one that claims to speak of this store (`own`), or is no such mark."""
    key = stone.fingerprint
    if stone.reason == "forgotten":
        key = _statement_mark(key, replica)
    elif stone.reason not in (ERASED_REASON, ERASED_ELSEWHERE):
        return None
    if not (is_mark(key) or _STATEMENT_MARK.fullmatch(key)) or copy_of_mark(key) == own:
        return None
    return Tombstone(key, ERASED_ELSEWHERE, min(stone.at, now))


def _statement_mark(key: str, replica: str) -> str:
    return f"{_STATEMENT}{key}@{replica}"


def _parsed(body: str | None) -> Any:
    if body is None:
        return ""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
