"""The cache of embeddings: bytes under keys, for a week, the newest few. Whoever uses it can do without.

It keeps no text, only hashes of texts; still a vector tells something of what it was made from, so forgetting a memory
empties it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b

from recollect.core.ports import Clock
from recollect.store.codec import to_ms
from recollect.store.port import Engine
from recollect.store.replies import blank_answers

LIFETIME = timedelta(days=7)
MOST = 10_000  # entries; 15 MB at 384 dimensions
_STEP = 500  # keys looked up in one statement


class EmbeddingCache:
    """Bytes by key. In a store that cannot be written it answers and keeps nothing."""

    def __init__(self, engine: Engine, project: str, clock: Clock, *, most: int = MOST) -> None:
        self._engine, self._project, self._clock, self._most = engine, project, clock, most

    _GET = """
        select key, vector, checksum from embedding_cache
         where project = :project and key = any(:keys) and at > :oldest
    """

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """What is known, young enough and unharmed."""
        oldest = _oldest(self._clock())
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), _STEP):
            params = {"project": self._project, "keys": list(keys[start : start + _STEP]), "oldest": oldest}
            rows = self._engine.rows(self._GET, params)
            found.update({key: vector for key, vector, sum in rows if _checksum(key, vector) == sum})
        return found

    _REPLACE = "delete from embedding_cache where project = :project and key = any(:keys)"
    _PUT = "insert into embedding_cache (project, key, vector, at, checksum) values (?, ?, ?, ?, ?)"
    _TRIM = """
        delete from embedding_cache where project = :project and number <= (
            select number from embedding_cache where project = :project order by number desc limit 1 offset :most)
    """

    def put_many(self, items: Mapping[str, bytes]) -> None:
        """Keep these, and of all only the newest. Not synced: losing them in a power cut costs a little time."""
        if self._engine.read_only or not items:
            return
        at = to_ms(self._clock())
        rows = [
            (self._project, key, vector, at, _checksum(key, vector))
            for key, vector in list(items.items())[-self._most :]
        ]
        with self._engine.write(durable=False):
            self._engine.execute(self._REPLACE, {"project": self._project, "keys": [row[1] for row in rows]})
            self._engine.execute_many(self._PUT, rows)
            self._engine.execute(self._TRIM, {"project": self._project, "most": self._most})

    _EVICT = "delete from embedding_cache where project = :project and at <= :oldest"

    def evict(self) -> int:
        """Remove what has expired; how many entries that were."""
        with self._engine.write(durable=False):
            return self._engine.execute(self._EVICT, {"project": self._project, "oldest": _oldest(self._clock())})

    _EXPIRED = "select count(*) from embedding_cache where project = :project and at <= :oldest"

    def expired(self) -> int:
        """How many entries are too old to be used."""
        row = self._engine.row(self._EXPIRED, {"project": self._project, "oldest": _oldest(self._clock())})
        return int(row[0]) if row else 0

    _COUNT = "select count(*) from embedding_cache where project = :project"

    def count(self) -> int:
        row = self._engine.row(self._COUNT, {"project": self._project})
        return int(row[0]) if row else 0


_CLEAR = "delete from embedding_cache"


def empty(engine: Engine) -> int:
    """Remove everything, and what requests were answered; how many entries of the cache that were."""
    with engine.write():
        blank_answers(engine)
        return engine.execute(_CLEAR)


def _oldest(now: datetime) -> int:
    return to_ms(now - LIFETIME)


def _checksum(key: str, vector: bytes) -> int:
    return int.from_bytes(blake2b(vector, key=key.encode()[:64], digest_size=8).digest()) >> 1
