"""The outbox: which memories each projector still has to look at. Written with the row, drained afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.ids import MemoryId
from recollect.store.engine import Engine


class Outbox:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    _PUT = "insert into outbox (memory, projector) values (?, ?)"

    def put(self, memories: Sequence[MemoryId], projectors: Sequence[str]) -> None:
        """Queue some memories for every projector."""
        self._engine.execute_many(self._PUT, [(id, name) for name in projectors for id in memories])

    _NEXT = "select number, memory from outbox where projector = :projector order by number limit :limit"

    def next(self, projector: str, *, limit: int) -> list[tuple[int, MemoryId]]:
        """The oldest queued memories of a projector, with their numbers in the queue."""
        rows = self._engine.rows(self._NEXT, {"projector": projector, "limit": limit})
        return [(number, MemoryId(memory)) for number, memory in rows]

    _DONE = "delete from outbox where projector = :projector and number <= :number"

    def done(self, projector: str, *, up_to: int) -> None:
        self._engine.execute(self._DONE, {"projector": projector, "number": up_to})

    _WAITING = "select projector, count(*) from outbox group by projector order by projector"

    def waiting(self) -> dict[str, int]:
        """How many memories wait for each projector."""
        return dict(self._engine.rows(self._WAITING))
