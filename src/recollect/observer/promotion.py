"""From what a session showed to memories, told as a story:

find hunches → by outcome → often enough → known already? → score → word → write, in one transaction.

Everything before `write_learned` is pure or only reads. Each hunch that is left out is counted with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from recollect.core.doors import COMPOSED, SPOKEN, TAINTED
from recollect.core.drafts import Draft
from recollect.core.errors import Tombstoned
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.likeness import jaccard, overlap
from recollect.core.observed import Contribution, Promotion, SessionSeen
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Scope, Source, Status
from recollect.core.text import counted, fingerprint, words
from recollect.observer import policy
from recollect.observer.context import ACTOR, ObserverContext
from recollect.observer.events import Outcome
from recollect.observer.history import History
from recollect.observer.hunch import MAX_EVIDENCE, Evidence, Hunch, reword, signal_tag
from recollect.observer.recorder import module_of, screen_contribution
from recollect.observer.rules import find_hunches
from recollect.observer.said import forbids, named_things, telling_words
from recollect.recall.reader import Reader

_FAILED = frozenset({Outcome.FAILURE, Outcome.ABANDONED})


@dataclass(slots=True)
class Learned:
    """What one session taught: memories added, memories seen again, and what was left out and why."""

    session: str
    known: bool = False  # all of this session was known already, so nothing was done
    added: tuple[Kept, ...] = ()
    reinforced: tuple[Kept, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()


def _with_past_times(seen: Contribution, now: float) -> Contribution:
    """The same session, over by now at the latest: a clock that is ahead must not make it the newest for ever."""
    started, ended = (None if at is None else min(at, now) for at in (seen.session.started, seen.session.ended))
    if (started, ended) == (seen.session.started, seen.session.ended):
        return seen
    return replace(seen, session=replace(seen.session, started=started, ended=ended))


def promote(seen: Contribution, context: ObserverContext) -> Learned:
    """Write down what the session adds to the statistics, and what may be learnt from it. Again: changes nothing."""
    seen = _with_past_times(seen, context.writer.clock().timestamp())
    learned = Learned(seen.session.id)
    if _seen_before(seen, context):
        learned.known = True
        return learned
    found = find_hunches(seen, History(context.observed, seen))
    asked = _filter_by_session_kind(found, seen.session.kind, learned)
    valid = filter_by_outcome(asked, Outcome(seen.session.outcome), learned)
    often = filter_by_frequency(valid, learned)
    weighed = compare_with_known(often, context)
    learned.left_out["rejected or forgotten before"] += sum(one.closed for one in weighed)
    fresh = [one.hunch for one in weighed if one.known is None and not one.closed]
    scored_ = score_hunches(fresh, errs=_review_error_rates(fresh, context))
    chosen = _limit_to_session(scored_, seen, context, learned)
    told, note = reword([one.hunch for one in chosen], context, seen.session.id)
    proposals = [replace(one, hunch=hunch) for one, hunch in zip(chosen, told, strict=True)]
    known = [one for one in weighed if one.known is not None and not one.closed]
    done = write_learned(seen, proposals, known, context)
    learned.known, learned.added, learned.reinforced = not done.put, done.added, done.reinforced
    learned.left_out["known already"] += len(known) - len(done.reinforced)
    learned.notes = (note,) if note else ()
    learned.left_out = +learned.left_out
    return learned


def _seen_before(seen: Contribution, context: ObserverContext) -> bool:
    """Was exactly this told before? How long watching took does not count."""
    before = context.observed.get(seen.session.id)
    if before is None:
        return False
    # How long watching took, and how calls looked to who knew the sessions before it, is not what the session tells.
    same = replace(before.session, slow=seen.session.slow, raised=seen.session.raised)
    return replace(before, session=same, features=seen.features) == seen


def _filter_by_session_kind(found: Sequence[Hunch], kind: str, learned: Learned) -> list[Hunch]:
    """What this kind of session is asked for. What a person said counts anywhere but where nothing is learnt."""
    primary = policy.ASKED_SIGNALS.get(kind)
    kept = [one for one in found if primary is None or one.signal in primary]
    learned.left_out[f"not asked of a {kind} session"] += len(found) - len(kept)
    return kept


def filter_by_outcome(found: Sequence[Hunch], outcome: Outcome, learned: Learned) -> list[Hunch]:
    """Of a session that failed only dead ends, and what a person said."""
    if outcome not in _FAILED:
        return list(found)
    kept = [one for one in found if one.kind is Kind.DEAD_END or one.spoken]
    learned.left_out["of a session that failed"] += len(found) - len(kept)
    return kept


def filter_by_frequency(found: Sequence[Hunch], learned: Learned) -> list[Hunch]:
    """Those seen in enough sessions. Where the untainted ones suffice, only they count; what two agents of a session
    saw needs half as many."""
    kept = []
    for one in found:
        needed = one.needed
        if len(_sessions(one.clean)) >= needed:
            kept.append(replace(one, evidence=one.clean))
        elif len(_sessions(one.evidence)) >= (needed if not one.clean else policy.TAINTED_TIMES * needed):
            kept.append(one)  # with some untainted ones it waits longer: it may yet be told without taint
        else:
            learned.left_out["seen in too few sessions"] += 1
    return kept


def score_hunches(found: Sequence[Hunch], *, errs: dict[str, float | None]) -> list[Proposal]:
    """Each with its confidence, the most valuable first; what is not worth it is dropped. Taint lowers confidence."""
    proposals = []
    for one in found:
        sessions = len(_sessions(one.evidence))
        worth = policy.worth(one.signal, sessions=sessions, false_positives=errs.get(one.signal))
        if worth < policy.MIN_WORTH:
            continue
        confidence = discount_tainted(_confidence(one), one)
        held = worth * (policy.HELD_PART + policy.STRENGTH_PART * min(1.0, one.strength))
        proposals.append((not one.spoken, -held, one.key, Proposal(one, round(confidence, 3))))
    return [proposal for *_, proposal in sorted(proposals, key=lambda ranked: ranked[:3])]


def discount_tainted(confidence: float, one: Hunch) -> float:
    """The trust gate: what came after reaching outside is believed less; it is marked and reviewed besides."""
    return confidence * policy.TAINTED_FACTOR if one.taint else confidence


def _confidence(one: Hunch) -> float:
    """How often it held, with doubt; of what a person said, a guess that it holds beyond the day."""
    return policy.SPOKEN_CONFIDENCE if one.spoken else min(1.0, one.strength)


def is_shown(one: Hunch, *, sessions: int, confidence: float) -> bool:
    """Is a local fact in our words, which was seen in enough sessions, shown before anybody reviewed it?"""
    enough = sessions >= policy.SHOWN_SESSIONS and confidence >= policy.SHOWN_CONFIDENCE
    return enough and one.is_composed


def _limit_to_session(
    proposals: list[Proposal], seen: Contribution, context: ObserverContext, learned: Learned
) -> list[Proposal]:
    """As many as this kind of session may add, counting what it added when it was seen before."""
    cap = policy.MAX_PROMOTED.get(seen.session.kind, min(one for one in policy.MAX_PROMOTED.values() if one))
    left = max(0, cap - context.observed.promotions_of(seen.session.id))
    learned.left_out["more than one session may add"] += max(0, len(proposals) - left)
    return proposals[:left]


def _review_error_rates(found: Iterable[Hunch], context: ObserverContext) -> dict[str, float | None]:
    """How often reviews found each signal wrong, once there are enough of them."""
    rates: dict[str, float | None] = {}
    for name in {one.signal for one in found}:
        tags = frozenset({signal_tag(name)})
        wrong = context.reader.count(Filter(tags=tags, statuses=frozenset({Status.REJECTED})))
        right = context.reader.count(Filter(tags=tags, needs_review=False))
        rates[name] = wrong / (wrong + right) if wrong + right >= policy.MIN_REVIEWS else None
    return rates


def _sessions(evidence: Iterable[Evidence]) -> set[str]:
    return {one.session for one in evidence}


# --- known already? ------------------------------------------------------------------------------------------------


_NAMED = Lazy(r"`([^`\n]{1,200})`")
_EVIDENCE = frozenset({Kind.EPISODE, Kind.PASSAGE, Kind.REFLECTION})  # not statements of ours: nothing to reinforce


@dataclass(frozen=True, slots=True)
class Compared:
    """A hunch and the memory that says it already; `closed` when it was said and must not be said again."""

    hunch: Hunch
    known: MemoryId | None = None
    closed: bool = False


def compare_with_known(hunches: Sequence[Hunch], context: ObserverContext) -> list[Compared]:
    """Each hunch with what is known of it."""
    promoted = context.observed.promoted([key for hunch in hunches for key in hunch.keys])
    buried = context.reader.buried([hunch.text for hunch in hunches])
    known = {one.id: one for one in context.reader.get_many([one.memory for one in promoted.values()]).memories}
    weighed = []
    for hunch in hunches:
        before = [known.get(MemoryId(promoted[key].memory)) for key in hunch.keys if key in promoted]
        if hunch.text in buried:
            weighed.append(Compared(hunch, closed=True))
        elif before:
            weighed.append(_again(hunch, before))
        else:
            weighed.append(Compared(hunch, _said_before(hunch, context)))
    return weighed


def _again(hunch: Hunch, before: Sequence[Memory | None]) -> Compared:
    """A hunch of which something is told already. Where any of that was rejected or forgotten, it is not said again;
    what a larger finding took in does not count."""
    told = [one for one in before if one is None or one.status is not Status.SUPERSEDED]
    there = [one for one in told if one is not None and one.status in OPEN]
    if not there or len(there) < len(told):
        return Compared(hunch, closed=True)
    return Compared(hunch, there[0].id)


def _said_before(hunch: Hunch, context: ObserverContext) -> MemoryId | None:
    """The memory that says the same, whoever taught it."""
    for known in context.reader.similar(hunch.text, limit=policy.NEAREST_COMPARED):
        if known.kind not in _EVIDENCE and _is_same(hunch, known, context.reader):
            return known.id
    return None


def _is_same(hunch: Hunch, known: Memory, reader: Reader) -> bool:
    if hunch.spoken:
        return _is_said_again(hunch.text, known.content)
    return _is_about_the_same(hunch, known) and _says_the_same(hunch, known, reader)


def _is_said_again(said: str, known: str) -> bool:
    """Is it the same rule in other words? What one asks for and the other forbids is not."""
    mine, theirs = telling_words(said), telling_words(known)
    return (
        forbids(said) == forbids(known)
        and named_things(said) == named_things(known)
        and overlap(mine, theirs) >= policy.SAID_AGAIN_OF_FEWER
        and jaccard(mine, theirs) >= policy.SAID_AGAIN_OF_ALL
    )


def _is_about_the_same(hunch: Hunch, memory: Memory) -> bool:
    mine, theirs = _names_in(hunch.text, hunch.files), _names_in(memory.content, memory.files)
    if not mine or not theirs:
        return not mine and not theirs
    return overlap(mine, theirs) >= policy.SHARED_NAMES and jaccard(mine, theirs) > policy.SHARED_OF_ALL_NAMES


def _names_in(text: str, files: Sequence[str]) -> frozenset[str]:
    return frozenset({*(found.group(1) for found in _NAMED.finditer(text)), *files})


def _says_the_same(hunch: Hunch, memory: Memory, reader: Reader) -> bool:
    nearness = reader.nearness(hunch.text, memory.content)
    if nearness is not None:
        return nearness > policy.SAME_COSINE
    return jaccard(set(words(hunch.text)), set(words(memory.content))) > policy.SAME_OVERLAP


# --- writing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """A hunch that shall become a memory, and how sure we are."""

    hunch: Hunch
    confidence: float


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory a session added or saw again, and why."""

    memory: Memory
    why: str


@dataclass(frozen=True, slots=True)
class Written:
    """What was written; `put` is false when more of the session was known already."""

    put: bool
    added: tuple[Kept, ...] = ()
    reinforced: tuple[Kept, ...] = ()


def write_learned(
    seen: Contribution, proposals: Sequence[Proposal], known: Sequence[Compared], context: ObserverContext
) -> Written:
    """Write everything or nothing, and no secret. What another process promoted meanwhile is not promoted again."""
    seen = screen_contribution(seen)
    drafts = {one.hunch.key: context.writer.tie(draft_memory(one, seen.session)) for one in proposals}
    with context.writer.transaction():
        if not context.observed.put(seen):
            return Written(put=False)
        taken = context.observed.promoted([key for one in proposals for key in one.hunch.keys])
        added = [
            kept
            for one in proposals
            if taken.keys().isdisjoint(one.hunch.keys)
            and (kept := _add_memory(one.hunch, drafts[one.hunch.key], seen, context))
        ]
        reinforced = [kept for one in known if (kept := _reinforce(one, seen, context))]
    return Written(True, tuple(added), tuple(reinforced))


def _add_memory(hunch: Hunch, draft: Draft, seen: Contribution, context: ObserverContext) -> Kept | None:
    try:
        receipt = context.writer.remember([draft], actor=ACTOR)[0]
    except Tombstoned:
        return None  # somebody rejected these words between reading and writing
    note_promotion(hunch, receipt.id, seen.session.id, context)
    return Kept(receipt.memory, draft.why)


def _reinforce(one: Compared, seen: Contribution, context: ObserverContext) -> Kept | None:
    """Seen again: only what nothing from outside has touched counts, and a tainted memory waits for a person."""
    if one.known is None:
        return None
    memory = context.reader.get(one.known)
    clean = list(dict.fromkeys(each.session for each in one.hunch.clean))
    note_promotion(one.hunch, one.known, seen.session.id, context)
    confidence = round(_confidence(one.hunch), 3)
    sessions = len({*memory.provenance, *clean})
    if memory.attributes.get(SPOKEN):
        enough = one.hunch.spoken and sessions >= policy.SAID_IN_SESSIONS  # only who said it can settle it
    else:
        enough = is_shown(one.hunch, sessions=sessions, confidence=confidence)
    better = _better_wording(one.hunch, memory)
    done = context.writer.witness(
        one.known,
        sessions=clean,
        attributes={
            "evidence": _join_evidence(memory.attributes.get("evidence"), one.hunch),
            **({"told": fingerprint(better), "trigger": dict(one.hunch.trigger)} if better else {}),
            **({COMPOSED: one.hunch.is_composed} if better else {}),
        },
        content=better,
        files=one.hunch.files if better else None,
        confidence=None if one.hunch.spoken else confidence,
        active=enough and not memory.attributes.get(TAINTED, False),
        actor=ACTOR,
    )
    if done is None:
        return None
    if better:
        _take_in_parts(one.hunch, done, context)
    return Kept(done, _describe_evidence(one.hunch))


def _take_in_parts(hunch: Hunch, told: Memory, context: ObserverContext) -> None:
    """Memories of smaller findings that one memory now tells together are closed in its favour, unless a person has
    looked at them."""
    for one in {MemoryId(noted.memory) for noted in context.observed.promoted(hunch.keys).values()} - {told.id}:
        part = context.reader.get(one)
        if part.status in OPEN and _is_untouched(part) and set(part.files) <= set(hunch.files):
            context.writer.supersede(
                one, by=told, until=context.writer.now(), confidence=part.confidence, why="told in one", actor=ACTOR
            )


def _is_untouched(memory: Memory) -> bool:
    """Is it ours, in the words we gave it, and has nobody decided about it?"""
    ours = memory.source is Source.OBSERVER_INFERRED and memory.needs_review
    return ours and memory.attributes.get("told") == memory.fingerprint


def _better_wording(hunch: Hunch, memory: Memory) -> str | None:
    """The sentence as more sessions tell it, for a memory of ours that nobody has touched and no model has worded."""
    told = memory.attributes.get("told")
    ours = _is_untouched(memory)
    whole = set(memory.files) <= set(hunch.files)  # a session that touched a part of a group tells less than is known
    return hunch.text if ours and whole and not hunch.taint and fingerprint(hunch.text) != told else None


def note_promotion(hunch: Hunch, memory: MemoryId, session: str, context: ObserverContext) -> None:
    """Write down that a finding, and every smaller one it holds, is told by a memory. What was noted before stays."""
    at = context.writer.now().timestamp()
    noted = context.observed.promoted(hunch.keys)
    fresh = [Promotion(key=key, memory=memory, session=session, at=at) for key in hunch.keys if key not in noted]
    context.observed.note_promotions(fresh)


def draft_memory(one: Proposal, session: SessionSeen) -> Draft:
    """The draft of a hunch that a session completed. What a person said is theirs, unless part of it came from
    outside; where their words leave doubt that it holds beyond the day, it waits to be confirmed. A local fact that
    was seen in enough sessions is shown at once, and can be reviewed."""
    hunch, started = one.hunch, session.started
    is_theirs = hunch.spoken and not hunch.taint
    settled = is_theirs and hunch.is_sure
    sessions = tuple(dict.fromkeys(each.session for each in hunch.evidence))
    shown = settled or is_shown(hunch, sessions=len(sessions), confidence=one.confidence)
    return Draft(
        hunch.text,
        kind=hunch.kind,
        confidence=one.confidence,
        source=Source.USER_TAUGHT if is_theirs else Source.OBSERVER_INFERRED,
        status=Status.ACTIVE if shown else Status.CANDIDATE,
        scope=Scope.MODULE if hunch.files else Scope.GLOBAL,
        tags=(signal_tag(hunch.signal),),
        files=hunch.files,
        modules=tuple(dict.fromkeys(module_of(path) for path in hunch.files)),
        event_at=None if started is None else datetime.fromtimestamp(started, UTC),
        session=session.id,
        provenance=sessions,
        needs_review=not settled,
        payload=hunch.payload,
        attributes={
            "signal": hunch.signal,
            "evidence": hunch.evidence_json(),
            TAINTED: bool(hunch.taint),
            SPOKEN: is_theirs,
            COMPOSED: hunch.is_composed,
            **({"taint": hunch.taint} if hunch.taint else {}),
            "told": fingerprint(hunch.text),
            "trigger": dict(hunch.trigger),
        },
        skip_conflict_check=not hunch.spoken,
        why=_describe_evidence(hunch),
    )


def _describe_evidence(hunch: Hunch) -> str:
    return f"seen in {counted(len({each.session for each in hunch.evidence}), 'session')}"


def _join_evidence(known: Any, hunch: Hunch) -> list[dict[str, Any]]:
    """The evidence of a memory with that of a hunch, each session once."""
    before = {one["session"]: one for one in known or () if isinstance(one, dict) and "session" in one}
    clean = {one.session: {"session": one.session, "steps": list(one.steps)} for one in hunch.clean}
    return list({**before, **clean}.values())[-MAX_EVIDENCE:]
