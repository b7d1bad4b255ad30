"""The links table: how memories bear on one another and on files. A link has exactly one target."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.digest import checksum
from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.scope import OPEN, Relation
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, Params, Row, Value, chunks

_NAMES = "project, source, relation, target, is_file, confidence, automatic, created_at"
_OPEN = ", ".join(f"'{status}'" for status in sorted(OPEN))


class Links:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _PUT = f"""
        insert into links ({_NAMES}, checksum) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (source, relation, target, is_file) do update
            set confidence = excluded.confidence, automatic = excluded.automatic,
                created_at = excluded.created_at, checksum = excluded.checksum
    """

    def put(self, links: Sequence[Link]) -> None:
        """Add links, or give existing ones a new confidence."""
        rows = [(self._project, *_row(link)) for link in links]
        self._engine.execute_many(self._PUT, [(*row, checksum(row)) for row in rows])

    _REMOVE = """
        delete from links where project = :project and source = :source and relation = :relation and target = :target
           and is_file = :is_file
    """

    def remove(self, link: Link) -> None:
        source, relation, target, is_file, *_ = _row(link)
        self._engine.execute(
            self._REMOVE,
            {
                "project": self._project,
                "source": source,
                "relation": relation,
                "target": target,
                "is_file": is_file,
            },
        )

    _FIND = f"""
        select {_NAMES} from links
         where project = :project and source = :source and relation = :relation and target = :target
           and is_file = :is_file
    """

    def find(self, link: Link) -> Link | None:
        """The link between the same two, as it is known."""
        source, relation, target, is_file, *_ = _row(link)
        key = {"source": source, "relation": relation, "target": target, "is_file": is_file}
        row = self._engine.row(self._FIND, {**key, "project": self._project})
        return None if row is None else read_link(row)

    _FROM = f"select {_NAMES} from links where project = :project and source = :id order by relation, target"

    def from_(self, id: MemoryId) -> list[Link]:
        """What a memory points at."""
        return [read_link(row) for row in self._engine.rows(self._FROM, {"id": id, "project": self._project})]

    _TO = f"""
        select {_NAMES} from links where project = :project and target = :id and is_file = 0 order by relation, source
    """

    def to(self, id: MemoryId) -> list[Link]:
        """What points at a memory."""
        return [read_link(row) for row in self._engine.rows(self._TO, {"id": id, "project": self._project})]

    _OF_SOURCES = f"""
        select {_NAMES} from links where project = :project and source = any(:ids) order by source, relation, target
    """

    def of_sources(self, ids: Sequence[str]) -> list[Link]:
        """What some memories point at."""
        return self._of_many(self._OF_SOURCES, ids)

    _TO_TARGETS = f"""
        select {_NAMES} from links where project = :project and target = any(:ids) and is_file = 0
         order by source, relation, target
    """

    def to_targets(self, ids: Sequence[str]) -> list[Link]:
        """What points at some memories."""
        return self._of_many(self._TO_TARGETS, ids)

    def _of_many(self, sql: str, ids: Sequence[str]) -> list[Link]:
        return [
            read_link(row)
            for some in chunks(ids)
            for row in self._engine.rows(sql, {"project": self._project, "ids": some})
        ]

    # What waits is few: it leads, and its links are looked up from both ends.
    _RIVALS = f"""
        select m.id, l.target from memories m
          join links l on l.source = m.id and l.relation = 'conflicts_with' and l.is_file = 0
          join memories o on o.id = l.target and o.project = m.project
         where m.project = :project and {{which}} and m.status in ({_OPEN}) and o.status in ({_OPEN})
         union
        select m.id, l.source from memories m
          join links l on l.target = m.id and l.relation = 'conflicts_with' and l.is_file = 0
          join memories o on o.id = l.source and o.project = m.project
         where m.project = :project and {{which}} and m.status in ({_OPEN}) and o.status in ({_OPEN})
         order by 1, 2
    """

    def rivals(self, ids: Sequence[str] | None = None) -> dict[MemoryId, tuple[MemoryId, ...]]:
        """The open memories that each of some open memories contradicts, whichever of them says so; without `ids`, of
        all that wait for review."""
        which = "m.needs_review = 1" if ids is None else "m.id = any(:ids)"
        params: Params = {"project": self._project, **({} if ids is None else {"ids": list(ids)})}
        found: dict[MemoryId, tuple[MemoryId, ...]] = {}
        for id, rival in self._engine.rows(self._RIVALS.format(which=which), params):
            if id != rival:
                found[MemoryId(id)] = (*found.get(MemoryId(id), ()), MemoryId(rival))
        return found

    _TO_FILES = f"select {_NAMES} from links where project = :project and is_file = 1 order by source, relation, target"

    def to_files(self) -> list[Link]:
        """Every link to a file."""
        return [read_link(row) for row in self._engine.rows(self._TO_FILES, {"project": self._project})]

    _FORGET = (
        "delete from links where project = :project and source = any(:ids)",
        "delete from links where project = :project and target = any(:ids) and is_file = 0",
    )

    def forget(self, ids: Sequence[str]) -> None:
        """Remove every link of memories that are going away."""
        for some in chunks(ids):
            for statement in self._FORGET:
                self._engine.execute(statement, {"ids": some, "project": self._project})

    _EVERY = f"select {_NAMES}, checksum from links order by source, relation, target"

    def damaged(self) -> list[str]:
        """The sources of links whose checksum does not match."""
        return [row[1] for row in self._engine.rows(self._EVERY) if checksum(row[:-1]) != row[-1]]


def _row(link: Link) -> tuple[Value, ...]:
    target = link.file if link.target is None else link.target
    return (
        link.source,
        str(link.relation),
        target,
        int(link.target is None),
        link.confidence,
        int(link.automatic),
        to_ms(link.created_at),
    )


def read_link(row: Row) -> Link:
    """The link of a row: project, source, relation, target, is_file, confidence, automatic, created_at."""
    _, source, relation, target, is_file, confidence, automatic, created_at = row
    return Link(
        source=MemoryId(source),
        relation=Relation(relation),
        target=None if is_file else MemoryId(target),
        file=target if is_file else None,
        confidence=confidence,
        automatic=bool(automatic),
        created_at=from_ms(created_at),
    )
