"""Entities: find one by any of its names, see what is known, merge two that are one, split one that is two; at night,
search memories that name few.

A merge only points one entity at the other, so that splitting takes it back without loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.entities import Entity, EntityId, EntityType, entity_key
from recollect.core.errors import (
    AmbiguousEntity,
    BudgetSpent,
    EntityNotFound,
    InvalidField,
    MemoryNotFound,
    ModelDown,
    ModelWrong,
)
from recollect.core.query import ANY_USER
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, choose
from recollect.core.text import clean, require_storable
from recollect.dialogue.context import ENRICH_BATCH, ENRICH_FEW, ENRICH_KINDS, DialogueContext

_MOST_MOVED = 10_000  # memories looked at when an alias becomes an entity of its own


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an entity: itself, who was merged into it, and the memories that mention it, newest first."""

    entity: Entity
    merged: tuple[Entity, ...]
    memories: tuple[Memory, ...]


def find_entity(given: str, room: DialogueContext, *, type: str | None = None, user: str | None = ANY_USER) -> Entity:
    """The one entity that goes by a name or id; what it was merged into when it was. For a user, only an entity that a
    memory they may see mentions exists."""
    if given.startswith("ent_"):
        root = _root(room.entities.get(given), room, user)
        if root is None:
            raise EntityNotFound(given)
        return root
    wanted = None if type is None else choose(EntityType, type, "type")
    found = room.entities.named([entity_key(given)]).get(entity_key(given), [])
    known = [root for one in found if (root := _root(one, room, user)) is not None]
    roots = {root.id: root for root in known if wanted in (None, root.type)}
    if not roots:
        raise EntityNotFound(given)
    if len(roots) > 1:
        raise AmbiguousEntity(given, [f"{root.name} ({root.type}, {root.id})" for root in roots.values()])
    return next(iter(roots.values()))


def read_profile(
    given: str, room: DialogueContext, *, type: str | None = None, limit: int = 20, user: str | None = None
) -> Profile:
    """All that a user may know of an entity."""
    entity = find_entity(given, room, type=type, user=user)
    group = room.entities.group([entity.id])
    merged = tuple(one for one in group if one.id != entity.id)
    return Profile(entity, merged, tuple(_memories([one.id for one in group], room, user)[:limit]))


def merge_entities(keep: str, other: str, room: DialogueContext, *, why: str = "") -> Entity:
    """Two names for one: `other` and whatever was merged into it belong to `keep` from now on."""
    one, two = find_entity(keep, room), find_entity(other, room)
    if one.id == two.id:
        raise InvalidField("entity", f"{keep!r} and {other!r} are one already")
    with room.writer.transaction():
        moved = [each.having(merged_into=one.id) for each in room.entities.group([two.id])]
        names = [name for each in moved for name in (each.name, *each.aliases)]
        kept = one.having(aliases=tuple(dict.fromkeys([*one.aliases, *(n for n in names if n != one.name)])))
        room.writer.put_entities(
            "merge_entity",
            [kept, *moved],
            why=why or f"{two.name} is {one.name}",
            before={"entity": two.id},
            after={"merged_into": one.id},
        )
    return room.entities.get(one.id)


def split_entity(given: str, alias: str, room: DialogueContext, *, why: str = "") -> Entity:
    """One name for two: what goes by `alias` is an entity of its own from now on, with the memories that name it."""
    whole, key = find_entity(given, room), entity_key(alias)
    if key == entity_key(whole.name) or key not in {entity_key(name) for name in whole.aliases}:
        raise InvalidField(
            "alias", f"{whole.name} does not also go by {alias!r}", hint=f"`recollect entity show {given!r}`."
        )
    with room.writer.transaction():
        inside = [one for one in room.entities.group([whole.id]) if one.id != whole.id and entity_key(one.name) == key]
        own = inside[0].having(merged_into=None) if inside else _made(alias, whole, room)
        freed = {entity_key(name) for name in (own.name, *own.aliases)}
        rest = whole.having(aliases=tuple(name for name in whole.aliases if entity_key(name) not in freed))
        if not inside:
            _move(whole, own, key, room)
        room.writer.put_entities(
            "split_entity",
            [rest, own],
            why=why or f"{own.name} is not {whole.name}",
            before={"entity": whole.id},
            after={"entity": own.id},
        )
    return room.entities.get(own.id)


def describe_entity(given: str, summary: str, room: DialogueContext, *, type: str | None = None) -> Entity:
    """Say in a few words who or what an entity is."""
    entity = find_entity(given, room)
    text = clean(require_storable(summary, "summary"))[0]
    chosen = entity.type if type is None else choose(EntityType, type, "type")
    room.writer.put_entities("annotate", [entity.having(summary=text, type=chosen)], why="described")
    return room.entities.get(entity.id)


def _root(entity: Entity, room: DialogueContext, user: str | None) -> Entity | None:
    seen = {entity.id}
    while entity.merged_into is not None and entity.merged_into not in seen:
        seen.add(entity.merged_into)
        entity = room.entities.get(entity.merged_into)
    return room.entities.seen_by(user, entity.id)


def _memories(ids: list[EntityId], room: DialogueContext, user: str | None = ANY_USER) -> list[Memory]:
    mentioning = room.reader.having("entity", ids, limit=_MOST_MOVED)
    found = [one for one in mentioning if one.status in SHOWN and (user == ANY_USER or one.user in (None, user))]
    return sorted(found, key=lambda one: (one.happened_at, one.id), reverse=True)


def _made(alias: str, whole: Entity, room: DialogueContext) -> Entity:
    now = room.writer.now()
    return Entity(EntityId(room.writer.identity("ent", now)), whole.project, alias.strip(), whole.type, now)


def _move(whole: Entity, own: Entity, key: str, room: DialogueContext) -> None:
    """Memories that name only the alias go with it; those that name both mention both."""
    main = entity_key(whole.name)
    for memory in _memories([whole.id], room):
        text = memory.content.casefold()
        if key in text and whole.id in memory.entities:
            stays = [id for id in memory.entities if id != whole.id or main in text]
            room.writer.annotate(memory.id, entities=(*stays, own.id))


# --- enrichment -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EnrichChore:
    """Looks for names in memories that have few, with every finder there is, newest first, each once for each set."""

    room: DialogueContext
    name: str = "enrich"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        found = self._waiting()
        return Plan(self.name, tuple(Step(one.id, f"{len(one.entities)} entities") for one in found), len(found))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        looked, added, notes = 0, 0, []
        for memory in self._waiting():
            if not budget.allows():
                break
            try:
                added += self._enriched(memory)
            except (ModelDown, BudgetSpent) as error:
                notes.append(str(error))
                return Done(self.name, looked, plan.total - looked, tuple(notes), {"entities": added}, failed=True)
            except ModelWrong as error:
                notes.append(f"{memory.id}: {error}")
                self._stamp(memory)
            except MemoryNotFound:
                continue  # forgotten while names were looked for
            looked += 1
            budget.take()
        return Done(self.name, looked, max(0, plan.total - looked), tuple(notes), {"entities": added})

    def _waiting(self) -> list[Memory]:
        ids = self.room.entities.with_few(
            kinds=ENRICH_KINDS,
            most=ENRICH_FEW,
            strategy=self.room.finders.names,
            limit=ENRICH_BATCH,
        )
        return list(self.room.reader.get_many(ids).memories)

    def _enriched(self, memory: Memory) -> int:
        """Search outside the transaction, write inside; how many entities were new."""
        mentions = self.room.finders.find(memory.content, "accurate")
        with self.room.writer.transaction():
            found = self.room.link([mentions])[0]
            current = self.room.reader.get(memory.id)
            new = [id for id in found if id not in current.entities]
            if new:
                self.room.writer.annotate(memory.id, actor="enrichment", entities=(*current.entities, *new))
            self._stamp(memory)
        return len(new)

    def _stamp(self, memory: Memory) -> None:
        with self.room.writer.transaction():
            self.room.entities.stamp([memory.id], strategy=self.room.finders.names, at=self.room.writer.now())
