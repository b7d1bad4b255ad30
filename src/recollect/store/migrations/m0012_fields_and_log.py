"""Fields that memories got later (whose of an assistant's users one is), and a log that can be replayed.

The ledger becomes the log: every entry of it is kept, with the hash it had, and belongs to no replica. What the store
holds is written down after them, a snapshot of each memory, link, tombstone, entity and document, from which replaying
starts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core.fields import FIELDS, column_ddl, column_names
from recollect.core.forms import iso
from recollect.core.log import GENESIS, Change, body, chain, digest, next_stamp
from recollect.store.codec import from_ms
from recollect.store.log import ANCHOR, REPLICA, new_replica, stored_json
from recollect.store.meta import FILE, Meta
from recollect.store.port import Engine, Row, Value

_TABLE = """
    create table log (
        number   bigint primary key,
        replica  text not null,
        project  text not null,
        act      text not null,
        stamp    bigint not null,
        at       bigint not null,
        actor    text not null,
        door     text not null,
        action   text not null,
        about    text not null,
        subject  text,
        body     text,
        digest   text not null,
        undoes   text,
        hash     text not null
    );
    create index log_by_subject on log (subject) where subject is not null;
    create index log_by_act on log (act);
    create index log_undone on log (undoes) where undoes is not null
"""
_KEEP = """
    insert into log (number, replica, project, act, stamp, at, actor, door, action, about, subject, body, digest,
                     undoes, hash)
    select l.number, '', coalesce((select m.project from memories m where m.id = l.memory), :project), l.act, 0, l.at,
           l.actor, '', l.action,
           case when l.action = 'index' then 'passages' when l.memory is null then 'note' else 'memory' end,
           l.memory, l.body, l.digest, l.undoes, l.hash
      from ledger l order by l.number
"""
_ADD = """
    insert into log (number, replica, project, act, stamp, at, actor, door, action, about, subject, body, digest,
                     undoes, hash)
    values (?, ?, ?, ?, ?, ?, ?, '', 'snapshot', ?, ?, ?, ?, null, ?)
"""
_FIRST = tuple(field for field in FIELDS if field.since < 12)
_COLUMNS = column_names(*(field.name for field in _FIRST))
_ROWS = f"select seq, {_COLUMNS} from memories where seq > :after order by seq limit 1000"
_THESE = f"select {_COLUMNS} from memories where seq = any(:seqs) order by seq"
_LINKS = """
    select project, source, relation, target, is_file, confidence, automatic, created_at from links
     order by source, relation, target, is_file
"""
_TOMBSTONES = "select fingerprint, project, reason, at from tombstones order by project, fingerprint"
_ENTITIES = "select id, project, name, type, aliases, summary, merged_into, created_at from entities order by id"
_ACTOR = "migration"
_CHUNK = 1_000
_HEAD = "select number, hash, at from log order by number desc limit 1"


def fields_and_log(engine: Engine) -> None:
    for field in FIELDS:
        if field.since == 12:
            engine.execute(f"alter table memories add column {column_ddl(field)}")
    for statement in _TABLE.split(";"):
        engine.execute(statement)
    meta = Meta(engine, FILE)
    project = meta.get("project") or "default"
    engine.execute(_KEEP, {"project": project})
    engine.execute("drop table ledger")
    engine.execute("delete from meta where name = 'ledger_head'")
    meta.put(REPLICA, new_replica())
    _Snapshot(engine, meta).write(project)


class _Snapshot:
    """Writes down what a store of an earlier release holds; a new store has nothing to tell."""

    def __init__(self, engine: Engine, meta: Meta) -> None:
        self._engine = engine
        self._meta = meta
        self._replica = meta.get(REPLICA) or ""
        self._number, self._hash, self._at = engine.row(_HEAD) or (0, GENESIS, 0)  # as of the last entry
        self._stamp = 0
        self._act = f"act_snapshot_{self._replica}"

    def write(self, project: str) -> None:
        pending: list[Row] = []
        for home, change in self._changes(project):
            pending.append(self._row(home, change))
            if len(pending) == _CHUNK:
                self._engine.execute_many(_ADD, pending)
                pending = []
        self._engine.execute_many(_ADD, pending)
        if self._number:
            self._meta.put(ANCHOR, f"{self._number}:{self._hash}")

    def _row(self, project: str, change: Change) -> Row:
        text = body(change)
        self._number, self._stamp = self._number + 1, next_stamp(self._stamp, self._at)
        told = (self._replica, project, self._act, self._stamp, self._at, _ACTOR)
        self._hash = chain(self._hash, *told, "", change.action, change.about, change.subject, digest(text), None)
        return (self._number, *told, change.about, change.subject, text, digest(text), self._hash)

    def _changes(self, project: str) -> Iterator[tuple[str, Change]]:
        yield from self._memories()
        for home, source, relation, target, is_file, confidence, automatic, created_at in self._engine.rows(_LINKS):
            link = {
                "relation": relation,
                "file" if is_file else "target": target,
                "confidence": confidence,
                "automatic": bool(automatic),
                "created_at": iso(from_ms(created_at)),
            }
            yield home, Change("snapshot", source, after=link, about="link")
        for fingerprint, home, reason, at in self._engine.rows(_TOMBSTONES):
            buried = {"reason": reason, "at": iso(from_ms(at))}
            yield home, Change("snapshot", fingerprint, after=buried, about="tombstone")
        for id, home, name, type, aliases, summary, merged_into, created_at in self._engine.rows(_ENTITIES):
            entity = {
                "name": name,
                "type": type,
                "aliases": [] if aliases is None else json.loads(aliases),
                "summary": summary,
                "merged_into": merged_into,
                "created_at": iso(from_ms(created_at)),
            }
            yield home, Change("snapshot", id, after=entity, about="entity")

    def _memories(self) -> Iterator[tuple[str, Change]]:
        """Each memory by itself; the passages of one document in one entry, as they are logged ever after."""
        passages: dict[tuple[str, str], list[int]] = {}
        last = 0
        while rows := self._engine.rows(_ROWS, {"after": last}):
            last = rows[-1][0]
            for seq, *row in rows:
                values = _values(row)
                if document := _document_of(values):
                    passages.setdefault((values["project"], document), []).append(seq)
                else:
                    yield values["project"], Change("snapshot", values["id"], after=values)
        for (project, document), seqs in passages.items():
            found = self._engine.rows(_THESE, {"seqs": seqs})
            put = [_values(row) for row in found]
            yield project, Change("snapshot", document, about="passages", replay={"put": put})


def _document_of(values: dict[str, Any]) -> str | None:
    return values["span"].get("document") if values["kind"] == "passage" and "span" in values else None


def _values(row: Sequence[Value]) -> dict[str, Any]:
    """A row as the log tells a whole memory."""
    return {
        field.name: stored_json(field, value)
        for field, value in zip(_FIRST, row, strict=True)
        if value is not None and (value or field.form not in ("flag", "count"))
    }
