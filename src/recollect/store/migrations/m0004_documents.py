"""Schema 4: documents, what they point at, how they rank, and which were found together.

`documents` and `document_pairs` are canonical: nobody else knows how far a document is trusted. `document_links` is
made from the files and `document_ranks` from the links; both are projections.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table documents (
        id            text primary key,
        project       text not null,
        path          text not null,
        sha256        text not null,
        title         text not null,
        label         text not null,
        type          text not null,
        confidence    real not null,
        created_at    integer not null,
        updated_at    integer not null,
        accessed_at   integer,
        access_count  integer not null,
        size          integer not null,
        mtime_ns      integer not null,
        seen_at       integer,
        passages      integer not null,
        state         text not null,
        former        text,
        checksum      integer not null
    );
    create unique index documents_by_path on documents (project, path);

    create table document_pairs (
        one       text not null,
        other     text not null,
        count     integer not null,
        at        integer not null,
        checksum  integer not null,
        primary key (one, other)
    );
    create index document_pairs_by_other on document_pairs (other);

    create table document_links (
        source    text not null,
        target    text not null,
        kind      text not null,
        line      integer not null,
        resolved  text
    );
    create index document_links_by_source on document_links (source);
    create index document_links_by_resolved on document_links (resolved) where resolved is not null;

    create table document_ranks (
        document  text primary key,
        rank      real not null
    );
"""


def documents(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
