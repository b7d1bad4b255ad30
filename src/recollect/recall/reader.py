"""The Reader: the one door to what is remembered. Rooms, adapters and interfaces ask it and nobody else.

Every answer goes through the same checks, the same stages and the same pair of stores, so one question has one answer
whoever asks. It never writes: what has to follow a recall (counting accesses) is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from recollect.core.errors import UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.ports import Clock
from recollect.core.query import MODES, Briefing, Filter, Query
from recollect.core.records import Memory
from recollect.recall.recall import Ranking, RetrievalContext, rank, recall
from recollect.recall.recipes import RECIPES, UNBOUNDED, Budget
from recollect.recall.score import confidence_now
from recollect.store.memories import Order, Page
from recollect.store.pair import StorePair

if TYPE_CHECKING:
    from recollect.core.account import Account
    from recollect.core.ledger import Entry

FollowUp: TypeAlias = Callable[[Sequence[MemoryId]], Sequence[str]]  # the memories to count, and what went wrong


def no_follow_up(ids: Sequence[MemoryId]) -> Sequence[str]:
    """For a memory that is only read."""
    return ()


class Reader:
    """Recall, and every other way of reading memories.

    `context` is asked at each recall, so what was indexed or learned a moment ago already takes part.
    """

    def __init__(
        self,
        stores: StorePair,
        context: Callable[[], RetrievalContext],
        *,
        clock: Clock,
        follow_up: FollowUp = no_follow_up,
    ) -> None:
        self._stores = stores
        self.context = context
        self._clock = clock
        self._follow_up = follow_up

    @property
    def project(self) -> str:
        return self._stores.project.project

    @property
    def kinds(self) -> Kinds:
        return self._stores.project.kinds

    @property
    def read_only(self) -> bool:
        return self._stores.project.engine.read_only

    # --- by question ----------------------------------------------------------------------------------------------

    def recall(
        self, query: Query, *, budget: Budget = UNBOUNDED, recipe: str | None = None, track: bool = False
    ) -> Briefing:
        """The right few memories for a question, best first. `track` counts the access of what is handed out."""
        found = recall(self._checked(query), self._context_for(recipe), now=self._clock(), budget=budget)
        trouble = self._follow_up([hit.id for hit in found.hits] if track else [])
        return replace(found, notes=(*found.notes, *trouble)) if trouble else found

    def rank(self, query: Query, *, recipe: str | None = None, plain: bool = False) -> Ranking:
        """Every stage of recall but packing, for rooms that order by something of their own before they pack.

        `plain` leaves out the personal store and whether files changed: for material that speaks for itself.
        """
        return rank(self._checked(query), self._context_for(recipe, plain=plain), now=self._clock())

    def nearness(self, text: str, other: str) -> float | None:
        """How near two texts are by meaning, as a cosine; nothing without vectors."""
        dense = self.context().dense
        if dense is None:
            return None
        try:
            return float(dense.said(text) @ dense.said(other))
        except LookupError:  # no vectors were made yet
            return None

    def check(self, filter: Filter) -> Filter:
        """The filter with the kinds that other names stand for; an unknown kind is an error that lists the known."""
        return filter.named(self.kinds)

    def _checked(self, query: Query) -> Query:
        if query.mode not in MODES:
            raise UnknownChoice("mode", query.mode, MODES)
        filter = self.check(query.filter)
        return query if filter is query.filter else replace(query, filter=filter)

    def _context_for(self, recipe: str | None, *, plain: bool = False) -> RetrievalContext:
        context = self.context()
        if recipe is not None:
            if recipe not in RECIPES:
                raise UnknownChoice("recipe", recipe, RECIPES)
            context = replace(context, recipe=RECIPES[recipe])
        if plain:
            own = [channel for channel in context.channels if channel.name != "personal"]
            context = replace(context, channels=own, changes=None, anchors=None, companions=None)
        return context

    # --- by name --------------------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory:
        """The memory with this id, in the project's store or the person's; its last letters suffice."""
        return self._stores.get(id)

    def get_many(self, ids: Sequence[str]) -> Page:
        """Those of `ids` that exist, in the order given."""
        pages = [store.memories.get_many(held) for store, held in self._stores.split(ids)]
        found = {memory.id: memory for page in pages for memory in page.memories}
        damaged = tuple(id for page in pages for id in page.damaged)
        return Page(tuple(found[MemoryId(id)] for id in ids if id in found), damaged)

    def list(self, filter: Filter | None = None, *, order: Order = "newest", limit: int = 50, skip: int = 0) -> Page:
        """Memories of the project by filter, without a question."""
        wanted = self.check(filter or Filter())
        return self._stores.project.memories.page(wanted, order=order, limit=max(0, limit), skip=max(0, skip))

    def count(self, filter: Filter | None = None) -> int:
        """How many memories of the project a filter lets through."""
        return self._stores.project.memories.count(self.check(filter or Filter()))

    def tally(self) -> Mapping[str, int]:
        """How many memories of the project there are of each status."""
        return self._stores.project.memories.tally()

    # --- the story of a belief ------------------------------------------------------------------------------------

    def why(self, id: str) -> Account:
        """All that is known about how we came to believe something."""
        from recollect.core.account import Account

        store, found = self._stores.find(id)
        memory = store.memories.get(found)
        return Account(
            memory=memory,
            confidence=self.confidence(memory),
            points_at=tuple(store.links.from_(memory.id)),
            pointed_at_by=tuple(store.links.to(memory.id)),
            history=tuple(store.ledger.of(memory.id)),
        )

    def history(self, id: str | None = None, *, limit: int = 50) -> tuple[Entry, ...]:
        """The log: of one memory, oldest first, or the latest changes of all, newest first."""
        if id is None:
            return tuple(self._stores.project.ledger.recent(limit))
        for store in self._stores.all:
            if known := store.ledger.of(id):  # a forgotten memory still has a history
                return tuple(known)
        store, found = self._stores.find(id)
        return tuple(store.ledger.of(found))

    def confidence(self, memory: Memory) -> float:
        """What the stored confidence is worth now."""
        return confidence_now(memory, self.kinds, self._clock())
