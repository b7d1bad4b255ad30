"""Time in a question: "last week", "in March", "before 5 May 2023", "since the migration". Pure.

The answer is a window [start, end) in UTC, or the words of an event whose time has to be looked up. A question that
only mentions a month or a day in passing gets a window too: it is a hint for ranking, never a filter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from recollect.core.errors import InvalidField
from recollect.core.query import Filter, Query
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.recall.question import read
from recollect.recall.recipes import EVENT_SESSIONS, EVENT_WINDOW, PLAIN_COLUMNS
from recollect.store.store import Store

Side: TypeAlias = Literal["in", "before", "after"]

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_COUNTS = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_COUNTS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4}
_UNIT = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25, "fortnight": 14.0}

_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_NAMED = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH})\b\.?"
    rf"(?: (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,? (?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_YEAR = re.compile(r"\b(?:in|of|during|since|before|after|until|year) ((?:19|20)\d\d)\b", re.IGNORECASE)
_QUARTER = re.compile(r"\bq([1-4])(?: (?:of )?((?:19|20)\d\d))?\b", re.IGNORECASE)
_AGO = re.compile(
    rf"\b(\d{{1,3}}|{'|'.join(_COUNTS)}) (?:of )?(hour|day|week|month|year|fortnight)s? (?:ago|back|earlier)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"\b(?:last|past|previous) (?:(\d{{1,3}}|{'|'.join(_COUNTS)}) )?(hour|day|week|month|year)s?\b", re.IGNORECASE
)
_THIS = re.compile(r"\b(this|last|next) (week|weekend|month|year|night|morning|evening)\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:(last|this|on) )?({'|'.join(_DAYS)})\b", re.IGNORECASE)
_NEAR = re.compile(r"\b(today|yesterday|tonight|tomorrow|recently|lately|just now)\b", re.IGNORECASE)
_SIDE = re.compile(r"\b(before|until|prior to|up to|after|since|from)\s+$", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(before|after|since|until|during|around) (?:the |our |my |we |i )?"
    r"([a-z][\w'-]*(?: (?!and\b|or\b|did\b|was\b|what\b|how\b)[\w'-]+){0,4})",
    re.IGNORECASE,
)
_RECENT = timedelta(days=14)  # what "recently" means


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to before `end`; an open side is nothing. `event` names what has to be looked up instead."""

    start: datetime | None = None
    end: datetime | None = None
    side: Side = "in"
    event: str = ""

    def holds(self, at: datetime) -> bool:
        return (self.start is None or at >= self.start) and (self.end is None or at < self.end)

    def distance(self, at: datetime) -> timedelta:
        """How far outside the window a moment lies; zero inside."""
        if self.start is not None and at < self.start:
            return self.start - at
        if self.end is not None and at >= self.end:
            return at - self.end
        return timedelta(0)


def when(text: str, now: datetime) -> Window | None:
    """The first time expression of a question, or nothing. Dates win over relative words, those over events."""
    for find in (_dated, _relative):
        found = find(text, now)
        if found is not None:
            start, end, place = found
            return _sided(start, end, text[:place])
    if event := _EVENT.search(text):
        side: Side = (
            "before"
            if event[1].lower() in ("before", "until")
            else "after"
            if event[1].lower() in ("after", "since")
            else "in"
        )
        return Window(side=side, event=event[2])
    return None


_Found: TypeAlias = tuple[datetime, datetime, int]


def _dated(text: str, now: datetime) -> _Found | None:
    if iso := _ISO.search(text):
        year, month, day = int(iso[1]), int(iso[2]), int(iso[3]) if iso[3] else None
        return _span(year, month, day, iso.start())
    for named in _NAMED.finditer(text):
        if _is_name(named):
            continue
        month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(named["month"].lower()[:3]))
        number = named["day"] or named["day2"]
        year = int(named["year"]) if named["year"] else _latest_year(month, now)
        return _span(year, month, int(number) if number else None, named.start())
    if quarter := _QUARTER.search(text):
        year = int(quarter[2]) if quarter[2] else now.year
        first = 3 * int(quarter[1]) - 2
        start = datetime(year, first, 1, tzinfo=UTC)
        return start, _next_month(datetime(year, first + 2, 1, tzinfo=UTC)), quarter.start()
    if year_only := _YEAR.search(text):
        year = int(year_only[1])
        return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), year_only.start(1)
    return None


def _is_name(named: re.Match[str]) -> bool:
    """ "may" and "march" are verbs unless capitalised or followed by a year; short forms need a date beside them."""
    word = named["month"]
    if word[0].isupper() or named["year"]:
        return False
    dated = bool(named["day"] or named["day2"])
    return word in ("may", "march") or (len(word) == 3 and not dated)


def _span(year: int, month: int, day: int | None, place: int) -> _Found | None:
    try:
        start = datetime(year, month, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return start, (start + timedelta(days=1) if day else _next_month(start)), place


def _relative(text: str, now: datetime) -> _Found | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if ago := _AGO.search(text):
        days = _count(ago[1]) * _UNIT[ago[2].lower()]
        slack = max(0.5, days * 0.2)  # "three weeks ago" is not a day's precision
        middle = now - timedelta(days=days)
        return middle - timedelta(days=slack), middle + timedelta(days=slack), ago.start()
    if this := _THIS.search(text):
        return (*_period(this[1].lower(), this[2].lower(), today), this.start())
    if past := _PAST.search(text):
        return now - timedelta(days=_count(past[1] or "one") * _UNIT[past[2].lower()]), now, past.start()
    if near := _NEAR.search(text):
        return (*_nearby(near[1].lower(), today, now), near.start())
    if weekday := _WEEKDAY.search(text):
        back = (today.weekday() - _DAYS.index(weekday[2].lower())) % 7
        back = back or (7 if (weekday[1] or "").lower() == "last" else 0)
        start = today - timedelta(days=back)
        return start, start + timedelta(days=1), weekday.start()
    return None


def _period(which: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    step = {"this": 0, "last": -1, "next": 1}[which]
    if unit in ("night", "morning", "evening"):
        return today + timedelta(days=step), today + timedelta(days=step + 1)
    if unit in ("week", "weekend"):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
        return (monday + timedelta(days=5) if unit == "weekend" else monday), monday + timedelta(weeks=1)
    if unit == "year":
        return datetime(today.year + step, 1, 1, tzinfo=UTC), datetime(today.year + step + 1, 1, 1, tzinfo=UTC)
    month = today.year * 12 + today.month - 1 + step
    start = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return start, _next_month(start)


def _nearby(word: str, today: datetime, now: datetime) -> tuple[datetime, datetime]:
    if word in ("recently", "lately", "just now"):
        return now - _RECENT, now + timedelta(days=1)
    shift = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    return today + timedelta(days=shift), today + timedelta(days=shift + 1)


def _sided(start: datetime, end: datetime, before: str) -> Window:
    """ "before March" ends where March starts; "since March" has no end."""
    side = _SIDE.search(before)
    if side is None:
        return Window(start, end)
    if side[1].lower() in ("before", "until", "prior to", "up to"):
        return Window(None, start, "before")
    return Window(start if side[1].lower() != "after" else end, None, "after")


def _latest_year(month: int, now: datetime) -> int:
    """ "in March" said in June means this year's, said in February last year's."""
    return now.year if month <= now.month else now.year - 1


def _next_month(start: datetime) -> datetime:
    return datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


# --- time as a restriction: sessions that are asked for, and the moment an event is known by -----------------------


def narrow_sessions(query: Query, store: Store) -> tuple[Query, tuple[str, ...]]:
    """The query with its sessions worked out, and what to say about them."""
    if query.last_sessions is None and query.around is None:
        return query, ()
    sessions = store.memories.sessions(user=query.filter.user)
    chosen, notes = set(sessions), tuple[str, ...]()
    if query.last_sessions is not None:
        if query.last_sessions < 1:
            raise InvalidField("last_sessions", f"{query.last_sessions} is not a number of sessions")
        chosen &= set(sessions[-query.last_sessions :])
    if query.around is not None:
        event = _event(query.around, query.filter, store)
        if event is None or event.session is None:
            raise InvalidField("around", f"no session is known by {query.around!r}")
        place = sessions.index(event.session)
        chosen &= set(sessions[max(0, place - EVENT_SESSIONS) : place + EVENT_SESSIONS + 1])
        notes = (f"around {event.id} in session {event.session}",)
    wanted = query.filter.sessions & chosen if query.filter.sessions else chosen
    none_at_all = frozenset({""})
    return replace(query, filter=replace(query.filter, sessions=frozenset(wanted) or none_at_all)), notes


def resolve_event(window: Window | None, filter: Filter, store: Store) -> Window | None:
    """A window named by an event ("before the migration") as one of time, when a memory tells when that was."""
    if window is None or not window.event:
        return window
    event = _event(window.event, filter, store)
    if event is None:
        return None
    at = event.happened_at
    if window.side == "before":
        return Window(None, at, "before")
    if window.side == "after":
        return Window(at, None, "after")
    return Window(at - EVENT_WINDOW, at + EVENT_WINDOW)


def _event(named: str, filter: Filter, store: Store) -> Memory | None:
    """The memory meant: the one with exactly that id, else the best that holds every word."""
    if known := store.memories.admitted([named], Filter(user=filter.user, statuses=Status)):
        return known[0]
    words = read(Query(named)).words
    if not words:
        return None
    wanted = replace(filter, sessions=frozenset(), since=None, until=None)
    best = store.words.matching(read(Query(named)), wanted, weights=PLAIN_COLUMNS, limit=20)
    found = store.memories.get_many([one.id for one in best]).memories
    stems = set(store.words.tokens([" ".join(words)])[0])
    texts = store.words.tokens([memory.content for memory in found])
    return next((memory for memory, said in zip(found, texts, strict=True) if stems <= set(said)), None)
