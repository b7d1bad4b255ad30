"""Recollect: the public façade. A few lines per verb: note who and when, call the verb, hand back its value.

The verbs that write are loaded on first use: a one-shot recall must not pay for what it does not do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from recollect.core.chores import quiet
from recollect.core.errors import InvalidField, NothingToUndo, RecollectError, UnknownChoice
from recollect.core.instants import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.core.query import DEFAULT_K, MODES, Briefing, Filter, Mode, Query
from recollect.core.records import Memory
from recollect.core.scope import Phase, choose
from recollect.core.text import require_storable
from recollect.recall.recall import RetrievalContext, recall
from recollect.recall.recipes import BUDGETS, PLAIN_BUDGET, RECIPES, Budget
from recollect.recall.score import confidence_now
from recollect.store.memories import Order, Page
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.agent.chats import Chats
    from recollect.agent.ground import Ground
    from recollect.agent.methodology import Methodology
    from recollect.agent.session import AgentSession
    from recollect.code.api import Code
    from recollect.core.account import Account
    from recollect.core.drafts import Draft, Receipt
    from recollect.core.ledger import Entry
    from recollect.core.links import Link
    from recollect.core.ports import Chore
    from recollect.dialogue.api import Sessions, Threads
    from recollect.dialogue.room import Room
    from recollect.documents.api import Docs
    from recollect.embed.port import Embedder
    from recollect.models.port import LanguageModel, Model
    from recollect.observer.api import Observer
    from recollect.remember.act import ActContext
    from recollect.remember.forget import Forgotten
    from recollect.remember.undo import Undone
    from recollect.tend.run import Tended


def nowhere() -> str | None:
    """The commit of a memory that belongs to no work tree."""
    return None


def as_it_is(senses: RetrievalContext) -> RetrievalContext:
    """Recall without a code graph."""
    return senses


def unnamed() -> Methodology:
    """The methodology of a memory that was told of none."""
    from recollect.agent.methodology.native import native

    return native()


class Recollect:
    """One open memory. Safe to share between threads; close it or use it in a `with` block."""

    def __init__(
        self,
        store: Store,
        senses: RetrievalContext,
        *,
        clock: Clock,
        identity: Identity,
        actor: str,
        personal: Store | None = None,
        embedder: Embedder | None = None,
        commit: Callable[[], str | None] = nowhere,
        documents: Mapping[str, Any] = MappingProxyType({}),
        see_code: Callable[[RetrievalContext], RetrievalContext] = as_it_is,
        dialogue: Callable[[], Room] | None = None,
        model: Model | None = None,
        chores: Callable[[], Sequence[Chore]] = tuple,
        chats: Callable[[], Chats] | None = None,
        methodology: Callable[[], Methodology] = unnamed,
    ) -> None:
        self._store = store
        self._chats = chats
        self._dialogue = dialogue
        self._model = model
        self._chores = chores
        self._methodology = methodology
        self._embedder = embedder
        self._personal = personal  # the person's own memories, recalled beside the project's
        self._senses = senses
        self._clock = clock
        self._identity = identity
        self._actor = actor
        self._unplaced: list[str] = []  # remembered here, without a vector until the model is at hand
        self._documents = documents  # the settings of that room
        self._see_code = see_code  # gives recall the code graph, once there is one
        self._commit = commit  # the one the project's files are at

    # --- remember -------------------------------------------------------------------------------------------------

    def remember(self, content: str, **fields: Any) -> Receipt:
        """Remember one statement. Durable when this returns; `fields` are those of a Draft (kind, tags, files …)."""
        return self.remember_all([_draft(content, fields)])[0]

    def remember_all(self, drafts: Iterable[Draft]) -> list[Receipt]:
        """Remember all drafts in one durable transaction, or none of them."""
        from recollect.remember.remember import remember

        receipts = remember(
            [self._placed(draft) for draft in drafts],
            self._store,
            now=self._now(),
            identity=self._identity,
            actor=self._actor,
        )
        if self._embedder is not None:
            new = [one.id for one in receipts if one.verdict != "same"]
            self._unplaced = [*self._unplaced, *new][: AT_ONCE + 1]  # more are the chore's, so no more are kept
            if trouble := self._place():
                return [replace(one, notes=(*one.notes, *trouble)) for one in receipts]
        return receipts

    def correct(self, id: str, content: str, *, why: str = "") -> Receipt:
        """Replace a statement by a better one: the old one is superseded and cannot come back."""
        from recollect.remember.remember import correction

        return self.remember_all([correction(self.get(id), content, why=why)])[0]

    def edit(self, id: str, *, why: str = "", if_revision: int | None = None, **changes: Any) -> Memory:
        """Change fields of a memory in place: content, kind, confidence, tags, files, modules, scope, visibility …"""
        from recollect.remember import acts

        return acts.edit(self._store, id, self._hand(why), changes=changes, expected=if_revision)

    def confirm(self, id: str, *, why: str = "") -> Memory:
        """A person stands behind it."""
        from recollect.remember import acts

        return acts.confirm(self._store, id, self._hand(why))

    def reject(self, id: str, *, why: str = "") -> Memory:
        """It is wrong; it must not come back."""
        from recollect.remember import acts

        return acts.reject(self._store, id, self._hand(why))

    def dispute(self, id: str, *, why: str = "") -> Memory:
        """It is doubted; it stays, marked, at a lower weight."""
        from recollect.remember import acts

        return acts.dispute(self._store, id, self._hand(why))

    def pin(self, id: str, *, pinned: bool = True) -> Memory:
        """A pinned memory never fades."""
        from recollect.remember import acts

        return acts.pin(self._store, id, self._hand(""), pinned=pinned)

    def forget(self, id: str, *, why: str = "") -> Forgotten:
        """Remove a memory for good, from every file of the store. Cannot be undone; `reject` can."""
        from recollect.remember.forget import forget

        return forget(self._store, id, self._hand(why))

    def forget_all(self, ids: Iterable[str], *, why: str = "") -> Sequence[Forgotten]:
        """Remove some memories for good, all or none; much faster than one by one."""
        from recollect.remember.forget import forget_all

        return forget_all(self._store, list(ids), self._hand(why))

    def undo(self, id: str | None = None, *, why: str = "") -> Undone:
        """Take back the last change, or the last one to `id`."""
        from recollect.remember.undo import undo

        return undo(self._store, self._hand(why), memory=id)

    def relate(
        self, id: str, relation: str, *, to: str | None = None, file: str | None = None, confidence: float = 1.0
    ) -> Link:
        """Link a memory to exactly one target: another memory or a file."""
        from recollect.remember.acts import relate

        return relate(self._store, id, self._hand(""), relation=relation, to=to, file=file, confidence=confidence)

    # --- recall ---------------------------------------------------------------------------------------------------

    def recall(
        self,
        text: str,
        *,
        k: int = DEFAULT_K,
        filter: Filter | None = None,
        phase: str | None = None,
        files: Sequence[str] = (),
        recent_calls: Sequence[str] = (),
        mode: Mode = "hybrid",
        recipe: str | None = None,
        last_sessions: int | None = None,
        around: str | None = None,
        track: bool = True,
    ) -> Briefing:
        """The right few memories for a question, best first.

        `last_sessions` looks only at the newest so many; `around` only at those around an event, named by a memory's
        id or by words. `filter` has the rest, "as of" a date included. `recipe` names another set of weights for once:
        coding, assistant, documents, duplicates, seed or rrf.
        """
        if mode not in MODES:
            raise UnknownChoice("mode", mode, MODES)
        query = Query(
            text=text,
            k=max(0, k),
            filter=filter or Filter(),
            phase=None if phase is None else choose(Phase, phase, "phase"),
            files=tuple(files),
            recent_calls=tuple(recent_calls),
            mode=mode,
            last_sessions=last_sessions,
            around=around,
        )
        return self._noted(recall(query, self._by(recipe), now=self._clock()), track=track)

    def brief(
        self,
        text: str,
        *,
        phase: str | None = None,
        files: Sequence[str] = (),
        budget: int | None = None,
        filter: Filter | None = None,
        track: bool = True,
    ) -> Briefing:
        """What an agent is given before it works: packed into the phase's token budget, fenced, cited."""
        from recollect.privacy.fence import fence

        chosen = None if phase is None else choose(Phase, phase, "phase")
        room = PLAIN_BUDGET if chosen is None else BUDGETS[chosen]
        room = room if budget is None else Budget(max(0, budget), room.shares)
        query = Query(
            text, k=_MOST_BRIEFED, filter=filter or Filter(), phase=chosen, files=tuple(files), explicit=False
        )
        briefing = recall(query, self._senses, now=self._clock(), budget=room)
        text = fence(briefing.hits, nonce=os.urandom(8).hex())
        return self._noted(replace(briefing, text=text), track=track)

    def get(self, id: str) -> Memory:
        """The memory with this id; its last letters suffice."""
        return self._store.memories.get(self._store.memories.resolve(id))

    def list(self, filter: Filter | None = None, *, order: Order = "newest", limit: int = 50, skip: int = 0) -> Page:
        """Memories by filter, without a question."""
        return self._store.memories.page(filter or Filter(), order=order, limit=max(0, limit), skip=max(0, skip))

    def count(self, filter: Filter | None = None) -> int:
        return self._store.memories.count(filter or Filter())

    def why(self, id: str) -> Account:
        """All that is known about how we came to believe something."""
        from recollect.core.account import Account

        memory = self.get(id)
        return Account(
            memory=memory,
            confidence=self.confidence(memory),
            points_at=tuple(self._store.links.from_(memory.id)),
            pointed_at_by=tuple(self._store.links.to(memory.id)),
            history=tuple(self._store.ledger.of(memory.id)),
        )

    def history(self, id: str | None = None, *, limit: int = 50) -> tuple[Entry, ...]:
        """The ledger: of one memory, oldest first, or the latest changes of all, newest first."""
        if id is None:
            return tuple(self._store.ledger.recent(limit))
        known = self._store.ledger.of(id)  # a forgotten memory still has a history
        return tuple(known or self._store.ledger.of(self._store.memories.resolve(id)))

    def confidence(self, memory: Memory) -> float:
        """What the stored confidence is worth now."""
        return confidence_now(memory, self._store.kinds, self._clock())

    # --- tend -----------------------------------------------------------------------------------------------------

    def tend(
        self,
        *,
        job: str | None = None,
        dry_run: bool = False,
        most: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int, int], None] = quiet,
    ) -> Tended:
        """Do what is due: embed, consolidate, enrich, reflect, prune; or one job now. A dry run only tells the plan.

        `most` bounds the steps of each chore, `seconds` the whole run; what is left waits for the next one.
        """
        from recollect.tend.run import Round, Tended, tend

        if self._store.engine.read_only and not dry_run:
            return Tended()
        round = Round(
            self._store,
            self._clock,
            self._identity,
            self._actor,
            job=job,
            dry_run=dry_run,
            most=most,
            seconds=seconds,
            progress=progress,
        )
        self._unplaced = []
        return tend(self._chores(), round)

    def put_vectors_back(self) -> str:
        """Let the vectors of the model before this one answer again; the name of that model."""
        retired = [space for space in self._store.vectors.spaces() if space.state == "retired"]
        if not retired:
            raise NothingToUndo
        return self._store.vectors.put_back(retired[-1]).model

    # --- rooms ----------------------------------------------------------------------------------------------------

    @cached_property
    def docs(self) -> Docs:
        """Markdown and plain text as memory: index, search, related, list, gc, check."""
        from recollect.documents.api import Docs

        return Docs(
            self._store,
            self._senses,
            clock=self._clock,
            identity=self._identity,
            hand=lambda: self._hand(""),
            settings=self._documents,
            model=self._for("documents"),
        )

    @cached_property
    def code(self) -> Code:
        """The project's source code: index, impact, deps, trace, map, search, watch."""
        from recollect.code.api import Code

        path = self.path
        passages = Filter(kinds=frozenset({"passage"}))
        return Code(
            self._store,
            root=None if path is None or path.parent.name != ".recollect" else path.parent.parent,
            hand=lambda: self._hand(""),
            identity=self._identity,
            search=lambda text, k: self.recall(text, k=k, filter=passages, track=False),
            indexed=self._sees_code,
            model=self._for("code"),
        )

    def agent(self, session: str, *, host: str = "", arm: str | None = None) -> AgentSession:
        """Memory beside one working agent: what to say at each moment, and what was seen. Its methods never raise."""
        from recollect.agent.session import AgentSession

        return AgentSession(self.ground, session, host=host, arm=arm)

    @cached_property
    def ground(self) -> Ground:
        """What the agent loop works with."""
        from recollect.agent.ground import Ground

        path = self.path
        return Ground(
            self._store,
            lambda query, budget: recall(query, self._senses, now=self._clock(), budget=budget),
            self.remember_all,
            self._clock,
            lambda: self._hand(""),
            self._methodology(),
            None if path is None or path.parent.name != ".recollect" else path.parent.parent,
            self.observer,
        )

    @cached_property
    def observer(self) -> Observer:
        """What agents do as memory: watch, replay transcripts, drain the spool of hooks, review what was inferred."""
        from recollect.observer.api import Observer
        from recollect.observer.room import Room as Observatory

        room = Observatory(
            self._store, lambda: self._senses, self._clock, self._identity, placed=self._placed, model=self._model
        )
        return Observer(room, folder=self._store.engine.folder)

    def _for(self, feature: str) -> Callable[[], LanguageModel] | None:
        """The configured language model, on the budget of one feature."""
        return None if self._model is None else partial(self._model, feature, None)

    def _sees_code(self) -> None:
        self._senses = self._see_code(self._senses)

    @cached_property
    def sessions(self) -> Sessions:
        """Conversations: capture what is said, look back, draw facts, give context."""
        from recollect.dialogue.api import Sessions

        return Sessions(self.dialogue)

    @cached_property
    def threads(self) -> Threads:
        """Open conversations, each with its session at hand."""
        from recollect.dialogue.api import Threads

        return Threads(self.sessions)

    @cached_property
    def chats(self) -> Chats:
        """Chats with a language model that remembers by any provider, and the turns of all of them."""
        if self._chats is None:
            raise RecollectError("This memory was opened without chats.")
        return self._chats()

    @cached_property
    def dialogue(self) -> Room:
        """What the room of conversations works with."""
        if self._dialogue is None:
            raise RecollectError("This memory was opened without the room of conversations.")
        return self._dialogue()

    # --- the file -------------------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The open store, for those who care for the file: backup, check, repair."""
        return self._store

    @property
    def path(self) -> Path | None:
        location = self._store.engine.location
        return None if location == ":memory:" else Path(location)

    @property
    def project(self) -> str:
        return self._store.project

    @property
    def hand(self) -> ActContext:
        """Who acts and when, for rooms that write through the verbs themselves."""
        return self._hand("")

    def close(self) -> None:
        if "code" in self.__dict__:
            self.code.close()
        self._store.close()
        if self._personal is not None:
            self._personal.close()

    def __enter__(self) -> Recollect:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _hand(self, why: str) -> ActContext:
        from recollect.remember.act import ActContext

        if why:
            from recollect.privacy.scan import redact

            why = redact(require_storable(why, "why")).text
        at = self._now()
        return ActContext(self._actor, at, self._identity("act", at), why)

    def _placed(self, draft: Draft) -> Draft:
        """A draft about a symbol is tied to its text, one about files to their commit: later changes can be noticed."""
        if draft.node and self._store.has_code():
            from recollect.code.anchor import anchored

            draft = anchored(draft, self._store)
        if not draft.files or draft.commit is not None:
            return draft
        return replace(draft, commit=self._commit())

    def _place(self) -> tuple[str, ...]:
        """Give the few memories just remembered their vectors, if the model is loaded; the chore sees to all others.
        What kept them from it, if anything."""
        if self._embedder is None or not self._unplaced or not self._embedder.at_hand:
            return ()
        from recollect.tend.vectors import place

        few, self._unplaced = self._unplaced, []
        try:
            place(self._store, self._embedder, few if len(few) <= AT_ONCE else ())
        except RecollectError as error:
            return (f"found by its words only, until the next `recollect tend`: {error}",)
        return ()

    def _now(self) -> datetime:
        return whole_ms(self._clock())

    def _by(self, recipe: str | None) -> RetrievalContext:
        if recipe is None:
            return self._senses
        if recipe not in RECIPES:
            raise UnknownChoice("recipe", recipe, RECIPES)
        return replace(self._senses, recipe=RECIPES[recipe])

    def _noted(self, briefing: Briefing, *, track: bool) -> Briefing:
        """Count the access of what was handed out. A store that cannot be written still answers."""
        if trouble := self._place():  # the question may have loaded the model
            briefing = replace(briefing, notes=(*briefing.notes, *trouble))
        if not track or not briefing.hits or self._store.engine.read_only:
            return briefing
        from recollect.remember.reinforce import note_access

        try:
            for store in (self._store, self._personal):
                ids = [] if store is None else [hit.id for hit in briefing.hits if hit.memory.project == store.project]
                if store is not None and ids:
                    note_access(store, ids, self._hand(""))
        except RecollectError as error:
            return replace(briefing, notes=(*briefing.notes, f"access not counted: {error}"))
        return briefing


AT_ONCE = 16  # memories that get their vectors as they are remembered; more are left to the chore
_MOST_BRIEFED = 40  # hits in one briefing; the token budget usually stops earlier


def _draft(content: str, fields: dict[str, Any]) -> Draft:
    from recollect.core.drafts import Draft

    known = set(Draft.__dataclass_fields__)
    for unknown in sorted(set(fields) - known):
        raise InvalidField(unknown, "a memory has no such field", hint=f"It has: {', '.join(sorted(known))}.")
    return Draft(content, **fields)
