"""Putting the log of a salvaged store in order: what is left of it is chained again, and it tells what is there now.

Entries that could not be read leave a gap that no check could tell from tampering; a note in the log says so once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime

from recollect.core.forms import entity_json, iso, link_json, whole
from recollect.core.ids import new_id
from recollect.core.log import GENESIS, OLD_REPLICA, Change, chain, digest
from recollect.store.codec import from_ms
from recollect.store.entities import Entities
from recollect.store.links import Links
from recollect.store.log import COLUMNS, Log
from recollect.store.port import Row
from recollect.store.proof import LinkKey, Proof, prove, state_of
from recollect.store.store import Store

_ROWS = f"select {COLUMNS} from log order by number"
_CLEAR = "delete from log"
_ADD = f"insert into log ({COLUMNS}) values ({', '.join('?' for _ in COLUMNS.split(','))})"
_TOMBSTONES = "select project, fingerprint, reason, at from tombstones"
_ENTITIES = "select project, id from entities"
_LINKS = "select distinct project, source from links"
_UNLINK = "delete from links where source = :id or (target = :id and is_file = 0)"
_ACTOR = "salvage"
_LOST = "it could not be read when the store was salvaged"
_KINDS = (int, str, str, str, int, int, str, str, str, str)  # of the columns that are never null


def put_log_in_order(store: Store, at: datetime) -> None:
    """Chain what is left of the log, if the chain is broken, and add what it does not tell, in one transaction."""
    with store.engine.write():
        notes: list[Change] = []
        if store.log.verify():
            missing = chain_again(store)
            why = f"the log was damaged: {missing} entries could not be read, the others were chained again"
            notes.append(Change("salvage", None, why))
        act = str(new_id("act", at))
        changes: dict[str, list[Change]] = defaultdict(list, {store.project: notes} if notes else {})
        for project, change in _untold(store, prove(store.engine)):
            changes[project].append(change)
        for project, some in changes.items():
            Log(store.engine, project).append(some, act=act, actor=_ACTOR, at=at)


def _untold(store: Store, proof: Proof) -> Iterator[tuple[str, Change]]:
    """What is there and the log tells otherwise or not at all, and what it tells of and is lost."""
    engine = store.engine
    found: set[str] = set()
    for page in store.memories.every():
        for memory in page.memories:
            found.add(memory.id)
            if proof.memories.get(memory.id) != state_of(memory.revision, memory.content) or memory.id in proof.emptied:
                yield memory.project, Change("salvage", memory.id, after=whole(memory))
    for id in sorted((proof.memories.keys() | proof.emptied.keys()) - found):
        proof.drop(id)
        engine.execute(_UNLINK, {"id": id})
        yield store.project, Change("salvage", id, _LOST)
    links: set[LinkKey] = set()
    for project, source in engine.rows(_LINKS):
        for link in Links(engine, project).from_(source):
            key = (link.source, str(link.relation), str(link.target or link.file), link.target is None)
            links.add(key)
            if key not in proof.links:
                yield project, Change("salvage", source, after=link_json(link), about="link")
    for source, relation, target, is_file in sorted(proof.links - links):
        gone = {"relation": relation, "file" if is_file else "target": target}
        yield store.project, Change("salvage", source, _LOST, before=gone, about="link")
    for project, key, reason, ms in engine.rows(_TOMBSTONES):
        if (project, key) not in proof.tombstones:
            after = {"reason": reason, "at": iso(from_ms(ms))}
            yield project, Change("salvage", key, after=after, about="tombstone")
    known = {id: project for project, id in engine.rows(_ENTITIES)}
    for id in sorted(known.keys() - proof.entities):
        yield known[id], Change("salvage", id, after=entity_json(Entities(engine, known[id]).get(id)), about="entity")
    for id in sorted(proof.entities - known.keys()):
        yield store.project, Change("salvage", id, _LOST, about="entity")


def chain_again(store: Store, rename: Callable[[str, str], str] = lambda project, actor: actor) -> int:
    """Number and chain the entries that are left, in the name of whom `rename` says for a project and an actor; how
    many are missing. The caller appends an entry afterwards, which anchors the new end."""
    rows = [row for row in store.engine.rows(_ROWS) if _is_readable(row)]
    missing = (int(rows[-1][0]) if rows else 0) - len(rows)
    store.engine.execute(_CLEAR)
    heads: dict[str, tuple[str, int]] = {}
    made: list[Row] = []
    for number, row in enumerate(rows, start=1):
        _, replica, project, act, stamp, ms, actor, door, action, about, subject, text, stored, undoes, _ = row
        previous, last = heads.get(replica) or heads.get(OLD_REPLICA) or (GENESIS, 0)
        actor = rename(project, actor)
        if text is not None and digest(text) != stored:
            text = None
        if replica == OLD_REPLICA:
            hash = chain(previous, number, act, ms, actor, action, subject, stored, undoes)
        else:
            stamp = max(stamp, last + 1)
            fixed = (replica, project, act, stamp, ms, actor, door, action, about, subject)
            hash = chain(previous, *fixed, stored, undoes)
        heads[replica] = (hash, stamp)
        made.append((number, replica, project, act, stamp, ms, actor, door, action, about, subject, text, stored,
                     undoes, hash))  # fmt: skip
    store.engine.execute_many(_ADD, made)
    return missing


def _is_readable(row: Row) -> bool:
    return all(isinstance(value, kind) for value, kind in zip(row[:10], _KINDS, strict=True)) and isinstance(
        row[12], str
    )
