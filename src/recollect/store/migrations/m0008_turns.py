"""Schema 8: what agents did, turn by turn, and what they keep in mind. All of it is canonical: nobody else knows it."""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table turns (
        number      integer primary key,
        id          text not null unique,
        project     text not null,
        session     text not null,
        thread      text not null,
        provider    text not null,
        model       text not null,
        at          integer not null,
        input       text not null,
        output      text not null,
        state       text not null,
        note        text not null,
        ended_at    integer,
        tokens_in   integer not null,
        tokens_out  integer not null,
        checksum    integer not null
    );
    create index turns_by_session on turns (project, session, number);
    create index turns_by_number on turns (project, number);

    create table turn_calls (
        turn       text not null,
        place      integer not null,
        call       text not null,
        name       text not null,
        arguments  text not null,
        result     text not null,
        failed     integer not null,
        step       integer not null,
        said       text not null,
        ms         integer not null,
        checksum   integer not null,
        primary key (turn, place)
    );

    create table working_memory (
        project     text not null,
        section     text not null,
        items       text not null,
        updated_at  integer not null,
        checksum    integer not null,
        primary key (project, section)
    );
"""


def turns(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
