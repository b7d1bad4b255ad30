"""Recollect: the public façade. A few lines per verb: the Reader answers, the Writer changes, rooms take material in.

Nothing is decided here. What few processes need is loaded on first use: a one-shot recall must not pay for what it does
not do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from recollect.agent.trust import LEVELS
from recollect.core.errors import MemoryClosed, MemoryNotFound, NothingToUndo, PersonOnly, StoreChanged
from recollect.core.fields import EDITABLE
from recollect.core.kinds import Kinds
from recollect.core.ports import quiet
from recollect.core.query import DEFAULT_K, Briefing, Filter, Mode, Order, Page, Query
from recollect.core.records import Memory
from recollect.core.scope import Phase, choose
from recollect.files.mark import StoreOrigin, foreign_notice, identify_file
from recollect.recall.reader import Reader
from recollect.recall.recipes import BUDGETS, PLAIN_BUDGET, UNBOUNDED, Budget
from recollect.remember.writer import Writer
from recollect.store.meta import FILE, Meta
from recollect.store.open import open_store
from recollect.store.pair import StorePair
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.agent.answer import Answerer, CitedAnswer
    from recollect.agent.chat import Chats
    from recollect.agent.context import AgentContext
    from recollect.agent.ingest import InjectionIngest, ToldMemory, Trust
    from recollect.agent.session import AgentSession
    from recollect.agent.trust_preview import TrustPreview
    from recollect.code.api import Code
    from recollect.core.decay import Decay
    from recollect.core.doors import ActDoor
    from recollect.core.drafts import Draft, Receipt
    from recollect.core.links import Account, Link
    from recollect.core.log import Entry
    from recollect.core.payloads import Payload
    from recollect.core.people import Member
    from recollect.core.ports import Chore
    from recollect.core.records import WorkUnit
    from recollect.core.scope import Source
    from recollect.dialogue.api import Sessions
    from recollect.dialogue.context import DialogueContext
    from recollect.documents.api import Docs
    from recollect.observer.api import Observer
    from recollect.portable.api import Portability
    from recollect.portable.export import ExportReport
    from recollect.portable.take_in import ImportReport
    from recollect.recall.trend import Trend
    from recollect.remember.forget import Forgotten
    from recollect.remember.subject import Subject
    from recollect.remember.undo import Undone
    from recollect.review.api import Review
    from recollect.sync.api import Sync
    from recollect.team.api import Team
    from recollect.tend.erase import Copies
    from recollect.tend.erasure_report import ErasureReport
    from recollect.tend.maintenance import Maintenance
    from recollect.tend.overview import Overview
    from recollect.tend.runner import Tended


class Unset(Enum):
    """The value of a parameter nobody gave, where None means something of its own."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class Rooms(Protocol):
    """How each room is made, by the composition root. None is made before it is asked for."""

    def through(self, reader: Reader, writer: Writer) -> Rooms: ...
    def follow_files(self) -> Sequence[str]: ...
    def docs(self) -> Docs: ...
    def code(self) -> Code: ...
    def dialogue(self) -> DialogueContext: ...
    def observer(self) -> Observer: ...
    def review(self) -> Review: ...
    def injections(self) -> InjectionIngest: ...
    def agent_context(self, observer: Observer) -> AgentContext: ...
    def answerer(self) -> Answerer: ...
    def chats(self) -> Chats: ...
    def sync(self) -> Sync: ...
    def chores(self, observer: Observer) -> Sequence[Chore]: ...
    def team(self) -> Team: ...
    def seen_by(self, member: Member, *, door: ActDoor, view_of: Recollect) -> Recollect: ...


class Recollect:
    """One open memory. Safe to share between threads; close it or use it in a `with` block."""

    def __init__(
        self,
        stores: StorePair,
        reader: Reader,
        writer: Writer,
        rooms: Rooms,
        *,
        origin: StoreOrigin,
        notices: tuple[str, ...] = (),
        view_of: Recollect | None = None,
    ) -> None:
        self._origin = origin
        self._notices = notices
        self._stores = stores
        self._reader = reader
        self._writer = writer
        self._makers = rooms
        self._view_of = view_of  # the memory that owns the file, for one seen through another door
        self._is_closed = False

    @property
    def reader(self) -> Reader:
        """All that reads memories goes through it, the verbs below included."""
        self._check_open()
        return self._reader

    @property
    def writer(self) -> Writer:
        """All that changes memories goes through it, the verbs below included."""
        self._check_open()
        return self._writer

    @property
    def _rooms(self) -> Rooms:
        self._check_open()
        return self._makers

    def through(self, door: str, *, actor: str | None = None) -> Recollect:
        """The same memory for what comes in by another door: `adapter`, `chat` or `mcp` for what an agent says or does
        in your program. What an agent adds is `agent_explicit` and unverified; it cannot change what you taught. The
        log names `actor` where one is given."""
        from recollect.core.doors import find_door

        own = self.writer
        writer = own.through(find_door(door), actor=actor)
        if writer is own:
            return self
        reader = self.reader.followed_by(writer.follow_recall)
        rooms = self._makers.through(reader, writer)
        return Recollect(self._stores, reader, writer, rooms, origin=self._origin, notices=self._notices, view_of=self)

    def seen_by(self, member: Member, *, door: str = "http") -> Recollect:
        """The same memory as a member of its team sees and may change it, and acts in their name."""
        from recollect.core.doors import find_door

        return self._rooms.seen_by(member, door=find_door(door), view_of=self)

    @property
    def door(self) -> str:
        """The door that what is done here comes in by."""
        return self.writer.door.name

    def _check_open(self) -> None:
        if self._view_of is not None:
            self._view_of._check_open()
        if self._is_closed:
            raise MemoryClosed(self._stores.project.engine.location)

    # --- remember -------------------------------------------------------------------------------------------------

    def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        confidence: float | None = None,
        tags: Sequence[str] = (),
        files: Sequence[str] = (),
        modules: Sequence[str] = (),
        scope: str = "global",
        visibility: str = "project",
        session: str | None = None,
        event_at: datetime | None = None,
        valid_until: datetime | None = None,
        stale_at: datetime | None = None,
        node: str | None = None,
        entities: Sequence[str] = (),
        work_unit: WorkUnit | None = None,
        payload: Mapping[str, Any] | Payload | None = None,
        attributes: Mapping[str, Any] | None = None,
        citation: str | None = None,
        source: Source | None = None,
        source_role: str | None = None,
        status: str | None = None,
        needs_review: bool = False,
        pinned: bool = False,
        supersedes: str | None = None,
        derived_from: Sequence[str] = (),
        why: str = "",
        again: bool = False,
        user: str | None = None,
        team: str | None = None,
    ) -> Receipt:
        """Remember one statement. It is on disk when this returns.

        `kind` says what it is about, `files`, `modules` and `node` (a symbol) where it holds. `supersedes` names the
        memory it replaces, `derived_from` those it follows from. `again` says a rejected statement once more, on
        purpose. `user` keeps it for one user of an assistant, `team` for one team (`visibility="team"`). Everything
        else a memory can be given is a field of `Draft`: see `remember_all`.
        """
        from recollect.core.drafts import Draft
        from recollect.core.scope import Source

        if files:
            self._rooms.follow_files()  # from here on, renames are noticed
        draft = Draft(
            content,
            kind=kind,
            confidence=confidence,
            tags=tags,
            files=files,
            modules=modules,
            scope=scope,
            visibility=visibility,
            session=session,
            event_at=event_at,
            valid_until=valid_until,
            stale_at=stale_at,
            node=node,
            entities=entities,
            work_unit=work_unit,
            payload=payload,
            attributes=attributes or {},
            citation=citation,
            source=source or Source.USER_TAUGHT,
            source_role=source_role,
            status=status,
            needs_review=needs_review,
            pinned=pinned,
            supersedes=supersedes,
            derived_from=derived_from,
            why=why,
            override_tombstone=again,
            user=user,
            team=team,
        )
        return self.writer.remember([draft])[0]

    def remember_all(self, drafts: Iterable[Draft]) -> list[Receipt]:
        """Remember all drafts in one durable transaction, or none of them."""
        return self.writer.remember(drafts)

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
    ) -> Receipt:
        """Correct a memory, by a better statement (`content`) or without one. The reason decides what happens.

        `inaccurate`: it was wrong and cannot come back. `outdated`: it held until `until` (now if not given), and still
        answers for the time before. `too_specific`: `content` says it more generally, or it holds only in `files` and
        `modules` (by default, those it is about). `duplicate`: `duplicate_of` stays and takes over what this one knew.
        """
        return self.writer.correct(
            id,
            content,
            reason=reason,
            duplicate_of=duplicate_of,
            until=until,
            files=files,
            modules=modules,
            why=why,
            if_revision=if_revision,
        )

    def edit(
        self,
        id: str,
        *,
        content: str | Unset = UNSET,
        kind: str | Unset = UNSET,
        confidence: float | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        files: Sequence[str] | Unset = UNSET,
        modules: Sequence[str] | Unset = UNSET,
        scope: str | Unset = UNSET,
        visibility: str | Unset = UNSET,
        team: str | Unset | None = UNSET,
        event_at: datetime | Unset | None = UNSET,
        valid_until: datetime | Unset | None = UNSET,
        stale_at: datetime | Unset | None = UNSET,
        node: str | Unset | None = UNSET,
        entities: Sequence[str] | Unset = UNSET,
        work_unit: WorkUnit | Unset | None = UNSET,
        payload: Mapping[str, Any] | Payload | Unset | None = UNSET,
        attributes: Mapping[str, Any] | Unset = UNSET,
        citation: str | Unset | None = UNSET,
        decay: Decay | Unset | None = UNSET,
        status: str | Unset = UNSET,
        why: str = "",
        if_revision: int | None = None,
    ) -> Memory:
        """Change fields of a memory in place; what is not named stays.

        `if_revision` refuses the edit when the memory was changed since that revision was read.
        """
        changes = {name: value for name, value in locals().items() if name in EDITABLE and value is not UNSET}
        return self.writer.edit(id, changes, why=why, if_revision=if_revision)

    def confirm(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """A person says it is right: what it contradicts is closed. With `if_revision` only if it still says what they
        saw. Through an agent's door nothing changes."""
        return self.writer.confirm(id, why=why, if_revision=if_revision)

    def reject(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """It is wrong; it must not come back. What it contradicted is no longer in question."""
        return self.writer.reject(id, why=why, if_revision=if_revision)

    def dispute(self, id: str, *, why: str = "", if_revision: int | None = None) -> Memory:
        """It is doubted; it stays, marked, at a lower weight."""
        return self.writer.dispute(id, why=why, if_revision=if_revision)

    def pin(self, id: str, *, pinned: bool = True, if_revision: int | None = None) -> Memory:
        """A pinned memory never fades."""
        return self.writer.pin(id, pinned=pinned, if_revision=if_revision)

    def forget(self, id: str, *, why: str = "", if_revision: int | None = None) -> Forgotten:
        """Remove a memory for good, from every file of the store. Cannot be undone; `reject` can."""
        return self.writer.forget(id, why=why, if_revision=if_revision)

    def forget_all(self, ids: Iterable[str], *, why: str = "") -> Sequence[Forgotten]:
        """Remove some memories for good, all or none; much faster than one by one."""
        return self.writer.forget_all(ids, why=why)

    def find_subject(self, name: str) -> Subject:
        """Who is meant by a name, an alias, an e-mail address or an entity's id: all names they go by, and near misses,
        which `erase` leaves alone unless they are named too."""
        from recollect.remember.subject import find_subject

        self._check_open()
        return find_subject(self._stores.all, name)

    def erase(
        self,
        *,
        subject: str | None = None,
        also: Sequence[str] = (),
        except_names: Sequence[str] = (),
        session: str | None = None,
        user: str | None = None,
        filter: Filter | None = None,
        project: bool = False,
        everything: bool = False,
        dry_run: bool = False,
        backups: Copies = "list",
        exports: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> ErasureReport:
        """Erase a subject, a session, a user, what a filter lets through, the project or everything, for good and from
        every file: rows, what was drawn from them, the log's bodies, files of sessions, freed pages, copies.

        Exactly one of them is named; none finishes what an interrupted erasure left. `also` are further names of the
        subject, `except_names` those of its names to leave alone. `backups` says what becomes of copies that hold it
        (`list`, `rewrite`, `delete`), `exports` deletes the exports that were written. A person's door only.
        """
        from recollect.tend.erase import erase, make_scope, resume_erasure

        if not self.writer.door.is_persons:
            raise PersonOnly("erase")
        names = self.find_subject(subject).names if subject is not None else ()
        scope = make_scope(names, also, except_names, session, user, filter, project, everything, backups)
        stores = (self.store,) if project or everything else self._stores.all
        if scope is None:
            return resume_erasure(stores, self.writer.act, progress)
        act = self.writer.act
        return erase(stores, scope, act, dry_run=dry_run, copies=backups, exports=exports, progress=progress)

    def undo(
        self,
        id: str | None = None,
        *,
        act: str | None = None,
        why: str = "",
        if_revision: int | None = None,
        actor: str | None = None,
    ) -> Undone:
        """Take back your own last change in this project, or the last one to `id`, or the last one by `actor`.

        `act` names one change by its id in the log: it is taken back, or refused when it was undone already or its
        memory was changed again since; never another one in its place. `if_revision` refuses when `id` was changed.
        """
        return self.writer.undo(id, act=act, why=why, if_revision=if_revision, actor=actor)

    def relate(
        self, id: str, relation: str, *, to: str | None = None, file: str | None = None, confidence: float = 1.0
    ) -> Link:
        """Link a memory to exactly one target: another memory or a file."""
        return self.writer.relate(id, relation, to=to, file=file, confidence=confidence)

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
        user: str | None = None,
        track: bool = True,
    ) -> Briefing:
        """The right few memories for a question, best first.

        `last_sessions` looks only at the newest so many; `around` only at those around an event, named by a memory's
        id or by words. `filter` has the rest, "as of" a date included. `recipe` names another set of weights for once:
        coding, assistant, documents, duplicates, seed or rrf. `user` asks for one user of an assistant: theirs and
        nobody's are seen, never another's. `track=False` does not count the access.
        """
        query = Query(
            text=text,
            k=max(0, k),
            filter=(filter or Filter()).for_user(user),
            phase=None if phase is None else choose(Phase, phase, "phase"),
            files=tuple(files),
            recent_calls=tuple(recent_calls),
            mode=mode,
            last_sessions=last_sessions,
            around=around,
        )
        return self._recall(query, recipe=recipe, track=track)

    def _recall(self, query: Query, *, budget: Budget = UNBOUNDED, recipe: str | None = None, track: bool) -> Briefing:
        """Recall, after memories have followed files that were renamed meanwhile."""
        trouble = self._rooms.follow_files()
        found = self.reader.recall(query, budget=budget, recipe=recipe, track=track)
        return replace(found, notes=(*found.notes, *trouble)) if trouble else found

    def brief(
        self,
        text: str,
        *,
        phase: str | None = None,
        files: Sequence[str] = (),
        budget: int | None = None,
        filter: Filter | None = None,
        user: str | None = None,
        track: bool = True,
    ) -> Briefing:
        """What an agent is given before it works: packed into the phase's token budget, fenced, cited.

        Of a foreign store it is given nothing; `recall` answers questions about it.
        """
        from recollect.privacy.fence import fence

        if doubt := self._origin.doubt:
            return Briefing((), "", 0, (foreign_notice(doubt),))

        chosen = None if phase is None else choose(Phase, phase, "phase")
        allowed = PLAIN_BUDGET if chosen is None else BUDGETS[chosen]
        if budget is not None:
            allowed = Budget(max(0, budget), allowed.shares)
        query = Query(
            text,
            k=_BRIEFED_LIMIT,
            filter=(filter or Filter()).for_user(user),
            phase=chosen,
            files=tuple(files),
            explicit=False,
        )
        briefing = self._recall(query, budget=allowed, track=track)
        return replace(briefing, text=fence(briefing.hits, nonce=os.urandom(8).hex()))

    def ask(
        self,
        text: str,
        *,
        k: int = DEFAULT_K,
        filter: Filter | None = None,
        user: str | None = None,
        write: bool = True,
        track: bool = True,
    ) -> CitedAnswer:
        """What is remembered about a question and, where a language model is configured, a written answer to it: each
        sentence names the memories it rests on. `write=False` asks no model."""
        query = Query(text=text, k=max(0, k), filter=(filter or Filter()).for_user(user))
        return self._rooms.answerer().answer(query, write=write, track=track)

    def get(self, id: str) -> Memory:
        """The memory with this id; its last letters suffice."""
        return self.reader.get(id)

    def list(
        self,
        filter: Filter | None = None,
        *,
        order: Order = "newest",
        limit: int = 50,
        skip: int = 0,
        cursor: str | None = None,
        user: str | None = None,
    ) -> Page:
        """Memories by filter, without a question; `user` as for `recall`. `cursor` is that of the page before:
        unlike `skip`, it misses and repeats nothing while others write."""
        wanted = (filter or Filter()).for_user(user)
        self._rooms.follow_files()
        return self.reader.list(wanted, order=order, limit=limit, skip=skip, cursor=cursor)

    def count(self, filter: Filter | None = None, *, user: str | None = None) -> int:
        """How many memories a filter lets through."""
        return self.reader.count((filter or Filter()).for_user(user))

    def trend(
        self, text: str = "", *, by: str = "week", days: int = 90, filter: Filter | None = None, user: str | None = None
    ) -> Trend:
        """How often something was seen in each day, week or month of the last so many days: the memories that hold all
        words of `text`, or all that the filter lets through, by when they happened."""
        return self.reader.trend(text, by=by, days=days, filter=(filter or Filter()).for_user(user))

    def why(self, id: str) -> Account:
        """All that is known about how we came to believe something."""
        return self.reader.why(id)

    def history(self, id: str | None = None, *, limit: int = 50) -> tuple[Entry, ...]:
        """The latest changes: of one memory, oldest first, or of all, newest first."""
        return self.reader.history(id, limit=limit)

    def confidence(self, memory: Memory) -> float:
        """What the stored confidence is worth now."""
        return self.reader.confidence(memory)

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
        from recollect.tend.runner import Tended, TendRun, tend

        if self.reader.read_only and not dry_run:
            return Tended()
        run = TendRun(
            self.store,
            self.writer.clock,
            self.writer.identity,
            self.writer.actor,
            job=job,
            dry_run=dry_run,
            most=most,
            seconds=seconds,
            progress=progress,
        )
        self.writer.leave_vectors_to_the_chore()
        return tend(self._rooms.chores(self.observer), run)

    def put_vectors_back(self) -> str:
        """Let the vectors of the model before this one answer again; the name of that model."""
        retired = [space for space in self.store.vectors.spaces() if space.state == "retired"]
        if not retired:
            raise NothingToUndo
        return self.store.vectors.put_back(retired[-1]).model

    # --- rooms ----------------------------------------------------------------------------------------------------

    @cached_property
    def docs(self) -> Docs:
        """Markdown and plain text as memory: index, search, related, list, gc, check."""
        return self._rooms.docs()

    @cached_property
    def code(self) -> Code:
        """The project's source code: index, impact, deps, trace, map, search, watch."""
        return self._rooms.code()

    @cached_property
    def observer(self) -> Observer:
        """What agents do as memory: watch, replay transcripts, drain the spool of hooks, foresee."""
        return self._rooms.observer()

    @cached_property
    def review(self) -> Review:
        """What waits for a person, in one queue: list, groups, evidence, decide."""
        return self._rooms.review()

    @cached_property
    def team(self) -> Team:
        """Who works with this store beside its keeper: people, invitations, tokens, talk about disputed memories."""
        return self._rooms.team()

    @cached_property
    def sync(self) -> Sync:
        """The team's server: run, preview, status."""
        return self._rooms.sync()

    def agent(self, session: str, *, host: str = "", arm: str | None = None) -> AgentSession:
        """Memory beside one working agent: what to say at each moment, and what was seen. Its methods never raise."""
        from recollect.agent.session import AgentSession

        return AgentSession(self.agent_context, session, host=host, arm=arm)

    def told(self, *, session: str | None = None, last: bool = False, limit: int = 50) -> Sequence[ToldMemory]:
        """What agents were told unasked, the latest first: of one session, of the last one that was told anything, or
        of all."""
        found = self._rooms.injections().latest(session=session, limit=limit)
        if last:
            found = [one for one in found if one.session == found[0].session]
        known = {one.id: self._find_told(one.id) for one in found if one.id}
        return [
            one
            if (memory := known.get(one.id)) is None
            else replace(one, content=memory.content, status=str(memory.status))
            for one in found
        ]

    def _find_told(self, id: str) -> Memory | None:
        try:
            return self.get(id)
        except MemoryNotFound:  # forgotten, or of the person's own store
            return None

    def trust(self, level: str | None = None) -> Trust:
        """How sure a memory must be before agents are told of it unasked; `level` chooses another one."""
        injections = self._rooms.injections()
        if level is not None:
            injections.choose_level(level)
        return injections.trust()

    def compare_trust(self, *, days: int = 7) -> TrustPreview:
        """What each level of trust would have told in the last days of what agents were told, and how many memories it
        may tell now."""
        from recollect.agent.recall_search import summarize
        from recollect.agent.trust_preview import MOST_TOLD, TrustPreview, preview_levels, tellable

        since = self.writer.now() - timedelta(days=days)
        told = [one for one in self.told(limit=MOST_TOLD) if one.at >= since]
        found = {one.id: self._find_told(one.id) for one in told if one.id}
        known = {id: summarize(one, confidence=self.confidence(one)) for id, one in found.items() if one is not None}
        may_tell = {level: self.count(tellable(level)) for level in LEVELS}
        levels = preview_levels(told, known, may_tell)
        return TrustPreview(days, self.count(tellable(None)), len(told), levels)

    @property
    def is_foreign(self) -> bool:
        """Did this store come from elsewhere, by clone, archive or copy, without being adopted? Then it can be read,
        but nothing of it is told to agents unasked or sent to a model."""
        return self._origin.is_foreign

    def state(self) -> str:
        """What the store is and holds at this moment, in a few letters: its file, its log and every memory in it."""
        own = self.store.digest()
        if self.path is None:
            return own
        with _reopened(self.path) as store:  # a file that is overwritten in place deceives whoever has it open
            if store.digest() != own:
                raise StoreChanged(str(self.path))
        return f"{identify_file(os.fspath(self.path))} {own}"

    def adopt(self, *, shown: str | None = None) -> bool:
        """Take a foreign store as your own, with all that is in it; agents are told of it at the most careful level.

        `shown` is the `state()` it had when a person looked at it: another one is not adopted. True when it is kept;
        it holds only for this process when the store is read-only or your key cannot be kept.
        """
        if not self.is_foreign:
            return True
        kept = False
        if not self.reader.read_only:
            with self.store.engine.write():
                if shown is not None and self.state() != shown:
                    raise StoreChanged(str(self.path))
                kept = mark_store(self.store, self._origin)
                if kept:
                    self._rooms.injections().choose_level(LEVELS[0])
        if kept and self.path is not None:
            with _reopened(self.path) as store:
                if StoreOrigin(os.path.abspath(self.path), Meta(store.engine, FILE).get).is_foreign:
                    raise StoreChanged(str(self.path))
        self._origin.vouched = not kept
        return kept

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should know of this store: that it is foreign, which settings of it are ignored."""
        doubt = self._origin.doubt
        return (*self._notices, foreign_notice(doubt)) if doubt else self._notices

    @cached_property
    def agent_context(self) -> AgentContext:
        """What the agent loop works with."""
        return self._rooms.agent_context(self.observer)

    @cached_property
    def sessions(self) -> Sessions:
        """Conversations: capture what is said, look back, draw facts, give context."""
        from recollect.dialogue.api import Sessions

        return Sessions(self.dialogue)

    @cached_property
    def chats(self) -> Chats:
        """Chats with a language model that remembers by any provider, and the turns of all of them."""
        return self._rooms.chats()

    @cached_property
    def dialogue(self) -> DialogueContext:
        """What the room of conversations works with."""
        return self._rooms.dialogue()

    # --- out and in -----------------------------------------------------------------------------------------------

    def export(
        self,
        to: str | os.PathLike[str] | IO[bytes],
        *,
        format: str = "jsonl",
        filter: Filter | None = None,
        personal: bool = False,
        passphrase: str | None = None,
        budget: int | None = None,
        progress: Callable[[int, int], None] = quiet,
    ) -> ExportReport:
        """Write memories to a file: `jsonl`, `archive` (a zip with history, vectors and checksums, which `passphrase`
        encrypts), `markdown` (a folder; for a stream a zip of it) or `claude` (CLAUDE.md or AGENTS.md within a `budget`
        of tokens).

        Secrets are looked for once more on the way. Personal memories stay here unless `personal=True`.
        """
        return self.portability.export(
            to,
            format=format,
            filter=filter,
            personal=personal,
            passphrase=passphrase,
            budget=budget,
            progress=progress,
        )

    def import_memories(
        self,
        path: str | os.PathLike[str],
        *,
        format: str = "auto",
        trust: bool = False,
        edited: bool = False,
        dry_run: bool = False,
        passphrase: str | None = None,
        mapping: Mapping[str, str] | None = None,
        user: str | None = None,
        progress: Callable[[int, int], None] = quiet,
    ) -> ImportReport:
        """Take in an export, or what another program remembered; `dry_run` only tells what would happen.

        An export that this person's key sealed keeps the origin of every memory, and so does one you `trust`. Of all
        others nothing becomes a person's word. `edited` takes an export that was changed on purpose. `mapping` names
        the columns of a table: `{"content": "text", "created_at": "when"}`.
        """
        return self.portability.take_in(
            Path(path),
            format=format,
            trust=trust,
            edited=edited,
            dry_run=dry_run,
            passphrase=passphrase,
            mapping=mapping,
            user=user,
            progress=progress,
        )

    @cached_property
    def portability(self) -> Portability:
        """What export, import and migrate work with."""
        from recollect.portable.api import Portability

        return Portability(self.store, self.writer, self._origin)

    # --- the file -------------------------------------------------------------------------------------------------

    @cached_property
    def maintenance(self) -> Maintenance:
        """Care for the file: check, backup, repair, look for secrets, how things stand."""
        from recollect.tend.maintenance import Maintenance

        return Maintenance(self.store, self.writer.act, self.writer.clock)

    @cached_property
    def overview(self) -> Overview:
        """The whole store at a glance: health, facets, activity over time, what changed since a position."""
        from recollect.tend.overview import Overview

        return Overview(self.store, self.reader, self.writer.clock, origin=self._origin)

    @property
    def store(self) -> Store:
        """The open store, for those who care for the file: backup, check, repair."""
        self._check_open()
        return self._stores.project

    @property
    def path(self) -> Path | None:
        """The file of the project's store; nothing for one in memory or on a server."""
        engine = self._stores.project.engine
        return None if engine.folder is None else Path(engine.location)

    @property
    def location(self) -> str:
        """Where the project's store is, as people know it: a file, `:memory:`, or an address without its password."""
        return self._stores.project.engine.location

    @property
    def project(self) -> str:
        """The name of the project this memory belongs to."""
        return self._stores.project.project

    def close(self) -> None:
        """Close the file. Nothing can be asked of this memory afterwards. One seen through another door leaves the file
        open for the memory it is a view of."""
        if "code" in self.__dict__:
            self.code.close()
        for name in _ROOMS:
            self.__dict__.pop(name, None)
        self._is_closed = True
        if self._view_of is None:
            self._stores.close()

    def __enter__(self) -> Recollect:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _reopened(path: Path) -> Iterator[Store]:
    """A store as it stands on disk, whatever an open connection still remembers of it."""
    store = open_store(path, Kinds(), create=False, read_only=True)
    try:
        yield store
    finally:
        store.close()


def mark_store(store: Store, origin: StoreOrigin) -> bool:
    """Mark a store as this person's; False when no key can be had."""
    mark = origin.new_mark()
    if mark is not None:
        with store.engine.write():
            Meta(store.engine, FILE).put(*mark)
    return mark is not None


_ROOMS = tuple(name for name, member in vars(Recollect).items() if isinstance(member, cached_property))
_BRIEFED_LIMIT = 40  # hits in one briefing; the token budget usually stops earlier
