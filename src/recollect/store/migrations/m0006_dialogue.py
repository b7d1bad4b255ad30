"""Schema 3: conversations. Entities are canonical, because people merge and split them by hand; so is what language
models cost. Sessions and jobs are bookkeeping: losing them costs time, never a memory. Entity names are a projection.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table sessions (
        project          text not null,
        id               text not null,
        seen_at          integer not null,
        last_at          integer not null,
        cursor           integer not null,
        queued_at        integer,
        consolidated_at  integer,
        primary key (project, id)
    );
    create index sessions_pending on sessions (project, seen_at) where consolidated_at is null;

    create table entities (
        id           text primary key,
        project      text not null,
        name         text not null,
        type         text not null,
        aliases      text,
        summary      text not null,
        merged_into  text,
        created_at   integer not null,
        checksum     integer not null
    );
    create index entities_merged on entities (merged_into) where merged_into is not null;

    create table entity_names (
        project  text not null,
        key      text not null,
        entity   text not null,
        primary key (project, key, entity)
    );
    create index entity_names_by_entity on entity_names (entity);

    create table enriched (
        memory    text primary key,
        strategy  text not null,
        at        integer not null
    );

    create table jobs (
        name         text primary key,
        ran_at       integer,
        outcome      text,
        note         text,
        failures     integer not null,
        failed_at    integer,
        holder       text,
        lease_until  integer
    );

    create table spend (
        number    integer primary key,
        at        integer not null,
        model     text not null,
        feature   text not null,
        session   text,
        reserved  integer not null,
        used      integer,
        outcome   text not null,
        note      text not null
    );
    create index spend_by_time on spend (at);
    create index spend_by_session on spend (session) where session is not null;
"""


def dialogue(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
