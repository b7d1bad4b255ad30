"""Time as a restriction: the last few sessions, the sessions around an event; and the moment an event is known by.

A question's own time words are hints for ranking (`when`); what is asked for here narrows the filter.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from recollect.core.errors import InvalidField
from recollect.core.query import Filter, Query
from recollect.core.records import Memory
from recollect.recall.read import read
from recollect.recall.recipes import PLAIN_COLUMNS
from recollect.recall.when import Window
from recollect.store.store import Store

_BESIDE = 3  # sessions on either side of an event that are looked at
_AROUND_EVENT = timedelta(days=7)  # "around the migration", when only its day is known


def narrowed(query: Query, store: Store) -> tuple[Query, tuple[str, ...]]:
    """The query with its sessions worked out, and what to say about them."""
    if query.last_sessions is None and query.around is None:
        return query, ()
    sessions = store.memories.sessions()
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
        chosen &= set(sessions[max(0, place - _BESIDE) : place + _BESIDE + 1])
        notes = (f"around {event.id} in session {event.session}",)
    wanted = query.filter.sessions & chosen if query.filter.sessions else chosen
    none_at_all = frozenset({""})
    return replace(query, filter=replace(query.filter, sessions=frozenset(wanted) or none_at_all)), notes


def placed(window: Window | None, filter: Filter, store: Store) -> Window | None:
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
    return Window(at - _AROUND_EVENT, at + _AROUND_EVENT)


def _event(named: str, filter: Filter, store: Store) -> Memory | None:
    """The memory meant: the one with exactly that id, else the best that holds every word."""
    if known := store.memories.get_many([named]).memories:
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
