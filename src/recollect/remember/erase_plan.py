"""What an erasure will take from a project: found by reading only, so that nobody waits while everything is looked
through. What is written meanwhile is looked at by whoever carries the plan out (`remember.erase`).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from recollect.core.digest import blake2b
from recollect.core.entities import Entity
from recollect.core.erasing import ERASED, ErasureMarks, blank_text
from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.payloads import payload_json
from recollect.core.records import Memory
from recollect.core.scope import Relation
from recollect.remember.forget import ever_said
from recollect.store.log import EntryBody
from recollect.store.store import Store
from recollect.store.texts import OWN_WRITERS, FoundRow, StoredTexts

# Tables whose rows are changed together with the log, or hold no words of anybody.
_NOT_BLANKED = (
    *OWN_WRITERS, "entities", "entity_names", "tombstones", "links", "meta", "vectors", "cells", "grids", "spaces",
    "embedding_cache",
)  # fmt: skip
KEPT_BY_PROJECT = (*OWN_WRITERS, "entities", "entity_names", "tombstones", "links")  # removed one by one, or told
_SUFFIX = 4  # bytes that keep two blanked names apart


class ErasurePlan:
    """What goes from one project: memories whole, entities, rows of sessions, and texts that are blanked."""

    def __init__(self, store: Store, marks: ErasureMarks, ids: Collection[str], traces: Iterable[str] = ()) -> None:
        """`traces` are those of an erasure that was interrupted."""
        self._store = store
        self._ids = frozenset(ids)
        self._salt = os.urandom(16)
        self.marks = marks
        self.traces = ErasureMarks(marks.key)  # how what the memories said begins
        for key in traces:
            self.traces.add_key(key)
        self.whole = marks.has_project(store.project)
        self.memories: dict[MemoryId, Memory] = {}
        self.damaged: list[str] = []
        self.sessions: list[str] = []  # that go whole
        self.texts: list[str] = []  # all that the memories ever said
        self._look()

    def _look(self) -> None:
        store = self._store
        self.head = store.log.last()  # what was written after it is looked at by `catch_up`
        self.session_rows: list[FoundRow] = []
        self.links: list[Link] = []
        self.rows: list[FoundRow] = []
        self.outlines: list[str] = []
        self.entries: list[EntryBody] = []
        self.named: list[Entity] = []
        if self.marks.everything:
            self.memories = {memory.id: memory for page in store.memories.every() for memory in page.memories}
            self.texts = [memory.content for memory in self.memories.values()]
            self.sessions = list(dict.fromkeys(memory.session for memory in self.memories.values() if memory.session))
            return
        self.named = [entity for entity in store.entities.every() if self._is_named(entity)]
        self._named_ids = {str(entity.id) for entity in self.named}
        for page in store.memories.every():
            self.damaged += page.damaged
            self._take(page.memories)
        self._settle(list(self.memories))
        self.session_rows = self._rows_of_sessions()
        self.links = self._links_to_files()
        self.entries = self._find_entries(0)
        if self.blanks:
            self.rows = StoredTexts(store.engine).changing(self.blank, without=_NOT_BLANKED, project=store.project)
            self.outlines = store.graph.outlines_holding(self.marks.hold)

    @property
    def is_empty(self) -> bool:
        return not (
            self.memories or self.named or self.session_rows or self.links or self.rows or self.outlines or self.entries
        )

    @property
    def blanks(self) -> bool:
        """Are other texts blanked? Of a whole project every row goes."""
        return not self.whole and (self.marks.has_words or self.traces.has_words)

    def catch_up(self) -> None:
        """Look at what was written since, inside a write: memories that changed, and what the log says of them."""
        store, said = self._store, list(self._store.log.bodies(self.head))
        changed = {entry.subject for entry in said if entry.about == "memory" and entry.subject}
        documents = {entry.subject for entry in said if entry.about == "passages" and entry.subject}
        known = set(self.memories)
        self._take(store.memories.get_many(sorted(changed)).memories)
        for document in sorted(documents):
            self._take(store.memories.of_document(document))
        self._settle([id for id in self.memories if id not in known])
        self.entries += self._find_entries(self.head)

    # --- memories -------------------------------------------------------------------------------------------------

    def _take(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            if memory.project == self._store.project and self._goes(memory):
                self.memories[memory.id] = memory

    def _goes(self, memory: Memory) -> bool:
        marks = self.marks
        if memory.id in self._ids or self.whole or marks.has_session(memory.session) or marks.has_user(memory.user):
            return True
        if not self._named_ids.isdisjoint(memory.entities):
            return True
        return marks.has_words and marks.hold_any(said_in(memory))

    def _settle(self, found: list[MemoryId]) -> None:
        """Add what was drawn from some memories alone, and note what they said and which sessions go with them."""
        waiting, new = list(found), list(found)
        while waiting:
            for id in self._drawn_from(waiting.pop()):
                self.memories[id] = self._store.memories.get(id)
                waiting.append(id)
                new.append(id)
        for id in new:
            said = ever_said(self._store, self.memories[id])
            self.texts += said
            for text in said:
                self.traces.add_text(text)
        self.sessions = self._find_sessions()

    def _drawn_from(self, id: MemoryId) -> Iterator[MemoryId]:
        """What was drawn from a memory and, once it is gone, from nothing that stays."""
        for link in self._store.links.to(id):
            if link.relation is Relation.DERIVED_FROM and link.source not in self.memories:
                sources = [one for one in self._store.links.from_(link.source) if one.relation is Relation.DERIVED_FROM]
                if all(one.target in self.memories for one in sources):
                    yield link.source

    def _find_sessions(self) -> list[str]:
        """Sessions that go whole: those that were named, and those in which only an erased user spoke."""
        found = dict.fromkeys(memory.session for memory in self.memories.values() if memory.session is not None)
        if self.marks.users:
            for session in found:
                said = [memory.id for _, memory in self._store.sessions.episodes(session, limit=10**9)]
                if said and self.memories.keys() >= set(said):
                    self.marks.add_session(session)
        return [session for session in found if self.marks.has_session(session)]

    # --- entities and other rows ----------------------------------------------------------------------------------

    def _is_named(self, entity: Entity) -> bool:
        return self.whole or (self.marks.has_words and self.marks.hold(entity.name))

    def cleaned(self, entity: Entity, gone: Collection[str]) -> Entity:
        """What stays of an entity that stays."""
        aliases = tuple(name for name in entity.aliases if not self.marks.hold(name))
        summary = "" if self.marks.hold(entity.summary) or self.traces.hold(entity.summary) else entity.summary
        merged = None if entity.merged_into in gone else entity.merged_into
        return entity.having(aliases=aliases, summary=summary, merged_into=merged)

    def _rows_of_sessions(self) -> list[FoundRow]:
        if self.whole or not self.marks.sessions:
            return []
        return StoredTexts(self._store.engine).of_sessions(self.marks.has_session, self._store.project)

    def _links_to_files(self) -> list[Link]:
        """Links to files whose names hold what goes."""
        linked = self._store.links.to_files() if self.marks.has_words and not self.whole else []
        return [link for link in linked if self.marks.hold(link.file or "")]

    def _find_entries(self, after: int) -> list[EntryBody]:
        """Entries of the log that hold what goes and are about something that stays."""
        own = (entry for entry in self._store.log.bodies(after) if entry.project == self._store.project)
        if self.whole:
            return [entry._replace(body="") for entry in own if entry.about != "tombstone"]
        return [entry._replace(body="") for entry in own if self.blanks and self._entry_holds(entry)]

    def _entry_holds(self, entry: EntryBody) -> bool:
        if entry.about == "memory" and entry.subject in self.memories:
            return False  # it is emptied with its memory
        value = _parsed(entry.body)
        return self.marks.hold_any(value) or (entry.about == "note" and self.traces.hold_any(value))

    # --- blanking -------------------------------------------------------------------------------------------------

    def blank(self, text: str) -> str:
        """A stored text without what goes."""
        safe = blank_text(text, self.marks, self.new_name) if self.marks.has_words else text
        return blank_text(safe, self.traces, self.new_name) if self.traces.has_words else safe

    def new_name(self, text: str) -> str:
        """Texts that were different stay different: some are names of sessions or files."""
        return f"{ERASED[:-1]} {blake2b(text.encode(), key=self._salt, digest_size=_SUFFIX).hexdigest()}]"

    def holds_json(self, text: str) -> bool:
        value = _parsed(text)
        return self.marks.hold_any(value) or self.traces.hold_any(value)

    def counts(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """How many rows of each table would be removed and blanked, without the memories and entities."""
        if self.whole:
            project = None if self.marks.everything else self._store.project
            kept = () if self.marks.everything else KEPT_BY_PROJECT
            return StoredTexts(self._store.engine).count(project, without=kept), {}
        removed = Counter(row.table for row in self.session_rows) + Counter({"links": len(self.links)})
        blanked = Counter(row.table for row in self.rows)
        blanked += Counter({"code_files": len(self.outlines), "log": len(self.entries)})
        return removed, blanked


def said_in(memory: Memory) -> list[Any]:
    """Everything in a memory that somebody worded."""
    payload = None if memory.payload is None else payload_json(memory.payload)
    unit = memory.work_unit
    context = memory.span and memory.span.context
    worked_on = unit and [unit.methodology, *unit.hierarchy, unit.label]
    return [
        memory.content, *memory.tags, *memory.files, *memory.modules, memory.session, memory.source_role,
        *memory.provenance, memory.node, *memory.impacted, memory.citation, memory.user,
        context, payload, dict(memory.attributes), worked_on,
    ]  # fmt: skip


def _parsed(text: str) -> Any:
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
