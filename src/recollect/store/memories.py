"""The memories table: rows in, rows out, each guarded by its checksum, each in step with its keyword entry and facets.

Every method that changes rows must run inside `engine.write()`. Nothing here decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from recollect.core.digest import row_checksum
from recollect.core.doors import PROPOSES
from recollect.core.errors import AmbiguousId, InvalidInput, MemoryNotFound, StaleEdit, StoreDamaged, UnknownChoice
from recollect.core.fields import COLUMNS
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind, Kinds
from recollect.core.query import ANY_USER, Filter, Order, Page, PageCursor
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Status
from recollect.core.states import STATE_OF
from recollect.core.text import CONTENT_LIMIT, index_body, index_names
from recollect.store.codec import from_row, to_row
from recollect.store.filters import SEEN, where
from recollect.store.nearby import Nearby, find_nearby
from recollect.store.port import Engine, Row, Value, chunks

_TAIL = re.compile(r"[0-9A-Za-z_]{4,100}")  # of an id: SQLite would take a NUL for the end of a pattern


_NAMES = ", ".join(COLUMNS)
M_NAMES = ", ".join(f"m.{name}" for name in COLUMNS)
_MARKS = ", ".join("?" for _ in COLUMNS)
_OPEN = ", ".join(f"'{status}'" for status in sorted(OPEN))
_CHUNK = 500  # ids per statement
HIDDEN = "\x1ferasing "  # begins the name of a project whose memories nobody may see any more
_EVERYTHING = 2**31
_MOST_READ = 5_000  # memories kept as values; some 15 MB


def hidden_project(project: str) -> str:
    """Where the memories of a project are while they are erased in steps. No project of anybody is called so."""
    return f"{HIDDEN}{project}"


class Memories:
    """Reads and writes whole memories."""

    def __init__(self, engine: Engine, kinds: Kinds, project: str, *, conceals: bool = False) -> None:
        self._engine = engine
        self._project = project
        self._conceals = conceals  # of what was replaced by something out of the reader's sight, that is not told
        self._kinds = kinds
        self._read: dict[str, tuple[Row, Memory]] = {}  # rows as they were read last

    # --- writing --------------------------------------------------------------------------------------------------

    _ADD = f"insert into memories ({_NAMES}, checksum, ordinal) values ({_MARKS}, ?, ?) returning seq"
    _LAST_TURN = (
        "select coalesce(max(ordinal), 0) from memories /* whole */ where project = :project and session = :session"
    )

    def add(self, memories: Sequence[Memory], ordinals: Sequence[int | None] | None = None) -> None:
        """Insert new memories with their keyword entries and facets, turns of a session at its end, or where `ordinals`
        put them."""
        rows = [to_row(memory) for memory in memories]
        ordinals = self._ordinals(memories) if ordinals is None else ordinals
        drawn = self._engine.execute_many(
            self._ADD, [(*row, row_checksum(row), ordinal) for row, ordinal in zip(rows, ordinals, strict=True)]
        )
        seqs = [int(seq) for (seq,) in drawn]
        self._engine.keywords.add(
            [(seq, *_entry(memory, row)) for seq, memory, row in zip(seqs, memories, rows, strict=True)]
        )
        self._add_facets(zip(seqs, memories, strict=True))

    def _ordinals(self, memories: Sequence[Memory]) -> list[int | None]:
        """The place of each memory in its session, for those that are a turn of one."""
        last: dict[str, int] = {}
        ordinals: list[int | None] = []
        for memory in memories:
            session = _turn_of(memory)
            if session is None:
                ordinals.append(None)
                continue
            if session not in last:
                row = self._engine.row(self._LAST_TURN, {"project": self._project, "session": session})
                last[session] = int(row[0]) if row else 0
            last[session] += 1
            ordinals.append(last[session])
        return ordinals

    _UPDATE = f"""
        update memories set {", ".join(f"{name} = :{name}" for name in COLUMNS)}, checksum = :checksum
         where id = :id and project = :project and revision = :expected
    """
    _SEQ = "select seq from memories where id = :id and project = :project"
    _SET_ORDINAL = "update memories set ordinal = :ordinal where id = :id and project = :project"

    def update(self, before: Memory, after: Memory) -> None:
        """Replace `before` by `after`; an error when the row has moved on since `before` was read."""
        old, new = to_row(before), to_row(after)
        params: dict[str, Value] = dict(zip(COLUMNS, new, strict=True))
        changed = self._engine.execute(
            self._UPDATE, {**params, "checksum": row_checksum(new), "expected": before.revision}
        )
        if changed != 1:
            raise StaleEdit(before.id, expected=before.revision, found=self.get(before.id).revision)
        if _turn_of(before) != _turn_of(after):
            (ordinal,) = self._ordinals([after])
            self._engine.execute(self._SET_ORDINAL, {"ordinal": ordinal, "id": after.id, "project": self._project})
        if _entry(before, old) != _entry(after, new):
            self._reindex(before, old, after, new)
        elif [*facets(before)] != [*facets(after)]:
            self._refacet(self._seq(after.id), after)

    _DELETE = "delete from memories where seq = any(:seqs)"
    _DELETE_FACETS = "delete from facets where seq = any(:seqs)"
    _DELETE_STAMPS = "delete from enriched where memory = any(:ids)"
    _DELETE_TOLD = "delete from injections where memory = any(:ids)"
    _SEQS = "select id, seq from memories where id = any(:ids) and (project = :project or project = :hidden)"

    def delete(self, memories: Sequence[Memory]) -> None:
        """Remove some rows, hidden or not, and all that was projected from them. The keyword index comes first, for all
        of them: it writes its pages whenever a statement that deletes several rows comes between."""
        for start in range(0, len(memories), _CHUNK):
            some = memories[start : start + _CHUNK]
            ids: list[Value] = [memory.id for memory in some]
            asked = {"ids": ids, "project": self._project, "hidden": hidden_project(self._project)}
            seq_of: dict[str, int] = dict(self._engine.rows(self._SEQS, asked))
            if missing := next((memory.id for memory in some if memory.id not in seq_of), None):
                raise MemoryNotFound(missing)
            seqs: list[Value] = list(seq_of.values())
            self._engine.keywords.remove([(seq_of[one.id], *_entry(one, to_row(one))) for one in some])
            self._engine.execute(self._DELETE_FACETS, {"seqs": seqs})
            self._engine.execute(self._DELETE_STAMPS, {"ids": ids})
            self._engine.execute(self._DELETE_TOLD, {"ids": ids})
            self._engine.vectors(self._project).forget(list(seq_of.values()))
            self._engine.execute(self._DELETE, {"seqs": seqs})

    # --- out of sight, for those that are being erased in steps -----------------------------------------------------

    _HIDE = "update memories set project = ?, checksum = ? where id = ?"
    _HIDDEN = f"select {_NAMES}, checksum from memories where project = :project order by seq limit :limit"

    def hide(self, ids: Sequence[str]) -> None:
        """Put some memories where no reader of the project finds them. Damaged ones stay where they are."""
        at, hidden = COLUMNS.index("project"), hidden_project(self._project)
        for some in chunks(ids):
            found = self._engine.rows(self._BY_IDS, {"ids": some, "project": self._project})
            sound = [row[:-1] for row in found if row_checksum(row[:-1]) == row[-1]]
            moved = [(*row[:at], hidden, *row[at + 1 :]) for row in sound]
            self._engine.execute_many(self._HIDE, [(hidden, row_checksum(row), row[0]) for row in moved])

    _ANY_HIDDEN = "select 1 from memories where project >= :first and project < :beyond limit 1"

    def has_hidden(self) -> bool:
        """Are memories of any project hidden?"""
        asked = {"first": HIDDEN, "beyond": f"{HIDDEN[:-1]}!"}
        return self._engine.row(self._ANY_HIDDEN, asked) is not None

    def hidden(self, limit: int) -> list[Memory]:
        """Some of those that were hidden, as they were."""
        rows = self._engine.rows(self._HIDDEN, {"project": hidden_project(self._project), "limit": limit})
        return [memory.having(project=self._project) for memory in self._page(rows).memories]

    # --- reading --------------------------------------------------------------------------------------------------

    _GET = f"select {_NAMES}, checksum from memories where id = :id and project = :project"

    def get(self, id: str) -> Memory:
        """The memory with exactly this id. A missing or damaged one is an error."""
        row = self._engine.row(self._GET, {"id": id, "project": self._project})
        if row is None:
            raise MemoryNotFound(id)
        return self._checked(row)

    _BY_IDS = f"select {_NAMES}, checksum from memories where id = any(:ids) and project = :project"

    def get_many(self, ids: Sequence[str]) -> Page:
        """Those of `ids` that exist, in the order given."""
        rows: list[Row] = []
        for some in chunks(ids):
            rows += self._engine.rows(self._BY_IDS, {"ids": some, "project": self._project})
        order = {id: place for place, id in enumerate(ids)}
        return self._page(sorted(rows, key=lambda row: order[row[0]]))

    _EXISTING = "select id from memories where id = any(:ids) and project = :project"

    def existing(self, ids: Sequence[str]) -> list[MemoryId]:
        """Those of `ids` that exist, without reading them."""
        found: set[str] = set()
        for some in chunks(ids):
            rows = self._engine.rows(self._EXISTING, {"ids": some, "project": self._project})
            found.update(row[0] for row in rows)
        return [MemoryId(id) for id in ids if id in found]

    _LIKE = f"""
        select m.id from memories m
         where m.project = :project and m.id like :tail escape '\\' and (:everyone = 1 or {SEEN}) order by m.id limit 6
    """

    def resolve(self, given: str, *, user: str | None = ANY_USER) -> MemoryId:
        """The full id that `given` stands for: the id itself, or its last letters when they fit only one that `user`
        may see. A whole id is nobody's secret: whoever has it may be told whose it is."""
        if self._engine.row(self._SEQ, {"id": given, "project": self._project}) is not None:
            return MemoryId(given)
        tail = given.lower().replace("_", "\\_")
        asked = {"tail": f"%{tail}", "project": self._project, "everyone": int(user == ANY_USER), "user": user}
        matches = [row[0] for row in self._engine.rows(self._LIKE, asked)] if _TAIL.fullmatch(given) else []
        if len(matches) > 1:
            raise AmbiguousId(given, matches)
        if not matches:
            raise MemoryNotFound(given)
        return MemoryId(matches[0])

    _BY_FINGERPRINT = f"""
        select {_NAMES}, checksum, seq from memories
         where fingerprint = any(:prints) and project = :project and status in ({_OPEN})
    """

    def by_fingerprint(self, fingerprints: Sequence[str]) -> dict[str, list[Memory]]:
        """The open memories that say exactly the same, oldest first, for each fingerprint that has some."""
        found: dict[str, list[Memory]] = {}
        for some in chunks(fingerprints):
            rows = self._engine.rows(self._BY_FINGERPRINT, {"prints": some, "project": self._project})
            for row in sorted(rows, key=lambda row: row[-1]):  # mostly none, and a sorter costs more than the search
                memory = self._checked(row[:-1])
                found.setdefault(memory.fingerprint, []).append(memory)
        return found

    _SAYING = (
        "select fingerprint, id from memories where fingerprint = any(:prints) and project = :project order by seq"
    )

    def saying(self, fingerprints: Sequence[str]) -> dict[str, list[MemoryId]]:
        """The memories that say exactly the same, whatever became of them, for each fingerprint that has some."""
        found: dict[str, list[MemoryId]] = {}
        for some in chunks(fingerprints):
            for key, id in self._engine.rows(self._SAYING, {"prints": some, "project": self._project}):
                found.setdefault(key, []).append(MemoryId(id))
        return found

    _ORDERS: ClassVar[dict[Order, str]] = {
        "newest": "m.created_at desc, m.id desc",
        "oldest": "m.created_at, m.id",
        "confidence": "m.confidence desc, m.id",
        "accessed": "m.accessed_at desc, m.id desc",
    }
    # What comes after a row, in the same order.
    _AFTER: ClassVar[dict[Order, tuple[str, str]]] = {
        "newest": ("created_at", "(m.created_at, m.id) < (:value, :id)"),
        "oldest": ("created_at", "(m.created_at, m.id) > (:value, :id)"),
        "confidence": ("confidence", "m.confidence <= :value and (m.confidence < :value or m.id > :id)"),
        "accessed": ("accessed_at", "(m.accessed_at, m.id) < (:value, :id)"),
    }
    _LIST = f"select {M_NAMES}, m.checksum from memories m where {{where}} order by {{order}} limit :limit offset :skip"

    def page(
        self, filter: Filter, *, order: Order = "newest", limit: int = 50, skip: int = 0, cursor: str | None = None
    ) -> Page:
        """Some memories in order: those after so many, or after the cursor of another page."""
        condition, params = where(filter, self._project)
        if order not in self._ORDERS:
            raise UnknownChoice("order", order, self._ORDERS)
        column, follows = self._AFTER[order]
        if cursor is not None:
            last = PageCursor.parse(cursor, order)
            condition = f"{condition} and {follows}"
            params |= {"value": last.value, "id": last.id}
        sql = self._LIST.format(where=condition, order=self._ORDERS[order])
        rows = self._engine.rows(sql, {**params, "limit": limit + 1, "skip": skip})
        page = self._page(rows[:limit])
        if len(rows) <= limit or not limit:
            return page
        end = rows[limit - 1]
        return replace(page, cursor=str(PageCursor(order, end[COLUMNS.index(column)], end[0])))

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
        select {M_NAMES}, m.checksum from memories m
         where m.seq = any(:seqs) and m.project = :project and m.status in ({_OPEN}) and {SEEN} order by m.seq desc
    """

    _USERS = "select distinct user_id from memories where project = :project and user_id is not null order by user_id"

    def users(self) -> list[str]:
        """The users of an assistant that have memories of their own."""
        return [row[0] for row in self._engine.rows(self._USERS, {"project": self._project})]

    _ANY = "select 1 from memories where project = :project limit 1"

    def is_empty(self) -> bool:
        return self._engine.row(self._ANY, {"project": self._project}) is None

    def sharing(self, words: Sequence[str], *, limit: int, user: str | None = None) -> list[Memory]:
        """Open memories that hold all of `words` and that a user may see, newest first."""
        seqs = self._engine.keywords.with_all(words, limit=limit * 4)
        if not seqs:
            return []
        rows = self._engine.rows(self._SHARING, {"seqs": seqs, "project": self._project, "user": user})
        return list(self._page(rows).memories[:limit])

    def nearby(self, ids: Sequence[str], *, reach: int) -> Nearby:
        """What was said around some memories, so many turns to either side."""
        return find_nearby(self._engine, self._project, ids, reach=reach)

    _IN_ORDER = "select id from memories where id = any(:ids) and project = :project order by seq"

    def in_order(self, ids: Sequence[str]) -> list[str]:
        """Some memories in the order they were kept."""
        return [row[0] for row in self._engine.rows(self._IN_ORDER, {"ids": list(ids), "project": self._project})]

    _OF_DOCUMENT = f"""
        select {M_NAMES}, m.checksum from facets f join memories m on m.seq = f.seq
         where f.project = :project and f.facet = 'document' and f.value = :document order by f.seq
    """

    def of_document(self, document: str) -> list[Memory]:
        """The passages cut from one document, whatever their status, oldest row first."""
        return [
            self._checked(row)
            for row in self._engine.rows(self._OF_DOCUMENT, {"document": document, "project": self._project})
        ]

    _CUT_FROM = """
        select m.id, f.value from facets f join memories m on m.seq = f.seq
         where f.project = :project and f.facet = 'document' and {where} order by f.seq
    """

    def cut_from(self, filter: Filter) -> dict[str, str]:
        """Passages with the document each was cut from, oldest row first."""
        condition, params = where(filter, self._project)
        return dict(self._engine.rows(self._CUT_FROM.format(where=condition), params))

    _ADMITTED = f"select {M_NAMES}, m.checksum from memories m where m.id = any(:ids) and {{where}} order by m.seq"

    def admitted(self, ids: Sequence[str], filter: Filter) -> list[Memory]:
        """The sound ones among some memories that a filter lets through, oldest row first."""
        if not ids:
            return []
        condition, params = where(filter, self._project)
        rows = self._engine.rows(self._ADMITTED.format(where=condition), {**params, "ids": list(ids)})
        return list(self._page(rows).memories)

    # Sessions by when they began; those that began together, by the order in which they were recorded.
    _SESSIONS = """
        select m.session, min(coalesce(m.event_at, m.created_at)) as began, min(m.seq) as first from memories m
         where m.session is not null and {where} group by m.session order by began, first
    """

    def sessions(self, *, user: str | None) -> list[str]:
        """All sessions that hold a memory which a user may see (`Filter.user`), oldest first."""
        condition, params = where(Filter(user=user, statuses=Status), self._project)
        return [row[0] for row in self._engine.rows(self._SESSIONS.format(where=condition), params)]

    _HAVING = f"""
        select {M_NAMES}, m.checksum from memories m
         where m.project = :project and m.seq in (
            select seq from facets where project = :project and facet = :facet and value = any(:values)
             order by seq desc limit :limit)
         order by m.seq
    """

    def having(self, facet: str, values: Sequence[str], *, limit: int = _EVERYTHING) -> list[Memory]:
        """The sound memories with one of some values, whatever their status, oldest row first; the newest so many."""
        params = {"project": self._project, "facet": facet, "values": list(values), "limit": limit}
        return list(self._page(self._engine.rows(self._HAVING, params)).memories)

    _SHARED = "select seq from facets where project = :project and facet = :facet and value = any(:values)"
    _IDS = "select seq, id from memories where seq = any(:seqs) and project = :project"

    def by_facet(
        self, facet: str, groups: Sequence[Sequence[str]], *, worth: Callable[[int], float], limit: int
    ) -> list[tuple[MemoryId, float]]:
        """Those that carry a value of some groups, best first, of equal ones the newest. Each group counts by what
        `worth` says of the number of memories that carry one of its values."""
        total: dict[int, float] = {}
        for values in groups:
            asked = {"project": self._project, "facet": facet, "values": list(values)}
            rows = self._engine.rows(self._SHARED, asked)
            seqs = {row[0] for row in rows}
            for seq in seqs:
                total[seq] = total.get(seq, 0.0) + worth(len(seqs))
        best = sorted(total, key=lambda seq: (-total[seq], -seq))[:limit]
        ids: dict[int, str] = dict(self._engine.rows(self._IDS, {"seqs": best, "project": self._project}))
        return [(MemoryId(ids[seq]), total[seq]) for seq in best if seq in ids]

    _TIED = f"""
        select {_NAMES}, checksum from memories
         where project = :project and status in ({_OPEN}) and kind not in ('episode', 'passage')
           and (files is not null or node is not null) order by seq
    """

    def tied(self) -> list[Memory]:
        """The open memories about files or symbols, oldest row first. Passages are cut again with their file."""
        return list(self._page(self._engine.rows(self._TIED, {"project": self._project})).memories)

    _CARRIED = """
        select distinct value from facets where project = :project and facet = :facet and value = any(:values)
    """

    def carried(self, facet: str, values: Sequence[str]) -> set[str]:
        """Those of some values that any memory carries."""
        asked = {"project": self._project, "facet": facet, "values": list(values)}
        return {row[0] for row in self._engine.rows(self._CARRIED, asked)}

    _EVERY = f"select {_NAMES}, checksum from memories where seq > :after order by seq limit {_CHUNK}"
    _EVERY_SEQ = f"select seq from memories where seq > :after order by seq limit {_CHUNK}"

    def every(self) -> Iterator[Page]:
        """All memories of all projects, in pages: for those who look after the whole store."""
        after = 0
        while seqs := [row[0] for row in self._engine.rows(self._EVERY_SEQ, {"after": after})]:
            yield self._page(self._engine.rows(self._EVERY, {"after": after}))
            after = seqs[-1]

    # --- inside ---------------------------------------------------------------------------------------------------

    def _checked(self, row: Row) -> Memory:
        """The memory of a row that matches its checksum. The very same row was checked and read before."""
        known = self._read.get(row[0])
        if known is not None and known[0] == row:
            return self._concealed(known[1])
        values = row[:-1]
        if row_checksum(values) != row[-1]:
            raise StoreDamaged(self._engine.location, f"the row of {values[0]} does not match its checksum")
        memory = self._decoded(values)
        if len(self._read) >= _MOST_READ:
            self._read = {}
        self._read[row[0]] = (row, memory)
        return self._concealed(memory)

    def _concealed(self, memory: Memory) -> Memory:
        """A memory without the ids of others that its reader may not see."""
        if not self._conceals:
            return memory
        if memory.superseded_by is not None and not self.existing([memory.superseded_by]):
            memory = memory.having(superseded_by=None)
        proposed = memory.attributes.get(PROPOSES)
        if proposed is not None and not self.existing([str(proposed)]):
            kept = {name: value for name, value in memory.attributes.items() if name != PROPOSES}
            memory = memory.having(attributes=kept)
        return memory

    def _decoded(self, values: Row) -> Memory:
        """The memory of a row. A checksum can be right and the values impossible: somebody else wrote them."""
        try:
            memory = from_row(values, self._kinds)
            self._kinds.rule(memory.kind)
            if not isinstance(memory.confidence, float) or not isinstance(memory.content, str):
                raise TypeError("a value of the wrong type")
            if len(memory.content) > CONTENT_LIMIT:
                raise ValueError("its content is larger than any that is taken")
            if any(type(count) is not int for count in (memory.access_count, memory.streak, memory.revision)):
                raise TypeError("a count that is no number")
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError, InvalidInput) as error:
            why = f"the row of {values[0]} cannot be read: {error}"
            raise StoreDamaged(self._engine.location, why) from error
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
        row = self._engine.row(self._SEQ, {"id": id, "project": self._project})
        if row is None:
            raise MemoryNotFound(id)
        return int(row[0])

    def _reindex(self, before: Memory, old: Row, after: Memory, new: Row) -> None:
        seq = self._seq(after.id)
        self._unindex(seq, before, old)
        self._engine.keywords.add([(seq, *_entry(after, new))])
        self._refacet(seq, after)
        self._engine.vectors(self._project).forget([seq])  # made from the old words; the next chore makes new ones

    def _refacet(self, seq: int, memory: Memory) -> None:
        self._engine.execute(self._DELETE_FACETS, {"seqs": [seq]})
        self._add_facets([(seq, memory)])

    def _unindex(self, seq: int, memory: Memory, row: Row) -> None:
        self._engine.keywords.remove([(seq, *_entry(memory, row))])

    _FACET = "insert into facets (project, facet, value, seq) values (?, ?, ?, ?) on conflict do nothing"

    def _add_facets(self, numbered: Iterable[tuple[int, Memory]]) -> None:
        self._engine.execute_many(
            self._FACET,
            [(memory.project, facet, value, seq) for seq, memory in numbered for facet, value in facets(memory)],
        )


# Attributes that memories are looked up by: a message's identity, what a fact fills or whose state a statement tells, a
# rule and the file it stands in.
_MARKED = ("message", "slot", STATE_OF, "rule", "rule_file", "imported")


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


def _turn_of(memory: Memory) -> str | None:
    """The session a memory is a turn of. What was drawn from a session is none: it must not stand between turns."""
    return memory.session if memory.kind == Kind.EPISODE else None


def _entry(memory: Memory, row: Row) -> tuple[str, str, str]:
    """What the keyword index holds for a row: body, names, context."""
    labels = [row[COLUMNS.index(name)] for name in ("tags", "files", "modules", "source_role")]
    context = memory.span.context if memory.span else None
    return index_body(memory.content), index_names(memory.content, *labels), index_body(context)
