"""The open store: one engine and the repositories over it, bound to one project.

Repositories that only writers need are loaded when the first of them is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.core.kinds import Kinds
from recollect.core.states import STATE_OF
from recollect.store.memories import HIDDEN, Memories
from recollect.store.meta import FILE, Meta
from recollect.store.port import Engine, VectorIndex
from recollect.store.words import Words

if TYPE_CHECKING:
    from recollect.core.people import Member
    from recollect.store.documents import Documents
    from recollect.store.entities import Entities
    from recollect.store.exports import Exports
    from recollect.store.facet_counts import FacetCounts
    from recollect.store.graph import Graph
    from recollect.store.injections import Injections
    from recollect.store.jobs import Jobs
    from recollect.store.links import Links
    from recollect.store.log import Log
    from recollect.store.observed import Observed
    from recollect.store.people import People
    from recollect.store.replies import StoredReplies
    from recollect.store.sessions import Sessions
    from recollect.store.spend import Spend
    from recollect.store.statistics import Statistics
    from recollect.store.tombstones import Tombstones
    from recollect.store.turns import Turns, WorkingMemory


_PROJECTS = "select project from memories union select project from log order by project"


def projects_of(engine: Engine) -> list[str]:
    """The projects that a file holds memories or a history of."""
    return [str(row[0]) for row in engine.rows(_PROJECTS) if not str(row[0]).startswith(HIDDEN)]


class Store:
    """Everything the verbs need of the database."""

    def __init__(
        self, engine: Engine, kinds: Kinds, *, project: str | None = None, member: Member | None = None
    ) -> None:
        if member is not None:
            from recollect.store.restricted import RestrictedEngine

            engine = RestrictedEngine(engine, member)
        self.member = member  # whose sight it is limited to; nobody's for the one who keeps it
        self.engine = engine
        self.kinds = kinds
        self.file_project = Meta(engine, FILE).get("project") or "default"  # whose file it is; hooks read no other
        self.project = project or self.file_project
        self._meta = Meta(engine, self.project)
        self.memories = Memories(engine, kinds, self.project, conceals=member is not None)
        self.words = Words(engine, self.project)

    def seen_by(self, member: Member) -> Store:
        """The same store in a member's sight. Closing that closes nothing."""
        return Store(self.engine, self.kinds, project=self.project, member=member)

    @cached_property
    def people(self) -> People:
        from recollect.store.people import People

        return People(self.engine, str(getattr(self.engine, "tenant", "")))

    @cached_property
    def links(self) -> Links:
        from recollect.store.links import Links

        return Links(self.engine, self.project)

    @cached_property
    def log(self) -> Log:
        from recollect.store.log import Log

        return Log(self.engine, self.project, conceals=self.member is not None)

    @cached_property
    def tombstones(self) -> Tombstones:
        from recollect.store.tombstones import Tombstones

        return Tombstones(self.engine, self.project)

    @cached_property
    def vectors(self) -> VectorIndex:
        return self.engine.vectors(self.project)

    @cached_property
    def documents(self) -> Documents:
        from recollect.store.documents import Documents

        return Documents(self.engine, self.project)

    @cached_property
    def graph(self) -> Graph:
        from recollect.store.graph import Graph

        return Graph(self.engine, self.project)

    _HELD = "select id, project, content, checksum from memories where id > :after order by id limit 1000"
    _FACTS = "select project, name, value from meta order by project, name"

    def digest(self) -> str:
        """What the whole file holds: every memory, where its log ends and what it says of itself."""
        from recollect.core.digest import blake2b

        total, after = blake2b(digest_size=16), ""
        with self.engine.read():
            total.update(repr(self.engine.rows(self._FACTS)).encode("utf-8", "surrogatepass"))
            while rows := self.engine.rows(self._HELD, {"after": after}):
                total.update(repr(rows).encode("utf-8", "surrogatepass"))
                after = rows[-1][0]
        return str(total.hexdigest())

    _HAS_CODE = "select 1 from code_nodes where project = :project limit 1"

    def has_code(self) -> bool:
        """Whether a source tree was indexed; asked at every opening, so it loads nothing."""
        return self.engine.row(self._HAS_CODE, {"project": self.project}) is not None

    @cached_property
    def sessions(self) -> Sessions:
        from recollect.store.sessions import Sessions

        return Sessions(self.engine, self.project, self.memories)

    @cached_property
    def entities(self) -> Entities:
        from recollect.store.entities import Entities

        return Entities(self.engine, self.project)

    @cached_property
    def exports(self) -> Exports:
        from recollect.store.exports import Exports

        return Exports(self.engine)

    @cached_property
    def facet_counts(self) -> FacetCounts:
        from recollect.store.facet_counts import FacetCounts

        return FacetCounts(self.engine, self.project)

    @cached_property
    def injections(self) -> Injections:
        from recollect.store.injections import Injections

        return Injections(self.engine, self.project)

    @cached_property
    def jobs(self) -> Jobs:
        from recollect.store.jobs import Jobs

        return Jobs(self.engine, self.project)

    @cached_property
    def spend(self) -> Spend:
        from recollect.store.spend import Spend

        return Spend(self.engine, self.project)

    @cached_property
    def replies(self) -> StoredReplies:
        from recollect.store.replies import StoredReplies

        return StoredReplies(self.engine, self.project)

    @cached_property
    def statistics(self) -> Statistics:
        from recollect.store.statistics import Statistics

        return Statistics(self.engine, self.project)

    @cached_property
    def turns(self) -> Turns:
        from recollect.store.turns import Turns

        return Turns(self.engine, self.project)

    @cached_property
    def working(self) -> WorkingMemory:
        from recollect.store.turns import WorkingMemory

        return WorkingMemory(self.engine, self.project)

    @cached_property
    def observed(self) -> Observed:
        from recollect.store.observed import Observed

        return Observed(self.engine, self.project)

    _HAS_OBSERVED = "select 1 from observed_sessions where project = :project limit 1"

    def has_observed(self) -> bool:
        """Was any session observed? Asked at every opening, so it loads nothing."""
        return self.engine.row(self._HAS_OBSERVED, {"project": self.project}) is not None

    _NAMES_ENTITIES = "select 1 from entities where project = :project limit 1"

    def names_entities(self) -> bool:
        """Is anybody known by name? Asked at every opening, so it loads nothing."""
        return self.engine.row(self._NAMES_ENTITIES, {"project": self.project}) is not None

    _TELLS_STATES = f"select 1 from facets where project = :project and facet = '{STATE_OF}' limit 1"

    def tells_states(self) -> bool:
        """Does any memory say how something stands? Asked at every opening, so it loads nothing."""
        return self.engine.row(self._TELLS_STATES, {"project": self.project}) is not None

    def meta(self, name: str) -> str | None:
        """A fact about the project, such as where its code is."""
        return self._meta.get(name)

    def set_meta(self, name: str, value: str) -> None:
        self._meta.put(name, value)

    _HOLDS = """
        select exists (select 1 from memories) or exists (select 1 from log) or exists (select 1 from documents)
            or exists (select 1 from sessions) or exists (select 1 from entities) or exists (select 1 from turns)
            or exists (select 1 from code_nodes) or exists (select 1 from observed_sessions)
            or exists (select 1 from meta where project <> '')
    """

    def is_empty(self) -> bool:
        """Does it hold nothing at all, of any project?"""
        row = self.engine.row(self._HOLDS)
        return row is not None and not row[0]

    def close(self) -> None:
        self.engine.close()
