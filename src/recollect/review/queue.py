"""The order of the review queue: which question each memory asks, who comes first, and where a page begins.

Pure but for one read of the store. The order is total and does not depend on the size of a page: a cursor holds the key
of the last item that was shown, so that what is decided meanwhile neither hides nor repeats another.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from recollect.core.doors import OUTGROWN, PROPOSES, TAINTED
from recollect.core.errors import InvalidField
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.review import ReviewQuestion, was_spoken
from recollect.core.scope import Status

Key: TypeAlias = tuple[int, bool, float, int, str]

_ORDER = {question: place for place, question in enumerate(ReviewQuestion)}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A waiting memory in its place."""

    key: Key
    memory: Memory
    question: ReviewQuestion
    rivals: tuple[MemoryId, ...] = ()


def rank_waiting(
    memories: Iterable[Memory], rivals: Mapping[MemoryId, Collection[MemoryId]], *, now: datetime
) -> list[Ranked]:
    """The queue, best first: by question, what a person said before guesses, the surer first, then the older."""
    ranked = []
    for memory in memories:
        against = tuple(sorted(rivals.get(memory.id, ())))
        question = ask(memory, contradicted=bool(against), now=now)
        created = int(memory.created_at.timestamp() * 1000)
        key = (_ORDER[question], not was_spoken(memory), -memory.confidence, created, str(memory.id))
        ranked.append(Ranked(key, memory, question, against))
    return sorted(ranked, key=lambda one: one.key)


def ask(memory: Memory, *, contradicted: bool, now: datetime) -> ReviewQuestion:
    """What a person is asked about a memory; of several questions the most pressing."""
    if contradicted or PROPOSES in memory.attributes:
        return ReviewQuestion.CONTRADICTION
    if memory.status is Status.DISPUTED:
        return ReviewQuestion.DISPUTE
    if (memory.stale_at is not None and memory.stale_at <= now) or OUTGROWN in memory.attributes:
        return ReviewQuestion.STALE
    return ReviewQuestion.TAINTED if memory.attributes.get(TAINTED) else ReviewQuestion.CANDIDATE


def cut_page(ranked: Sequence[Ranked], *, limit: int, cursor: str | None) -> tuple[list[Ranked], str | None]:
    """The page after a cursor, and the cursor of the page after that."""
    after = None if cursor is None else _read_cursor(cursor)
    rest = [one for one in ranked if after is None or one.key > after]
    page = rest[:limit]
    return page, _write_cursor(page[-1].key) if page and len(rest) > len(page) else None


def _write_cursor(key: Key) -> str:
    return urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def _read_cursor(given: str) -> Key:
    """The key in a cursor. Cursors come back from outside, so every part is checked."""
    try:
        padded = given.encode("ascii") + b"=" * (-len(given) % 4)
        question, guessed, confidence, created, id = json.loads(urlsafe_b64decode(padded))
        return int(question), bool(guessed), float(confidence), int(created), str(id)
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        raise InvalidField(
            "cursor", f"{given!r} is not a cursor", hint="Leave it out to begin with the first page."
        ) from None
