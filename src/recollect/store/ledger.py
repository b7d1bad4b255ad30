"""The ledger table: append, read back, verify the chain, erase a body without breaking it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from recollect.core.errors import StoreDamaged
from recollect.core.ids import MemoryId
from recollect.core.ledger import GENESIS, Change, Entry, body, chain, digest
from recollect.store.codec import from_ms, to_ms
from recollect.store.meta import Meta
from recollect.store.port import Engine, Row

_NAMES = "number, act, at, actor, action, memory, body, digest, undoes, hash"
_PAGE = 1000
# What happens by itself: a person who takes back their last change does not mean these.
_QUIET = (
    "'reinforce', 'annotate', 'expire', 'prune', 'tend', 'merge_entity', 'split_entity', "
    "'migrate', 'salvage', 'restore', 'repair', 'index'"
)
_ANCHOR = "ledger_head"  # the fact that says where the chain ends


class Ledger:
    """Append-only. Writing needs a transaction, so an entry exists exactly when its change does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._meta = Meta(engine)

    _HEAD = "select number, hash from ledger order by number desc limit 1"
    _APPEND = f"insert into ledger ({_NAMES}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    def append(
        self, changes: Sequence[Change], *, act: str, actor: str, at: datetime, undoes: str | None = None
    ) -> None:
        """Chain some changes of one act to the end."""
        number, previous = self._engine.row(self._HEAD) or (0, GENESIS)
        stamp, rows = to_ms(at), []
        for change in changes:
            number += 1
            text = body(change)
            fixed = (number, act, stamp, actor, change.action, change.memory, digest(text), undoes)
            previous = chain(previous, *fixed)
            rows.append((*fixed[:6], text, *fixed[6:], previous))
        self._engine.execute_many(self._APPEND, rows)
        self._meta.put(_ANCHOR, f"{number}:{previous}")

    _OF = f"select {_NAMES} from ledger where memory = :memory order by number"

    def of(self, memory: str) -> list[Entry]:
        """All that happened to one memory, oldest first."""
        return [_entry(row) for row in self._engine.rows(self._OF, {"memory": memory})]

    _RECENT = f"select {_NAMES} from ledger order by number desc limit :limit"

    def recent(self, limit: int) -> list[Entry]:
        """The last entries, newest first."""
        return [_entry(row) for row in self._engine.rows(self._RECENT, {"limit": limit})]

    _DOING = f"select {_NAMES} from ledger where action = :action order by number desc limit :limit"

    def doing(self, action: str, limit: int) -> list[Entry]:
        """The last entries of one action, newest first."""
        return [_entry(row) for row in self._engine.rows(self._DOING, {"action": action, "limit": limit})]

    _LAST_ACT = """
        select act from ledger
         where undoes is null and action not in ({quiet})
           and act not in (select undoes from ledger where undoes is not null)
           {which}
         order by number desc limit 1
    """
    _ACT = f"select {_NAMES} from ledger where act = :act order by number"

    def last_act(self, memory: str | None = None) -> list[Entry]:
        """The entries of the last act that can be undone and was not, oldest first; of one memory when named."""
        sql = self._LAST_ACT.format(quiet=_QUIET, which="and memory = :memory" if memory else "")
        found = self._engine.row(sql, {"memory": memory} if memory else None)
        return [] if found is None else [_entry(row) for row in self._engine.rows(self._ACT, {"act": found[0]})]

    _LATER = """
        select count(*) from ledger l
         where l.memory = :memory and l.number > :number and l.act <> :act and l.undoes is null
           and l.action not in ('reinforce', 'annotate')
           and l.act not in (select undoes from ledger where undoes is not null)
    """

    def later(self, memory: MemoryId, entry: Entry) -> bool:
        """Was the memory changed after this entry, by another act that still stands?"""
        found = self._engine.row(self._LATER, {"memory": memory, "number": entry.number, "act": entry.act})
        return found is not None and found[0] > 0

    _ERASE = "update ledger set body = null where memory = :memory and body is not null"

    def erase_bodies(self, memory: MemoryId) -> None:
        """Remove what the entries of a memory say about its text. The chain stays whole: it holds digests."""
        self._engine.execute(self._ERASE, {"memory": memory})

    _AFTER = f"select {_NAMES} from ledger where number > :after order by number limit {_PAGE}"

    def verify(self) -> list[str]:
        """What is wrong with the chain, in words; nothing when every link holds up to the anchored head."""
        faults: list[str] = []
        expected, previous = 0, GENESIS
        while rows := self._engine.rows(self._AFTER, {"after": expected}):
            for row in rows:
                expected, previous = expected + 1, self._follow(row, expected + 1, previous, faults)
            if len(faults) > 20:
                break
            expected = rows[-1][0]
        anchored = self._meta.get(_ANCHOR)
        if anchored is not None and anchored != f"{expected}:{previous}":
            faults.append(f"the ledger ends at entry {expected}, but its anchor names {anchored.split(':')[0]}")
        return faults

    def _follow(self, row: Row, expected: int, previous: str, faults: list[str]) -> str:
        number, act, at, actor, action, memory, text, stored, undoes, hash = row
        if number != expected:
            faults.append(f"ledger entry {expected} is missing")
        if text is not None and digest(text) != stored:
            faults.append(f"the body of ledger entry {number} was altered")
        if chain(previous, number, act, at, actor, action, memory, stored, undoes) != hash:
            faults.append(f"ledger entry {number} does not follow from the one before it")
        return str(hash)


def _entry(row: Row) -> Entry:
    number, act, at, actor, action, memory, text, stored, undoes, hash = row
    try:
        why, before, after = json.loads(text) if text is not None else ("", None, None)
        moment = from_ms(at)
    except (ValueError, TypeError, OverflowError):
        raise StoreDamaged("the ledger", f"entry {number} cannot be read") from None
    return Entry(
        number=number,
        act=act,
        at=moment,
        actor=actor,
        change=Change(action, None if memory is None else MemoryId(memory), why, before, after),
        digest=stored,
        hash=hash,
        undoes=undoes,
        erased=text is None and stored != "",
    )
