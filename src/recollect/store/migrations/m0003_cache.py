"""Schema 3: the cache of embeddings. Neither canonical nor a projection: whatever is in it may be lost at any time.

Numbers only grow, so the oldest entries are those with the smallest, and keeping the newest few needs no counting.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table embedding_cache (
        number    integer primary key,
        key       text not null unique,
        vector    blob not null,
        at        integer not null,
        checksum  integer not null
    );
    create index embedding_cache_by_time on embedding_cache (at)
"""


def cache(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        engine.execute(statement)
