"""Saving facts: two levels of sameness, conflicts closed by superseding, every fact citing its episodes.

All of it runs inside the caller's transaction. Whatever was rejected stays rejected, also in other words; a fact drawn
twice from the same episodes is the same fact, whatever became of it; evidence is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from recollect.core import doors
from recollect.core.drafts import Draft
from recollect.core.errors import Tombstoned
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.likeness import jaccard, overlap
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Relation, Source, Status
from recollect.core.states import STATE_OF
from recollect.core.text import fingerprint, words
from recollect.dialogue.context import CANDIDATES, LOST, REJECTED_SAME, SAME, DialogueContext
from recollect.dialogue.extract import LASTING, Extracted
from recollect.privacy.scan import redact
from recollect.remember.contradiction import WORDING, Judge, score_wording

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
ACTOR = "consolidation"
_EVERY = Filter(kinds=frozenset({Kind.FACT}), statuses=frozenset(Status))


@dataclass(slots=True)
class Saved:
    """What became of some facts."""

    added: list[MemoryId] = field(default_factory=list)
    known: list[MemoryId] = field(default_factory=list)  # said again
    closed: list[MemoryId] = field(default_factory=list)  # superseded by one of these
    refused: int = 0  # rejected or forgotten before

    def plus(self, other: Saved) -> Saved:
        return Saved(
            self.added + other.added,
            self.known + other.known,
            self.closed + other.closed,
            self.refused + other.refused,
        )


def save_facts(
    facts: Sequence[Extracted],
    room: DialogueContext,
    *,
    session: str | None,
    user: str | None = None,
    replaces: Mapping[str, Sequence[MemoryId]] | None = None,
    source: Source = Source.EXTRACTED,
) -> Saved:
    """Save facts of one user, or of nobody in particular, in the order of their events. They are compared with that
    user's facts only. `replaces` names, by content, what a judge says a fact closes."""
    saved = Saved()
    for fact in _merge_same_words(facts):
        _save(fact, room, session, user, saved, (replaces or {}).get(fact.content), source)
    return saved


def find_candidates(content: str, room: DialogueContext, *, user: str | None, limit: int = CANDIDATES) -> list[Memory]:
    """Stored facts of a user, whatever became of them, that share the most words with a statement. What is nobody's in
    particular is not theirs: a user's word neither closes it nor becomes its evidence."""
    found = room.reader.sharing_words(content, replace(_EVERY, user=user), limit=limit)
    return [fact for fact in found if fact.user == user]


def find_rivals(fact: Extracted, room: DialogueContext, *, user: str | None) -> list[Memory]:
    """Open facts that a fact may close: those that fill the same slot, and those it disagrees with in so many words."""
    slotted = _in_slot(fact, room, user)
    known = {one.id for one in slotted}
    near = [
        candidate
        for candidate in find_candidates(fact.content, room, user=user)
        if candidate.status in OPEN and candidate.id not in known
    ]
    alike = [
        one
        for one in near
        if _same_speaker(one.content, fact.content) and SPOKEN.judge(fact.content, one.content).excludes
    ]
    return [*slotted, *alike]


def _merge_same_words(facts: Sequence[Extracted]) -> list[Extracted]:
    """The first level: the same words in one batch are one fact with the episodes of all of them."""
    found: dict[str, Extracted] = {}
    for fact in facts:
        print = fingerprint(fact.content)
        if print in found:
            episodes = tuple(dict.fromkeys((*found[print].episodes, *fact.episodes)))
            found[print] = replace(found[print], episodes=episodes)
        else:
            found[print] = fact
    return sorted(found.values(), key=lambda fact: fact.event_at or _LONG_AGO)


def _save(
    fact: Extracted,
    room: DialogueContext,
    session: str | None,
    user: str | None,
    saved: Saved,
    judged: Sequence[MemoryId] | None,
    source: Source,
) -> None:
    near = find_candidates(fact.content, room, user=user)
    twin = _twin(fact, near, room)
    if twin is not None:
        if twin.status is Status.REJECTED:
            saved.refused += 1
        elif twin.status in OPEN:
            room.writer.cite(twin.id, fact.episodes, session=session, actor=ACTOR)
            saved.known.append(twin.id)
        else:
            saved.known.append(twin.id)
        return
    closes = _find_closed(fact, room, user, judged)
    try:
        added = _add(fact, room, session, user, source)
    except Tombstoned:
        saved.refused += 1
        return
    saved.added.append(added.id)
    saved.closed += [closed for old in closes if (closed := _close(old, added, room)) is not None]


def _twin(fact: Extracted, near: Sequence[Memory], room: DialogueContext) -> Memory | None:
    """The stored fact that a new one repeats: an open one that says the same, or any drawn from the same episodes."""
    for one in near:
        alike = says_the_same(fact.content, one.content)
        if alike and one.status in OPEN and not _fills_again(fact, one):
            return one
        if alike or (
            one.status is Status.REJECTED and says_the_same(fact.content, one.content, at_least=REJECTED_SAME)
        ):
            evidence = {
                link_entities.target
                for link_entities in room.reader.links_of(one.id)
                if link_entities.relation is Relation.DERIVED_FROM
            }
            if evidence & set(fact.episodes):
                return one
    return None


def _fills_again(fact: Extracted, known: Memory) -> bool:
    """Does it put something else into the same slot? "My cat is Tom" and "My cat is Tim" are alike, and differ."""
    return (
        bool(fact.slot) and known.attributes.get("slot") == fact.slot and fingerprint(fact.content) != known.fingerprint
    )


def _find_closed(
    fact: Extracted, room: DialogueContext, user: str | None, judged: Sequence[MemoryId] | None
) -> list[Memory]:
    """The open facts that this one and they cannot both hold. A judge's word counts; without one, the slot and the
    plain disagreement of two lasting statements do, and so does a running total. Two events close nothing."""
    if judged is not None:
        named = room.reader.get_many(list(judged)).memories
        return [one for one in named if one.status in OPEN and one.user == user]
    return [
        one
        for one in find_rivals(fact, room, user=user)
        if (fact.slot in (one.attributes.get("slot"), one.attributes.get(STATE_OF)) and fact.slot != "")
        or (fact.sort in LASTING and _sort(one) in LASTING)
        or counts_on(fact.content, one.content)
    ]


def _sort(memory: Memory) -> str:
    return next((tag for tag in memory.tags if tag in LASTING), "")


def _in_slot(fact: Extracted, room: DialogueContext, user: str | None) -> list[Memory]:
    if not fact.slot:
        return []
    stated = room.reader.having(STATE_OF, [fact.slot])  # told otherwise than in a talk
    found = {one.id: one for one in (*room.reader.having("slot", [fact.slot]), *stated)}
    return [one for one in found.values() if one.status in OPEN and one.user == user]


def _same_speaker(one: str, other: str) -> bool:
    return one.partition(":")[0] == other.partition(":")[0]


def _add(fact: Extracted, room: DialogueContext, session: str | None, user: str | None, source: Source) -> Memory:
    mentions = room.finders.find(redact(fact.content).text)
    entities = room.link([mentions])[0]
    draft = Draft(
        fact.content,
        kind=Kind.FACT,
        source=source,
        confidence=fact.confidence,
        session=session,
        user=user,
        event_at=fact.event_at,
        tags=(fact.sort,),
        entities=entities,
        derived_from=fact.episodes,
        attributes={**({"slot": fact.slot} if fact.slot else {}), **({doors.SPOKEN: True} if fact.spoken else {})},
        why="drawn from what was said",
        skip_conflict_check=True,
    )
    return room.writer.remember([draft], actor=ACTOR)[0].memory


def _close(old: Memory, new: Memory, room: DialogueContext) -> MemoryId | None:
    """Of two facts that cannot both hold, the later one stays, in whichever order they arrived. A person's word stays
    beside what is only told of one."""
    stays, goes = (new, old) if new.happened_at >= old.happened_at else (old, new)
    if not room.writer.may_supersede(goes, by=stays):
        return None
    if room.reader.get(goes.id).status in OPEN:
        because = "another fact took its place"
        room.writer.supersede(goes.id, by=stays, until=stays.happened_at, confidence=LOST, why=because, actor=ACTOR)
    return goes.id


# --- do two things said in conversation say the same, or exclude each other? ----------------------------------------

_FILLER = frozenset(
    "a an the i i'm im me my mine we our us you your he she it its they them their this that these those is are "
    "was were be been being am do does did has have had will would can could should shall may might must to of in "
    "on at for with by from and or but so as if then than there here just really very also too now actually about "
    "into up out s t m ve d ll re user said".split()
)


@lru_cache(maxsize=4096)
def telling_words(text: str) -> frozenset[str]:
    """The words of a statement that carry it, without endings that only grammar needs."""
    found = {_stem(word) for word in words(text) if word not in _FILLER}
    return frozenset(found or words(text))


def likeness(one: str, other: str) -> float:
    """The share of telling words that two statements have in common."""
    return jaccard(telling_words(one), telling_words(other))


def says_the_same(one: str, other: str, *, at_least: float = SAME) -> bool:
    """Alike enough, and not in conflict: a statement with another number says something else."""
    return (
        likeness(one, other) >= at_least and _numbers(one) == _numbers(other) and not WORDING.judge(one, other).excludes
    )


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word.isdigit())


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


# --- running totals ------------------------------------------------------------------------------------------------

_SPAN = (
    r"for (?:about |around |over |almost |nearly )?(?:\d{1,4}|an?|two|three|four|five|six|seven|eight|nine|ten|several)"
)
_GROWS = Lazy(
    r"\b(?:so far|by now|now|already|currently|in total|total of|total|to date|as of|brings (?:my|our|the)|up to|since|"
    + _SPAN
    + r" (?:day|week|month|year)s?)\b"
)
_PERFECT = Lazy(r"\b(?:i've|i’ve|we've|we’ve|i have|we have|i own|i lead|my \w+ (?:is|are|has|have))\b")
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty "
    "fifty first second third fourth fifth sixth seventh eighth ninth tenth once twice".split()
)
_CUES = frozenset(
    "far already currently total date since count brings about around over almost nearly day days week weeks month "
    "months year years hour hours time times recently lately new ve been got get have had just some few all".split()
)
_MAX_WORDS = 35  # words; a longer statement counts several things
_LOOK_AHEAD = 3  # words behind a number that may say what is counted
_MIN_SHARED = 2  # shared telling words, where both have as many
_SHARE = 0.4  # of the shorter statement's telling words


def read_numbers(text: str) -> frozenset[str]:
    """The numbers a statement holds, in digits or in words; what a number word is part of does not count."""
    said = words(text)
    return frozenset(word for word in said if word in _NUMBERS or word[0].isdigit())


def outdoes(new: str, old: str) -> bool:
    """Is `new` a running total of what `old` counted, with another number?

    A running total holds a number and says that it still grows. What is counted stands behind the number, and enough of
    the words around are shared.
    """
    if _GROWS.search(new) is None or (_GROWS.search(old) is None and _PERFECT.search(old) is None):
        return False
    if max(len(words(new)), len(words(old))) > _MAX_WORDS:
        return False
    fresh, gone = read_numbers(new), read_numbers(old)
    if not fresh or not gone or fresh & gone or not _counted_things(new) & _counted_things(old):
        return False
    mine, theirs = _topic(new), _topic(old)
    fewest = min(len(mine), len(theirs))
    return len(mine & theirs) >= max(1, min(_MIN_SHARED, fewest)) and overlap(mine, theirs) >= _SHARE


def counts_on(one: str, other: str) -> bool:
    """Do two statements count the same things? Which of them is the later is seen when one is closed."""
    return outdoes(one, other) or outdoes(other, one)


def _score_spoken(new: str, old: str) -> tuple[float, tuple[str, ...]]:
    score, reasons = score_wording(new, old)
    return (1.0, ("another count of the same things",)) if not score and counts_on(new, old) else (score, reasons)


SPOKEN = Judge("spoken", _score_spoken, warn=1.0, reject=1.0)


def _counted_things(text: str) -> frozenset[str]:
    """What stands behind the numbers of a statement: the things it counts."""
    said = words(text)
    places = [place for place, word in enumerate(said) if word in _NUMBERS or word[0].isdigit()]
    behind = {word for place in places for word in said[place + 1 : place + 1 + _LOOK_AHEAD]}
    return frozenset(stem for word in behind if len(word) > 2 for stem in telling_words(word))


def _topic(text: str) -> frozenset[str]:
    return frozenset(word for word in telling_words(text) if word not in _NUMBERS | _CUES and not word[0].isdigit())
