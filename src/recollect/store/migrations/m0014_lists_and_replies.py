"""Indexes for lists in every order and for counting facets, and what was answered to requests that may come again."""

from __future__ import annotations

from recollect.store.port import Engine

# `memories_counted` covers every column that a filter looks at, so that counting reads no row of the table.
_SCRIPT = """
    drop index memories_by_time;
    create index memories_by_time on memories (project, created_at, id);
    create index memories_by_access on memories (project, accessed_at, id);
    create index memories_counted on memories (project, confidence desc, id, status, user_id, kind, source, scope,
        visibility, needs_review, pinned, created_at, event_at, session, valid_until);
    create table replies (
        project   text not null,
        key       text not null,
        request   text not null,
        at        bigint not null,
        status    bigint,
        revision  bigint,
        answer    text,
        primary key (project, key)
    );
    create index replies_by_time on replies (project, at)
"""


def add_lists_and_replies(engine: Engine) -> None:
    for statement in _SCRIPT.split(";"):
        engine.execute(statement)
