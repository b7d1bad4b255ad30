"""How SQLite stores before the common schema were made, step by step, and the step that brings them there.

No step may ever change: stores of every release are out there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.core.digest import checksum
from recollect.core.fields import FIELDS, column_ddl
from recollect.store.observed import TABLES as OBSERVED
from recollect.store.port import Engine, Row, Value
from recollect.store.schema import KEPT, REMADE, split_script
from recollect.store.sqlite import ivf

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
    columns = ",\n        ".join(
        column_ddl(field) + (" unique" if field.name == "id" else "") for field in FIELDS if field.since == 1
    )
    for statement in _TABLES.format(columns=columns).split(";"):
        if statement.strip():
            engine.execute(statement)
    engine.keywords.create()


# Schema 2: vector spaces, the vectors in them, and the index over them. All of it is a projection.
#
# `vectors` is an ordinary table and not a clustered one: rows past a quarter of a page would each spill into a page of
# their own there, which trebles the file.


_M0002_VECTORS_TABLES = """
    create table spaces (
        id          integer primary key,
        model       text not null,
        dims        integer not null,
        state       text not null,
        created_at  integer not null,
        grid        integer not null,
        change      integer not null
    );
    create unique index spaces_active on spaces (state) where state = 'active';
    create unique index spaces_by_model on spaces (model, dims) where state <> 'dropped';

    create table vectors (
        space  integer not null,
        seq    integer not null,
        views  blob not null,
        stamp  text not null
    );
    create unique index vectors_by_seq on vectors (seq, space);
"""


_INDEX_TABLES = (
    """
    create table grids (
        id          integer primary key,
        space       integer not null,
        state       text not null,
        trained_on  integer not null,
        probes      text not null,
        birth       integer not null,
        centroids   blob
    )
    """,
    "create index grids_by_space on grids (space)",
    "create table cells (key integer primary key, code blob not null)",
    f"create unique index cells_by_seq on cells (key & {2**32 - 1}, key >> 48)",
)


def vectors(engine: Engine) -> None:
    for statement in _M0002_VECTORS_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
    for statement in _INDEX_TABLES:
        engine.execute(statement)


# Schema 3: the cache of embeddings. Neither canonical nor a projection: whatever is in it may be lost at any time.
#
# Numbers only grow, so the oldest entries are those with the smallest, and keeping the newest few needs no counting.


_M0003_CACHE_TABLES = """
    create table embedding_cache (
        number    integer primary key,
        key       text not null unique,
        vector    blob not null,
        at        integer not null,
        checksum  integer not null
    );
    create index embedding_cache_by_time on embedding_cache (at)
"""


def cache(engine: Engine) -> None:
    for statement in _M0003_CACHE_TABLES.split(";"):
        engine.execute(statement)


# Schema 4: documents, what they point at, how they rank, and which were found together.
#
# `documents` and `document_pairs` are canonical: nobody else knows how far a document is trusted. `document_links` is
# made from the files and `document_ranks` from the links; both are projections.


_M0004_DOCUMENTS_TABLES = """
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
    for statement in _M0004_DOCUMENTS_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# Schema 5: the code graph — files, nodes, edges, names looked for, and what git tells. All of it is a projection.
#
# Edges carry the number of the file they were read from, so that a changed file takes exactly its own with it.


_M0005_CODE_TABLES = """
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
    for statement in _M0005_CODE_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# Schema 3: conversations. Entities are canonical, because people merge and split them by hand; so is what language
# models cost. Sessions and jobs are bookkeeping: losing them costs time, never a memory. Entity names are a projection.


_M0006_DIALOGUE_TABLES = """
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
    for statement in _M0006_DIALOGUE_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# Schema 7: the outbox goes. Nothing ever waited in it: what has no vector yet is found by its absence.


_DROP = "drop table outbox"


def no_outbox(engine: Engine) -> None:
    engine.execute(_DROP)


# Schema 8: what agents did, turn by turn, and what they keep in mind. All of it is canonical: nobody else knows it.


_M0008_TURNS_TABLES = """
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
    for statement in _M0008_TURNS_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# What was observed in agents' sessions. Transcripts are not kept, so the statistics are canonical.
#
# Every row belongs to one session, and sums are made when they are asked for: a session that is seen again replaces its
# own rows and nothing else.


_M0009_OBSERVER_TABLES = """
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
    for statement in _M0009_OBSERVER_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# Schema 10: what agents were told unasked: the sessions, and each memory a session was told, at which moment. Kept,
# because the benefit of memory is measured by it.


_M0010_INJECTIONS_TABLES = """
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
    for statement in _M0010_INJECTIONS_TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)


# --- schema 11: the common schema -----------------------------------------------------------------------------------

_FILE_FACTS = frozenset({"project", "analyzer", "ledger_head"})  # of the whole file, whichever projects it holds
_ADD_ORDINAL = "alter table memories add column ordinal integer"
NUMBER_TURNS = """
    update memories set ordinal = turn.position
      from (select seq as number, row_number() over (partition by project, session order by seq) as position
              from memories where kind = 'episode' and session is not null) turn
     where turn.number = memories.seq
"""
_MOVE_CURSORS = """
    update sessions set cursor = coalesce((select max(m.ordinal) from memories m
        where m.project = sessions.project and m.session = sessions.id and m.kind = 'episode'
          and m.seq <= sessions.cursor), 0)
"""
# By table: the columns of the new one that are filled, and what they are filled with.
_FILLED = {
    "ledger": (
        "number, act, at, actor, action, memory, body, digest, undoes, hash, project",
        """select o.number, o.act, o.at, o.actor, o.action, o.memory, o.body, o.digest, o.undoes, o.hash,
                  coalesce(m.project, :project)
             from old_ledger o left join memories m on m.id = o.memory""",
    ),
    "facets": (
        "project, facet, value, seq",
        "select m.project, o.facet, o.value, o.seq from old_facets o join memories m on m.seq = o.seq",
    ),
    "embedding_cache": (
        "number, project, key, vector, at, checksum",
        "select number, :project, key, vector, at, checksum from old_embedding_cache",
    ),
    "document_links": (
        "project, source, position, target, kind, line, resolved",
        """select coalesce(d.project, :project), o.source,
                  row_number() over (partition by o.source order by o.rowid), o.target, o.kind, o.line, o.resolved
             from old_document_links o left join documents d on d.id = o.source""",
    ),
    "document_ranks": (
        "project, document, rank",
        """select coalesce(d.project, :project), o.document, o.rank
             from old_document_ranks o left join documents d on d.id = o.document""",
    ),
    "enriched": (
        "project, memory, strategy, at",
        """select coalesce(m.project, :project), o.memory, o.strategy, o.at
             from old_enriched o left join memories m on m.id = o.memory""",
    ),
    "jobs": (
        "project, name, ran_at, outcome, note, failures, failed_at, holder, lease_until",
        "select :project, name, ran_at, outcome, note, failures, failed_at, holder, lease_until from old_jobs",
    ),
    "spend": (
        "number, project, at, model, feature, session, reserved, used, outcome, note",
        "select number, :project, at, model, feature, session, reserved, used, outcome, note from old_spend",
    ),
    "code_files": (
        "project, path, language, digest, mtime, size, reason, shape, outline",
        "select :project, path, language, digest, mtime, size, reason, shape, outline from old_code_files",
    ),
    "code_nodes": (
        "id, project, key, type, name, file, first_line, last_line, digest",
        'select id, :project, key, type, name, file, start, "end", digest from old_code_nodes',
    ),
    "code_edges": (
        "project, source, target, type, weight, confidence, layer, origin, owner, stale",
        "select :project, source, target, type, weight, confidence, layer, origin, owner, stale from old_code_edges",
    ),
    "code_wants": ("project, name, owner", "select :project, name, owner from old_code_wants"),
    "code_cochange": (
        "project, near, far, weight, times",
        "select :project, near, far, weight, times from old_code_cochange",
    ),
    "code_churn": (
        "project, path, commits, rate, heat",
        "select :project, path, commits, rate, heat from old_code_churn",
    ),
    "spaces": (
        "id, project, model, dims, state, created_at, grid, change",
        "select id, :project, model, dims, state, created_at, grid, change from old_spaces",
    ),
    "vectors": (
        "project, space, seq, views, stamp",
        """select :project, o.space, o.seq, o.views, o.stamp from old_vectors o join memories m on m.seq = o.seq
            where m.project = :project""",
    ),
    "grids": (
        "id, project, space, state, trained_on, probes, birth, centroids",
        "select id, :project, space, state, trained_on, probes, birth, centroids from old_grids",
    ),
    "cells": (
        "key, project, code",
        f"""select o.key, :project, o.code from old_cells o
             where exists (select 1 from memories m where m.seq = o.key & {2**32 - 1} and m.project = :project)""",
    ),
}
_ORDERED = ("files", "pairs", "errors", "calls", "sequences", "signals", "traits")  # observed_…, kept in order


def common_schema(engine: Engine) -> None:
    """Give every table a project, every turn its ordinal. Old tables are copied into new ones and dropped; a row whose
    checksum did not match keeps a wrong one. Vectors of other projects than the file's own are made again later."""
    found = engine.row("select value from meta where name = 'project'")
    project = str(found[0]) if found else "default"
    engine.execute(_ADD_ORDINAL)
    engine.execute(NUMBER_TURNS)
    engine.execute(_MOVE_CURSORS)
    tables = [*split_script(REMADE), *ivf.CREATE]
    remade = [name[1] for statement in tables if (name := re.match(r"create table (\w+)", statement.lstrip()))]
    for table in remade:
        for (index,) in engine.rows(_INDEXES, {"table": table}):
            engine.execute(f"drop index {index}")
        engine.execute(f"alter table {table} rename to old_{table}")
    for statement in tables:
        engine.execute(statement)
    for statement in split_script(KEPT):
        if "memories_by_turn" in statement:
            engine.execute(statement)
    for table, (columns, source) in _FILLED.items():
        engine.execute(f"insert into {table} ({columns}) {source}", {"project": project})
    for part in _ORDERED:
        columns = ", ".join(row[1] for row in engine.rows(f"pragma table_info(old_observed_{part})"))
        engine.execute(
            f"insert into observed_{part} (number, {columns}) select rowid, {columns} from old_observed_{part}"
        )
    _fill_checked(engine, project)
    for table in remade:
        engine.execute(f"drop table old_{table}")


_INDEXES = "select name from sqlite_schema where type = 'index' and tbl_name = :table and sql is not null"


def _fill_checked(engine: Engine, project: str) -> None:
    """Tables whose checksum covers what is new."""
    _copy(
        engine,
        "links",
        "project, source, relation, target, is_file, confidence, automatic, created_at",
        """select coalesce(m.project, :project), o.source, o.relation, o.target, o.is_file, o.confidence, o.automatic,
                  o.created_at, o.checksum from old_links o left join memories m on m.id = o.source""",
        project,
    )
    _copy(
        engine,
        "document_pairs",
        "project, one, other, count, at",
        """select coalesce(d.project, :project), o.one, o.other, o.count, o.at, o.checksum
             from old_document_pairs o left join documents d on d.id = o.one""",
        project,
    )
    _copy(
        engine,
        "turn_calls",
        "project, turn, position, call, name, arguments, result, failed, step, said, ms",
        """select coalesce(t.project, :project), o.turn, o.place, o.call, o.name, o.arguments, o.result, o.failed,
                  o.step, o.said, o.ms, o.checksum from old_turn_calls o left join old_turns t on t.id = o.turn""",
        project,
    )
    names = (
        "id, project, session, thread, provider, model, at, input, output, state, note, ended_at, tokens_in, tokens_out"
    )
    rows = engine.rows(f"select number, {names}, checksum from old_turns order by number")
    engine.execute_many(
        f"insert into turns (number, {names}, checksum) values ({', '.join('?' * 16)})",
        [(*row[:-1], _resealed(row[:-1], row[-1], row[1:-1])) for row in rows],
    )
    engine.execute_many(
        "insert into meta (project, name, value, checksum) values (?, ?, ?, ?)",
        [_fact(row, project) for row in engine.rows("select name, value, checksum from old_meta")],
    )


def _fact(row: Row, project: str) -> Row:
    """A fact under its project; names that ended in one did so because there was no column for it."""
    name, value, stored = row
    stem, colon, owner = str(name).rpartition(":")
    owned = (owner, stem) if colon and stem.startswith("documents.") else ("" if name in _FILE_FACTS else project, name)
    return (*owned, value, _resealed((name, value), stored, (*owned, value)))


def _copy(engine: Engine, table: str, columns: str, source: str, project: str) -> None:
    """Rows whose checksum covers their project from now on."""
    rows = engine.rows(source, {"project": project})
    marks = ", ".join("?" * (columns.count(",") + 2))
    engine.execute_many(
        f"insert into {table} ({columns}, checksum) values ({marks})",
        [(*row[:-1], _resealed(row[1:-1], row[-1], row[:-1])) for row in rows],
    )


def _resealed(before: Sequence[Value], stored: int, after: Sequence[Value]) -> int:
    """The checksum of a row as it is now, or a wrong one where it was wrong before."""
    return checksum(after) if checksum(before) == stored else stored


UPGRADES = (
    (1, "foundation", foundation, ("memories", "links", "tombstones", "ledger")),
    (2, "vectors", vectors, ()),
    (3, "cache", cache, ()),
    (4, "documents", documents, ("documents", "document_pairs")),
    (5, "code", code, ()),
    (6, "dialogue", dialogue, ("entities", "spend")),
    (7, "no outbox", no_outbox, ()),
    (8, "turns", turns, ("turns", "turn_calls", "working_memory")),
    (9, "observer", observer, OBSERVED),
    (10, "injections", injections, ("agent_sessions", "injections")),
    (11, "common schema", common_schema, ()),
)
