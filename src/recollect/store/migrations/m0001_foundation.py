"""Schema 1: memories, their links, tombstones and ledger, the facets to filter by, the outbox, the keyword index.

`memories`, `links`, `tombstones` and `ledger` are canonical. `facets`, `outbox` and `keywords` are projections.
Times are milliseconds since 1970 in UTC; empty lists and objects are null.
"""

from __future__ import annotations

from recollect.core.fields import FIELDS, column_ddl
from recollect.store.port import Engine
from recollect.store.sqlite import keywords

_TABLES = """
    create table memories (
        seq  integer primary key,
        {columns},
        checksum  bigint not null
    );
    create index memories_by_fingerprint on memories (fingerprint);
    create index memories_by_time on memories (project, created_at);
    create index memories_by_session on memories (session) where session is not null;
    create index memories_to_review on memories (project, created_at) where needs_review = 1;

    create table links (
        source      text not null,
        relation    text not null,
        target      text not null,
        is_file     integer not null,
        confidence  real not null,
        automatic   integer not null,
        created_at  integer not null,
        checksum    integer not null,
        primary key (source, relation, target, is_file)
    );
    create index links_by_target on links (target);

    create table tombstones (
        fingerprint text not null,
        project     text not null,
        reason      text not null,
        at          integer not null,
        checksum    integer not null,
        primary key (fingerprint, project)
    );

    create table ledger (
        number  integer primary key,
        act     text not null,
        at      integer not null,
        actor   text not null,
        action  text not null,
        memory  text,
        body    text,
        digest  text not null,
        undoes  text,
        hash    text not null
    );
    create index ledger_by_memory on ledger (memory) where memory is not null;
    create index ledger_by_act on ledger (act);
    create index ledger_undone on ledger (undoes) where undoes is not null;

    create table facets (
        facet  text not null,
        value  text not null,
        seq    integer not null,
        primary key (facet, value, seq)
    );
    create index facets_by_seq on facets (seq);

    create table outbox (
        number     integer primary key,
        memory     text not null,
        projector  text not null
    );
    create index outbox_by_projector on outbox (projector, number);

    create table meta (
        name     text primary key,
        value    text not null,
        checksum integer not null
    );
"""


def foundation(engine: Engine) -> None:
    columns = ",\n        ".join(column_ddl(field) for field in FIELDS if field.since == 1)
    for statement in _TABLES.format(columns=columns).split(";"):
        if statement.strip():
            engine.execute(statement)
    keywords.create(engine)
