"""Keyed records in a memory: what frameworks that think in keys and values need, over the public verbs.

A record is a memory whose words can be recalled like any other and whose value comes back by its key. It never fades,
and it is the same as no other record, whatever its words. Secrets are redacted in values as everywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from threading import RLock
from typing import Any

from recollect.app import Recollect
from recollect.core.decay import NEVER
from recollect.core.drafts import Draft
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import OPEN, SHOWN, Source, Status

Key = tuple[str, ...]

_PAGE = 500  # records read at once
_WIDER, _SEARCH_LIMIT = 4, 1_000  # times more that are recalled when too few were kept; where that ends
_TEXT = 20_000  # characters of a value that are indexed for recall
_UNSTORABLE = {0: "\u2400", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


@dataclass(frozen=True, slots=True)
class Record:
    """A value under its key, and the memory that keeps it."""

    key: Key
    value: Mapping[str, Any]
    memory: Memory


class RecordStore:
    """The records of one adapter. `marks` are what records can be found by together: a namespace, a user."""

    def __init__(
        self, memory: Recollect, name: str, *, kind: str = "fact", source: Source = Source.AGENT_EXPLICIT
    ) -> None:
        self.memory = memory.through("adapter")  # what a framework keeps is its agent's
        self.name = name
        self._kind = kind
        self._source = source
        self._lock = RLock()  # a put reads before it writes

    def put(
        self,
        key: Key,
        value: Mapping[str, Any],
        *,
        text: str = "",
        marks: Sequence[Key] = (),
        until: datetime | None = None,
        shown: bool = True,
        event_at: datetime | None = None,
    ) -> Record:
        """Keep a value under its key, in place of what was there. Not `shown`: it is kept but never recalled."""
        with self._lock:
            draft = self.draft(key, value, text=text, marks=marks, until=until, shown=shown, event_at=event_at)
            known = self.get(key)
            if known is None:
                return self._record(self.memory.remember_all([draft])[0].memory)
            changed = self.memory.edit(
                known.memory.id,
                content=draft.content,
                attributes=draft.attributes,
                tags=draft.tags,
                valid_until=until,
                status=draft.status or Status.ACTIVE,
            )
            return self._record(changed)

    def draft(
        self,
        key: Key,
        value: Mapping[str, Any],
        *,
        text: str = "",
        marks: Sequence[Key] = (),
        until: datetime | None = None,
        shown: bool = True,
        event_at: datetime | None = None,
        session: str | None = None,
        source_role: str | None = None,
    ) -> Draft:
        """The draft of a record, for callers that write many at once under new keys."""
        mark = self.mark("key", *key)
        words = storable(text)[:_TEXT].strip()
        return Draft(
            words or f"{self.name} {mark}",
            kind=self._kind,
            source=self._source,
            status="active" if shown and words else "candidate",
            tags=(self.mark(), mark, *(self.mark(*parts) for parts in marks)),
            attributes={"record": mark, "message": mark, "key": list(key), "value": storable(dict(value))},
            valid_until=until,
            decay=NEVER,
            skip_conflict_check=True,  # another record that says the opposite is another record
            override_tombstone=True,
            event_at=event_at,
            session=session,
            source_role=source_role,
        )

    def get(self, key: Key) -> Record | None:
        """The record under a key; the one written last, should two processes have written at once."""
        found = self.under("key", *key)
        return max(found, key=lambda record: (record.memory.updated_at, record.memory.id), default=None)

    def under(self, *mark: str) -> Iterator[Record]:
        """All records with a mark, the oldest first; all there are when none is named."""
        marked = Filter(tags=frozenset({self.mark(*mark)}), statuses=OPEN)
        skip = 0
        while True:
            page = self.memory.list(marked, order="oldest", limit=_PAGE, skip=skip)
            yield from (self._record(memory) for memory in page if "record" in memory.attributes)
            read = len(page) + len(page.damaged)
            if read < _PAGE:
                return
            skip += read

    def search(
        self, query: str, *, k: int, mark: Key = (), keep: Callable[[Record], bool] = lambda _: True
    ) -> list[tuple[Record, float]]:
        """The best `k` records with a mark that answer a question and are to be kept, with their scores."""
        marked = Filter(tags=frozenset({self.mark(*mark)}), statuses=SHOWN)
        asked = k
        while True:
            found = self.memory.recall(query, k=asked, filter=marked)
            records = [(self._record(hit.memory), hit.score) for hit in found if "record" in hit.memory.attributes]
            kept = [(record, score) for record, score in records if keep(record)]
            if len(kept) >= k or len(found) < asked or asked >= _SEARCH_LIMIT:
                return kept[:k]
            asked = min(asked * _WIDER, _SEARCH_LIMIT)

    def drop(self, key: Key) -> bool:
        """Forget the record under a key for good. False when there is none."""
        with self._lock:
            return bool(self.memory.forget_all([record.memory.id for record in self.under("key", *key)]))

    def clear(self, records: Iterable[Record]) -> int:
        """Forget some records for good; how many that were."""
        return len(self.memory.forget_all([record.memory.id for record in records]))

    def mark(self, *parts: str) -> str:
        """The tag that stands for a mark. Tags ignore case and have a length, what is marked does not."""
        if not parts:
            return f"{self.name} record"
        joined = json.dumps([self.name, *parts], ensure_ascii=True)
        return _to_syllables(blake2b(joined.encode(), digest_size=8).digest())

    def _record(self, memory: Memory) -> Record:
        return Record(tuple(memory.attributes["key"]), memory.attributes["value"], memory)


_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"


def _to_syllables(digest: bytes) -> str:
    """A digest as syllables, two bytes a word. Letters and digits at random are taken for a secret and redacted."""
    words = []
    for high, low in zip(digest[::2], digest[1::2], strict=True):
        bits = high << 8 | low
        first, second, third = (_CONSONANTS[bits >> shift & 15] for shift in (12, 6, 0))
        words.append(f"{first}{_VOWELS[bits >> 10 & 3]}{second}{_VOWELS[bits >> 4 & 3]}{third}")
    return "-".join(words)


def storable(value: Any) -> Any:
    """The value with what no store can keep faithfully made visible: NUL and half characters."""
    if isinstance(value, str):
        return value if value.isascii() and "\0" not in value else value.translate(_UNSTORABLE)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [storable(one) for one in value]
    return value
