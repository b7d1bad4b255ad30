"""Erasing rows: what a person wants gone leaves every table of a store and the bodies of its log, in one transaction.

Memories go whole, with what was drawn from them alone; other texts that hold something are blanked. What stays are
marks (`core.erasing`), by which older copies are cleaned, and an entry that says that something was erased, not what.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.core.digest import blake2b
from recollect.core.entities import Entity
from recollect.core.erasing import ERASED, ErasureMarks, blank_text
from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import Relation
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.remember.forget import erase_observed, ever_said
from recollect.store.log import REPLICA, EntryBody
from recollect.store.meta import FILE, Meta
from recollect.store.relog import chain_again
from recollect.store.store import Store, projects_of
from recollect.store.texts import OWN_WRITERS, StoredTexts
from recollect.store.tombstones import ERASED_REASON, tombstone_key

# Tables whose rows are changed together with the log, or hold no words of anybody.
_NOT_BLANKED = (
    *OWN_WRITERS, "entities", "entity_names", "tombstones", "links", "meta", "vectors", "cells", "grids", "spaces",
    "embedding_cache",
)  # fmt: skip
_KEPT_BY_PROJECT = (*OWN_WRITERS, "entities", "entity_names", "tombstones", "links")
_SUFFIX = 4  # bytes that keep two blanked names apart


@dataclass(frozen=True, slots=True)
class ErasedRows:
    """What left the tables of one store. `texts` is what was there, to look for in files; it is never kept."""

    memories: tuple[Memory, ...] = ()
    entities: tuple[str, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)  # other rows, by table
    blanked: Mapping[str, int] = field(default_factory=dict)  # rows that lost a text, by table
    texts: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()  # that were erased whole
    damaged: tuple[str, ...] = ()  # memories that could not be read
    traces: tuple[str, ...] = ()  # the beginnings of the texts as marks, for files beside the store

    @property
    def is_empty(self) -> bool:
        return not (self.memories or self.entities or self.removed or self.blanked)


def marks_of(store: Store) -> ErasureMarks:
    """Marks without anything in them, under the name of this store's copy."""
    return ErasureMarks(Meta(store.engine, FILE).get(REPLICA) or "")


def erase_rows(store: Store, marks: ErasureMarks, ids: Collection[str], act: ActContext) -> ErasedRows:
    """Erase what is marked or named by id from the project of a store, all or nothing. Joins the caller's write."""
    if marks.everything:
        return _erase_everything(store, act)
    with store.engine.write():
        return _Erasing(store, marks, frozenset(ids), act).run()


class _Erasing:
    """One erasure of one project, inside a write."""

    def __init__(self, store: Store, marks: ErasureMarks, ids: frozenset[str], act: ActContext) -> None:
        self._store = store
        self._marks = marks
        self._ids = ids
        self._salt = os.urandom(16)
        self._changes = Changes(store, replace(act, actor=self._new_name(act.actor)) if marks.hold(act.actor) else act)
        self._traces = ErasureMarks(marks.key)  # of what the memories said
        self._whole = marks.has_project(store.project)

    def run(self) -> ErasedRows:
        named = [entity for entity in self._store.entities.every() if self._is_named(entity)]
        doomed, damaged = self._find_memories({str(entity.id) for entity in named})
        sessions = self._find_sessions(doomed)
        texts = [text for memory in doomed for text in ever_said(self._store, memory)]
        for text in texts:
            self._traces.add_text(text)
        for memory in doomed:
            self._remove(memory)
        entities = self._remove_entities(named, doomed)
        removed = self._remove_rows()
        blanked = self._blank_rows()
        self._rename_actors()
        for key in self._marks.as_keys():
            self._changes.bury("erase", key, ERASED_REASON)
        told = {"memories": len(doomed), "entities": len(entities), "removed": dict(removed), "blanked": dict(blanked)}
        self._changes.note("erase", None, after={name: count for name, count in told.items() if count})
        self._changes.write()
        names = [name for entity in named for name in (entity.name, *entity.aliases)]
        return ErasedRows(
            tuple(doomed), tuple(entities), removed, blanked, tuple(dict.fromkeys([*texts, *names])), tuple(sessions),
            tuple(damaged), tuple(self._traces.as_keys()),
        )  # fmt: skip

    # --- memories -------------------------------------------------------------------------------------------------

    def _find_memories(self, entities: set[str]) -> tuple[list[Memory], list[str]]:
        found: dict[str, Memory] = {}
        damaged: list[str] = []
        for page in self._store.memories.every():
            damaged += page.damaged
            for memory in page.memories:
                if memory.project == self._store.project and self._goes(memory, entities):
                    found[memory.id] = memory
        waiting = list(found)
        while waiting:
            for id in self._drawn_from(MemoryId(waiting.pop()), found):
                found[id] = self._store.memories.get(id)
                waiting.append(id)
        return list(found.values()), damaged

    def _goes(self, memory: Memory, entities: set[str]) -> bool:
        marks = self._marks
        if memory.id in self._ids or self._whole or marks.has_session(memory.session) or marks.has_user(memory.user):
            return True
        if not entities.isdisjoint(memory.entities):
            return True
        return marks.has_words and marks.hold_any(_said_in(memory))

    def _drawn_from(self, id: MemoryId, going: Mapping[str, Memory]) -> Iterator[MemoryId]:
        """What was drawn from a memory and, once it is gone, from nothing that stays."""
        for link in self._store.links.to(id):
            if link.relation is Relation.DERIVED_FROM and link.source not in going:
                sources = [one for one in self._store.links.from_(link.source) if one.relation is Relation.DERIVED_FROM]
                if all(one.target in going for one in sources):
                    yield link.source

    def _find_sessions(self, doomed: Sequence[Memory]) -> list[str]:
        """Sessions that go whole: those that were named, and those in which only an erased user spoke."""
        going = {memory.id for memory in doomed}
        found = dict.fromkeys(memory.session for memory in doomed if memory.session is not None)
        if self._marks.users:
            for session in found:
                said = [memory.id for _, memory in self._store.sessions.episodes(session, limit=10**9)]
                if said and going.issuperset(said):
                    self._marks.add_session(session)
        return [session for session in found if self._marks.has_session(session)]

    def _remove(self, memory: Memory) -> None:
        self._changes.remove("erase", memory, erase=True)
        erase_observed(self._store, memory)
        if not self._whole:
            self._changes.bury("erase", tombstone_key(memory.fingerprint, memory.user), "forgotten")

    # --- entities -------------------------------------------------------------------------------------------------

    def _is_named(self, entity: Entity) -> bool:
        return self._whole or (self._marks.has_words and self._marks.hold(entity.name))

    def _remove_entities(self, named: Sequence[Entity], doomed: Sequence[Memory]) -> list[str]:
        """Those that were named, those that only erased memories spoke of, and what others say of them."""
        gone: dict[str, None] = dict.fromkeys(entity.id for entity in named)
        known: dict[str, Entity] = {entity.id: entity for entity in self._store.entities.every()}
        for id in dict.fromkeys(id for memory in doomed for id in memory.entities):
            entity = known.get(id)
            while entity is not None and entity.merged_into in known:
                entity = known[entity.merged_into]
            if entity is not None and not entity.mentions:
                gone |= dict.fromkeys(one.id for one in self._store.entities.group([entity.id]))
        self._changes.remove_entities("erase", [id for id in gone if id in known])
        kept = [entity for entity in known.values() if entity.id not in gone]
        self._changes.put_entities("erase", [new for one in kept if (new := self._cleaned(one, gone)) != one])
        return [id for id in gone if id in known]

    def _cleaned(self, entity: Entity, gone: Collection[str]) -> Entity:
        aliases = tuple(name for name in entity.aliases if not self._marks.hold(name))
        summary = "" if self._marks.hold(entity.summary) or self._traces.hold(entity.summary) else entity.summary
        merged = None if entity.merged_into in gone else entity.merged_into
        return entity.having(aliases=aliases, summary=summary, merged_into=merged)

    # --- all other rows -------------------------------------------------------------------------------------------

    def _remove_rows(self) -> Counter[str]:
        tables = StoredTexts(self._store.engine)
        if self._whole:
            self._changes.empty_entries("snapshot", lambda entry: entry.about != "tombstone")
            return tables.clear(self._store.project, without=_KEPT_BY_PROJECT)
        removed: Counter[str] = Counter()
        if self._marks.sessions:
            removed = tables.remove_sessions(self._marks.has_session, self._store.project)
        for link in self._links_to_files():
            removed["links"] += 1
            self._changes.erase_link(link)
        return removed

    def _links_to_files(self) -> list[Link]:
        """Links to files whose names hold what goes."""
        linked = self._store.links.to_files() if self._marks.has_words else []
        return [link for link in linked if self._marks.hold(link.file or "")]

    def _blank_rows(self) -> Counter[str]:
        blanked: Counter[str] = Counter()
        if not self._whole and (self._marks.has_words or self._traces.has_words):
            tables = StoredTexts(self._store.engine)
            blanked = tables.reword(self._blank, without=_NOT_BLANKED, project=self._store.project)
            blanked["code_files"] += self._store.graph.drop_outlines(self._marks.hold)
            blanked["meta"] += Meta(self._store.engine, self._store.project).drop_holding(self._holds_json)
            blanked["log"] += self._changes.empty_entries("snapshot", self._entry_holds)
        return +blanked

    def _blank(self, text: str) -> str:
        safe = blank_text(text, self._marks, self._new_name) if self._marks.has_words else text
        return blank_text(safe, self._traces, self._new_name) if self._traces.has_words else safe

    def _new_name(self, text: str) -> str:
        """Texts that were different stay different: some are names of sessions or files."""
        return f"{ERASED[:-1]} {blake2b(text.encode(), key=self._salt, digest_size=_SUFFIX).hexdigest()}]"

    def _entry_holds(self, entry: EntryBody) -> bool:
        value = _parsed(entry.body)
        if self._marks.hold_any(value):
            return True
        return entry.about == "note" and self._traces.hold_any(value)

    def _holds_json(self, text: str) -> bool:
        value = _parsed(text)
        return self._marks.hold_any(value) or self._traces.hold_any(value)

    def _rename_actors(self) -> None:
        """The chain covers who acted; where that is the one to be erased, it is made again."""
        if self._marks.has_words and any(map(self._marks.hold, self._store.log.actors())):
            chain_again(self._store, lambda actor: self._new_name(actor) if self._marks.hold(actor) else actor)


def _erase_everything(store: Store, act: ActContext) -> ErasedRows:
    """Empty every table of every project. Facts about the file stay, and a log of one entry."""
    with store.engine.write():
        memories = [memory for page in store.memories.every() for memory in page.memories]
        removed = StoredTexts(store.engine).clear(None, without=())
        store.engine.keywords.rebuild()
        changes = Changes(store, act)
        marks = marks_of(store)
        marks.everything = True
        for key in marks.as_keys():
            changes.bury("erase", key, ERASED_REASON)
        changes.note("erase", None, after={"removed": dict(removed)})
        changes.write()
    sessions = tuple(dict.fromkeys(memory.session for memory in memories if memory.session))
    return ErasedRows(tuple(memories), (), removed, {}, tuple(memory.content for memory in memories), sessions)


def _said_in(memory: Memory) -> list[Any]:
    """Everything in a memory that somebody worded."""
    payload: Any = None
    if memory.payload is not None:
        from recollect.core.payloads import payload_json

        payload = payload_json(memory.payload)
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


def every_project(store: Store) -> list[Store]:
    """The store, bound to each project its file holds."""
    names = dict.fromkeys([store.project, *projects_of(store.engine)])
    return [store if name == store.project else Store(store.engine, store.kinds, project=name) for name in names]
