"""Fourth step of remembering: one transaction with rows, keyword entries, links and log. All or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.core.doors import CORRECTS, MARKS, PROPOSES
from recollect.core.drafts import Receipt
from recollect.core.errors import InvalidField, MemoryNotFound, MemoryNotOpen, RecollectError, Tombstoned, name_place
from recollect.core.forms import whole
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.links import Link
from recollect.core.log import Action
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Relation, Source, Status
from recollect.remember.act import ActContext
from recollect.remember.acts import memory_gives_way, move_confidence
from recollect.remember.agents import is_persons, may_bury
from recollect.remember.changes import Changes
from recollect.remember.resolve import SAID_SO, Resolution
from recollect.remember.rights import may_replace
from recollect.remember.rivals import settle_rivals
from recollect.store.store import Store
from recollect.store.tombstones import tombstone_key

_SURE = 1.0  # a relation somebody stated
_LIKELY = 0.8  # a relation we worked out


@dataclass(frozen=True, slots=True)
class Resolved:
    """A shaped memory with its resolution: all that `commit` needs to know."""

    memory: Memory
    resolution: Resolution
    redacted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    derived_from: tuple[MemoryId, ...] = ()
    override_tombstone: bool = False
    corrects: bool = False
    why: str = ""


def commit(resolved: Sequence[Resolved], store: Store, act: ActContext, *, durable: bool) -> list[Receipt]:
    """Write everything, once. What others wrote since the drafts were resolved is seen here, under the lock."""
    with store.engine.write(durable=durable):
        writing = _Writing(store, act, resolved)
        receipts = []
        for index, each in enumerate(resolved):
            try:
                receipts.append(writing.one(each))
            except RecollectError as error:
                name_place(error, index, len(resolved))
                raise
        writing.finish()
    return receipts if durable else [replace(receipt, queued=True) for receipt in receipts]


class _Writing:
    """The state of one transaction: what is to be inserted, and what the log will say."""

    def __init__(self, store: Store, act: ActContext, resolved: Sequence[Resolved]) -> None:
        self._store = store
        self._act = act
        self._now = act.at
        self._changes = Changes(store, act)
        prints = [each.memory.fingerprint for each in resolved]
        self._known = store.memories.by_fingerprint(prints)
        keys = [key for each in resolved for key in tombstone_keys(each.memory)]
        self._tombs = store.tombstones.find(keys)
        self._new: dict[MemoryId, Memory] = {}
        self._links: list[tuple[Action, Link]] = []

    def one(self, each: Resolved) -> Receipt:
        memory = each.memory
        self._pass_tombstone(each)
        evidenced = memory.kind == Kind.EPISODE or bool(each.derived_from)
        if twin := self._twin(memory, own=evidenced):
            merged = self._merge(twin, memory) if twin.user == memory.user else twin
            return Receipt(twin.id, "same", merged, (twin.id,), each.redacted, each.notes)
        memory, notes = self._settle(memory, each)
        self._new[memory.id] = memory
        self._known.setdefault(memory.fingerprint, []).append(memory)
        because = each.resolution.because
        why = each.why or (f"{each.resolution.verdict}: {because}" if because else "")
        self._changes.note("add", memory.id, why, after=whole(memory))
        for source in each.derived_from:
            self._link("add", memory.id, Relation.DERIVED_FROM, source, _SURE, automatic=False)
        verdict = each.resolution.verdict if each.resolution.verdict != "same" else "new"
        if PROPOSES in memory.attributes:
            verdict = "contradicts"
        return Receipt(memory.id, verdict, memory, each.resolution.against, each.redacted, (*each.notes, *notes))

    def finish(self) -> None:
        if self._new:
            self._store.memories.add(list(self._new.values()))
        for action, link in self._links:
            self._changes.put_links(action, [link])
        self._changes.write()

    def _pass_tombstone(self, each: Resolved) -> None:
        keys = tombstone_keys(each.memory)
        tomb = next((self._tombs[key] for key in keys if key in self._tombs), None)
        if tomb is None or (each.memory.kind == Kind.EPISODE and tomb.reason != "forgotten"):
            return  # a rejected statement may still be said: that somebody said it is evidence, not a claim of ours
        if not each.override_tombstone:
            raise Tombstoned(reason=tomb.reason, since=tomb.at.date().isoformat())
        if tomb.fingerprint != keys[0]:
            return  # it holds for everybody, and one user's word does not lift that
        self._changes.lift("edit", tomb.fingerprint)
        self._changes.note("edit", None, "said again on purpose", about="note")

    def _twin(self, memory: Memory, *, own: bool) -> Memory | None:
        """The same statement of the same standing, the user's own first, then one of nobody in particular; `own`: what
        a user said, and what was drawn from it, stays theirs. What was said twice was said twice, unless it is the same
        moment."""
        alike = [one for one in self._known.get(memory.fingerprint, []) if standing(one) == standing(memory)]
        for user in (memory.user,) if own else (memory.user, None):
            for known in alike:
                if known.user == user:
                    return known
        return None

    def _merge(self, known: Memory, said: Memory) -> Memory:
        """The same statement once more: what it adds is added. What a person says after an agent is the person's from
        now on; what an agent says after a person leaves the person's as it is, and no statement of its own surer."""
        if is_persons(known) and not self._act.is_persons:
            ours = self._act.door.is_ours  # in which sessions it was seen is not an agent's to say
            merged = known.having(provenance=_union(known.provenance, said.provenance)) if ours else known
        else:
            merged = known.having(
                tags=_union(known.tags, said.tags),
                files=_union(known.files, said.files),
                modules=_union(known.modules, said.modules),
                provenance=_union(known.provenance, said.provenance),
            )
        if self._act.is_persons and said.source is Source.USER_TAUGHT:
            merged = merged.having(
                source=Source.USER_TAUGHT,
                attributes={name: value for name, value in known.attributes.items() if name not in MARKS},
                decay=known.decay if said.decay is None else said.decay,
            )
        if self._act.is_persons and said.source is not Source.OBSERVER_INFERRED:
            merged = merged.having(
                confidence=max(known.confidence, said.confidence),
                status=Status.ACTIVE if known.status is Status.CANDIDATE else known.status,
                needs_review=False,
            )
        if merged == known:
            return known
        merged = merged.having(updated_at=self._now, revision=known.revision + 1)
        self._replace("merge", known, merged, "said again")
        alike = self._known[known.fingerprint]
        self._known[known.fingerprint] = [merged if one.id == known.id else one for one in alike]
        return merged

    def _replace(self, action: Action, before: Memory, after: Memory, why: str) -> None:
        """Change a memory that is stored, or about to be."""
        if before.id in self._new:
            self._new[before.id] = after
            self._changes.updated(action, before, after, why)
        else:
            self._changes.update(action, before, after, why)

    def _settle(self, memory: Memory, each: Resolved) -> tuple[Memory, tuple[str, ...]]:
        """Carry out what the verdict means for the other side, and for the new memory itself."""
        match each.resolution.verdict:
            case "supersedes":
                if kept := self._refused(memory, each):
                    return self._propose(memory, kept, each)
                for old in each.resolution.against:
                    self._supersede(memory, old, each)
                return memory, ()
            case "contradicts":
                for old in each.resolution.against:
                    known = self._new.get(old) or self._open(old, stated=False, user=memory.user)
                    if known is not None and known.user == memory.user:  # what holds for all is not one user's to doubt
                        self._link("add", memory.id, Relation.CONFLICTS_WITH, old, _LIKELY, automatic=True)
                note = f"contradicts {each.resolution.against[0]}: {each.resolution.because}"
                return memory.having(needs_review=True), (note,)
            case _:
                return memory, ()

    def _refused(self, memory: Memory, each: Resolved) -> Memory | None:
        """The person's memory that this act may not close, if there is one."""
        stated = each.resolution.because == SAID_SO
        for old in each.resolution.against:
            known = self._new.get(old) or self._open(old, stated=stated, user=memory.user)
            gives_way = known is None or memory_gives_way(known, memory, self._act)
            if known is not None and not (gives_way and may_replace(self._store, known, memory)):
                return known
        return None

    def _propose(self, memory: Memory, kept: Memory, each: Resolved) -> tuple[Memory, tuple[str, ...]]:
        """An agent's better statement of what a person's memory says: a candidate, until a person confirms it."""
        self._link("add", memory.id, Relation.CONFLICTS_WITH, kept.id, _LIKELY, automatic=True)
        marks = {PROPOSES: kept.id, **({CORRECTS: True} if each.corrects else {})}
        proposal = memory.having(status=Status.CANDIDATE, needs_review=True, attributes={**memory.attributes, **marks})
        note = f"proposed: {kept.id} is a person's and stays until a person confirms this (`recollect review`)"
        return proposal, (note,)

    def _supersede(self, memory: Memory, old: MemoryId, each: Resolved) -> None:
        stated = each.resolution.because == SAID_SO
        known = self._new.get(old) or self._open(old, stated=stated, user=memory.user)
        if known is None:
            return
        if known.id not in self._new:
            settle_rivals(self._store, known, self._act, self._changes)
        sure = _SURE if stated else _LIKELY
        link = Link(memory.id, Relation.SUPERSEDES, old, None, sure, not stated, self._now)
        closed = known.having(
            status=Status.SUPERSEDED,
            superseded_by=memory.id,
            valid_until=memory.happened_at,
            confidence=move_confidence(known.confidence, link, source=memory.confidence, change=memory.confidence),
            updated_at=self._now,
            revision=known.revision + 1,
        )
        self._replace("supersede", known, closed, each.why or f"superseded by {memory.id}")
        self._links.append(("supersede", link))
        if each.corrects and known.fingerprint != memory.fingerprint and may_bury(self._store, known, self._act):
            self._changes.bury("supersede", [tombstone_key(known.fingerprint, known.user)], "corrected")

    def _open(self, id: MemoryId, *, stated: bool, user: str | None) -> Memory | None:
        """The memory to close. One that vanished or closed meanwhile matters only to someone who named it; nobody may
        name what belongs to another user, nor one user what belongs to everybody."""
        try:
            known = self._store.memories.get(id)
        except MemoryNotFound:
            if stated:
                raise
            return None
        if stated and known.user != user:
            if known.user is not None:
                raise MemoryNotFound(id)
            raise InvalidField("supersedes", f"{id} belongs to everybody; one user's memory cannot take its place")
        if known.status not in OPEN:
            if stated:
                raise MemoryNotOpen(id, known.status)
            return None
        return known

    def _link(
        self, action: Action, source: MemoryId, relation: Relation, target: MemoryId, sure: float, *, automatic: bool
    ) -> None:
        self._links.append((action, Link(source, relation, target, None, sure, automatic, self._now)))


def tombstone_keys(memory: Memory) -> list[str]:
    """What a tombstone on a statement may stand under: the user's own first, then that for everybody."""
    return list(dict.fromkeys([tombstone_key(memory.fingerprint, memory.user), memory.fingerprint]))


def standing(memory: Memory) -> tuple[object, ...]:
    """What two statements with the same words must share to be one memory."""
    # A record that is kept under a key is the same as no other, whatever it says.
    standing = (memory.kind, memory.scope, memory.visibility, memory.team, memory.attributes.get("record"))
    if memory.kind != Kind.EPISODE:
        return standing
    return (*standing, memory.session, memory.source_role, memory.event_at, memory.attributes.get("message"))


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
