"""Taking whole memories in from an export or another store: new, same, older, changed, conflicting or refused.

Each batch is one transaction, rows and log together. What is there already is never overwritten by what is not proven
to be this person's, and what was rejected or forgotten here stays away. Taking the same thing in twice changes nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from recollect.core.drafts import Draft, check_types
from recollect.core.entities import Entity
from recollect.core.errors import InvalidInput, RecollectError
from recollect.core.fields import BY_NAME, FIELDS
from recollect.core.forms import whole
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind, Kinds
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.core.text import fingerprint, require_storable
from recollect.remember.act import ActContext
from recollect.remember.agents import is_persons, limit_stranger
from recollect.remember.changes import Changes
from recollect.remember.commit import standing, tombstone_keys
from recollect.remember.erased_here import EntitySupport, ErasedHere, as_strangers_mark
from recollect.remember.screen import require_readable, screen_memory
from recollect.remember.shape import shape
from recollect.store.contents import Contents, Kept
from recollect.store.port import Row
from recollect.store.store import Store
from recollect.store.tombstones import ERASED_ELSEWHERE, ERASED_REASON, Tombstone

Verdict: TypeAlias = Literal["new", "same", "older", "changed", "conflicting", "refused", "invalid"]
_DETAILS = 200  # examples kept of each verdict; all are counted
_WORTH_TELLING = frozenset({"changed", "conflicting", "refused", "invalid"})
# Being read is no change, and vectors are made again.
_QUIET = frozenset({"project", "embedding_model", *(one.name for one in FIELDS if one.usage)})
_MOST_COUNT = 2**40
_FOR_GOOD = ("forgotten", ERASED_REASON)
_REFUSED_ENTITIES = "entities that were erased here, or that only refused memories mention"
_NEVER = datetime(9999, 12, 31, tzinfo=UTC)  # what is proven keeps its times, whatever another machine's clock said


@dataclass(frozen=True, slots=True)
class MergedItem:
    """What became of one thing, and why."""

    verdict: Verdict
    what: str  # memory, link, tombstone, entity
    id: str
    why: str
    place: str = ""  # where it stands in what was read


@dataclass(slots=True)
class MergeCount:
    """What became of everything so far."""

    counts: Counter[Verdict] = field(default_factory=Counter)  # of memories
    links: int = 0
    tombstones: int = 0
    entities: int = 0
    redacted: int = 0  # memories a secret was taken out of
    items: list[MergedItem] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # what was not carried over, by what it is

    def add(self, item: MergedItem) -> None:
        if item.what == "memory":
            self.counts[item.verdict] += 1
        if item.verdict in _WORTH_TELLING and sum(one.verdict == item.verdict for one in self.items) < _DETAILS:
            self.items.append(item)


Incoming: TypeAlias = "tuple[str, Kept]"  # where it stands, and what it says


class Merge:
    """One import into one project. `trusted`: it is proven, or a person says, that this is theirs. `fresh`: the project
    held nothing before, so what comes in is put exactly where it was. `retold`: the log comes along as it is, and
    nothing is noted of single rows."""

    def __init__(
        self,
        store: Store,
        act: Callable[[], ActContext],
        *,
        why: str,
        trusted: bool,
        fresh: bool,
        retold: bool = False,
        dry_run: bool = False,
        replica: str = "",
    ) -> None:
        self._store = store
        self._contents = Contents(store)
        self._act = act
        self._why = why
        self.trusted = trusted
        self._fresh = fresh
        self._retold = retold
        self._dry_run = dry_run
        self._moved: dict[str, str] = {}  # ids that are known here by another
        self._promised: set[int] = set()  # hashes of the ids that a dry run would have added
        self._added = array("q")  # hashes of the ids that were added, whose history may be told
        self._is_sorted = False
        self._replica = replica
        self._erased = ErasedHere(store, replica)
        self._support = EntitySupport()
        self.count = MergeCount()

    # --- memories -------------------------------------------------------------------------------------------------

    def memories(self, incoming: Sequence[Incoming]) -> None:
        """Take some memories in: one transaction."""
        now = self._act().at
        sound = [one for each in incoming if (one := self._sound(each, now)) is not None]
        with self._write():
            changes = Changes(self._store, self._act())
            known, elsewhere = self._known(sound)
            gone = self._contents.forgotten([kept.memory.id for _, kept in sound])
            twins = {} if self._fresh else self._store.memories.by_fingerprint(_prints(sound))
            stones = self._stones(sound)
            new: list[Kept] = []
            for place, kept in sound:
                memory = kept.memory
                verdict, why = self._judge(memory, known, elsewhere, twins, stones)
                if verdict == "new" and memory.id in gone:
                    verdict, why = "refused", "it was forgotten here"
                if verdict == "new":
                    new.append(kept)
                    known[memory.id] = memory
                    if not self._fresh and memory.status in OPEN:
                        twins.setdefault(memory.fingerprint, []).append(memory)
                    if not self._retold:
                        changes.note("import", memory.id, self._why, after=whole(memory))
                elif verdict == "changed" and not self._dry_run:
                    changes.update("import", known[memory.id], memory, self._why)
                self._support.note(memory.entities, is_here=verdict != "refused")
                self.count.add(MergedItem(verdict, "memory", memory.id, why, place))
            self._add(new, changes)

    def _add(self, new: Sequence[Kept], changes: Changes) -> None:
        if self._dry_run:
            self._promised.update(hash(kept.memory.id) for kept in new)
            return
        if new:
            ordinals = [kept.ordinal for kept in new] if self._fresh and self.trusted else None
            self._store.memories.add([kept.memory for kept in new], ordinals)
        if self.trusted and not self._retold:
            self._added.extend(hash(kept.memory.id) for kept in new)
        changes.write()

    def _sound(self, incoming: Incoming, now: datetime) -> Incoming | None:
        """What comes in as it may be kept; nothing, told, when it may not."""
        place, kept = incoming
        memory = kept.memory
        try:
            memory = check_memory(memory, self._store.kinds, _NEVER if self.trusted else now)
            if not self.trusted:
                memory = limit_stranger(memory, now)
            memory, rules = screen_memory(memory)
        except (RecollectError, ValueError, TypeError, OverflowError) as error:
            self.count.add(MergedItem("invalid", "memory", str(memory.id)[:60], str(error)[:300], place))
            return None
        if memory.kind == Kind.PASSAGE and not (self.trusted and self._fresh):
            self.count.left_out["passages of documents: index them here"] += 1
            return None
        if rules:
            self.count.redacted += 1
            memory = memory.having(fingerprint=fingerprint(memory.content), flagged=True)
        return place, Kept(memory, kept.ordinal)

    def _known(self, sound: Sequence[Incoming]) -> tuple[dict[str, Memory], set[str]]:
        ids = [kept.memory.id for _, kept in sound]
        found = self._store.memories.get_many(ids) if ids else ()
        return {memory.id: memory for memory in found}, self._contents.held_elsewhere(ids)

    def _stones(self, sound: Sequence[Incoming]) -> Mapping[str, Tombstone]:
        keys = [key for _, kept in sound for key in tombstone_keys(kept.memory)]
        return self._store.tombstones.find(keys)

    def _judge(
        self,
        memory: Memory,
        known: Mapping[str, Memory],
        elsewhere: set[str],
        twins: Mapping[str, Sequence[Memory]],
        stones: Mapping[str, Tombstone],
    ) -> tuple[Verdict, str]:
        if memory.id in elsewhere:
            return "conflicting", "another project of this store has a memory with this id"
        if (here := known.get(memory.id)) is not None:
            verdict, told = self._compare(here, memory)
            if verdict == "changed" and self._erased.covers(memory, said_at=memory.updated_at):
                return "refused", "what it says was erased here"
            return verdict, told
        if hash(memory.id) in self._promised:
            return "conflicting", "the file has this id twice"
        stone = next((stones[key] for key in tombstone_keys(memory) if key in stones), None)
        if stone is not None and not self._fresh and (memory.status in OPEN or stone.reason in _FOR_GOOD):
            return "refused", f"it was {stone.reason} here on {stone.at.date().isoformat()}"
        if not self._fresh and self._erased.covers(memory):
            return "refused", "it was erased here"
        for twin in twins.get(memory.fingerprint, ()) if memory.status in OPEN else ():
            if standing(twin) == standing(memory) and twin.user == memory.user:
                self._moved[memory.id] = twin.id
                return "same", f"known as {twin.id}"
        return "new", ""

    def _compare(self, here: Memory, memory: Memory) -> tuple[Verdict, str]:
        """What a memory with a known id is to the one that is here. Only proven ones may replace it, and only newer."""
        differs = _differing(here, memory)
        if not differs:
            return "same", ""
        told = f"it differs in {', '.join(differs[:4])}"
        if not self.trusted:
            return "conflicting", told
        newer = (memory.revision, memory.updated_at)
        own = (here.revision, here.updated_at)
        if newer[0] > own[0] and newer[1] >= own[1]:
            return "changed", told
        if newer[0] < own[0] and newer[1] <= own[1]:
            return "older", told
        return "conflicting", told

    # --- what hangs on them -----------------------------------------------------------------------------------------

    def links(self, links: Sequence[Link]) -> None:
        """Take some links in whose ends are here. A stranger's may not touch what is a person's."""
        moved = [self._placed(link) for link in links]
        ids = {end for link in moved for end in (link.source, link.target) if end is not None}
        with self._write():
            there = {one.id: one for one in self._store.memories.get_many(sorted(ids))}
            fine = []
            for link in moved:
                ends = [end for end in (link.source, link.target) if end is not None]
                if any(end not in there and hash(end) not in self._promised for end in ends):
                    self.count.left_out["links to memories that did not come along"] += 1
                elif not self.trusted and any(end in there and is_persons(there[end]) for end in ends):
                    self.count.left_out["a stranger's links to your memories"] += 1
                elif self._erased.says(link.created_at, link.file):
                    self.count.left_out["links to files: they were erased here"] += 1
                else:
                    fine.append(link)
            fresh = [link for link in fine if self._store.links.find(link) is None] if not self._dry_run else fine
            self.count.links += len(fresh)
            self._put_links(fresh)

    def _placed(self, link: Link) -> Link:
        source = MemoryId(self._moved.get(link.source, link.source))
        target = None if link.target is None else MemoryId(self._moved.get(link.target, link.target))
        return replace(link, source=source, target=target)

    def _put_links(self, fresh: Sequence[Link]) -> None:
        if self._dry_run or not fresh:
            return
        if self._retold:
            self._store.links.put(fresh)
            return
        changes = Changes(self._store, self._act())
        changes.put_links("import", fresh, self._why)
        changes.write()

    def tombstones(self, stones: Sequence[Tombstone]) -> None:
        """Take fingerprints in that must not come back; none buries what stands here. A stranger's silence nothing that
        is said here: only those of what was erased come along, and they count for copies of the store they come from.
        """
        if not self.trusted:
            stones = self._strangers_marks(stones)
        with self._write():
            known = self._store.tombstones.find([stone.fingerprint for stone in stones])
            standing_here = (
                {} if self._fresh else self._store.memories.by_fingerprint([one.fingerprint for one in stones])
            )
            changes = Changes(self._store, self._act())
            for stone in stones:
                there = known.get(stone.fingerprint)
                if there is not None and (there.reason != ERASED_ELSEWHERE or stone.reason == ERASED_ELSEWHERE):
                    continue
                if held := standing_here.get(stone.fingerprint):
                    why = f"{held[0].id} stands here and was {stone.reason} there"
                    self.count.add(MergedItem("conflicting", "tombstone", stone.fingerprint, why))
                    continue
                self.count.tombstones += 1
                if self._dry_run:
                    continue
                if self._retold:
                    self._store.tombstones.put([stone.fingerprint], reason=stone.reason, at=stone.at)
                else:
                    changes.bury("import", [stone.fingerprint], stone.reason, at=stone.at)
            changes.write()

    def _strangers_marks(self, stones: Sequence[Tombstone]) -> list[Tombstone]:
        """Those of a stranger's tombstones that come along, as what they may say here."""
        now, own = self._act().at, self._erased.own
        taken = [mark for one in stones if (mark := as_strangers_mark(one, self._replica, own, now)) is not None]
        if left := len(stones) - len(taken):
            self.count.left_out["tombstones of a stranger"] += left
        return taken

    def entities(self, entities: Sequence[Entity]) -> None:
        """Take in who and what is spoken of. Names a stranger gives are found again by the enriching chore."""
        if not self.trusted:
            self.count.left_out["entities of a stranger: `recollect tend` finds them again"] += len(entities)
            return
        with self._write():
            here = {one.id for one in self._store.entities.group([one.id for one in entities])}
            fresh = self._not_refused([one for one in entities if one.id not in here])
            self.count.entities += len(fresh)
            if self._dry_run or not fresh:
                return
            if self._retold:
                self._store.entities.put(fresh)
                return
            changes = Changes(self._store, self._act())
            changes.put_entities("import", fresh)
            changes.write()

    def _not_refused(self, entities: Sequence[Entity]) -> list[Entity]:
        """Those that were not erased here and that something other than refused memories speaks of."""
        allowed = [clean for one in entities if (clean := self._erased.cleaned(one)) is not None]
        gone = {one.id for one in entities} - {one.id for one in allowed}
        fresh = self._support.sift(
            [one.having(merged_into=None) if one.merged_into in gone else one for one in allowed]
        )
        refused = len(entities) - len(fresh)
        if refused:  # fewer than none: one that waited has found its support
            self.count.left_out[_REFUSED_ENTITIES] += refused
        return fresh

    def history(self, entries: Sequence[Row], replica: str) -> None:
        """What happened to the memories that came in, told after them: who did what when, before they came."""
        if self._dry_run or not self.trusted:
            return
        with self._write():
            if self._retold:
                self._contents.add_entries(entries)
            else:
                own = [row for row in entries if row[9] == "memory" and self._was_added(row[10])]
                told = [row for row in own if not self._erased.says_entry(row)]
                if erased := len(own) - len(told):
                    self.count.left_out["history: what it tells was erased here"] += erased
                self._contents.retell_entries(told, replica)

    def _was_added(self, id: str) -> bool:
        if not self._is_sorted:
            self._added, self._is_sorted = array("q", sorted(self._added)), True
        place = bisect_left(self._added, hash(id))
        return place < len(self._added) and self._added[place] == hash(id)

    def _write(self) -> AbstractContextManager[None]:
        return nullcontext() if self._dry_run else self._store.engine.write()


def check_memory(memory: Memory, kinds: Kinds, now: datetime) -> Memory:
    """A memory that somebody wrote down, in the form every memory has; an error that names what is wrong with it."""
    _require_id(memory.id)
    draft = Draft(
        **{one.name: getattr(memory, one.name) for one in FIELDS if one.draft and one.name not in ("status", "user")},
        user=memory.user,
    )
    check_types(draft)
    require_readable(draft.content)
    _require_parts(memory)
    shaped = shape(draft, project=memory.project, kinds=kinds, now=now, identity=lambda family, at: memory.id).memory
    for name in ("access_count", "streak", "revision"):
        count = getattr(memory, name)
        if type(count) is not int or not 0 <= count <= _MOST_COUNT:
            raise InvalidInput(f"{name}: {count!r} is no count.")
    if memory.superseded_by is not None:
        _require_id(memory.superseded_by)
    kept = {one.name: getattr(memory, one.name) for one in FIELDS if not one.draft or one.name in _AS_TOLD}
    times = {name: min(getattr(memory, name), shaped.updated_at) for name in ("updated_at", "accessed_at")}
    return shaped.having(**{**kept, **times, "fingerprint": shaped.fingerprint, "project": memory.project})


# What `shape` works out for a new memory, and a memory that was kept tells of itself.
_AS_TOLD = frozenset({"status", "needs_review", "decay"})


def _require_parts(memory: Memory) -> None:
    """Refuse parts of fields that are of another type than they can be."""
    unit, span = memory.work_unit, memory.span
    texts = [memory.embedding_model or "", *((unit.methodology, unit.label, *unit.hierarchy) if unit else ())]
    texts += [span.type, span.context, span.document or ""] if span else []
    numbers = [span.start, span.end] if span else []
    if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
        raise InvalidInput("A work unit, a span or a model's name is of the wrong type.")
    if type(memory.flagged) is not bool:
        raise InvalidInput("flagged: expected true or false.")
    for text in texts:
        require_storable(text, "work unit, span or model")


def _require_id(id: str) -> None:
    family, _, rest = id.partition("_") if isinstance(id, str) else ("", "", "")
    if not (family.isalpha() and family.isascii() and rest.isalnum() and rest.isascii() and len(id) <= 40):
        raise InvalidInput(f"{id!r:.60} is no id of a memory.")
    require_storable(id, "id")


def _differing(here: Memory, memory: Memory) -> list[str]:
    return [name for name in BY_NAME if name not in _QUIET and getattr(here, name) != getattr(memory, name)]


def _prints(sound: Iterable[Incoming]) -> list[str]:
    return [kept.memory.fingerprint for _, kept in sound]
