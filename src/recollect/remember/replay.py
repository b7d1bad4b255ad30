"""Replaying the log: what an empty store must hold to be what the entries say.

Memories, links, tombstones and entities come out as they were, but for how often and when a memory was read: being read
is no change, and is logged only along with one. Sessions are told from their episodes; how far each was consolidated is
not, and `tend` draws their facts once more. What was forgotten is gone, and entries whose bodies were erased say
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.entities import Entity
from recollect.core.forms import from_whole, moment, parse_entity, parse_link, with_fields
from recollect.core.kinds import Kinds
from recollect.core.links import Link
from recollect.core.log import Entry
from recollect.core.records import Memory
from recollect.store.store import Store
from recollect.store.tombstones import Tombstones

_CHUNK = 1_000  # memories inserted at once


@dataclass(slots=True)
class Rebuilt:
    """The canonical rows that some entries amount to."""

    memories: dict[str, Memory] = field(default_factory=dict)
    links: dict[tuple[str, str, str, bool], Link] = field(default_factory=dict)
    tombstones: dict[tuple[str, str], tuple[str, datetime]] = field(default_factory=dict)  # by project and fingerprint
    entities: dict[str, Entity] = field(default_factory=dict)
    _ends: dict[str, set[tuple[str, str, str, bool]]] = field(default_factory=dict)  # links by their ends

    def put_link(self, link: Link) -> None:
        key = _key(link)
        self.links.pop(key, None)
        self.links[key] = link
        for end in (link.source, link.target):
            if end is not None:
                self._ends.setdefault(end, set()).add(key)

    def drop_memory(self, id: str) -> None:
        """Take a memory away with its links."""
        self.memories.pop(id, None)
        for key in self._ends.pop(id, ()):
            self.links.pop(key, None)


def replay(entries: Iterable[Entry], kinds: Kinds) -> Rebuilt:
    """Take every change once more, in order."""
    rows = Rebuilt()
    for entry in entries:
        if entry.erased:
            continue
        change, subject = entry.change, entry.change.subject or ""
        match change.about:
            case "memory" if change.after is None:
                rows.drop_memory(subject)
            case "memory" if change.before is None:
                rows.memories[subject] = from_whole(change.after or {}, kinds)
            case "memory":
                _set(rows, subject, {**(change.after or {}), **(change.replay or {})}, kinds)
            case "passages":
                _replace_passages(rows, change.replay or {}, kinds)
            case "link":
                if change.after is not None:
                    rows.put_link(parse_link(subject, change.after))
                elif change.before is not None:
                    rows.links.pop(_key(parse_link(subject, change.before)), None)
            case "tombstone":
                rows.tombstones.pop((entry.project, subject), None)
                if change.after is not None:
                    rows.tombstones[entry.project, subject] = (change.after["reason"], moment(change.after["at"]))
            case "entity":
                rows.entities.pop(subject, None)
                if change.after is not None:
                    rows.entities[subject] = parse_entity(subject, entry.project, change.after)
            case _:
                pass
    return rows


def rebuild(source: Store, target: Store) -> Rebuilt:
    """Fill an empty store with what the log of another amounts to."""
    rows = replay(source.log.replayable(), source.kinds)
    memories = list(rows.memories.values())
    with target.engine.write():
        for start in range(0, len(memories), _CHUNK):
            target.memories.add(memories[start : start + _CHUNK])
        target.links.put(list(rows.links.values()))
        for (project, key), (reason, at) in rows.tombstones.items():
            Tombstones(target.engine, project).put([key], reason=reason, at=at)
        target.entities.put(list(rows.entities.values()))
        target.sessions.adopt()
    return rows


def _set(rows: Rebuilt, id: str, fields: Mapping[str, Any], kinds: Kinds) -> None:
    if known := rows.memories.get(id):  # one whose coming was erased is told whole again later, or gone
        rows.memories[id] = with_fields(known, fields, kinds)


def _key(link: Link) -> tuple[str, str, str, bool]:
    return link.source, str(link.relation), link.target or link.file or "", link.target is None


def _replace_passages(rows: Rebuilt, told: Mapping[str, Any], kinds: Kinds) -> None:
    for id in told.get("drop", ()):
        rows.drop_memory(id)
    for id, fields in told.get("set", {}).items():
        _set(rows, id, fields, kinds)
    for values in told.get("put", ()):
        rows.memories[values["id"]] = from_whole(values, kinds)
