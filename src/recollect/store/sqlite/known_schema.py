"""The schemas our own migrations make, found by running them in memory: what a file is compared with when its digest
is not the one of this release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import apsw

from recollect.core.errors import StoreAltered
from recollect.store.migrate import every_step
from recollect.store.migrations.latest import LATEST
from recollect.store.migrations.steps import MIGRATIONS
from recollect.store.port import Row
from recollect.store.schema import FIRST, create
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.recognise import (
    FoundSchema,
    digest_schema,
    harden,
    odd_kinds,
    odd_objects,
    squeeze,
    unknown_objects,
)

_ROWS = "select type, name, tbl_name, rootpage, sql from sqlite_schema order by type, name"


def made_schemas(version: int) -> Iterator[list[Row]]:
    """Every form a store of this schema number can have: grown step by step, or made at once."""
    engine = SqliteEngine(None)
    with engine.write():
        for step in every_step(engine):
            if step.number <= version:
                step.apply(engine)
                engine.set_schema(step.number)
        yield engine.rows(_ROWS)
    engine.close()
    if version < FIRST:
        return
    engine = SqliteEngine(None)
    with engine.write():
        create(engine)
        for step in MIGRATIONS:
            if step.number <= version:
                step.apply(engine)
        yield engine.rows(_ROWS)
    engine.close()


def require_known(found: FoundSchema, location: str) -> None:
    """Refuse a file of ours that holds anything no release of ours makes."""
    if found.version <= 0:
        raise StoreAltered(location, [f"the schema number {found.version}"])
    known = known_objects(found.version)
    odd = odd_objects(found.rows, known) if found.version <= LATEST else odd_kinds(found.rows, known)
    if odd:
        raise StoreAltered(location, odd)


_TAKE_OUT = "delete from sqlite_schema where type = :type and name = :name"


def make_harmless(copy: Path) -> None:
    """Take out of a copy whatever could run something while its rows are salvaged: triggers, views, virtual tables and
    indexes that are not ours. Tables stay: their rows are what is looked for."""
    connection = apsw.Connection(str(copy))
    try:
        harden(connection)
        found = FoundSchema(connection)
        known = known_objects(found.version if 0 < found.version < LATEST else LATEST)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("pragma writable_schema = on")
        for type, name, _, sql in unknown_objects(found.rows, known):
            if type != "table" or "virtual table" in squeeze(sql).lower():
                connection.execute(_TAKE_OUT, {"type": type, "name": name})
    except (apsw.Error, UnicodeDecodeError):
        return  # its list of tables cannot be read at all: salvage gives it that of a fresh store
    finally:
        connection.close()


@lru_cache(maxsize=4)
def known_objects(version: int) -> Mapping[tuple[str, str], frozenset[str]]:
    """By type and name: the statements a release of ours may have made it with."""
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rows in made_schemas(min(version, LATEST)):
        for type, name, _, _, sql in rows:
            if not str(name).startswith("sqlite_stat"):
                known[type, name].add(squeeze(sql))
    return {key: frozenset(statements) for key, statements in known.items()}


def schema_digests() -> frozenset[str]:
    """What `migrations/latest.py` has to say of the schema of this release."""
    return frozenset(digest_schema(rows) for rows in made_schemas(LATEST))
