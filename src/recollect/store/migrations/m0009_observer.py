"""What was observed in agents' sessions. Transcripts are not kept, so the statistics are canonical.

Every row belongs to one session, and sums are made when they are asked for: a session that is seen again replaces its
own rows and nothing else.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table observed_sessions (
        project   text not null,
        id        text not null,
        host      text not null,
        kind      text not null,
        outcome   text not null,
        started   integer,
        ended     integer,
        prompt    text not null,
        steps     integer not null,
        calls     integer not null,
        errors    integer not null,
        tokens    integer not null,
        events    integer not null,
        slow      integer not null,
        taint     text not null,
        outside   integer,
        agents    text not null,
        planned   integer not null,
        branch    text not null,
        raised    text not null,
        checksum  integer not null,
        primary key (project, id)
    );
    create index observed_sessions_by_time on observed_sessions (project, started, id);

    create table observed_files (
        project     text not null,
        session     text not null,
        path        text not null,
        module      text not null,
        reads       integer not null,
        edits       integer not null,
        first_step  integer not null,
        last_step   integer not null,
        checksum    integer not null,
        primary key (project, session, path)
    );
    create index observed_files_by_path on observed_files (project, path);
    create index observed_files_by_module on observed_files (project, module, session);

    create table observed_pairs (
        project   text not null,
        session   text not null,
        one       text not null,
        other     text not null,
        forward   integer not null,
        backward  integer not null,
        steps     real not null,
        seconds   real not null,
        checksum  integer not null,
        primary key (project, session, one, other)
    );
    create index observed_pairs_by_files on observed_pairs (project, one, other);
    create index observed_pairs_by_other on observed_pairs (project, other);

    create table observed_errors (
        project      text not null,
        session      text not null,
        tool         text not null,
        words        text not null,
        fingerprint  text not null,
        shape        text not null,
        example      text not null,
        files        text not null,
        steps        text not null,
        times        integer not null,
        resolution   text not null,
        checksum     integer not null,
        primary key (project, session, tool, words, fingerprint)
    );
    create index observed_errors_by_trouble on observed_errors (project, tool, fingerprint);

    create table observed_calls (
        project   text not null,
        session   text not null,
        tool      text not null,
        words     text not null,
        times     integer not null,
        errors    integer not null,
        checksum  integer not null,
        primary key (project, session, tool, words)
    );

    create table observed_sequences (
        project   text not null,
        session   text not null,
        tools     text not null,
        times     integer not null,
        checksum  integer not null,
        primary key (project, session, tools)
    );

    create table observed_signals (
        project   text not null,
        session   text not null,
        name      text not null,
        subject   text not null,
        steps     text not null,
        count     integer not null,
        paths     text not null,
        words     text not null,
        hunch     text not null,
        measure   real not null,
        taint     text not null,
        agents    integer not null,
        checksum  integer not null,
        primary key (project, session, name, subject)
    );
    create index observed_signals_by_subject on observed_signals (project, name, subject);

    create table observed_traits (
        project   text not null,
        session   text not null,
        tool      text not null,
        sort      text not null,
        what      text not null,
        state     text not null,
        times     integer not null,
        clean     integer not null,
        failed    text not null,
        followed  text not null,
        checksum  integer not null,
        primary key (project, session, tool, sort, what, state)
    );

    create table observed_promotions (
        project   text not null,
        key       text not null,
        memory    text not null,
        session   text not null,
        at        integer not null,
        checksum  integer not null,
        primary key (project, key)
    );

    create table observed_syntheses (
        project   text not null,
        subject   text not null,
        stage     text not null,
        at        integer not null,
        memories  text not null,
        note      text not null,
        checksum  integer not null,
        primary key (project, subject, stage)
    )
"""


def observer(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
