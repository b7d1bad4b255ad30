"""The Writer: the one door to change what is remembered. Rooms, adapters and interfaces use it and nobody else.

Whoever writes, every duty is done: drafts are checked, screened, tied to the commit and the symbol they speak of,
resolved against what is known, committed, and found by meaning at once where the model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from threading import local
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from recollect.core.doors import ActDoor
from recollect.core.errors import InvalidField, NothingToUndo, PersonOnly, RecollectError, UnknownChoice, name_place
from recollect.core.ids import MemoryId, in_utc, whole_ms
from recollect.core.kinds import Kinds
from recollect.core.ports import Clock, Identity
from recollect.core.records import Memory
from recollect.core.scope import CorrectionReason, choose
from recollect.core.text import require_storable
from recollect.remember.act import ActContext
from recollect.store.pair import StorePair
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.core.drafts import Draft, Receipt
    from recollect.core.entities import Entity
    from recollect.core.links import Link
    from recollect.core.log import Action
    from recollect.remember.follow import FileTree
    from recollect.remember.forget import Forgotten
    from recollect.remember.passages import DocumentChunks, Kept
    from recollect.remember.undo import Undone

FRESHNESS = "freshness"  # in whose name memories follow their files
AT_ONCE = 16  # memories that get their vectors as they are remembered; more are left to the chore
Tie: TypeAlias = "Callable[[Draft], Draft]"

_SHORT_NAME = 16  # characters of a name that holds no token


class VectorMaker(Protocol):
    """Makes vectors of a few memories at once, where that costs no loading of a model."""

    @property
    def at_hand(self) -> bool:
        """Is the model loaded?"""
        ...

    def embed(self, ids: Sequence[str]) -> int: ...


def untied(draft: Draft) -> Draft:
    """For a memory without a work tree."""
    return draft


def _without_secret(actor: str) -> str:
    """The name in whose name acts are logged; a short one is nobody's token, and few processes need the scanner."""
    if len(actor) <= _SHORT_NAME:
        return actor
    from recollect.privacy.values import redact_name

    return redact_name(actor)


class Writer:
    """Everything that changes memories. Verbs that few processes need are loaded when first called."""

    def __init__(
        self,
        stores: StorePair,
        *,
        clock: Clock,
        identity: Identity,
        actor: str,
        door: ActDoor,
        tie: Tie = untied,
        vectors: VectorMaker | None = None,
    ) -> None:
        self._stores = stores
        self.clock = clock
        self.identity = identity
        self.actor = _without_secret(actor)
        self.door = door
        self._tie = tie  # to the commit and the symbol a draft speaks of
        self._vectors = vectors
        self._inside = local()  # whether this thread is within a room's transaction
        self._unembedded: list[MemoryId] = []  # remembered here, without a vector until the model is loaded

    def through(self, door: ActDoor, *, actor: str | None = None) -> Writer:
        """The same Writer for acts that come in by another door, in the name of `actor` where one is given. What came
        through an agent's stays an agent's."""
        if door.is_persons and not self.door.is_persons:
            raise PersonOnly("act through a person's door")
        if door == self.door and actor in (None, self.actor):
            return self
        other = copy(self)
        other.door = door
        if actor is not None:
            other.actor = _without_secret(actor)
        return other

    @property
    def project(self) -> str:
        return self._stores.project.project

    @property
    def kinds(self) -> Kinds:
        return self._stores.project.kinds

    @property
    def read_only(self) -> bool:
        return self._stores.project.engine.read_only

    def now(self) -> datetime:
        """The time to the millisecond, which is what the store keeps."""
        return whole_ms(self.clock())

    def act(self, why: str = "", *, actor: str | None = None) -> ActContext:
        """A new act: who, when and why. A secret in the reason is redacted."""
        if why:
            from recollect.privacy.scan import redact

            why = redact(require_storable(why, "why")).text
        at = self.now()
        return ActContext(actor or self.actor, at, self.identity("act", at), self.door, why)

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """One write for a room's own rows and the memories that belong to them: all or nothing.

        Vectors wait until it is over: no model is ever asked while the store is locked.
        """
        outer, self._inside.held = getattr(self._inside, "held", False), True
        try:
            with self._stores.project.engine.write(durable=durable):
                yield
        finally:
            self._inside.held = outer
        if not outer:
            self._embed_waiting()

    def tie(self, draft: Draft) -> Draft:
        """Tie a draft to the commit and the symbol it speaks of, for rooms whose transaction must not wait for git."""
        return self._tie(draft)

    def note(self, action: Action, why: str, *, subject: str | None = None) -> None:
        """Say in the log what was done beside memories, or about one; in the same write as what it tells of."""
        from recollect.remember.changes import Changes

        with self._stores.project.engine.write():
            changes = Changes(self._stores.project, self.act(why))
            changes.note(action, subject, self.act(why).why, about="note" if subject is None else "memory")
            changes.write()

    # --- new memories ---------------------------------------------------------------------------------------------

    def remember(self, drafts: Iterable[Draft], *, actor: str | None = None, durable: bool = True) -> list[Receipt]:
        """Remember all drafts in one transaction, or none of them. Each receipt says what became of its draft."""
        tied = [self._tie(draft) for draft in drafts]
        return self._commit(self._home_of(tied), tied, actor=actor, durable=durable)

    def correct(
        self,
        id: str,
        content: str | None = None,
        *,
        reason: str = "inaccurate",
        duplicate_of: str | None = None,
        until: datetime | None = None,
        files: Sequence[str] | None = None,
        modules: Sequence[str] | None = None,
        why: str = "",
        if_revision: int | None = None,
        actor: str | None = None,
    ) -> Receipt:
        """Correct a memory for one of four reasons, by better words or without any."""
        from recollect.remember import correct

        chosen = choose(CorrectionReason, reason, "reason")
        until = None if until is None else whole_ms(in_utc(until, "until"))
        correct.check_reason(chosen, content=content, duplicate_of=duplicate_of, until=until)
        store, found = self._stores.find(id)
        if content is not None:
            return self._replace(store, found, content, chosen, until, files, modules, why, if_revision, actor)
        act = self.act(correct.describe_reason(chosen, why), actor=actor)
        if duplicate_of is not None:
            home, other = self._stores.find(duplicate_of)
            if home is not store:
                raise InvalidField("duplicate_of", "a personal memory and a project's are no duplicates")
            return correct.close_duplicate(store, found, other, act, expected=if_revision)
        if chosen is CorrectionReason.OUTDATED:
            return correct.close_outdated(store, found, act, until=until, expected=if_revision)
        if chosen is CorrectionReason.TOO_SPECIFIC:
            return correct.narrow(store, found, act, files=files, modules=modules, expected=if_revision)
        return correct.close_inaccurate(store, found, act, expected=if_revision)

    def _replace(
        self,
        store: Store,
        id: MemoryId,
        content: str,
        reason: CorrectionReason,
        until: datetime | None,
        files: Sequence[str] | None,
        modules: Sequence[str] | None,
        why: str,
        if_revision: int | None,
        actor: str | None,
    ) -> Receipt:
        """Put better words in the place of a memory."""
        from recollect.remember.acts import require_revision
        from recollect.remember.correct import draft_correction

        old = store.memories.get(id)
        draft = self._tie(
            draft_correction(old, content, reason=reason, why=why, until=until, files=files, modules=modules)
        )
        if if_revision is None:
            return self._commit(store, [draft], actor=actor)[0]
        with self.transaction() if store is self._stores.project else store.engine.write():
            require_revision(store.memories.get(id), if_revision)
            return self._commit(store, [draft], actor=actor)[0]

    def replace_passages(self, documents: Sequence[DocumentChunks], *, act: ActContext | None = None) -> list[Kept]:
        """Replace the passages of each document by what it says now: all of them or, on any error, none. `act` makes
        several calls one act."""
        from recollect.remember.passages import replace_passages

        return replace_passages(documents, self._stores.project, act or self.act(), identity=self.identity)

    def drop_passages(self, passages: Sequence[Memory], *, act: ActContext | None = None) -> dict[str, int]:
        """Delete some passages whose documents stay; how many of each document."""
        from recollect.remember.passages import drop_passages

        return drop_passages(passages, self._stores.project, act or self.act())

    # --- acts on one memory ---------------------------------------------------------------------------------------

    def edit(self, id: str, changes: Mapping[str, Any], *, why: str = "", if_revision: int | None = None) -> Memory:
        """Change fields in place; `changes` speaks the language of a Draft."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.edit(store, found, self.act(why), changes=dict(changes), expected=if_revision)

    def confirm(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """A person says it is right; what it contradicts is closed. Through an agent's door nothing changes."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.confirm(store, found, self.act(why), expected=if_revision)

    def reject(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """It is wrong; it must not come back."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.reject(store, found, self.act(why), expected=if_revision)

    def decide_many(
        self, choices: Sequence[tuple[str, str, Mapping[MemoryId, int] | None]], *, why: str = ""
    ) -> list[tuple[Memory, tuple[Memory, ...], str]]:
        """Decide about several memories (id, decision, what was seen), each in an act of its own: all or, on any error,
        none."""
        with ExitStack() as transactions:
            for store in {id(found): found for found in (self._stores.find(one[0])[0] for one in choices)}.values():
                transactions.enter_context(store.engine.write())
            return [self.decide(id, decision, why=why, seen=seen) for id, decision, seen in choices]

    def decide(
        self,
        id: str,
        decision: str,
        *,
        content: str | None = None,
        why: str = "",
        seen: Mapping[MemoryId, int] | None = None,
    ) -> tuple[Memory, tuple[Memory, ...], str]:
        """Decide about a memory that waits for review, in one act; it, the rivals that this changed, and the act's id,
        which is empty when nothing changed."""
        from recollect.core.review import DECISIONS
        from recollect.remember import acts
        from recollect.remember.rivals import open_rivals

        store, found = self._stores.find(id)
        act = self.act(why)
        with store.engine.write():
            before = store.memories.get(found)
            rivals = open_rivals(store, before)
            match decision:
                case "confirm":
                    memory = acts.confirm(store, found, act, seen=seen)
                case "edit":
                    memory = acts.confirm(store, found, act, seen=seen, content=content)
                case "reject":
                    memory = acts.reject(store, found, act, seen=seen)
                case "dispute":
                    memory = acts.dispute(store, found, act, seen=seen)
                case "keep_both":
                    memory = acts.keep_both(store, found, act, seen=seen)
                case _:
                    raise UnknownChoice("decision", decision, DECISIONS)
            now = [store.memories.get(rival.id) for rival in rivals]
        settled = tuple(one for one, then in zip(now, rivals, strict=True) if one != then)
        return memory, settled, str(act.act) if settled or memory != before else ""

    def dispute(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """It is doubted; it stays, marked, at a lower weight."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.dispute(store, found, self.act(why), expected=if_revision)

    def pin(self, id: str, *, pinned: bool = True, if_revision: int | None = None) -> Memory:
        """A pinned memory never fades."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.pin(store, found, self.act(), pinned=pinned, expected=if_revision)

    def supersede(
        self, id: str, *, by: Memory, until: datetime, confidence: float, why: str = "", actor: str | None = None
    ) -> Memory:
        """Close a memory in favour of another, valid until then."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.supersede(store, found, self.act(why, actor=actor), by=by, until=until, confidence=confidence)

    def may_supersede(self, memory: Memory, *, by: Memory) -> bool:
        """May `by` take the place of a memory through this door?"""
        from recollect.remember.acts import memory_gives_way

        return memory_gives_way(memory, by, self.act())

    def expire(self, id: str, *, why: str = "", actor: str | None = None) -> Memory:
        """It faded until nobody would rely on it."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.expire(store, found, self.act(why, actor=actor))

    def annotate(self, id: str, *, actor: str | None = None, why: str = "", **fields: Any) -> Memory:
        """Add what was worked out about a memory, such as whom it mentions. What it says does not change."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        return acts.annotate(store, found, self.act(why, actor=actor), **fields)

    def witness(
        self,
        id: str,
        *,
        sessions: Sequence[str],
        attributes: Mapping[str, Any],
        active: bool,
        content: str | None = None,
        files: Sequence[str] | None = None,
        confidence: float | None = None,
        actor: str | None = None,
    ) -> Memory | None:
        """Further sessions support a memory. Nothing when none of them is new, or it is no longer open."""
        from recollect.remember.reinforce import witnessed

        store, found = self._stores.find(id)
        return witnessed(
            store,
            found,
            self.act(actor=actor),
            sessions=sessions,
            attributes=attributes,
            active=active,
            content=content,
            files=files,
            confidence=confidence,
        )

    def cite(self, id: str, sources: Sequence[MemoryId], *, session: str | None, actor: str | None = None) -> None:
        """A memory was said again: it gains its new sources and is as fresh as its last saying."""
        from recollect.remember import acts

        store, found = self._stores.find(id)
        acts.cite(store, found, self.act("said again", actor=actor), sources=sources, session=session)

    def follow_files(self, tree: FileTree) -> int:
        """Let memories about files follow them to where they are now; how many changed."""
        from recollect.core.doors import TEND
        from recollect.remember.follow import follow_files

        at = self.now()
        act = ActContext(FRESHNESS, at, self.identity("act", at), TEND)
        return follow_files(self._stores.project, tree, act)

    def put_entities(
        self,
        action: Action,
        entities: Sequence[Entity],
        *,
        why: str = "",
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Write entities to their table and the log, in an act of its own: those that were found in a text, or that
        people worked on, with a note of what they did."""
        from recollect.remember.changes import Changes

        act = self.act(why)
        with self.transaction():
            changes = Changes(self._stores.project, act)
            changes.put_entities(action, entities)
            if before is not None or after is not None:
                changes.note(action, None, act.why, before, after)
            changes.write()

    def relate(
        self, id: str, relation: str, *, to: str | None = None, file: str | None = None, confidence: float = 1.0
    ) -> Link:
        """Link a memory to exactly one target: another memory or a file."""
        from recollect.remember.acts import relate

        store, found = self._stores.find(id)
        target = None
        if to is not None:
            other, target = self._stores.find(to)
            if other is not store:
                raise InvalidField("to", "a personal memory and a project's cannot be linked")
        return relate(store, found, self.act(), relation=relation, to=target, file=file, confidence=confidence)

    # --- taking back ----------------------------------------------------------------------------------------------

    def forget(self, id: str, *, why: str = "", if_revision: int | None = None) -> Forgotten:
        """Remove a memory for good, from every file of its store."""
        from recollect.remember.forget import forget

        store, found = self._stores.find(id)
        return forget(store, found, self.act(why), expected=if_revision)

    def forget_all(self, ids: Iterable[str], *, why: str = "") -> list[Forgotten]:
        """Remove some memories for good. Those of one store go all or none."""
        from recollect.remember.forget import forget_all

        by_store: dict[int, tuple[Store, list[MemoryId]]] = {}
        for given in ids:
            store, found = self._stores.find(given)
            by_store.setdefault(id(store), (store, []))[1].append(found)
        return [gone for store, named in by_store.values() for gone in forget_all(store, named, self.act(why))]

    def undo(
        self,
        id: str | None = None,
        *,
        act: str | None = None,
        why: str = "",
        if_revision: int | None = None,
        actor: str | None = None,
    ) -> Undone:
        """Take back one's own last change, that of `actor`, the last one to `id` by whomever, or exactly `act`."""
        from recollect.remember.undo import undo

        if if_revision is not None and id is None:
            raise InvalidField("if_revision", "name the memory that has this revision")
        if act is None:
            store = self._last_changed(id, actor or self.actor)
            return undo(store, self.act(why), memory=id, actor=actor, expected=if_revision)
        if id is not None or actor is not None:
            raise InvalidField("act", "an act is named alone, without a memory or an actor")
        found = (one for one in self._stores.all if one.log.last_act(act=act) or one.log.is_undone(act))
        return undo(next(found, self._stores.project), self.act(why), reverts=act)

    def _last_changed(self, id: str | None, actor: str) -> Store:
        """The store to undo in: the one that holds `id`, else the one that `actor` changed last."""
        if id is not None:
            known = next((store for store in self._stores.all if store.log.of(id)), None)
            return known or self._stores.find(id)[0]
        acts = [(store.log.last_act(actor=actor), store) for store in self._stores.all]
        latest = [(entries[-1].at, store) for entries, store in acts if entries]
        if not latest:
            raise NothingToUndo
        return max(latest, key=lambda each: each[0])[1]

    # --- what follows a recall ------------------------------------------------------------------------------------

    def follow_recall(self, ids: Sequence[MemoryId]) -> Sequence[str]:
        """Count the access of what was handed out; embed what waited for a model that the question may have loaded.

        What went wrong, in words: a store that cannot be written still answers.
        """
        trouble = list(self._embed_waiting())
        try:
            self.note_access(ids)
        except RecollectError as error:
            trouble.append(f"access not counted: {error}")
        return trouble

    def note_access(self, ids: Sequence[MemoryId]) -> None:
        """Count one access each."""
        if not ids or self.read_only:
            return
        from recollect.remember.reinforce import note_access

        for store, held in self._stores.split(ids):
            note_access(store, held, self.act())

    # --- inside ---------------------------------------------------------------------------------------------------

    def _home_of(self, drafts: Sequence[Draft]) -> Store:
        """Where drafts go: to the project, unless they replace what the person keeps for themselves."""
        named: dict[int, Store] = {}
        for index, draft in enumerate(drafts):
            if isinstance(draft.supersedes, str):
                try:
                    store = self._stores.find(draft.supersedes)[0]
                except RecollectError as error:
                    name_place(error, index, len(drafts))
                    raise
                named[id(store)] = store
        if len(named) > 1 or (named and len(drafts) > 1 and self._stores.project not in named.values()):
            raise InvalidField("supersedes", "a personal memory is replaced on its own, not in one batch with others")
        return next(iter(named.values()), self._stores.project)

    def _commit(
        self, store: Store, drafts: Sequence[Draft], *, actor: str | None = None, durable: bool = True
    ) -> list[Receipt]:
        from recollect.remember.remember import remember

        receipts = remember(
            drafts,
            store,
            now=self.now(),
            identity=self.identity,
            actor=actor or self.actor,
            door=self.door,
            durable=durable,
        )
        if self._vectors is not None and store is self._stores.project:
            new = [receipt.id for receipt in receipts if receipt.verdict != "same"]
            self._unembedded[:] = [*self._unembedded, *new][: AT_ONCE + 1]  # more are the chore's, so no more are kept
            if trouble := self._embed_waiting():
                return [replace(receipt, notes=(*receipt.notes, *trouble)) for receipt in receipts]
        return receipts

    def _embed_waiting(self) -> tuple[str, ...]:
        """Give the few memories just remembered their vectors, if the model is loaded; the chore sees to all others."""
        if self._vectors is None or not self._unembedded or not self._vectors.at_hand or self._is_inside:
            return ()
        few = list(self._unembedded)
        self._unembedded.clear()
        try:
            self._vectors.embed(few if len(few) <= AT_ONCE else ())
        except RecollectError as error:
            return (f"found by its words only, until the next `recollect tend`: {error}",)
        return ()

    @property
    def _is_inside(self) -> bool:
        return getattr(self._inside, "held", False)

    def leave_vectors_to_the_chore(self) -> None:
        """A tend run embeds everything: nothing needs to be remembered for it."""
        self._unembedded.clear()
