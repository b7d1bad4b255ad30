"""The entities table and the names they are found by. Which memories mention an entity is a facet of the memories.

A merged entity keeps its row and points at the one it was merged into, so a merge can be taken back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from recollect.core.digest import checksum
from recollect.core.entities import Entity, EntityId, EntityType, entity_key
from recollect.core.errors import EntityNotFound
from recollect.core.query import ANY_USER
from recollect.store.codec import from_ms, to_ms
from recollect.store.filters import SEEN
from recollect.store.port import Engine, Row, Value

_NAMES = "id, project, name, type, aliases, summary, merged_into, created_at"
_E_NAMES = ", ".join(f"e.{name}" for name in _NAMES.split(", "))
_MENTIONS = """
    (select count(distinct f.seq) from facets f where f.project = e.project and f.facet = 'entity'
        and f.value in (select id from entities where id = e.id or merged_into = e.id))
"""
# The same over what one user may see.
_SEEN_MENTIONS = f"""
    (select count(distinct f.seq) from facets f join memories m on m.seq = f.seq
      where f.project = e.project and f.facet = 'entity'
        and f.value in (select id from entities where id = e.id or merged_into = e.id) and {SEEN})
"""


class Entities:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _PUT = f"""
        insert into entities ({_NAMES}, checksum) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (id) do update
            set name = excluded.name, type = excluded.type, aliases = excluded.aliases, summary = excluded.summary,
                merged_into = excluded.merged_into, checksum = excluded.checksum
    """
    _UNNAME = "delete from entity_names where entity = :id"
    _NAME = "insert into entity_names (project, key, entity) values (?, ?, ?) on conflict do nothing"

    def put(self, entities: Sequence[Entity]) -> None:
        """Add entities or replace what is known of them, with the names they are found by."""
        rows = [_row(entity) for entity in entities]
        self._engine.execute_many(self._PUT, [(*row, checksum(row)) for row in rows])
        for entity in entities:
            self._engine.execute(self._UNNAME, {"id": entity.id})
        self._engine.execute_many(self._NAME, [row for entity in entities for row in _names(entity)])

    _NAMED = f"""
        select n.key, {_E_NAMES}, 0 from entity_names n join entities e on e.id = n.entity
         where n.project = :project and n.key = any(:keys) order by e.created_at, e.id
    """

    def named(self, keys: Sequence[str]) -> dict[str, list[Entity]]:
        """The entities that go by some names, for each name that has some; oldest first. Merged ones included."""
        found: dict[str, list[Entity]] = {}
        for key, *row in self._engine.rows(self._NAMED, {"project": self._project, "keys": list(keys)}):
            found.setdefault(key, []).append(read_entity(tuple(row)))
        return found

    _GET = f"select {_E_NAMES}, {_MENTIONS} from entities e where e.id = :id and e.project = :project"

    def get(self, id: str) -> Entity:
        row = self._engine.row(self._GET, {"id": id, "project": self._project})
        if row is None:
            raise EntityNotFound(id)
        return read_entity(row)

    _SEEN_BY = f"select {_E_NAMES}, {_SEEN_MENTIONS} from entities e where e.id = :id and e.project = :project"

    def seen_by(self, user: str | None, id: str) -> Entity | None:
        """The entity with the mentions a user may see; nothing when only others' memories mention it."""
        whole = self.get(id)
        if user == ANY_USER:
            return whole
        row = self._engine.row(self._SEEN_BY, {"id": id, "user": user, "project": self._project})
        seen = None if row is None else read_entity(row)
        return seen if seen is not None and (seen.mentions or not whole.mentions) else None

    _PAGE = f"""
        select {_E_NAMES}, {{mentions}} as mentions from entities e
         where e.project = :project and e.merged_into is null
           and (cast(:type as text) is null or e.type = :type) {{seen}}
         order by mentions desc, e.name, e.id limit :limit offset :skip
    """
    _EVERYBODYS = _PAGE.format(mentions=_MENTIONS, seen="")
    _ONE_USERS = _PAGE.format(mentions=_SEEN_MENTIONS, seen=f"and ({_SEEN_MENTIONS} > 0 or {_MENTIONS} = 0)")

    def page(self, *, type: str | None = None, limit: int, skip: int = 0, user: str | None = ANY_USER) -> list[Entity]:
        """Entities, the most mentioned first; merged ones are under the one they were merged into."""
        params = {"project": self._project, "type": type, "limit": limit, "skip": skip}
        if user == ANY_USER:
            return [read_entity(row) for row in self._engine.rows(self._EVERYBODYS, params)]
        return [read_entity(row) for row in self._engine.rows(self._ONE_USERS, {**params, "user": user})]

    _GROUP = f"""
        select {_E_NAMES}, 0 from entities e
         where e.project = :project and (e.id = any(:ids) or e.merged_into = any(:ids))
         order by e.created_at, e.id
    """

    def group(self, ids: Sequence[str]) -> list[Entity]:
        """Some entities and all that were merged into them."""
        return [
            read_entity(row) for row in self._engine.rows(self._GROUP, {"ids": list(ids), "project": self._project})
        ]

    _ALL = f"select {_E_NAMES}, {_MENTIONS} from entities e where e.project = :project order by e.created_at, e.id"

    def every(self) -> list[Entity]:
        """All of them, merged ones included, oldest first."""
        return [read_entity(row) for row in self._engine.rows(self._ALL, {"project": self._project})]

    _DELETE = "delete from entities where id = :id and project = :project"
    _DELETE_NAMES = "delete from entity_names where entity = :id and project = :project"

    def remove(self, ids: Sequence[str]) -> None:
        """Delete some, whatever is known of them."""
        for id in ids:
            self._engine.execute(self._DELETE, {"id": id, "project": self._project})
            self._engine.execute(self._DELETE_NAMES, {"id": id, "project": self._project})

    _TALLY = f"""
        select e.type, count(*) from entities e
         where e.project = :project and e.merged_into is null
           and (:user = '{ANY_USER}' or {_SEEN_MENTIONS} > 0 or {_MENTIONS} = 0) group by e.type order by e.type
    """

    def tally(self, *, user: str | None = ANY_USER) -> dict[str, int]:
        return dict(self._engine.rows(self._TALLY, {"project": self._project, "user": user}))

    _LEFT = "select 1 from facets where project = :project and facet = 'entity' and value = :id limit 1"
    _REMOVE = "delete from entities where id = :id and merged_into is null and summary = '' and aliases is null"
    _NAMELESS = "delete from entity_names where entity = :id and entity not in (select id from entities)"

    def drop_unmentioned(self, ids: Sequence[str]) -> list[str]:
        """Remove those that no memory mentions any more and nobody has worked on; which they were."""
        dropped = []
        for id in ids:
            mentioned = self._engine.row(self._LEFT, {"id": id, "project": self._project}) is not None
            if not mentioned and self._engine.execute(self._REMOVE, {"id": id}):
                self._engine.execute(self._NAMELESS, {"id": id})
                dropped.append(id)
        return dropped

    # --- what was looked at accurately ------------------------------------------------------------------------------

    _STAMP = """
        insert into enriched (project, memory, strategy, at) values (?, ?, ?, ?)
            on conflict (memory) do update set strategy = excluded.strategy, at = excluded.at
    """

    def stamp(self, memories: Sequence[str], *, strategy: str, at: datetime) -> None:
        """Note that some memories were searched for entities, so that they are not searched again the same way."""
        self._engine.execute_many(self._STAMP, [(self._project, id, strategy, to_ms(at)) for id in memories])

    _FEW = """
        select m.id from memories m left join enriched x on x.memory = m.id
         where m.project = :project and m.kind = any(:kinds)
           and m.status in ('active', 'disputed') and (x.strategy is null or x.strategy <> :strategy)
           and (select count(*) from facets f where f.seq = m.seq and f.facet = 'entity') <= :most
         order by m.seq desc limit :limit
    """

    def with_few(self, *, kinds: Sequence[str], most: int, strategy: str, limit: int) -> list[str]:
        """Memories with at most `most` entities that this strategy has not looked at, newest first."""
        params = {"project": self._project, "kinds": list(kinds), "most": most, "strategy": strategy}
        return [row[0] for row in self._engine.rows(self._FEW, {**params, "limit": limit})]

    # --- care -------------------------------------------------------------------------------------------------------

    _EVERY = f"select {_NAMES}, checksum from entities order by id"
    _EVERY_NAME = "select project, key, entity from entity_names"

    def damaged(self) -> list[str]:
        """The ids of entities whose checksum does not match."""
        return [row[0] for row in self._engine.rows(self._EVERY) if checksum(row[:-1]) != row[-1]]

    def names_match(self) -> bool:
        """Do the names agree with the rows they are made from?"""
        return set(self._engine.rows(self._EVERY_NAME)) == self._every_name()

    _CLEAR = "delete from entity_names"

    def rebuild_names(self) -> None:
        self._engine.execute(self._CLEAR)
        self._engine.execute_many(self._NAME, sorted(self._every_name()))

    def _every_name(self) -> set[tuple[str, str, str]]:
        rows = self._engine.rows(self._EVERY)
        return {name for row in rows for name in _names(read_entity((*row[:-1], 0)))}


def _names(entity: Entity) -> list[tuple[str, str, str]]:
    keys = dict.fromkeys(entity_key(name) for name in (entity.name, *entity.aliases))
    return [(entity.project, key, entity.id) for key in keys if key]


def _row(entity: Entity) -> tuple[Value, ...]:
    return (
        entity.id,
        entity.project,
        entity.name,
        str(entity.type),
        json.dumps(list(entity.aliases), ensure_ascii=False) if entity.aliases else None,
        entity.summary,
        entity.merged_into,
        to_ms(entity.created_at),
    )


def read_entity(row: Row) -> Entity:
    """The entity of a row, which ends with the number of its mentions."""
    id, project, name, type, aliases, summary, merged_into, created_at, mentions = row
    return Entity(
        id=EntityId(id),
        project=project,
        name=name,
        type=EntityType(type),
        aliases=() if aliases is None else tuple(json.loads(aliases)),
        summary=summary,
        merged_into=None if merged_into is None else EntityId(merged_into),
        created_at=from_ms(created_at),
        mentions=mentions,
    )
