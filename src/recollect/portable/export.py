"""What an export holds, in order, streamed from a store: every record screened again for secrets on its way out.

Personal memories, and those the scanner took something out of, stay unless they are asked for. History comes along for
what is exported; it is told whole, so that it can be continued elsewhere, only when nothing was left out or redacted.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from recollect.core.fields import BY_NAME
from recollect.core.forms import whole
from recollect.core.log import OLD_REPLICA
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status, Visibility
from recollect.core.text import fingerprint
from recollect.portable.package import ExportSink
from recollect.portable.records import (
    Record,
    entity_record,
    entry_record,
    header_record,
    link_record,
    memory_record,
    row_record,
    space_record,
    tombstone_record,
    vector_record,
)
from recollect.privacy.values import redact_value, rules_in
from recollect.remember.rescreen import rules_in_text
from recollect.remember.screen import screen_memory
from recollect.store.contents import ROOM_TABLES, Contents, Kept
from recollect.store.log import ANCHOR, REPLICA
from recollect.store.meta import FILE, Meta
from recollect.store.port import Row
from recollect.store.tombstones import ERASED_ELSEWHERE, ERASED_REASON, Tombstone
from recollect.version import __version__

if TYPE_CHECKING:
    from recollect.core.entities import Entity
    from recollect.store.store import Store

EVERYTHING = Filter(statuses=Status, user=ANY_USER)
_SHARED = frozenset(Visibility) - {Visibility.PERSONAL}
_VECTORS_AT_ONCE = 500
_FREE = frozenset({"text", "name", "labels", "object", "payload", "work_unit", "span"})  # forms that hold free text
# What other rows need. Chats, and what agents did and were told, leave only when personal things were asked for.
_PUBLIC_TABLES = ("documents", "document_links", "document_pairs", "sessions", "enriched")


@dataclass(slots=True)
class ExportCount:
    """What went into an export, and what stayed behind."""

    counts: Counter[str] = field(default_factory=Counter)
    personal: int = 0  # memories that stayed because they are personal or hold something redacted
    redacted: int = 0  # memories a secret was taken out of on the way
    whole: bool = False  # nothing of the store was left out


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written where, and what stayed behind."""

    path: str
    format: str
    counts: Mapping[str, int]  # records by what they are
    personal: int = 0  # memories that stayed because they are personal
    redacted: int = 0  # memories a secret was taken out of on the way
    whole: bool = False  # it holds everything, so a store made from it is the same


@dataclass(frozen=True, slots=True)
class StreamHead:
    """What is known of a stream before it runs."""

    header: Record
    counts: Mapping[str, int]
    digest: str
    whole: bool


class ExportStream:
    """The records of one project, in order. `counted` is complete when all of them were read."""

    def __init__(
        self,
        store: Store,
        *,
        filter: Filter | None = None,
        personal: bool = False,
        rooms: bool = False,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._store = store
        self._contents = Contents(store)
        self._filter = EVERYTHING if filter is None else filter
        self._is_filtered = filter is not None
        self._personal = personal
        self._rooms = rooms
        self._progress = progress
        self._sent = array("q")  # hashes of the ids that were exported, sorted when all are
        self._mentioned: set[str] = set()
        self._redacted: set[str] = set()  # ids of memories a secret was taken out of
        self.counted = ExportCount()

    def header(self, at: datetime) -> Record:
        replica = Meta(self._store.engine, FILE).get(REPLICA) or OLD_REPLICA
        return header_record(self._store.project, replica, at, __version__)

    def preview(self, at: datetime) -> StreamHead:
        """What will come, as far as that can be told without sending it: enough to know the stream again after a
        kill, and to show how far it got. Looks at every memory and entry."""
        counts = {name: count for name, count in self._contents.census().items() if count}
        ahead = ExportStream(
            self._store, filter=self._filter if self._is_filtered else None, personal=self._personal, rooms=False
        )
        for _ in ahead.records(at):
            pass
        header = self.header(at)
        facts = (header["replica"], self._store.project, Meta(self._store.engine, FILE).get(ANCHOR), self._filter)
        digest = sha256(repr((*facts, self._personal)).encode("utf-8", "surrogatepass")).hexdigest()
        return StreamHead(header, counts, digest, ahead.counted.whole)

    def records(self, at: datetime) -> Iterator[Record]:
        """Every record but the end."""
        yield self.header(at)
        with self._store.engine.read():
            for record in self._body():
                self.counted.counts[record["record"]] += 1
                yield record

    def _body(self) -> Iterator[Record]:
        total = self._store.memories.count(self._filter)
        for kept in self._memories(total):
            yield memory_record(kept)
        self._sent = array("q", sorted(self._sent))
        self._settle_whole()
        for entities in self._contents.entities():
            yield from (entity_record(one) for one in entities if self.counted.whole or self._is_mentioned(one))
        for link_page in self._contents.links():
            yield from (
                link_record(link)
                for link in link_page
                if self._was_sent(link.source) and (link.target is None or self._was_sent(link.target))
            )
        for stones in self._contents.tombstones():
            yield from (tombstone_record(stone) for stone in stones if not self._is_filtered or self._travels(stone))
        yield from (entry_record(row) for page in self._contents.entries() for row in self._told(page))
        if self._rooms and not self._is_filtered:
            yield from self._room_records()
        if self._rooms:
            yield from self._vector_records()

    def _travels(self, stone: Tombstone) -> bool:
        """Marks of what was erased go with a part of a store, too, so that no older copy brings it back there."""
        return self._rooms and stone.reason in (ERASED_REASON, ERASED_ELSEWHERE)

    def _memories(self, total: int) -> Iterator[Kept]:
        done = 0
        for page in self._contents.memories(self._filter):
            for kept in page:
                memory = kept.memory
                if not self._personal and (memory.visibility not in _SHARED or memory.flagged):
                    self.counted.personal += 1
                    continue
                memory, rules = screen_memory(memory)
                if rules:
                    self.counted.redacted += 1
                    self._redacted.add(memory.id)
                    memory = memory.having(fingerprint=fingerprint(memory.content), flagged=True)
                self._sent.append(hash(memory.id))
                self._mentioned.update(memory.entities)
                yield Kept(memory, kept.ordinal)
            done += len(page)
            self._progress(done, total)

    def _settle_whole(self) -> None:
        left_out = self._is_filtered or self.counted.personal or self.counted.redacted
        self.counted.whole = not left_out and self._contents.projects() in ([], [self._store.project])

    def _was_sent(self, id: str) -> bool:
        place = bisect_left(self._sent, hash(id))
        return place < len(self._sent) and self._sent[place] == hash(id)

    def _is_mentioned(self, entity: Entity) -> bool:
        return entity.id in self._mentioned or (entity.merged_into or "") in self._mentioned

    # --- history, rooms, vectors --------------------------------------------------------------------------------------

    def _told(self, page: Sequence[Row]) -> Iterator[Row]:
        """Entries that may leave: all of them, or those about what was exported. One with a secret leaves without what
        it says, and the history is no longer whole then."""
        about = [row[10] for row in page if row[9] == "memory" and row[2] == self._store.project and row[10]]
        found = self._store.memories.get_many(list(dict.fromkeys(about)))
        known: dict[str, Record] = {memory.id: whole(memory) for memory in found}
        for row in page:
            if not self.counted.whole and not (
                row[2] == self._store.project and row[9] == "memory" and self._was_sent(row[10] or "")
            ):
                continue
            clean = {} if row[10] in self._redacted else known.get(row[10] or "", {})
            if row[11] is not None and _holds_secret(row[11], clean):
                self.counted.whole = False
                row = (*row[:11], None, *row[12:])
            yield row

    def _room_records(self) -> Iterator[Record]:
        for name in ROOM_TABLES if self._personal else _PUBLIC_TABLES:
            for page in self._contents.room_rows(name):
                for row in page:
                    safe = redact_value(row)
                    yield row_record(name, row if safe is row else _with_checksum(name, safe))

    def _vector_records(self) -> Iterator[Record]:
        for space in self._store.vectors.spaces():
            yield space_record(space)
            waiting: list[str] = []
            for page in self._contents.memories(self._filter):
                waiting += [kept.memory.id for kept in page if self._was_sent(kept.memory.id)]
                if len(waiting) >= _VECTORS_AT_ONCE:
                    yield from (vector_record(space, item) for item in self._store.vectors.items(space, waiting))
                    waiting = []
            yield from (vector_record(space, item) for item in self._store.vectors.items(space, waiting))


def _holds_secret(body: str, clean: Record) -> bool:
    """Does what an entry says hold a secret? Fields that say what the memory still says were looked at with it, and
    those that hold no free text cannot."""
    if not clean:
        return bool(rules_in_text(body))
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return bool(rules_in_text(body))
    for part, values in told.items():
        fields = values if isinstance(values, dict) else {part: values}
        unseen = {
            name: value
            for name, value in fields.items()
            if not (name in BY_NAME and (BY_NAME[name].form not in _FREE or clean.get(name) == value))
        }
        if unseen and rules_in(unseen):
            return True
    return False


def _with_checksum(name: str, row: Row) -> Row:
    """A room's row that was redacted, with the checksum of what it says now."""
    from recollect.core.digest import checksum

    return (*row[:-1], checksum(row[:-1])) if ROOM_TABLES[name].columns[-1] == "checksum" else row


def write_export(stream: ExportStream, sink: ExportSink, at: datetime, *, sealed: bool) -> ExportCount:
    """Send every record of a store to a sink, and end it."""
    for record in stream.records(at):
        sink.write(record)
    sink.end(whole=stream.counted.whole, sealed=sealed)
    return replace(stream.counted)
