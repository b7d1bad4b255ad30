"""How two states of one memory become one. Pure: the shadow says what each side changed since they were the same.

The server's state is the one everybody else has, so it leads: where both sides changed a single value, its value
stands. Counters add up, lists merge item by item, confidences meet in the middle. Words are never thrown away: where
both sides wrote new ones, the server's stay and ours become a memory of their own that asks a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recollect.core.scope import Status
from recollect.sync.states import (
    ATTRIBUTES,
    CLOCKED,
    LABELS,
    LINKS,
    NEW,
    NUMBERS,
    USAGE,
    Shadow,
    State,
    digest_value,
    is_open,
    link_key,
)

MASS_SHARE = 0.2  # of the memories both sides have: more deletions at once are asked about
MASS_COUNT = 100
MASS_FLOOR = 5  # memories: of fewer, a share says nothing
_WORDS = ("content", "kind", "payload")
_STANDING = ("status", "verified", "superseded_by", "valid_until", "stale_at", "needs_review")
# From what a person decided to what nobody looked at; where both sides decided, the more cautious one holds.
_CAUTION = (Status.ACTIVE, Status.CANDIDATE, Status.DISPUTED, Status.EXPIRED, Status.SUPERSEDED, Status.REJECTED)
_SETTLED = frozenset({Status.SUPERSEDED, Status.REJECTED})


@dataclass(frozen=True, slots=True)
class MergedState:
    """What a memory is now on this side. `fork` holds our words where both sides wrote new ones."""

    state: State
    fork: State | None = None


def merge_states(base: Shadow | None, mine: State, theirs: State) -> MergedState:
    """Our state and the server's as one. `base` is what both had last, nothing when they never compared."""
    state: State = {}
    for name in sorted((mine.keys() | theirs.keys()) - _APART):
        side = mine if _is_ours(base, name, mine, theirs) else theirs
        if name in side:
            state[name] = side[name]
    conflict = _merge_words(base, mine, theirs, state)
    _merge_standing(base, mine, theirs, state)
    for name in LABELS:
        _put(state, name, _merge_items(base, name, mine, theirs))
    _put(state, LINKS, _merge_links(base, mine, theirs))
    _put(state, ATTRIBUTES, _merge_attributes(base, mine, theirs))
    _merge_usage(base, mine, theirs, state)
    if all(state.get(name) == theirs.get(name) for name in (state.keys() | theirs.keys()) - CLOCKED):
        state = dict(theirs)
    return MergedState(state, _forked(mine) if conflict and is_open(mine) else None)


_APART = frozenset((*LABELS, *NUMBERS, *_WORDS, *_STANDING, LINKS, ATTRIBUTES)) | CLOCKED


def _is_ours(base: Shadow | None, name: str, mine: State, theirs: State) -> bool:
    """Did only we change a value? Without a shadow nobody knows, and the server's stands."""
    return base is not None and base.differs(name, mine) and not base.differs(name, theirs)


def _merge_words(base: Shadow | None, mine: State, theirs: State, state: State) -> bool:
    """Put the words in; True when both sides have words of their own."""
    ours = base is None or any(base.differs(name, mine) for name in _WORDS)
    others = base is None or any(base.differs(name, theirs) for name in _WORDS)
    side = mine if ours and not others else theirs
    for name in _WORDS:
        if name in side:
            state[name] = side[name]
    return ours and others and any(mine.get(name) != theirs.get(name) for name in _WORDS)


def _forked(mine: State) -> State:
    """Our words as a memory of their own that waits for a person."""
    fresh = {name: value for name, value in mine.items() if name not in (*USAGE, LINKS, "superseded_by", "verified")}
    return {**fresh, "accessed_at": mine["created_at"], "needs_review": True}


def _merge_standing(base: Shadow | None, mine: State, theirs: State, state: State) -> None:
    """What became of it: decided by one side, that holds; by both, the more cautious one, or a person is asked."""
    decided = _STANDING[:3]
    ours = base is not None and any(base.differs(name, mine) for name in decided)
    others = base is None or any(base.differs(name, theirs) for name in decided)
    same = all(mine.get(name) == theirs.get(name) for name in decided)
    if base is not None and (better := _reworded(base, mine, theirs)) is not None:
        _copy(better, state, (*_STANDING, "confidence"))
        state["needs_review"] = True
        return
    if ours and others and not same:
        first, second = sorted((mine, theirs), key=lambda one: -_CAUTION.index(Status(one["status"])))
        _copy(first, state, _STANDING)
        state["confidence"] = min(mine["confidence"], theirs["confidence"])
        if Status(first["status"]) in _SETTLED and second.get("verified"):
            state |= {"status": str(Status.DISPUTED), "needs_review": True}
            for name in ("superseded_by", "valid_until", "verified"):
                state.pop(name, None)
        return
    if ours == others:
        for name in _STANDING:
            _copy(mine if _is_ours(base, name, mine, theirs) else theirs, state, (name,))
        state["confidence"] = _meet(base, mine["confidence"], theirs["confidence"])
        return
    side = mine if ours else theirs
    _copy(side, state, (*_STANDING, "confidence"))


def _reworded(base: Shadow, mine: State, theirs: State) -> State | None:
    """The side that has new words for what the other one rejected: a rejection is of the words it saw."""
    for one, other in ((mine, theirs), (theirs, mine)):
        is_reworded = base.differs("content", one) and not base.differs("content", other)
        if is_reworded and is_open(one) and other["status"] == Status.REJECTED and base.differs("status", other):
            return one
    return None


def _copy(side: State, state: State, names: tuple[str, ...]) -> None:
    for name in names:
        if name in side:
            state[name] = side[name]


def _meet(base: Shadow | None, mine: float, theirs: float) -> float:
    was = None if base is None else base.numbers["confidence"]
    if was is None or mine in (theirs, was):
        return theirs
    return mine if theirs == was else round((mine + theirs) / 2, 6)


def _merge_items(base: Shadow | None, name: str, mine: State, theirs: State) -> list[str]:
    """The server's items in their order, with what we added and without what we took out."""
    had = frozenset() if base is None else frozenset(base.items.get(name, ()))
    own = {digest_value(one): one for one in mine.get(name, ())}
    kept = [one for one in theirs.get(name, ()) if (key := digest_value(one)) in own or key not in had]
    return [*kept, *(one for key, one in own.items() if key not in had and one not in kept)]


def _merge_links(base: Shadow | None, mine: State, theirs: State) -> list[dict[str, Any]]:
    had = frozenset() if base is None else frozenset(base.items.get(LINKS, ()))
    own = {digest_value(link_key(one)): one for one in mine.get(LINKS, ())}
    merged = {digest_value(link_key(one)): one for one in theirs.get(LINKS, ())}
    kept = {key: one for key, one in merged.items() if key in own or key not in had}
    kept |= {key: one for key, one in own.items() if key not in had and key not in kept}
    return sorted(kept.values(), key=link_key)


def _merge_attributes(base: Shadow | None, mine: State, theirs: State) -> dict[str, Any]:
    own, others = mine.get(ATTRIBUTES, {}), theirs.get(ATTRIBUTES, {})
    merged = dict(others)
    if base is None:
        return {**own, **merged}
    for name in own.keys() | others.keys():
        had = base.attributes.get(digest_value(name))
        now = digest_value(own[name]) if name in own else None
        there = digest_value(others[name]) if name in others else None
        if now != had and there == had:
            merged.pop(name, None)
            if name in own:
                merged[name] = own[name]
    return merged


def _merge_usage(base: Shadow | None, mine: State, theirs: State, state: State) -> None:
    """Times read add up; a streak that one side ended is over."""
    state["created_at"] = theirs["created_at"]
    for name in ("updated_at", "accessed_at"):
        state[name] = max(mine[name], theirs[name])
    count, ours, others = "access_count", mine.get("streak", 0), theirs.get("streak", 0)
    if base is None:
        total, streak = max(mine.get(count, 0), theirs.get(count, 0)), min(ours, others)
    else:
        total = theirs.get(count, 0) + max(0, mine.get(count, 0) - int(base.numbers[count]))
        was = int(base.numbers["streak"])
        streak = min(ours, others) if min(ours, others) < was else others + ours - was
    _put(state, count, total or NEW[count])
    _put(state, "streak", streak or NEW["streak"])


def _put(state: State, name: str, value: Any) -> None:
    """Set a value; an empty one is not told."""
    if value:
        state[name] = value
    else:
        state.pop(name, None)


def is_mass_deletion(deleted: int, shared: int) -> bool:
    """Are these too many deletions to follow without asking?"""
    return deleted > MASS_COUNT or (shared >= MASS_FLOOR and deleted > MASS_SHARE * shared)


FOR_GOOD = ("forgotten", "erased")  # reasons of tombstones after which nothing of the words stays
_REASONS = ("corrected", "rejected", *FOR_GOOD)  # the later the more final


def is_more_final(reason: str, than: str) -> bool:
    """Does a tombstone for this reason outlast one for that?"""
    ranks = {name: rank for rank, name in enumerate(_REASONS)}
    return ranks.get(reason, -1) > ranks.get(than, -1)


def same_standing(one: State, other: State) -> bool:
    """Are two states with the same words one memory? As `remember` asks it."""
    names = ("kind", "scope", "visibility")
    records = [state.get(ATTRIBUTES, {}).get("record") for state in (one, other)]
    return all(one.get(name) == other.get(name) for name in names) and records[0] == records[1]


def superseded(state: State, by: str, at: str) -> State:
    """A memory whose place another one takes."""
    kept = {name: value for name, value in state.items() if name != "needs_review"}
    return {**kept, "status": str(Status.SUPERSEDED), "superseded_by": by, "valid_until": at}


def joined(state: State, twin: State) -> State:
    """A memory with what one that says the same knew."""
    lists = {name: list(dict.fromkeys([*state.get(name, ()), *twin.get(name, ())])) for name in LABELS}
    return {**state, **{name: items for name, items in lists.items() if items}}


def rejected(state: State) -> State:
    """A memory whose words were buried."""
    kept = {name: value for name, value in state.items() if name not in ("needs_review", "verified", "streak")}
    return {**kept, "status": str(Status.REJECTED), "confidence": 0.0}
