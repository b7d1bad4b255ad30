"""From what a session showed to memories, told as a story:

read hunches → validate → often enough → news? → trust → score → tell → keep, in one transaction.

Everything before `keep` is pure or only reads. Each hunch that is left out is counted with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from recollect.core.kinds import Kind
from recollect.core.observed import Contribution
from recollect.core.query import Filter
from recollect.core.scope import TRUST, Source, Status
from recollect.observer import gate
from recollect.observer.events import Outcome
from recollect.observer.hunch import Hunch, Sighting, tag_of
from recollect.observer.keep import Kept, Proposal, keep
from recollect.observer.novelty import novel
from recollect.observer.past import Past
from recollect.observer.readings import hunches
from recollect.observer.reword import reword
from recollect.observer.room import Room

_FAILED = frozenset({Outcome.FAILURE, Outcome.ABANDONED})
_FIRM, _OFTEN = 0.6, 0.4  # shares of a score: at the least number of sessions, and what more of them can add
_HELD, _STRENGTH = 0.8, 0.2  # the same for how often it held
_BORNE_OUT = 0.05


@dataclass(slots=True)
class Learned:
    """What one session taught: memories added, memories borne out, and what was left out and why."""

    session: str
    known: bool = False  # all of this session was known already, so nothing was done
    added: tuple[Kept, ...] = ()
    reinforced: tuple[Kept, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()


def promote(seen: Contribution, room: Room) -> Learned:
    """Write down what the session adds to the statistics, and what may be learnt from it. Again: changes nothing."""
    learned = Learned(seen.session.id)
    if _seen_before(seen, room):
        learned.known = True
        return learned
    found = hunches(seen, Past(room.store.observed, seen))
    asked = _asked(found, seen.session.kind, learned)
    valid = validated(asked, Outcome(seen.session.outcome), learned)
    often = frequent(valid, learned)
    weighed = novel(often, room)
    learned.left_out["rejected or forgotten before"] += sum(one.closed for one in weighed)
    fresh = [one.hunch for one in weighed if one.known is None and not one.closed]
    scored_ = scored(fresh, errs=_errors(fresh, room))
    chosen = _within(scored_, seen, room, learned)
    told, note = reword([one.hunch for one in chosen], room, seen.session.id)
    proposals = [replace(one, hunch=hunch) for one, hunch in zip(chosen, told, strict=True)]
    known = [one for one in weighed if one.known is not None and not one.closed]
    done = keep(seen, proposals, known, room)
    learned.known, learned.added, learned.reinforced = not done.put, done.added, done.reinforced
    learned.left_out["known already"] += len(known) - len(done.reinforced)
    learned.notes = (note,) if note else ()
    learned.left_out = +learned.left_out
    return learned


def _seen_before(seen: Contribution, room: Room) -> bool:
    """Was exactly this told before? How long watching took does not count."""
    before = room.store.observed.get(seen.session.id)
    if before is None:
        return False
    # How long watching took, and how calls looked to who knew the sessions before it, is not what the session tells.
    same = replace(before.session, slow=seen.session.slow, raised=seen.session.raised)
    return replace(before, session=same, traits=seen.traits) == seen


def _asked(found: Sequence[Hunch], kind: str, learned: Learned) -> list[Hunch]:
    """What this kind of session is asked for. What a person said counts anywhere but where nothing is learnt."""
    primary = gate.PRIMARY.get(kind)
    kept = [one for one in found if primary is None or one.signal in primary]
    learned.left_out[f"not asked of a {kind} session"] += len(found) - len(kept)
    return kept


def validated(found: Sequence[Hunch], outcome: Outcome, learned: Learned) -> list[Hunch]:
    """Of a session that failed only dead ends, and what a person said."""
    if outcome not in _FAILED:
        return list(found)
    kept = [one for one in found if one.kind is Kind.DEAD_END or one.spoken]
    learned.left_out["of a session that failed"] += len(found) - len(kept)
    return kept


def frequent(found: Sequence[Hunch], learned: Learned) -> list[Hunch]:
    """Those seen in enough sessions. Where the untainted ones suffice, only they count; what two agents of a session
    saw needs half as many."""
    kept = []
    for one in found:
        needed = one.needed
        if len(_sessions(one.clean)) >= needed:
            kept.append(replace(one, sightings=one.clean))
        elif len(_sessions(one.sightings)) >= (needed if not one.clean else gate.SHOWN_AFTER * needed):
            kept.append(one)  # with some untainted ones it waits longer: it may yet be told without taint
        else:
            learned.left_out["seen in too few sessions"] += 1
    return kept


def scored(found: Sequence[Hunch], *, errs: dict[str, float | None]) -> list[Proposal]:
    """Each with its confidence, the most valuable first; what is not worth it is dropped. Taint lowers confidence."""
    proposals = []
    for one in found:
        sessions = len(_sessions(one.sightings))
        worth = gate.worth(one.signal, sessions=sessions, false_positives=errs.get(one.signal))
        if worth < gate.WORTHLESS:
            continue
        confidence = trusted(_confidence(one, sessions), one)
        held = worth * (_HELD + _STRENGTH * min(1.0, one.strength))
        proposals.append((not one.spoken, -held, one.key, Proposal(one, round(confidence, 3))))
    return [proposal for *_, proposal in sorted(proposals, key=lambda ranked: ranked[:3])]


def trusted(confidence: float, one: Hunch) -> float:
    """The trust gate: what came after reaching outside is believed less; it is marked and reviewed besides."""
    return confidence * gate.TAINTED if one.taint else confidence


def _confidence(one: Hunch, sessions: int) -> float:
    if one.spoken:
        return gate.SPOKEN_CONFIDENCE
    often = min(1.0, sessions / (gate.SHOWN_AFTER * one.needed))
    held = _HELD + _STRENGTH * min(1.0, one.strength)
    sure = gate.GRADES[one.signal].score * (_FIRM + _OFTEN * often) * held * TRUST[Source.OBSERVER_INFERRED]
    return min(1.0, sure + (_BORNE_OUT if one.borne_out else 0.0))


def _within(proposals: list[Proposal], seen: Contribution, room: Room, learned: Learned) -> list[Proposal]:
    """As many as this kind of session may add, counting what it added when it was seen before."""
    cap = gate.PROMOTED.get(seen.session.kind, min(one for one in gate.PROMOTED.values() if one))
    room_left = max(0, cap - room.store.observed.promotions_of(seen.session.id))
    learned.left_out["more than one session may add"] += max(0, len(proposals) - room_left)
    return proposals[:room_left]


def _errors(found: Iterable[Hunch], room: Room) -> dict[str, float | None]:
    """How often reviews found each signal wrong, once there are enough of them."""
    rates: dict[str, float | None] = {}
    for name in {one.signal for one in found}:
        tags = frozenset({tag_of(name)})
        wrong = room.store.memories.count(Filter(tags=tags, statuses=frozenset({Status.REJECTED})))
        right = room.store.memories.count(Filter(tags=tags, needs_review=False))
        rates[name] = wrong / (wrong + right) if wrong + right >= gate.REVIEWS else None
    return rates


def _sessions(sightings: Iterable[Sighting]) -> set[str]:
    return {one.session for one in sightings}
