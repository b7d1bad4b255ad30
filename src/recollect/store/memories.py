"""The memories table: rows in, rows out, each guarded by its checksum, each in step with its keyword entry and facets;
and what was said around a memory in its session.

Every method that changes rows must run inside `engine.write()`. Nothing here decides anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from recollect.core.digest import row_checksum
from recollect.core.errors import AmbiguousId, MemoryNotFound, StaleEdit, StoreDamaged
from recollect.core.fields import COLUMNS
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.query import Filter, Order, Page
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.store.codec import from_row, to_row
from recollect.store.filters import SEEN, where
from recollect.store.port import Engine, Row, Value
from recollect.store.sqlite import ivf, keywords

_Turn: TypeAlias = tuple[str | None, int]  # a session and a position in it


class Said(NamedTuple):
    """A memory as a neighbour of another: just its words and who said them."""

    id: str
    content: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Nearby:
    """What was said around some memories."""

    _turns: Mapping[str, _Turn]
    _said: Mapping[_Turn, Said]

    def __contains__(self, id: str) -> bool:
        """Was this memory said in a session?"""
        return id in self._turns

    def __iter__(self) -> Iterator[Said]:
        """Everything said in reach of any of them, they themselves included."""
        return iter(self._said.values())

    def beside(self, id: str, step: int) -> Said | None:
        """What was said so many turns after a memory in its session; before it, for a negative step."""
        turn = self._turns.get(id)
        return None if turn is None else self._said.get((turn[0], turn[1] + step))


_NEARBY = """
    select session, seq, id, content, source_role from memories where seq in (
        select m.seq + step.value from memories m, json_each(:steps) step
         where m.id in (select value from json_each(:ids))
    )
"""


def nearby(engine: Engine, ids: Sequence[str], *, reach: int) -> Nearby:
    """What was said within reach of some memories."""
    params = {"ids": json.dumps(list(ids)), "steps": json.dumps(list(range(-reach, reach + 1)))}
    rows = engine.rows(_NEARBY, params) if ids else []
    wanted = set(ids)
    turns = {id: (session, seq) for session, seq, id, _, _ in rows if session is not None and id in wanted}
    return Nearby(turns, {(session, seq): Said(*said) for session, seq, *said in rows})


_SAID = """
    select m.id, m.content, m.source_role from json_each(:seqs) j cross join memories m on m.seq = j.value
     order by j.key
"""


def said(engine: Engine, seqs: Sequence[int]) -> list[Said]:
    """Just the words in some rows and who said them, in the order given."""
    return [Said(*row) for row in engine.rows(_SAID, {"seqs": json.dumps(list(dict.fromkeys(seqs)))})]


_NAMES = ", ".join(COLUMNS)
M_NAMES = ", ".join(f"m.{name}" for name in COLUMNS)
_MARKS = ", ".join("?" for _ in COLUMNS)
_OPEN = ", ".join(f"'{status}'" for status in sorted(OPEN))
_CHUNK = 500  # ids per statement
_EVERYTHING = 2**31
_MOST_READ = 5_000  # memories kept as values; some 15 MB


class Memories:
    """Reads and writes whole memories."""

    def __init__(self, engine: Engine, kinds: Kinds, project: str) -> None:
        self._engine = engine
        self._project = project
        self._kinds = kinds
        self._read: dict[str, tuple[Row, Memory]] = {}  # rows as they were read last

    # --- writing --------------------------------------------------------------------------------------------------

    _ADD = f"insert into memories (seq, {_NAMES}, checksum) values (?, {_MARKS}, ?)"
    _LAST_SEQ = "select coalesce(max(seq), 0) from memories"

    def add(self, memories: Sequence[Memory]) -> None:
        """Insert new memories with their keyword entries and facets."""
        last = self._engine.row(self._LAST_SEQ)
        first = (last[0] if last else 0) + 1
        rows = [to_row(memory) for memory in memories]
        self._engine.execute_many(
            self._ADD, [(seq, *row, row_checksum(row)) for seq, row in enumerate(rows, start=first)]
        )
        keywords.add(
            self._engine, [(seq, *_entry(memory, row)) for seq, memory, row in _numbered(first, memories, rows)]
        )
        self._add_facets((seq, memory) for seq, memory, _ in _numbered(first, memories, rows))

    _UPDATE = f"""
        update memories set {", ".join(f"{name} = :{name}" for name in COLUMNS)}, checksum = :checksum
         where id = :id and revision = :expected
    """
    _SEQ = "select seq from memories where id = :id"

    def update(self, before: Memory, after: Memory) -> None:
        """Replace `before` by `after`; an error when the row has moved on since `before` was read."""
        old, new = to_row(before), to_row(after)
        params: dict[str, Value] = dict(zip(COLUMNS, new, strict=True))
        changed = self._engine.execute(
            self._UPDATE, {**params, "checksum": row_checksum(new), "expected": before.revision}
        )
        if changed != 1:
            raise StaleEdit(before.id, expected=before.revision, found=self.get(before.id).revision)
        if _entry(before, old) != _entry(after, new):
            self._reindex(before, old, after, new)
        elif [*facets(before)] != [*facets(after)]:
            self._refacet(self._seq(after.id), after)

    _DELETE = "delete from memories where seq = :seq"
    _DELETE_FACETS = "delete from facets where seq = :seq"
    _DELETE_STAMP = "delete from enriched where memory = :id"
    _DELETE_TOLD = "delete from injections where memory = :id"

    def delete(self, memory: Memory) -> None:
        """Remove the row and all that was projected from it."""
        seq = self._seq(memory.id)
        self._unindex(seq, memory, to_row(memory))
        self._engine.execute(self._DELETE_FACETS, {"seq": seq})
        self._engine.execute(self._DELETE_STAMP, {"id": memory.id})
        self._engine.execute(self._DELETE_TOLD, {"id": memory.id})
        ivf.forget(self._engine, seq)
        self._engine.execute(self._DELETE, {"seq": seq})

    # --- reading --------------------------------------------------------------------------------------------------

    _GET = f"select {_NAMES}, checksum from memories where id = :id"

    def get(self, id: str) -> Memory:
        """The memory with exactly this id. A missing or damaged one is an error."""
        row = self._engine.row(self._GET, {"id": id})
        if row is None:
            raise MemoryNotFound(id)
        return self._checked(row)

    _BY_IDS = f"select {_NAMES}, checksum from memories where id in (select value from json_each(:ids))"

    def get_many(self, ids: Sequence[str]) -> Page:
        """Those of `ids` that exist, in the order given."""
        rows = self._engine.rows(self._BY_IDS, {"ids": json.dumps(list(ids))})
        order = {id: place for place, id in enumerate(ids)}
        return self._page(sorted(rows, key=lambda row: order[row[0]]))

    _EXISTING = "select id from memories where id in (select value from json_each(:ids))"

    def existing(self, ids: Sequence[str]) -> list[MemoryId]:
        """Those of `ids` that exist, without reading them."""
        found = {row[0] for row in self._engine.rows(self._EXISTING, {"ids": json.dumps(list(ids))})}
        return [MemoryId(id) for id in ids if id in found]

    _LIKE = "select id from memories where id like :tail escape '\\' order by id limit 6"

    def resolve(self, given: str) -> MemoryId:
        """The full id that `given` stands for: the id itself, or its last letters when they fit only one."""
        if self._engine.row(self._SEQ, {"id": given}) is not None:
            return MemoryId(given)
        tail = given.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        matches = [row[0] for row in self._engine.rows(self._LIKE, {"tail": f"%{tail}"})] if len(given) >= 4 else []
        if len(matches) > 1:
            raise AmbiguousId(given, matches)
        if not matches:
            raise MemoryNotFound(given)
        return MemoryId(matches[0])

    _BY_FINGERPRINT = f"""
        select {_NAMES}, checksum from memories
         where fingerprint in ({{marks}}) and project = :project and status in ({_OPEN}) order by seq
    """

    def by_fingerprint(self, fingerprints: Sequence[str]) -> dict[str, list[Memory]]:
        """The open memories that say exactly the same, for each fingerprint that has some."""
        found: dict[str, list[Memory]] = {}
        for start in range(0, len(fingerprints), _CHUNK):
            some = fingerprints[start : start + _CHUNK]
            marks = ", ".join(f":f{index}" for index in range(len(some)))
            sql = self._BY_FINGERPRINT.format(marks=marks)
            params = {f"f{index}": value for index, value in enumerate(some)}
            for row in self._engine.rows(sql, {**params, "project": self._project}):
                memory = self._checked(row)
                found.setdefault(memory.fingerprint, []).append(memory)
        return found

    _ORDERS: ClassVar[dict[Order, str]] = {
        "newest": "m.created_at desc, m.id desc",
        "oldest": "m.created_at, m.id",
        "confidence": "m.confidence desc, m.id",
        "accessed": "m.accessed_at desc, m.id desc",
    }
    _LIST = f"select {M_NAMES}, m.checksum from memories m where {{where}} order by {{order}} limit :limit offset :skip"

    def page(self, filter: Filter, *, order: Order = "newest", limit: int = 50, skip: int = 0) -> Page:
        condition, params = where(filter, self._project)
        sql = self._LIST.format(where=condition, order=self._ORDERS[order])
        return self._page(self._engine.rows(sql, {**params, "limit": limit, "skip": skip}))

    _COUNT = "select count(*) from memories m where {where}"

    def count(self, filter: Filter) -> int:
        condition, params = where(filter, self._project)
        row = self._engine.row(self._COUNT.format(where=condition), params)
        return int(row[0]) if row else 0

    _TALLY = "select status, count(*) from memories where project = :project group by status order by status"

    def tally(self) -> dict[str, int]:
        """How many memories there are of each status."""
        return dict(self._engine.rows(self._TALLY, {"project": self._project}))

    _SHARING = f"""
        select {M_NAMES}, m.checksum from memories m not indexed
         where m.seq in ({{seqs}}) and m.project = :project and m.status in ({_OPEN}) and {SEEN} order by m.seq desc
    """

    def is_empty(self) -> bool:
        return self._engine.row("select 1 from memories limit 1") is None

    def sharing(self, words: Sequence[str], *, limit: int, user: str | None = None) -> list[Memory]:
        """Open memories that hold all of `words` and that a user may see, newest first."""
        seqs = keywords.with_all(self._engine, words, limit=limit * 4)
        if not seqs:
            return []
        listed = ",".join(str(int(seq)) for seq in seqs)
        rows = self._engine.rows(self._SHARING.format(seqs=listed), {"project": self._project, "user": user})
        return list(self._page(rows).memories[:limit])

    def nearby(self, ids: Sequence[str], *, reach: int) -> Nearby:
        """What was said around some memories, so many turns to either side."""
        return nearby(self._engine, ids, reach=reach)

    _IN_ORDER = "select id from memories where id in (select value from json_each(:ids)) order by seq"

    def in_order(self, ids: Sequence[str]) -> list[str]:
        """Some memories in the order they were kept."""
        return [row[0] for row in self._engine.rows(self._IN_ORDER, {"ids": json.dumps(list(ids))})]

    _OF_DOCUMENT = f"""
        select {M_NAMES}, m.checksum from facets f join memories m on m.seq = f.seq
         where f.facet = 'document' and f.value = :document and m.project = :project order by f.seq
    """

    def of_document(self, document: str) -> list[Memory]:
        """The passages cut from one document, whatever their status, oldest row first."""
        return [
            self._checked(row)
            for row in self._engine.rows(self._OF_DOCUMENT, {"document": document, "project": self._project})
        ]

    _CUT_FROM = """
        select m.id, f.value from facets f join memories m on m.seq = f.seq
         where f.facet = 'document' and {where} order by f.seq
    """

    def cut_from(self, filter: Filter) -> dict[str, str]:
        """Passages with the document each was cut from, oldest row first."""
        condition, params = where(filter, self._project)
        return dict(self._engine.rows(self._CUT_FROM.format(where=condition), params))

    # The order is told: by itself SQLite walks an index over the whole project for a handful of rows.
    _ADMITTED = f"""
        select {M_NAMES}, m.checksum from json_each(:ids) j cross join memories m on m.id = j.value
         where {{where}} order by m.seq
    """

    def admitted(self, ids: Sequence[str], filter: Filter) -> list[Memory]:
        """The sound ones among some memories that a filter lets through, oldest row first."""
        if not ids:
            return []
        condition, params = where(filter, self._project)
        rows = self._engine.rows(self._ADMITTED.format(where=condition), {**params, "ids": json.dumps(list(ids))})
        return list(self._page(rows).memories)

    # Sessions by when they began; those that began together, by the order in which they were recorded.
    _SESSIONS = """
        select session, min(coalesce(event_at, created_at)) as began, min(seq) as first from memories
         where project = :project and session is not null group by session order by began, first
    """

    def sessions(self) -> list[str]:
        """All sessions that memories belong to, oldest first."""
        return [row[0] for row in self._engine.rows(self._SESSIONS, {"project": self._project})]

    _HAVING = f"""
        select {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.seq in (
            select seq from facets where facet = :facet and value in (select value from json_each(:values))
             order by seq desc limit :limit)
         order by m.seq
    """

    def having(self, facet: str, values: Sequence[str], *, limit: int = _EVERYTHING) -> list[Memory]:
        """The sound memories with one of some values, whatever their status, oldest row first; the newest so many."""
        params = {"project": self._project, "facet": facet, "values": json.dumps(list(values)), "limit": limit}
        return list(self._page(self._engine.rows(self._HAVING, params)).memories)

    _SHARED = "select seq from facets where facet = :facet and value in (select value from json_each(:values))"
    _IDS = "select seq, id from memories where seq in (select value from json_each(:seqs)) and project = :project"

    def by_facet(
        self, facet: str, groups: Sequence[Sequence[str]], *, worth: Callable[[int], float], limit: int
    ) -> list[tuple[MemoryId, float]]:
        """Those that carry a value of some groups, best first, of equal ones the newest. Each group counts by what
        `worth` says of the number of memories that carry one of its values."""
        total: dict[int, float] = {}
        for values in groups:
            rows = self._engine.rows(self._SHARED, {"facet": facet, "values": json.dumps(list(values))})
            seqs = {row[0] for row in rows}
            for seq in seqs:
                total[seq] = total.get(seq, 0.0) + worth(len(seqs))
        best = sorted(total, key=lambda seq: (-total[seq], -seq))[:limit]
        ids: dict[int, str] = dict(self._engine.rows(self._IDS, {"seqs": json.dumps(best), "project": self._project}))
        return [(MemoryId(ids[seq]), total[seq]) for seq in best if seq in ids]

    _CARRIED = """
        select distinct value from facets where facet = :facet and value in (select value from json_each(:values))
    """

    def carried(self, facet: str, values: Sequence[str]) -> set[str]:
        """Those of some values that any memory carries."""
        rows = self._engine.rows(self._CARRIED, {"facet": facet, "values": json.dumps(list(values))})
        return {row[0] for row in rows}

    _EVERY = f"select {_NAMES}, checksum from memories where seq > :after order by seq limit {_CHUNK}"
    _EVERY_SEQ = f"select seq from memories where seq > :after order by seq limit {_CHUNK}"

    def every(self) -> Iterator[Page]:
        """All memories of all projects, in pages."""
        after = 0
        while seqs := [row[0] for row in self._engine.rows(self._EVERY_SEQ, {"after": after})]:
            yield self._page(self._engine.rows(self._EVERY, {"after": after}))
            after = seqs[-1]

    # --- inside ---------------------------------------------------------------------------------------------------

    def _checked(self, row: Row) -> Memory:
        """The memory of a row that matches its checksum. The very same row was checked and read before."""
        known = self._read.get(row[0])
        if known is not None and known[0] == row:
            return known[1]
        values = row[:-1]
        if row_checksum(values) != row[-1]:
            raise StoreDamaged(self._engine.location, f"the row of {values[0]} does not match its checksum")
        memory = from_row(values, self._kinds)
        if len(self._read) >= _MOST_READ:
            self._read = {}
        self._read[row[0]] = (row, memory)
        return memory

    def sound(self, rows: Iterable[Row]) -> list[Memory]:
        """The memories of some whole rows; damaged ones are left out."""
        return list(self._page(rows).memories)

    def _page(self, rows: Iterable[Row]) -> Page:
        memories: list[Memory] = []
        damaged: list[str] = []
        for row in rows:
            try:
                memories.append(self._checked(row))
            except (StoreDamaged, UnicodeDecodeError):
                damaged.append(str(row[0]))
        return Page(tuple(memories), tuple(damaged))

    def _seq(self, id: MemoryId) -> int:
        row = self._engine.row(self._SEQ, {"id": id})
        if row is None:
            raise MemoryNotFound(id)
        return int(row[0])

    def _reindex(self, before: Memory, old: Row, after: Memory, new: Row) -> None:
        seq = self._seq(after.id)
        self._unindex(seq, before, old)
        keywords.add(self._engine, [(seq, *_entry(after, new))])
        self._refacet(seq, after)
        ivf.forget(self._engine, seq)  # made from the old words; the next chore makes new ones

    def _refacet(self, seq: int, memory: Memory) -> None:
        self._engine.execute(self._DELETE_FACETS, {"seq": seq})
        self._add_facets([(seq, memory)])

    def _unindex(self, seq: int, memory: Memory, row: Row) -> None:
        body, names, context = _entry(memory, row)
        keywords.remove(self._engine, seq, body, names, context)

    _FACET = "insert into facets (facet, value, seq) values (?, ?, ?) on conflict do nothing"

    def _add_facets(self, numbered: Iterable[tuple[int, Memory]]) -> None:
        self._engine.execute_many(
            self._FACET, [(facet, value, seq) for seq, memory in numbered for facet, value in facets(memory)]
        )


# Attributes that memories are looked up by: a message's identity, what a fact fills, a rule and the file it stands in.
_MARKED = ("message", "slot", "rule", "rule_file")


def facets(memory: Memory) -> Iterator[tuple[str, str]]:
    """The values a memory can be filtered by, each with the name of its facet."""
    for tag in memory.tags:
        yield "tag", tag.casefold()
    for file in memory.files:
        yield "file", file
    for module in memory.modules:
        yield "module", module
    if memory.span is not None and memory.span.document is not None:
        yield "document", memory.span.document
    for entity in memory.entities:
        yield "entity", entity
    for name in _MARKED:
        if name in memory.attributes:
            yield name, str(memory.attributes[name])


def _numbered(first: int, memories: Sequence[Memory], rows: Sequence[Row]) -> Iterator[tuple[int, Memory, Row]]:
    for offset, (memory, row) in enumerate(zip(memories, rows, strict=True)):
        yield first + offset, memory, row


def _entry(memory: Memory, row: Row) -> Row:
    labels = [row[COLUMNS.index(name)] for name in ("tags", "files", "modules", "source_role")]
    return keywords.entry(memory.content, labels, memory.span.context if memory.span else None)
