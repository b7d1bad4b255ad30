"""What the log proves: which memories, links, tombstones and entities the store must hold, and at which revision.

Rows that are missing, came from nowhere or stand at another revision show here, and bodies that were emptied although
nothing was forgotten. It tells what is there, not what it says in every field: replaying does that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from recollect.core.log import OLD_REPLICA
from recollect.store.port import Engine

_PAGE = 2_000
_LOG = f"""
    select number, replica, project, action, about, subject, body, digest from log
     where number > :after order by number limit {_PAGE}
"""
_MEMORIES = "select id, revision, content from memories"
_LINKS = "select source, relation, target, is_file from links"
_TOMBSTONES = "select project, fingerprint from tombstones"
_ENTITIES = "select id from entities"
_ERASING = frozenset({"forget", "erase", "prune", "redact", "salvage"})

LinkKey: TypeAlias = tuple[str, str, str, bool]


@dataclass(slots=True)
class Proof:
    """What a log amounts to; `faults` says what is wrong with it by itself."""

    memories: dict[str, tuple[int, int]] = field(default_factory=dict)  # revision, and a hash of the words
    links: set[LinkKey] = field(default_factory=set)
    tombstones: set[tuple[str, str]] = field(default_factory=set)
    entities: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    _ends: dict[str, set[LinkKey]] = field(default_factory=dict)
    emptied: dict[str, int] = field(default_factory=dict)  # by subject: an entry whose body is gone

    def take(self, project: str, action: str, about: str, subject: str, told: Mapping[str, Any]) -> None:
        """Follow one entry whose body can be read."""
        before, after, replay = told.get("before"), told.get("after"), told.get("replay") or {}
        if about == "memory":
            if after is None:
                self.drop(subject)
            elif before is None:
                self.memories[subject] = state_of(int(after.get("revision", 1)), after.get("content", ""))
            elif subject in self.memories:
                revision, words = self.memories[subject]
                now = hash(after["content"]) if "content" in after else words
                self.memories[subject] = (int(replay.get("revision", revision)), now)
        elif about == "passages":
            for id in replay.get("drop", ()):
                self.drop(id)
            for id, fields in replay.get("set", {}).items():
                if id in self.memories:
                    revision, words = self.memories[id]
                    now = hash(fields["content"]) if "content" in fields else words
                    self.memories[id] = (int(fields.get("revision", revision)), now)
            for one in replay.get("put", ()):
                self.memories[one["id"]] = state_of(int(one.get("revision", 1)), one.get("content", ""))
        elif about == "link":
            self._move_link(subject, before, after)
        elif about == "tombstone":
            (self.tombstones.discard if after is None else self.tombstones.add)((project, subject))
        elif about == "entity":
            (self.entities.discard if after is None else self.entities.add)(subject)

    def settle_emptied(self, number: int, action: str, about: str, subject: str, *, emptied: bool, whole: bool) -> None:
        """Bodies may be empty when the same act, or a later one, forgot what they were about or told the rest again."""
        if emptied:
            self.emptied[subject] = number
        elif action in _ERASING or (whole and (about in ("passages", "entity") or action == "snapshot")):
            self.emptied.pop(subject, None)

    def end(self) -> None:
        for subject, number in list(self.emptied.items())[:5]:
            self.faults.append(f"what entry {number} says of {subject} was emptied, and nothing forgot it")

    def drop(self, id: str) -> None:
        """Take a memory away with its links."""
        self.memories.pop(id, None)
        self.links -= self._ends.pop(id, set())

    def _move_link(self, source: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> None:
        told = after or before
        if told is None:
            return
        is_file = "target" not in told
        key = (source, str(told["relation"]), str(told["file"] if is_file else told["target"]), is_file)
        if after is None:
            self.links.discard(key)
            return
        self.links.add(key)
        for end in (source,) if is_file else (source, key[2]):
            self._ends.setdefault(end, set()).add(key)


def state_of(revision: int, content: str) -> tuple[int, int]:
    """What is compared of a memory."""
    return revision, hash(content)


def prove(engine: Engine) -> Proof:
    """Read the whole log."""
    proof = Proof()
    after = 0
    while rows := engine.rows(_LOG, {"after": after}):
        after = rows[-1][0]
        for number, replica, project, action, about, subject, body, digest in rows:
            if subject is None:
                continue
            emptied = body is None and digest != ""
            try:
                told = {} if body is None else json.loads(body)
                parts = told if isinstance(told, dict) else {}
                whole = parts.get("after") is None or parts.get("before") is None
                proof.settle_emptied(number, action, about, subject, emptied=emptied, whole=whole)
                if replica != OLD_REPLICA and not emptied:
                    proof.take(project, action, about, subject, parts)
            except (ValueError, TypeError, KeyError, AttributeError):
                proof.faults.append(f"entry {number} cannot be read")
    proof.end()
    return proof


def differences(engine: Engine, proof: Proof) -> Iterator[tuple[str, str]]:
    """Where the rows are not what the log proves: the area, and what is wrong in words."""
    rows = {id: state_of(revision, content) for id, revision, content in engine.rows(_MEMORIES)}
    told = proof.memories
    yield from _differing("rows", "memory", "memories", set(rows), set(told))
    moved = sorted(id for id in rows.keys() & told.keys() if rows[id] != told[id])
    if moved:
        yield "rows", f"{_some(moved)} not as the log tells of it"
    links = {(source, relation, target, bool(is_file)) for source, relation, target, is_file in engine.rows(_LINKS)}
    yield from _differing("links", "link", "links", links, proof.links)
    stones = set(map(tuple, engine.rows(_TOMBSTONES)))
    yield from _differing("tombstones", "tombstone", "tombstones", stones, proof.tombstones)
    entities = {row[0] for row in engine.rows(_ENTITIES)}
    yield from _differing("entities", "entity", "entities", entities, proof.entities)


def _differing(area: str, one: str, many: str, found: set[Any], told: set[Any]) -> Iterator[tuple[str, str]]:
    if missing := sorted(told - found):
        name = one if len(missing) == 1 else many
        yield area, f"{len(missing):,} {name} missing that the log tells of, such as {_name(missing[0])}"
    if strange := sorted(found - told):
        name = one if len(strange) == 1 else many
        yield area, f"{len(strange):,} {name} that the log does not tell of, such as {_name(strange[0])}"


def _name(key: Any) -> str:
    return key if isinstance(key, str) else " ".join(str(part) for part in key if not isinstance(part, bool))


def _some(ids: list[str]) -> str:
    return f"{ids[0]} is" if len(ids) == 1 else f"{len(ids):,} memories, such as {ids[0]}, are"
