"""Importing an export: verify all of it, then take it in batch by batch, each all or nothing.

An export is a stranger's file until it proves to be this person's: by the seal of their key, or because they say so.
Killed at any point, the same command goes on where it stopped; run twice, the second run changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby, islice
from typing import Any

from recollect.core.errors import InvalidExport, InvalidInput, StoreDamaged
from recollect.core.log import GENESIS, OLD_REPLICA, chain, digest
from recollect.portable.package import ExportFile, VerifiedExport
from recollect.portable.records import (
    Record,
    read_entity_record,
    read_entry,
    read_kept,
    read_link_record,
    read_room_row,
    read_space,
    read_tombstone,
    read_vector,
)
from recollect.remember.act import ActContext
from recollect.remember.merge import Merge, MergeCount, MergedItem
from recollect.store.contents import Contents, Kept
from recollect.store.meta import Meta
from recollect.store.port import Item, Row, Space
from recollect.store.relog import put_log_in_order
from recollect.store.store import Store

BATCH = 1_000  # records in one transaction
_ROOMS = "chats, documents and what was observed: only into an empty project"
_FILLING = "import"  # the fact that names the export a fresh project is being filled from
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError, InvalidInput)
Act = Callable[[], ActContext]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do: memories by what became of each, and all that was not carried over."""

    source: str  # what was read, such as `recollect` or `mem0`
    counts: Mapping[str, int]  # new, same, older, changed, conflicting, refused, invalid
    items: Sequence[MergedItem] = ()  # those that need a look
    links: int = 0
    tombstones: int = 0
    entities: int = 0
    vectors: int = 0
    redacted: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    trusted: bool = False
    dry_run: bool = False
    notes: Sequence[str] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def import_export(
    file: ExportFile,
    store: Store,
    act: Act,
    *,
    trust: bool = False,
    edited: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Take an export in. `trust`: a person says that it is theirs. `edited`: it was changed on purpose."""
    verified = file.verify(edited=edited)
    return take_records(
        file.records(), verified, store, act, trusted=verified.ours or trust, dry_run=dry_run, progress=progress
    )


def take_records(
    records: Iterable[tuple[str, Record]],
    told: VerifiedExport,
    store: Store,
    act: Act,
    *,
    trusted: bool,
    dry_run: bool = False,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Take records in, in their order."""
    filling = Filling(store, told, at=act().at, trusted=trusted, dry_run=dry_run)
    merge = Merge(
        store,
        act,
        why=f"imported from {told.header['project']}",
        trusted=trusted,
        fresh=filling.fresh,
        retold=filling.retold,
        dry_run=dry_run,
        replica=told.header["replica"],
    )
    filling.begin()
    taking = _Taking(store, merge, filling, told, dry_run=dry_run)
    done, total = 0, sum(told.counts.values()) - 1
    for sort, batch in _batches(records):
        taking.take(sort, batch)
        done += len(batch)
        progress(done, total)
    taking.finish()
    filling.finish(act, merge.count)
    return _report(merge.count, taking.vectors, trusted=trusted, dry_run=dry_run)


class Filling:
    """Whether a project is filled from nothing, so that rows, places and history come in exactly as they were; and the
    fact that says so to whoever goes on after a kill."""

    def __init__(self, store: Store, told: VerifiedExport, *, at: datetime, trusted: bool, dry_run: bool) -> None:
        self._store = store
        self._meta = Meta(store.engine, store.project)
        self._dry_run = dry_run
        same = told.header["project"] == store.project
        begun = self._meta.get(_FILLING) or ""
        if begun.startswith("log ") and begun != f"log {told.digest}" and not dry_run:
            self._abandon(at)
            begun = ""
        empty = store.is_empty()
        nothing = store.memories.is_empty() and next(Contents(store).tombstones(), None) is None
        self.fresh = begun.partition(" ")[2] == told.digest or nothing
        log_is_free = empty or begun == f"log {told.digest}"
        self.retold = self.fresh and trusted and told.whole and same and log_is_free
        self._mark = f"{'log' if self.retold else 'rows'} {told.digest}"

    def _abandon(self, at: datetime) -> None:
        """Another import was to bring its own history and never came to it: the log tells of its rows now."""
        with self._store.engine.write():
            put_log_in_order(self._store, at)
            self._meta.remove(_FILLING)

    def begin(self) -> None:
        if self.fresh and not self._dry_run and self._meta.get(_FILLING) != self._mark:
            with self._store.engine.write():
                self._meta.put(_FILLING, self._mark)

    def finish(self, act: Act, count: MergeCount) -> None:
        """Note in the log that there was an import; nothing when it changed nothing."""
        if self._dry_run:
            return
        hand = act()
        changed = count.counts["new"] + count.counts["changed"] + count.links + count.tombstones + count.entities
        with self._store.engine.write():
            if self.fresh:
                self._meta.remove(_FILLING)
            if changed:
                from recollect.core.log import Change

                note = Change("import", None, after=in_order(count.counts), about="note")
                self._store.log.append([note], act=hand.act, actor=hand.actor, at=hand.at, door=hand.door.name)


class _Taking:
    """Sends batches of records to where they belong."""

    def __init__(self, store: Store, merge: Merge, filling: Filling, told: VerifiedExport, *, dry_run: bool) -> None:
        self._store = store
        self._merge = merge
        self._filling = filling
        self._trusted = merge.trusted
        self._dry_run = dry_run
        self._replica = f"import {told.digest[:16]}"
        self._chain = ChainCheck()
        self._spaces: dict[tuple[str, int], Space] = {}
        self._activate: Space | None = None
        self.vectors = 0

    def take(self, sort: str, batch: Sequence[tuple[str, Record]]) -> None:
        getattr(self, f"_take_{sort}")(batch)

    def finish(self) -> None:
        if self._dry_run:
            return
        with self._store.engine.write():
            self._store.sessions.adopt()
        if self._activate is not None and self._store.vectors.active() is None:
            self._store.vectors.activate(self._activate)

    def _parsed(self, batch: Sequence[tuple[str, Record]], what: str, read: Callable[[Record], Any]) -> list[Any]:
        """The records of a batch that can be read; the others are told."""
        found = []
        for place, record in batch:
            try:
                found.append(read(record))
            except _UNREADABLE as error:
                problem = f"it cannot be read ({type(error).__name__}: {error})"[:300]
                id = str(record.get("id", record.get("source", "")))[:60]
                self._merge.count.add(MergedItem("invalid", what, id, problem, place))
        return found

    def _take_memory(self, batch: Sequence[tuple[str, Record]]) -> None:
        project, kinds = self._store.project, self._store.kinds
        read: list[tuple[str, Kept]] = []
        for place, record in batch:
            read += [(place, kept) for kept in self._parsed(
                [(place, record)], "memory", lambda one: read_kept(one, project, kinds)
            )]  # fmt: skip
        self._merge.memories(read)

    def _take_entity(self, batch: Sequence[tuple[str, Record]]) -> None:
        self._merge.entities(self._parsed(batch, "entity", lambda one: read_entity_record(one, self._store.project)))

    def _take_link(self, batch: Sequence[tuple[str, Record]]) -> None:
        self._merge.links(self._parsed(batch, "link", read_link_record))

    def _take_tombstone(self, batch: Sequence[tuple[str, Record]]) -> None:
        self._merge.tombstones(self._parsed(batch, "tombstone", read_tombstone))

    def _take_entry(self, batch: Sequence[tuple[str, Record]]) -> None:
        if not self._trusted:
            self._merge.count.left_out["history of a stranger"] += len(batch)
            return
        rows: list[Row] = self._parsed(batch, "entry", read_entry)
        if self._filling.retold:
            self._chain.follow(rows)
        self._merge.history(rows, self._replica)

    def _take_row(self, batch: Sequence[tuple[str, Record]]) -> None:
        """Rows of rooms come into a project that held nothing; elsewhere they would mix with its own."""
        if not (self._trusted and self._filling.fresh):
            self._merge.count.left_out[_ROOMS] += len(batch)
            return
        rows: list[tuple[str, Row]] = self._parsed(batch, "row", read_room_row)
        if self._dry_run:
            return
        contents = Contents(self._store)
        with self._store.engine.write():
            for table, some in groupby(rows, key=lambda one: one[0]):
                contents.add_room_rows(table, [row for _, row in some])

    def _take_space(self, batch: Sequence[tuple[str, Record]]) -> None:
        if not self._trusted or self._dry_run:
            return
        for model, dims, state, at in self._parsed(batch, "space", read_space):
            space = self._store.vectors.begin(model, dims, at)
            self._spaces[model, dims] = space
            if state == "active":
                self._activate = space

    def _take_vector(self, batch: Sequence[tuple[str, Record]]) -> None:
        if not self._trusted:
            self._merge.count.left_out["vectors of a stranger: `recollect tend` makes them again"] += len(batch)
            return
        by_space: dict[tuple[str, int], list[Item]] = {}
        for key, item in self._parsed(batch, "vector", read_vector):
            by_space.setdefault(key, []).append(item)
        for key, items in by_space.items():
            if self._dry_run or key not in self._spaces:
                continue
            space = self._spaces[key]
            known = {id for id, _, _ in self._store.vectors.items(space, [id for id, _, _ in items])}
            fresh = [item for item in items if item[0] not in known]
            if fresh:
                gone = self._store.vectors.put(space, fresh)
                self.vectors += len(fresh) - len(gone)


class ChainCheck:
    """Follows the hashes of a log that is to be continued here."""

    def __init__(self) -> None:
        self._heads: dict[str, str] = {}

    def follow(self, rows: Sequence[Row]) -> None:
        """Refuse entries that do not follow from the ones before them."""
        for row in rows:
            number, replica, _, act, _, at, actor, _, action, _, subject, text, stored, undoes, found = row
            previous = self._heads.get(replica) or self._heads.get(OLD_REPLICA) or GENESIS
            if replica == OLD_REPLICA:
                wanted = chain(previous, number, act, at, actor, action, subject, stored, undoes)
            else:
                wanted = chain(previous, *row[1:11], stored, undoes)
            if wanted != found or (text is not None and digest(text) != stored):
                raise StoreDamaged("the export's history", f"entry {number} does not follow from the one before it")
            self._heads[replica] = found


def _batches(records: Iterable[tuple[str, Record]]) -> Iterator[tuple[str, list[tuple[str, Record]]]]:
    """Records of one sort that stand together, some at a time."""
    for sort, group in groupby(records, key=lambda one: str(one[1]["record"])):
        while batch := list(islice(group, BATCH)):
            yield sort, batch


def _report(count: MergeCount, vectors: int, *, trusted: bool, dry_run: bool) -> ImportReport:
    return ImportReport(
        source="recollect",
        counts=in_order(count.counts),
        items=tuple(count.items),
        links=count.links,
        tombstones=count.tombstones,
        entities=count.entities,
        vectors=vectors,
        redacted=count.redacted,
        left_out=dict(+count.left_out),
        trusted=trusted,
        dry_run=dry_run,
    )


_ORDER = ("new", "same", "older", "changed", "conflicting", "refused", "invalid")


def in_order(counts: Mapping[Any, int]) -> dict[str, int]:
    """What became of memories, in the order people read it; without what did not happen."""
    return {name: counts[name] for name in _ORDER if counts.get(name)}


def take_vault(
    records: Iterable[tuple[str, Record]], store: Store, act: Act, *, trusted: bool, dry_run: bool, progress: Progress
) -> ImportReport:
    """Take in the memories of a folder of Markdown, read whole first: nothing comes in when a part cannot be read."""
    merge = Merge(
        store, act, why="imported from Markdown", trusted=trusted, fresh=False, dry_run=dry_run
    )  # fmt: skip
    read = list(records)
    told = as_told({"project": store.project}, {"memory": len(read)}, "", whole=False)
    taking = _Taking(
        store, merge, Filling(store, told, at=act().at, trusted=trusted, dry_run=True), told, dry_run=dry_run
    )
    for start in range(0, len(read), BATCH):
        taking.take("memory", read[start : start + BATCH])
        progress(min(start + BATCH, len(read)), len(read))
    taking.finish()
    return replace(_report(merge.count, 0, trusted=trusted, dry_run=dry_run), source="markdown")


def as_told(header: Record, counts: Mapping[str, int], digest: str, *, whole: bool) -> VerifiedExport:
    """What is known of records that come straight from a store, without a file between."""
    if not header:
        raise InvalidExport("the store", "it sent nothing")
    return VerifiedExport(header, dict(Counter(counts)), digest, whole, ours=True)
