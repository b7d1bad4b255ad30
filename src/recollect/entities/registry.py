"""From mentions to entities: each name found or made. Writes, inside the caller's transaction.

Look-up is by name and type, then by alias. A mention of unknown type joins whoever already goes by that name; a better
known type replaces an unknown one. Nothing is merged on likeness: that is for people to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from recollect.core.entities import NAME_LIMIT, Entity, EntityId, EntityType, Mention, entity_key
from recollect.core.ports import Identity
from recollect.store.entities import Entities

_MAX_ENTITIES = 64  # entities of one memory; a text that names more is a list


def link_entities(
    texts: Sequence[Sequence[Mention]],
    entities: Entities,
    *,
    put: Callable[[Sequence[Entity]], None],
    project: str,
    now: datetime,
    identity: Identity,
) -> list[tuple[EntityId, ...]]:
    """The entities of each text's mentions, made where nobody goes by that name; `put` writes those that are new or
    better known. Runs inside a write."""
    keyed = [_keyed(mentions) for mentions in texts]
    keys = sorted({key for named in keyed for key in named})
    if not keys:
        return [() for _ in texts]
    registry = _Registry(project, entities.named(keys), now, identity)
    linked = [tuple(dict.fromkeys(registry.entity(key, one) for key, one in named.items())) for named in keyed]
    if registry.changed:
        put(list(registry.changed.values()))
    return linked


def _keyed(mentions: Sequence[Mention]) -> dict[str, Mention]:
    """One mention for each name, the surest."""
    best: dict[str, Mention] = {}
    for mention in mentions:
        key = entity_key(mention.text)
        if 1 < len(key) <= NAME_LIMIT and (key not in best or mention.confidence > best[key].confidence):
            best[key] = mention
    return dict(list(best.items())[:_MAX_ENTITIES])


class _Registry:
    """The entities of one write: those found and those made."""

    def __init__(self, project: str, known: dict[str, list[Entity]], now: datetime, identity: Identity) -> None:
        self._project = project
        self._known = known
        self._now = now
        self._identity = identity
        self.changed: dict[EntityId, Entity] = {}

    def entity(self, key: str, mention: Mention) -> EntityId:
        found = self._found(key, mention.type)
        if found is None:
            return self._made(key, mention)
        if found.type is EntityType.OTHER and mention.type is not EntityType.OTHER:
            self._known[key] = [one for one in self._known[key] if one.id != found.id]
            found = found.having(type=mention.type)
            self._known[key].append(found)
            self.changed[found.id] = found
        return found.id

    def _found(self, key: str, type: EntityType) -> Entity | None:
        """By name and type, then by alias, then whoever it may be when either side does not know its type."""
        candidates = self._known.get(key, [])
        by_name = [
            candidate for candidate in candidates if candidate.type == type and entity_key(candidate.name) == key
        ]
        by_alias = [candidate for candidate in candidates if candidate.type == type]
        unsure = [candidate for candidate in candidates if EntityType.OTHER in (type, candidate.type)]
        return next(iter([*by_name, *by_alias, *unsure]), None)

    def _made(self, key: str, mention: Mention) -> EntityId:
        made = Entity(
            id=EntityId(self._identity("ent", self._now)),
            project=self._project,
            name=mention.text.strip().removesuffix("'s").removesuffix("’s"),
            type=mention.type,
            created_at=self._now,
        )
        self._known.setdefault(key, []).append(made)
        self.changed[made.id] = made
        return made.id
