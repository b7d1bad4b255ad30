"""The log table: append, read back, verify the chains, erase a body without breaking one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from recollect.core.errors import StoreDamaged
from recollect.core.fields import BY_COLUMN, Field
from recollect.core.forms import iso
from recollect.core.log import GENESIS, OLD_REPLICA, QUIET, Change, Entry, body, chain, conceal, digest, next_stamp
from recollect.store.codec import from_ms, to_ms
from recollect.store.meta import FILE, Meta
from recollect.store.port import Engine, Row, chunks

COLUMNS = (
    "number, replica, project, act, stamp, at, actor, door, action, about, subject, body, digest, undoes, hash"
)  # fmt: skip
_MARKS = ", ".join("?" for _ in COLUMNS.split(","))
_PAGE = 1000
_QUIET = ", ".join(f"'{action}'" for action in QUIET)
# As `Entry.is_shown` says.
_SHOWN = (
    "((about in ('memory', 'passages', 'note') or action = 'link') and action <> 'snapshot'"
    " and not (action = 'sync' and about = 'note'))"
)
REPLICA = "replica"  # the fact that names this copy of the store
ANCHOR = "log_head"  # the fact that says where the log ends


def new_replica() -> str:
    """A name for a copy of a store that no other copy has."""
    return f"rep_{os.urandom(10).hex()}"


class EntryBody(NamedTuple):
    """What an entry says of its subject, as text."""

    number: int
    about: str
    subject: str | None
    body: str
    project: str


class Log:
    """Append-only. Writing needs a transaction, so an entry exists exactly when its change does."""

    def __init__(self, engine: Engine, project: str, *, conceals: bool = False) -> None:
        self._engine = engine
        self._project = project
        self._conceals = conceals  # an entry may tell of a time when its memory was not in the reader's sight
        self._meta = Meta(engine, FILE)
        self._named = (-1, "")  # this copy, and in which generation of the file

    @property
    def _replica(self) -> str:
        """The name of this copy of the store, which it keeps for good."""
        if self._named[0] != self._engine.generation:
            self._named = (self._engine.generation, self._meta.get(REPLICA) or OLD_REPLICA)
        return self._named[1]

    _HEAD = "select number, replica, stamp, hash from log /* whole */ order by number desc limit 1"
    _HEAD_OF = "select hash from log /* whole */ where replica = :replica order by number desc limit 1"
    _APPEND = f"insert into log ({COLUMNS}) values ({_MARKS})"

    def append(
        self,
        changes: Sequence[Change],
        *,
        act: str,
        actor: str,
        at: datetime,
        undoes: str | None = None,
        door: str = "",
    ) -> None:
        """Chain some changes of one act to the end."""
        if not changes:
            return
        replica = self._replica
        number, last, stamp, previous = self._engine.row(self._HEAD) or (0, replica, 0, GENESIS)
        if last not in (replica, OLD_REPLICA):  # another copy's entries came in between: ours follow our own
            row = self._head_of(replica) or self._head_of(OLD_REPLICA)
            previous = row[0] if row else GENESIS
        ms, rows = to_ms(at), []
        for change in changes:
            number, stamp = number + 1, next_stamp(stamp, ms)
            text = body(change)
            fixed = digest(text)
            about = "note" if change.subject is None else change.about
            told = (replica, self._project, act, stamp, ms, actor, door, change.action, about, change.subject)
            previous = chain(previous, *told, fixed, undoes)
            rows.append((number, *told, text, fixed, undoes, previous))
        self._engine.execute_many(self._APPEND, rows)
        self._meta.put(ANCHOR, f"{number}:{previous}")

    def _head_of(self, replica: str) -> Row | None:
        return self._engine.row(self._HEAD_OF, {"replica": replica})

    # --- reading --------------------------------------------------------------------------------------------------

    _OF = f"select {COLUMNS} from log where project = :project and subject = :subject and {_SHOWN} order by number"

    def of(self, memory: str) -> list[Entry]:
        """All that happened to one memory, oldest first."""
        return [self._shown(entry) for entry in self.whole_of(memory)]

    def whole_of(self, memory: str) -> list[Entry]:
        """The same with all that the entries tell, for those who must find every copy of its words."""
        return [_entry(row) for row in self._engine.rows(self._OF, {"subject": memory, "project": self._project})]

    def _shown(self, entry: Entry) -> Entry:
        return conceal(entry) if self._conceals else entry

    _RECENT = f"select {COLUMNS} from log where project = :project and {_SHOWN} order by number desc limit :limit"

    def recent(self, limit: int) -> list[Entry]:
        """The last entries, newest first."""
        rows = self._engine.rows(self._RECENT, {"limit": limit, "project": self._project})
        return [self._shown(_entry(row)) for row in rows]

    _DOING = f"""
        select {COLUMNS} from log where project = :project and action = :action and {_SHOWN}
         order by number desc limit :limit
    """

    def doing(self, action: str, limit: int) -> list[Entry]:
        """The last entries of one action, newest first."""
        asked = {"project": self._project, "action": action, "limit": limit}
        return [self._shown(_entry(row)) for row in self._engine.rows(self._DOING, asked)]

    _AFTER = f"select {COLUMNS} from log where number > :after order by number limit {_PAGE}"

    def replayable(self) -> Iterator[Entry]:
        """Every entry that replaying needs, in order: those from before there were replicas tell too little, and a
        snapshot was taken after them."""
        after = 0
        while rows := self._engine.rows(self._AFTER, {"after": after}):
            yield from (_entry(row) for row in rows if row[1] != OLD_REPLICA)
            after = rows[-1][0]

    _SHOWN_AFTER = f"""
        select {COLUMNS} from log where project = :project and number > :after and {_SHOWN} order by number limit :limit
    """

    def shown_after(self, number: int, *, limit: int) -> list[Entry]:
        """What was done after an entry, the earliest first."""
        asked = {"project": self._project, "after": number, "limit": limit}
        return [self._shown(_entry(row)) for row in self._engine.rows(self._SHOWN_AFTER, asked)]

    # --- undo -----------------------------------------------------------------------------------------------------

    _LAST_ACT = """
        select act from log /* whole */
         where project = :project and undoes is null and action not in ({quiet})
           and act not in (select undoes from log where undoes is not null)
           and replica not like 'import %' and {which}
         order by number desc limit 1
    """
    _ACT = f"select {COLUMNS} from log /* whole */ where act = :act order by number"

    def last_act(self, *, actor: str | None = None, subject: str | None = None, act: str | None = None) -> list[Entry]:
        """The entries of the last act in this project that can be undone and was not, oldest first: of one actor, on
        one memory whoever it was by, or the one that is named."""
        which, value = (
            ("act", act) if act is not None else ("subject", subject) if subject is not None else ("actor", actor)
        )
        sql = self._LAST_ACT.format(quiet=_QUIET, which=f"{which} = :{which}")
        found = self._engine.row(sql, {"project": self._project, which: value})
        return [] if found is None else [_entry(row) for row in self._engine.rows(self._ACT, {"act": found[0]})]

    _UNDONE = "select count(*) from log /* whole */ where project = :project and undoes = :act"

    def is_undone(self, act: str) -> bool:
        """Was this act taken back?"""
        found = self._engine.row(self._UNDONE, {"project": self._project, "act": act})
        return found is not None and found[0] > 0

    _LATER = """
        select count(*) from log l /* whole */
         where l.subject = :subject and l.about = 'memory' and l.number > :number and l.act <> :act and l.undoes is null
           and l.action not in ('reinforce', 'annotate', 'snapshot')
           and l.act not in (select undoes from log where undoes is not null)
    """

    def later(self, subject: str, entry: Entry) -> bool:
        """Was the memory changed after this entry, by another act that still stands?"""
        found = self._engine.row(self._LATER, {"subject": subject, "number": entry.number, "act": entry.act})
        return found is not None and found[0] > 0

    # --- erasing --------------------------------------------------------------------------------------------------

    _ERASE = "update log set body = null where subject = any(:subjects) and body is not null"
    _ERASE_WORDS = """
        update log set body = null
         where subject = :subject and body is not null and about in ('memory', 'passages', 'note')
    """

    def erase_bodies(self, subjects: Sequence[str]) -> None:
        """Remove what the entries of some memories or entities say about them. The chain stays whole: it holds
        digests."""
        for some in chunks(subjects):
            self._engine.execute(self._ERASE, {"subjects": some})

    def erase_words(self, subject: str) -> None:
        """Remove what the entries say of the words of a memory, or of the passages of a document, that stay."""
        self._engine.execute(self._ERASE_WORDS, {"subject": subject})

    _BODIES = f"""
        select number, about, subject, body, project from log where number > :after and body is not null
         order by number limit {_PAGE}
    """

    def bodies(self, after: int = 0) -> Iterator[EntryBody]:
        """What each entry after a number says, as it is written, for those who look for what must not be there."""
        while rows := self._engine.rows(self._BODIES, {"after": after}):
            yield from (EntryBody(*row) for row in rows)
            after = rows[-1][0]

    _ACTORS = "select distinct project, actor from log"

    def actors(self) -> list[tuple[str, str]]:
        """Everybody in whose name something was done, in any project of the file, with the project."""
        return [(row[0], row[1]) for row in self._engine.rows(self._ACTORS)]

    _ERASE_THESE = "update log set body = null where number = any(:numbers)"

    def erase(self, numbers: Sequence[int]) -> None:
        """Remove what some entries say. The chain stays whole: it holds digests."""
        for some in chunks(numbers):
            self._engine.execute(self._ERASE_THESE, {"numbers": some})

    _LAST = "select coalesce(max(number), 0) from log"

    def last(self) -> int:
        """The number of the last entry; 0 when there is none."""
        row = self._engine.row(self._LAST)
        return int(row[0]) if row else 0

    # --- checking -------------------------------------------------------------------------------------------------

    def verify(self) -> list[str]:
        """What is wrong with the chains, in words; nothing when every link holds up to the anchored head."""
        faults: list[str] = []
        expected, last = 0, GENESIS
        heads: dict[str, tuple[str, int]] = {}  # of each replica: the hash and the time of its last entry
        while rows := self._engine.rows(self._AFTER, {"after": expected}):
            for row in rows:
                expected, last = expected + 1, _follow(row, expected + 1, heads, faults)
            if len(faults) > 20:
                break
            expected = rows[-1][0]
        anchored = self._meta.get(ANCHOR)
        if anchored is None and heads.keys() - {OLD_REPLICA}:
            faults.append("the anchor that says where the log ends is missing")
        elif anchored is not None and anchored != f"{expected}:{last}":
            faults.append(f"the log ends at entry {expected}, but its anchor names {anchored.split(':')[0]}")
        return faults


def _follow(row: Row, expected: int, heads: dict[str, tuple[str, int]], faults: list[str]) -> str:
    """Does an entry follow from the one before it of its replica? The first of a replica follows the old ones."""
    number, replica, _, act, stamp, at, actor, _, action, _, subject, text, stored, undoes, found = row
    previous, last = heads.get(replica) or heads.get(OLD_REPLICA) or (GENESIS, 0)
    if number != expected:
        faults.append(f"log entry {expected} is missing")
    if text is not None and digest(text) != stored:
        faults.append(f"the body of log entry {number} was altered")
    if replica == OLD_REPLICA:
        wanted = chain(previous, number, act, at, actor, action, subject, stored, undoes)
    else:
        wanted = chain(previous, *row[1:11], stored, undoes)
        if stamp <= last:
            faults.append(f"log entry {number} is not later than the one before it")
    if wanted != found:
        faults.append(f"log entry {number} does not follow from the one before it")
    heads[replica] = (found, stamp)
    return str(found)


def _entry(row: Row) -> Entry:
    number, replica, project, act, stamp, at, actor, door, action, about, subject, text, stored, undoes, hash = row
    try:
        parts = {} if text is None else json.loads(text)
        if isinstance(parts, list):
            why, before, after = parts
            parts = {"why": why, "before": _in_words(before), "after": _in_words(after)}
        moment = from_ms(at)
    except (ValueError, TypeError, OverflowError):
        raise StoreDamaged("the log", f"entry {number} cannot be read") from None
    return Entry(
        number=number,
        act=act,
        at=moment,
        actor=actor,
        change=Change(
            action, subject, parts.get("why", ""), parts.get("before"), parts.get("after"), about, parts.get("replay")
        ),
        digest=stored,
        hash=hash,
        undoes=undoes,
        erased=text is None and stored != "",
        project=project,
        replica=replica,
        stamp=stamp,
        door=door,
    )


def _in_words(columns: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What an old entry says of columns, as fields in JSON."""
    if columns is None:
        return None
    told: dict[str, Any] = {}
    for column, value in columns.items():
        field = BY_COLUMN.get(column)
        if field is None or value is None:
            told[field.name if field else column] = value
        else:
            told[field.name] = stored_json(field, value)
    return told


def stored_json(field: Field, value: Any) -> Any:
    """What a column holds, as the field is spelt in JSON. Lists of old entries were lists already."""
    form = field.form
    if form == "moment":
        return iso(from_ms(value))
    if form == "flag":
        return bool(value)
    if form in ("labels", "object", "payload", "work_unit", "span") and isinstance(value, str):
        value = json.loads(value)
    if form == "work_unit" and isinstance(value, list):
        return dict(zip(("methodology", "hierarchy", "label"), value, strict=True))
    if form == "span" and isinstance(value, list):
        return dict(zip(("type", "start", "end", "context", "document"), value, strict=False))
    return value
