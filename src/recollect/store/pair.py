"""The project's store and, where the person has one, their own beside it: which of the two holds a memory.

An id handed out by recall may belong to either; whoever acts on it asks here first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.core.errors import AmbiguousId, MemoryNotFound
from recollect.core.ids import MemoryId
from recollect.core.query import ANY_USER
from recollect.core.records import Memory
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class StorePair:
    """Both stores. Writing without an id goes to the project's."""

    project: Store
    personal: Store | None = None

    @property
    def all(self) -> tuple[Store, ...]:
        return (self.project,) if self.personal is None else (self.project, self.personal)

    def find(self, given: str, *, user: str | None = ANY_USER) -> tuple[Store, MemoryId]:
        """The store that holds a memory, and its full id; `given` is that or its last letters, as `user` sees them."""
        found: list[tuple[Store, MemoryId]] = []
        for store in self.all:
            try:
                found.append((store, store.memories.resolve(given, user=user)))
            except MemoryNotFound:
                continue
        exact = [(store, id) for store, id in found if id == given]
        if len(exact or found) > 1:
            raise AmbiguousId(given, [id for _, id in exact or found])
        if not found:
            raise MemoryNotFound(given)
        return (exact or found)[0]

    def get(self, given: str, *, user: str | None = ANY_USER) -> Memory:
        store, id = self.find(given, user=user)
        return store.memories.get(id)

    def split(self, ids: Iterable[str]) -> list[tuple[Store, Sequence[MemoryId]]]:
        """Full ids by the store that holds them; an id that neither holds is left out."""
        wanted = list(ids)
        parts: list[tuple[Store, Sequence[MemoryId]]] = []
        for store in self.all:
            if not wanted:
                break
            held = set(store.memories.existing(wanted))
            if mine := [MemoryId(id) for id in wanted if id in held]:
                parts.append((store, mine))
            wanted = [id for id in wanted if id not in held]
        return parts

    def close(self) -> None:
        for store in self.all:
            store.close()
