"""Erasing rows: what a person wants gone leaves every table of a store and the bodies of its log.

What goes is found first, while others read and write. A few memories then go with all that hangs on them in one
transaction. Of many, one transaction puts them out of everybody's sight and notes what is left to do; they are removed
in steps that hold nobody up for long, and whoever comes after a kill goes on. What stays are marks (`core.erasing`), by
which older copies are cleaned, and an entry that says that something was erased, not what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from recollect.core.entities import Entity
from recollect.core.erasing import ErasureMarks
from recollect.core.records import Memory
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.remember.erase_plan import KEPT_BY_PROJECT, ErasurePlan
from recollect.remember.forget import erase_observed
from recollect.store.log import REPLICA
from recollect.store.meta import FILE, Meta
from recollect.store.relog import chain_again
from recollect.store.store import Store
from recollect.store.texts import StoredTexts
from recollect.store.tombstones import ERASED_REASON, tombstone_key

AT_ONCE = 1_000  # memories removed in one transaction: less than a second, in which other writers wait
Begin: TypeAlias = "Callable[[ErasurePlan], None] | None"
Done: TypeAlias = Callable[[], None]
Result = TypeVar("Result")


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


def marks_of(store: Store) -> ErasureMarks:
    """Marks without anything in them, under the name of this store's copy."""
    return ErasureMarks(Meta(store.engine, FILE).get(REPLICA) or "")


def erase_rows(
    store: Store,
    marks: ErasureMarks,
    ids: Collection[str],
    act: ActContext,
    *,
    resumed: tuple[Iterable[str], Done] | None = None,
) -> ErasedRows:
    """Erase what is marked or named by id from the project of a store. `resumed` are the traces of an erasure that was
    interrupted, and what to do in the last transaction."""
    if resumed is not None:
        return carry_out(store, ErasurePlan(store, marks, (), resumed[0]), act, begin=None, done=resumed[1])
    return carry_out(store, ErasurePlan(store, marks, ids), act, begin=lambda plan: None, done=lambda: None)


def carry_out(store: Store, plan: ErasurePlan, act: ActContext, *, begin: Begin, done: Done) -> ErasedRows:
    """Do what a plan says. `begin` runs in the transaction after which nobody sees what goes, `done` in the last one;
    between them a kill leaves something to go on with. Without `begin` it goes on."""
    if plan.marks.everything:
        return _erase_everything(store, plan, act, begin, done)
    return _Erasing(store, plan, act, begin, done).run()


def planned_rows(plan: ErasurePlan) -> ErasedRows:
    """What a plan would erase, for a dry run."""
    removed, blanked = plan.counts()
    names = [name for entity in plan.named for name in (entity.name, *entity.aliases)]
    return ErasedRows(
        tuple(plan.memories.values()), tuple(str(entity.id) for entity in plan.named), removed, blanked,
        tuple(dict.fromkeys([*plan.texts, *names])), tuple(plan.sessions), tuple(plan.damaged),
        tuple(plan.traces.as_keys()),
    )  # fmt: skip


class _Erasing:
    """One erasure of one project."""

    def __init__(self, store: Store, plan: ErasurePlan, act: ActContext, begin: Begin, done: Done) -> None:
        self._store = store
        self._plan = plan
        self._act = replace(act, actor=plan.new_name(act.actor)) if plan.marks.hold(act.actor) else act
        self._begin = begin
        self._done = done
        self._entities: dict[str, None] = {}  # ids of those that the memories spoke of

    def run(self) -> ErasedRows:
        if len(self._plan.memories) <= AT_ONCE and not self._store.memories.hidden(1):
            return self._step(self._all_at_once)
        self._step(self._hide)
        while self._step(self._remove_hidden):
            pass
        return self._step(self._finish)

    def _step(self, act: Callable[[], Result]) -> Result:
        def write() -> Result:
            with self._store.engine.write():
                return act()

        return self._store.engine.retry_with_reserve(write)

    def _all_at_once(self) -> ErasedRows:
        self._mark()
        changes = Changes(self._store, self._act)
        self._remove(changes, self._store.memories.get_many(list(self._plan.memories)).memories)
        changes.write()
        return self._finish()

    def _mark(self) -> None:
        """Note what is left to do, and the marks by which older copies are cleaned; once, however often it goes on."""
        self._plan.catch_up()
        if self._begin is not None:
            self._begin(self._plan)
            changes = Changes(self._store, self._act)
            changes.bury("erase", self._plan.marks.as_keys(), ERASED_REASON)
            changes.write()

    def _hide(self) -> None:
        """Take the memories, and what the log says of them, out of everybody's sight."""
        self._mark()
        ids = list(self._plan.memories)
        self._store.memories.hide(ids)
        self._store.log.erase_bodies(ids)

    def _remove_hidden(self) -> bool:
        """Remove some of those that were hidden; False when there are none."""
        some = self._store.memories.hidden(AT_ONCE)
        if some:
            changes = Changes(self._store, self._act)
            self._remove(changes, some)
            changes.write()
        return bool(some)

    def _remove(self, changes: Changes, memories: Sequence[Memory]) -> None:
        changes.remove("erase", memories, erase=True)
        for memory in memories:
            erase_observed(self._store, memory)
            self._entities |= dict.fromkeys(memory.entities)
        if not self._plan.whole:
            keys = [tombstone_key(memory.fingerprint, memory.user) for memory in memories]
            changes.bury("erase", list(dict.fromkeys(keys)), "forgotten")

    # --- all that is not a memory -----------------------------------------------------------------------------------

    def _finish(self) -> ErasedRows:
        plan, changes = self._plan, Changes(self._store, self._act)
        entities = self._remove_entities(changes)
        removed = self._remove_rows(changes)
        blanked = self._blank_rows(changes)
        self._rename_actors()
        told = {
            "memories": len(plan.memories), "entities": len(entities), "removed": dict(removed),
            "blanked": dict(blanked),
        }  # fmt: skip
        changes.note("erase", None, after={name: count for name, count in told.items() if count})
        changes.write()
        self._done()
        return replace(planned_rows(plan), entities=tuple(entities), removed=removed, blanked=blanked)

    def _remove_entities(self, changes: Changes) -> list[str]:
        """Those that were named, those that only erased memories spoke of, and what others say of them."""
        gone: dict[str, None] = dict.fromkeys(str(entity.id) for entity in self._plan.named)
        known: dict[str, Entity] = {str(entity.id): entity for entity in self._store.entities.every()}
        for id in self._entities:
            entity = known.get(id)
            while entity is not None and entity.merged_into in known:
                entity = known[entity.merged_into]
            if entity is not None and not entity.mentions:
                gone |= dict.fromkeys(str(one.id) for one in self._store.entities.group([entity.id]))
        changes.remove_entities("erase", [id for id in gone if id in known])
        kept = [entity for id, entity in known.items() if id not in gone]
        changes.put_entities("erase", [new for one in kept if (new := self._plan.cleaned(one, gone)) != one])
        return [id for id in gone if id in known]

    def _remove_rows(self, changes: Changes) -> Counter[str]:
        tables, plan = StoredTexts(self._store.engine), self._plan
        if plan.whole:
            changes.empty_entries("snapshot", plan.entries)
            return tables.clear(self._store.project, without=KEPT_BY_PROJECT)
        removed = tables.remove_rows(plan.session_rows)
        for link in plan.links:
            removed["links"] += 1
            changes.erase_link(link)
        return +removed

    def _blank_rows(self, changes: Changes) -> Counter[str]:
        plan, project = self._plan, self._store.project
        if not plan.blanks:
            return Counter()
        blanked = StoredTexts(self._store.engine).reword_rows(plan.rows, plan.blank, project=project)
        self._store.graph.drop_outlines(plan.outlines)
        blanked["code_files"] += len(plan.outlines)
        blanked["meta"] += Meta(self._store.engine, project).drop_holding(plan.holds_json)
        blanked["log"] += len(plan.entries)
        changes.empty_entries("snapshot", plan.entries)
        return +blanked

    def _rename_actors(self) -> None:
        """The chain covers who acted; where that is one to be erased, it is made again. Of a whole project nobody is
        named any more but the one who erases it."""
        plan, own = self._plan, (self._store.project, self._act.actor)
        gone = {
            (project, actor)
            for project, actor in self._store.log.actors()
            if plan.marks.hold(actor) or (plan.whole and project == own[0] and (project, actor) != own)
        }
        if gone:
            chain_again(self._store, lambda project, actor: plan.new_name(actor) if (project, actor) in gone else actor)


def _erase_everything(store: Store, plan: ErasurePlan, act: ActContext, begin: Begin, done: Done) -> ErasedRows:
    """Empty every table of every project. Facts about the file stay, and a log of one entry."""

    def empty() -> Counter[str]:
        with store.engine.write():
            if begin is not None:
                begin(plan)
            removed = StoredTexts(store.engine).clear(None, without=())
            store.engine.keywords.rebuild()
            changes = Changes(store, act)
            changes.bury("erase", plan.marks.as_keys(), ERASED_REASON)
            changes.note("erase", None, after={"removed": dict(removed)})
            changes.write()
            done()
        return removed

    removed = store.engine.retry_with_reserve(empty)
    return replace(planned_rows(plan), removed=removed, blanked={})
