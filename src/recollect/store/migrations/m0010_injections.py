"""What agents were told unasked: the sessions, and each memory a session was told, at which moment. Kept, because the
benefit of memory is measured by it. The indexes let whoever briefs an agent find statements among millions of messages.
"""

from __future__ import annotations

from recollect.store.port import Engine

_TABLES = """
    create table agent_sessions (
        project   text not null,
        session   text not null,
        host      text not null,
        arm       text not null,
        began_at  integer not null,
        ended_at  integer,
        outcome   text not null,
        primary key (project, session)
    );
    create index agent_sessions_by_time on agent_sessions (project, began_at);

    create table injections (
        project  text not null,
        session  text not null,
        memory   text not null,
        moment   text not null,
        at       integer not null,
        primary key (project, session, memory)
    );
    create index injections_by_memory on injections (memory);

    create index memories_standing on memories (project, kind, created_at) where kind not in ('episode', 'passage');
    create index memories_leading on memories (project, pinned desc, verified desc, confidence desc, created_at desc)
        where scope = 'global' and files is null and kind not in ('episode', 'passage')
"""


def injections(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
