"""Schema 5: the code graph — files, nodes, edges, names looked for, and what git tells. All of it is a projection.

Edges carry the number of the file they were read from, so that a changed file takes exactly its own with it.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table code_files (
        path      text primary key,
        language  text not null,
        digest    text not null,
        mtime     integer not null,
        size      integer not null,
        reason    text not null,
        shape     text not null,
        outline   blob
    ) without rowid;

    create table code_nodes (
        id      integer primary key,
        key     text not null unique,
        type    text not null,
        name    text not null,
        file    text not null,
        start   integer not null,
        end     integer not null,
        digest  text not null
    );
    create index code_nodes_by_file on code_nodes (file);
    create index code_nodes_by_name on code_nodes (name);
    create index code_nodes_by_digest on code_nodes (digest) where digest <> '';

    create table code_edges (
        source      integer not null,
        target      integer not null,
        type        text not null,
        weight      real not null,
        confidence  real not null,
        layer       text not null,
        origin      text not null,
        owner       integer not null,
        stale       integer not null,
        primary key (target, source, type)
    ) without rowid;
    create index code_edges_by_source on code_edges (source);
    create index code_edges_by_owner on code_edges (owner);
    create index code_edges_stale on code_edges (stale) where stale = 1;

    create table code_wants (
        name   text not null,
        owner  integer not null,
        primary key (name, owner)
    ) without rowid;
    create index code_wants_by_owner on code_wants (owner);

    create table code_cochange (
        near    text not null,
        far     text not null,
        weight  real not null,
        times   integer not null,
        primary key (near, far)
    ) without rowid;

    create table code_churn (
        path     text primary key,
        commits  integer not null,
        rate     real not null,
        heat     real not null
    ) without rowid;
"""


def code(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
