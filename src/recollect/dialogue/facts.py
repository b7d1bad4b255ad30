"""Saving facts: two levels of sameness, conflicts closed by superseding, every fact citing its episodes.

All of it runs inside the caller's transaction. Whatever was rejected stays rejected, also in other words; a fact drawn
twice from the same episodes is the same fact, whatever became of it; evidence is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from recollect.core.drafts import Draft
from recollect.core.errors import Tombstoned
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.ledger import Change
from recollect.core.links import Link
from recollect.core.query import Filter, Query
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Relation, Source, Status
from recollect.core.text import fingerprint
from recollect.dialogue.extract import Extracted
from recollect.dialogue.likeness import SPOKEN, counts_on, says_the_same
from recollect.dialogue.policy import CANDIDATES, LOST, REJECTED_SAME
from recollect.dialogue.room import Room
from recollect.dialogue.statements import LASTING
from recollect.entities.resolve import link
from recollect.privacy.scan import redact
from recollect.recall.read import read
from recollect.recall.recipes import PLAIN_COLUMNS
from recollect.remember import acts
from recollect.remember.remember import remember

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


def save(
    facts: Sequence[Extracted],
    room: Room,
    *,
    session: str | None,
    replaces: Mapping[str, Sequence[MemoryId]] | None = None,
    source: Source = Source.MCP_AUTO,
) -> Saved:
    """Save facts in the order of their events. `replaces` names, by content, what a judge says a fact closes."""
    saved = Saved()
    for fact in _once(facts):
        _save(fact, room, session, saved, (replaces or {}).get(fact.content), source)
    return saved


def candidates(content: str, room: Room, *, limit: int = CANDIDATES) -> list[Memory]:
    """Stored facts, whatever became of them, that share the most words with a statement."""
    store = room.store
    best = store.words.matching(read(Query(content)), _EVERY, weights=PLAIN_COLUMNS, limit=limit)
    return list(store.memories.get_many([one.id for one in best]).memories)


def rivals(fact: Extracted, room: Room) -> list[Memory]:
    """Open facts that a fact may close: those that fill the same slot, and those it disagrees with in so many words."""
    slotted = list(_in_slot(fact, room))
    known = {one.id for one in slotted}
    near = [one for one in candidates(fact.content, room) if one.status in OPEN and one.id not in known]
    alike = [
        one
        for one in near
        if _same_speaker(one.content, fact.content) and SPOKEN.judge(fact.content, one.content).excludes
    ]
    return [*slotted, *alike]


def _once(facts: Sequence[Extracted]) -> list[Extracted]:
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
    room: Room,
    session: str | None,
    saved: Saved,
    judged: Sequence[MemoryId] | None,
    source: Source,
) -> None:
    near = candidates(fact.content, room)
    twin = _twin(fact, near, room)
    if twin is not None:
        if twin.status is Status.REJECTED:
            saved.refused += 1
        elif twin.status in OPEN:
            _said_again(twin, fact, room, session)
            saved.known.append(twin.id)
        else:
            saved.known.append(twin.id)
        return
    closes = _closing(fact, room, judged)
    try:
        added = _add(fact, room, session, source)
    except Tombstoned:
        saved.refused += 1
        return
    saved.added.append(added.id)
    for old in closes:
        saved.closed.append(_close(old, added, room))


def _twin(fact: Extracted, near: Sequence[Memory], room: Room) -> Memory | None:
    """The stored fact that a new one repeats: an open one that says the same, or any drawn from the same episodes."""
    for one in near:
        alike = says_the_same(fact.content, one.content)
        if alike and one.status in OPEN and not _fills_anew(fact, one):
            return one
        if alike or (
            one.status is Status.REJECTED and says_the_same(fact.content, one.content, at_least=REJECTED_SAME)
        ):
            evidence = {
                link.target for link in room.store.links.from_(one.id) if link.relation is Relation.DERIVED_FROM
            }
            if evidence & set(fact.episodes):
                return one
    return None


def _fills_anew(fact: Extracted, known: Memory) -> bool:
    """Does it put something else into the same slot? "My cat is Tom" and "My cat is Tim" are alike, and differ."""
    return (
        bool(fact.slot) and known.attributes.get("slot") == fact.slot and fingerprint(fact.content) != known.fingerprint
    )


def _closing(fact: Extracted, room: Room, judged: Sequence[MemoryId] | None) -> list[Memory]:
    """The open facts that this one and they cannot both hold. A judge's word counts; without one, the slot and the
    plain disagreement of two lasting statements do, and so does a running total. Two events close nothing."""
    if judged is not None:
        return [one for one in room.store.memories.get_many(list(judged)).memories if one.status in OPEN]
    return [
        one
        for one in rivals(fact, room)
        if one.attributes.get("slot") == fact.slot != ""
        or (fact.sort in LASTING and _sort(one) in LASTING)
        or counts_on(fact.content, one.content)
    ]


def _sort(memory: Memory) -> str:
    return next((tag for tag in memory.tags if tag in LASTING), "")


def _in_slot(fact: Extracted, room: Room) -> list[Memory]:
    if not fact.slot:
        return []
    return [one for one in room.store.memories.having("slot", [fact.slot]) if one.status in OPEN]


def _same_speaker(one: str, other: str) -> bool:
    return one.partition(":")[0] == other.partition(":")[0]


def _add(fact: Extracted, room: Room, session: str | None, source: Source) -> Memory:
    now = room.now()
    mentions = room.finders.find(redact(fact.content).text)
    entities = link([mentions], room.store, now=now, identity=room.identity)[0]
    draft = Draft(
        fact.content,
        kind=Kind.FACT,
        source=source,
        confidence=fact.confidence,
        session=session,
        event_at=fact.event_at,
        tags=(fact.sort,),
        entities=entities,
        derived_from=fact.episodes,
        attributes={"slot": fact.slot} if fact.slot else {},
        why="drawn from what was said",
        skip_conflict_check=True,
    )
    receipts = remember(
        [draft],
        room.store,
        now=now,
        identity=room.identity,
        actor=ACTOR,
    )
    return receipts[0].memory


def _said_again(known: Memory, fact: Extracted, room: Room, session: str | None) -> None:
    """A repeated fact gains its new evidence, and is as fresh as its last saying."""
    store, hand = room.store, room.hand("said again", actor=ACTOR)
    cited = {link.target for link in store.links.from_(known.id)}
    new = [episode for episode in fact.episodes if episode not in cited]
    if not new:
        return
    store.links.put([Link(known.id, Relation.DERIVED_FROM, id, None, 1.0, False, hand.at) for id in new])
    provenance = tuple(dict.fromkeys((*known.provenance, *([session] if session else []))))
    again = known.having(
        provenance=provenance,
        accessed_at=max(known.accessed_at, hand.at),
        updated_at=hand.at,
        revision=known.revision + 1,
    )
    store.memories.update(known, again)
    change = Change(
        "merge", known.id, "said again", {"provenance": list(known.provenance)}, {"provenance": list(provenance)}
    )
    store.ledger.append([change], act=hand.act, actor=hand.actor, at=hand.at)


def _close(old: Memory, new: Memory, room: Room) -> MemoryId:
    """Of two facts that cannot both hold, the later one stays, in whichever order they arrived."""
    hand = room.hand("another fact took its place", actor=ACTOR)
    stays, goes = (new, old) if new.happened_at >= old.happened_at else (old, new)
    current = room.store.memories.get(goes.id)
    if current.status not in OPEN:
        return goes.id
    acts.supersede(room.store, goes.id, hand, by=stays, until=stays.happened_at, confidence=LOST)
    return goes.id
