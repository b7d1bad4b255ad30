"""Reading from a replica: only while it has all that this process wrote and is not far behind the primary.

A position is a place in the server's own log, as a number of bytes. A replica that lags, or does not answer, is left
alone for a moment and named, and the primary answers instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.core.errors import StoreError

if TYPE_CHECKING:
    from recollect.store.postgres.engine import PostgresEngine

MOST_BEHIND = 16 * 2**20  # bytes of the server's log; one of its files
LOOK_SECONDS = 0.5  # for which an answer about the replica holds
REST_SECONDS = 5.0  # after which one that failed is tried again

# A replica that took over as primary has no place it replayed to: then its own end counts.
_REPLAYED = """
    select pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
                                else pg_current_wal_insert_lsn() end, '0/0')::bigint
"""


class ReplicaReads:
    """What is known of a replica. Safe to share between threads: a lost update only asks once more."""

    def __init__(
        self,
        connect: Callable[[], PostgresEngine],
        end_of_primary: Callable[[], int],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect = connect
        self._end_of_primary = end_of_primary
        self._clock = clock
        self._engine: PostgresEngine | None = None
        self._looked_at = float("-inf")
        self._replayed = -1
        self._rests_until = float("-inf")
        self._trouble = ""

    def engine_for(self, written: int) -> PostgresEngine | None:
        """The replica, if it has everything up to a position and is not far behind; nothing when it must be avoided."""
        now = self._clock()
        if now < self._rests_until:
            return None
        try:
            if self._engine is None:
                self._engine = self._connect()
            if self._replayed < written or now - self._looked_at > LOOK_SECONDS:
                self._look(now)
        except StoreError as error:
            self.avoid(str(error))
            return None
        return self._engine if self._replayed >= written and not self._trouble else None

    def _look(self, now: float) -> None:
        assert self._engine is not None  # made by whoever asks
        row = self._engine.row(_REPLAYED)
        self._replayed, self._looked_at = (-1 if row is None or row[0] is None else int(row[0])), now
        behind = self._end_of_primary() - self._replayed
        self._trouble = f"{behind / 2**20:.0f} MB behind" if behind > MOST_BEHIND else ""
        if self._trouble:
            self._rests_until = now + REST_SECONDS

    def avoid(self, trouble: str) -> None:
        """Leave it alone for a moment."""
        self._trouble, self._rests_until = trouble, self._clock() + REST_SECONDS
        self._looked_at = float("-inf")

    def describe(self) -> str:
        """Which replica it is and how it stands, for people."""
        where = "the replica" if self._engine is None else f"the replica {self._engine.location}"
        return f"{where} is avoided: {self._trouble}" if self._trouble else f"reads from {where}"

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
