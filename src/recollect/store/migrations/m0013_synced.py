"""What a store has in common with the team's server: one row per memory and tombstone that travels."""

from __future__ import annotations

from recollect.store.port import Engine

_TABLE = """
    create table synced (
        project  text not null,
        key      text not null,
        sort     text not null,
        version  bigint,
        shadow   text,
        pending  smallint not null,
        gone     smallint not null,
        batch    text,
        sent     text,
        held     text,
        note     text not null,
        primary key (project, key)
    );
    create index synced_pending on synced (project, key) where pending = 1
"""


def add_synced(engine: Engine) -> None:
    for statement in _TABLE.split(";"):
        engine.execute(statement)
