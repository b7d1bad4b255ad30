"""The same memory for asyncio: the same names and parameters, on worker threads, because the work below is blocking C
that frees the interpreter.

    async with recollect.aio.open() as memory:
        await memory.remember("The staging database resets every night.", kind="gotcha")

Each twin lists the methods of its synchronous class once; types and signatures follow from there, and a test finds
what is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from recollect import wiring
from recollect.agent.chat import Chat, Chats
from recollect.agent.session import AgentSession
from recollect.app import Recollect
from recollect.code.api import Code
from recollect.core.people import Member
from recollect.dialogue.api import Sessions
from recollect.documents.api import Docs
from recollect.documents.layout import Layout
from recollect.observer.api import Observer
from recollect.review.api import Review
from recollect.sync.api import Sync
from recollect.team.api import Team
from recollect.tend.maintenance import Maintenance
from recollect.tend.overview import Overview

P = ParamSpec("P")
Value = TypeVar("Value")
Inner = TypeVar("Inner")


class Twin(Generic[Inner]):
    """An object whose methods are awaitable and run on worker threads."""

    def __init__(self, inner: Inner) -> None:
        self._inner = inner


def on_thread(
    method: Callable[Concatenate[Inner, P], Value],
) -> Callable[Concatenate[Twin[Inner], P], Coroutine[Any, Any, Value]]:
    """A method of the synchronous class as an awaitable one with the same parameters."""

    @wraps(method)
    async def awaitable(twin: Twin[Inner], /, *values: P.args, **options: P.kwargs) -> Value:
        return await asyncio.to_thread(method, twin._inner, *values, **options)

    return awaitable


def one_by_one(
    method: Callable[Concatenate[Inner, P], Iterator[Value]],
) -> Callable[Concatenate[Twin[Inner], P], AsyncIterator[Value]]:
    """A method that yields, for `async for`; each value is made on a worker thread."""

    @wraps(method)
    async def values_of(twin: Twin[Inner], /, *values: P.args, **options: P.kwargs) -> AsyncIterator[Value]:
        iterator = method(twin._inner, *values, **options)
        while (value := await asyncio.to_thread(next, iterator, _END)) is not _END:
            yield value

    return values_of


_END: Any = object()


class _Entered(Protocol):
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    async def __aenter__(self) -> Self: ...


Opened = TypeVar("Opened", bound=_Entered)


class Opening(Generic[Opened]):
    """Something that is being opened: `await` it, or use it in `async with` to have it closed."""

    def __init__(self, make: Callable[[], Opened]) -> None:
        self._make = make
        self._opened: Opened | None = None

    def __await__(self) -> Generator[Any, None, Opened]:
        return asyncio.to_thread(self._make).__await__()

    async def __aenter__(self) -> Opened:
        self._opened = await self
        return await self._opened.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


def opened_by(
    method: Callable[Concatenate[Inner, P], Value], twin: Callable[[Value], Opened]
) -> Callable[Concatenate[Twin[Inner], P], Opening[Opened]]:
    """A method that opens something, for `await` and for `async with`."""

    @wraps(method)
    def opening(owner: Twin[Inner], /, *values: P.args, **options: P.kwargs) -> Opening[Opened]:
        return Opening(lambda: twin(method(owner._inner, *values, **options)))

    return opening


# --- the rooms -----------------------------------------------------------------------------------------------------


class AsyncDocs(Twin[Docs]):
    """Documents as memory."""

    index = on_thread(Docs.index)
    search = on_thread(Docs.search)
    related = on_thread(Docs.related)
    place = on_thread(Docs.place)
    list = on_thread(Docs.list)
    confidence = on_thread(Docs.confidence)
    gc = on_thread(Docs.gc)
    check = on_thread(Docs.check)
    import_rules = on_thread(Docs.import_rules)

    @property
    def base(self) -> Path:
        return self._inner.base

    @property
    def layout(self) -> Layout:
        return self._inner.layout


class AsyncCode(Twin[Code]):
    """The project's source code."""

    index = on_thread(Code.index)
    watch = one_by_one(Code.watch)
    import_scip = on_thread(Code.import_scip)
    analyse = on_thread(Code.analyse)
    impact = on_thread(Code.impact)
    deps = on_thread(Code.deps)
    trace = on_thread(Code.trace)
    related = on_thread(Code.related)
    map = on_thread(Code.map)
    counts = on_thread(Code.counts)
    search = on_thread(Code.search)
    close = on_thread(Code.close)


class AsyncTeam(Twin[Team]):
    """Who works with a shared store."""

    init = on_thread(Team.init)
    invite = on_thread(Team.invite)
    join = on_thread(Team.join)
    members = on_thread(Team.members)
    set_role = on_thread(Team.set_role)
    remove = on_thread(Team.remove)
    assign = on_thread(Team.assign)
    make_token = on_thread(Team.make_token)
    tokens = on_thread(Team.tokens)
    revoke_token = on_thread(Team.revoke_token)
    by_token = on_thread(Team.by_token)
    status = on_thread(Team.status)
    comment = on_thread(Team.comment)
    thread = on_thread(Team.thread)
    welcome = on_thread(Team.welcome)

    @property
    def is_shared(self) -> bool:
        """Does anybody but its keeper come in?"""
        return self._inner.is_shared


class AsyncSessions(Twin[Sessions]):
    """Conversations."""

    capture = on_thread(Sessions.capture)
    capture_all = on_thread(Sessions.capture_all)
    import_chats = on_thread(Sessions.import_chats)
    list = on_thread(Sessions.list)
    get = on_thread(Sessions.get)
    episodes = on_thread(Sessions.episodes)
    facts = on_thread(Sessions.facts)
    consolidate = on_thread(Sessions.consolidate)
    context = on_thread(Sessions.context)
    reflection = on_thread(Sessions.reflection)
    entities = on_thread(Sessions.entities)
    entity = on_thread(Sessions.entity)
    merge_entities = on_thread(Sessions.merge_entities)
    split_entity = on_thread(Sessions.split_entity)
    tools = on_thread(Sessions.tools)
    consolidator_tools = on_thread(Sessions.consolidator_tools)


class AsyncChat(Twin[Chat]):
    """One waking of a session."""

    wake = on_thread(Chat.wake)
    say = on_thread(Chat.say)
    sleep = on_thread(Chat.sleep)

    @property
    def session(self) -> str:
        return self._inner.session

    @property
    def notes(self) -> list[str]:
        return self._inner.notes

    async def __aenter__(self) -> Self:
        await self.wake()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sleep()


class AsyncChats(Twin[Chats]):
    """Chats with a language model that remembers, and the turns of all of them."""

    providers = on_thread(Chats.providers)
    context = on_thread(Chats.context)
    open = opened_by(Chats.open, AsyncChat)
    turns = on_thread(Chats.turns)
    last_session = on_thread(Chats.last_session)


class AsyncObserver(Twin[Observer]):
    """What agents do."""

    watch = on_thread(Observer.watch)
    finish = on_thread(Observer.finish)
    subtask_done = on_thread(Observer.subtask_done)
    replay = on_thread(Observer.replay)
    drain = on_thread(Observer.drain)
    foresee = on_thread(Observer.foresee)
    commands = on_thread(Observer.commands)
    warnings = on_thread(Observer.warnings)
    patterns = on_thread(Observer.patterns)
    threshold = on_thread(Observer.threshold)
    feature_state = on_thread(Observer.feature_state)
    findings = on_thread(Observer.findings)
    qa = on_thread(Observer.qa)
    ui = on_thread(Observer.ui)
    chores = on_thread(Observer.chores)
    statistics = on_thread(Observer.statistics)
    session = on_thread(Observer.session)
    work_of = on_thread(Observer.work_of)
    sessions = on_thread(Observer.sessions)
    waiting = on_thread(Observer.waiting)


class AsyncReview(Twin[Review]):
    """What waits for a person."""

    list = on_thread(Review.list)
    count = on_thread(Review.count)
    questions = on_thread(Review.questions)
    groups = on_thread(Review.groups)
    get = on_thread(Review.get)
    evidence = on_thread(Review.evidence)
    saved = on_thread(Review.saved)
    decide = on_thread(Review.decide)
    decide_many = on_thread(Review.decide_many)


class AsyncSync(Twin[Sync]):
    """The team's server."""

    run = on_thread(Sync.run)
    carry_out = on_thread(Sync.carry_out)
    preview = on_thread(Sync.preview)
    status = on_thread(Sync.status)
    serve = on_thread(Sync.serve)
    scrub = on_thread(Sync.scrub)
    chore = on_thread(Sync.chore)

    @property
    def is_set(self) -> bool:
        """Has the person named a server?"""
        return self._inner.is_set

    @property
    def is_linked(self) -> bool:
        """Was this project ever synced with the server?"""
        return self._inner.is_linked


class AsyncAgentSession(Twin[AgentSession]):
    """Memory beside one working agent."""

    system_prompt = on_thread(AgentSession.system_prompt)
    first_message = on_thread(AgentSession.first_message)
    tool_result = on_thread(AgentSession.tool_result)
    step = on_thread(AgentSession.step)
    before = on_thread(AgentSession.before)
    planner = on_thread(AgentSession.planner)
    coder = on_thread(AgentSession.coder)
    reviewer = on_thread(AgentSession.reviewer)
    taken_over = on_thread(AgentSession.taken_over)
    step_limit = on_thread(AgentSession.step_limit)
    observe = on_thread(AgentSession.observe)
    work_state = on_thread(AgentSession.work_state)
    end = on_thread(AgentSession.end)

    async def at_work(self, stage: str = "", **unit: str | None) -> None:
        """Say what the agent is doing, in the words of the methodology."""
        await asyncio.to_thread(self._inner.at_work, stage, **unit)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._inner.notes


class AsyncMaintenance(Twin[Maintenance]):
    """Care for the file."""

    check = on_thread(Maintenance.check)
    backup = on_thread(Maintenance.backup)
    repair = on_thread(Maintenance.repair)
    find_secrets = on_thread(Maintenance.find_secrets)
    facts = on_thread(Maintenance.facts)
    try_writing = on_thread(Maintenance.try_writing)
    status = on_thread(Maintenance.status)
    runs = on_thread(Maintenance.runs)
    schedule = on_thread(Maintenance.schedule)
    backups = on_thread(Maintenance.backups)


class AsyncOverview(Twin[Overview]):
    """The whole store at a glance."""

    health = on_thread(Overview.health)
    growth = on_thread(Overview.growth)
    facets = on_thread(Overview.facets)
    covered_files = on_thread(Overview.covered_files)
    activity = on_thread(Overview.activity)
    position = on_thread(Overview.position)
    wait_for_change = on_thread(Overview.wait_for_change)
    events = on_thread(Overview.events)


# --- the memory ----------------------------------------------------------------------------------------------------


class AsyncRecollect(Twin[Recollect]):
    """One open memory for asyncio. Rooms are properties, as there; what they do is awaited."""

    remember = on_thread(Recollect.remember)
    remember_all = on_thread(Recollect.remember_all)
    correct = on_thread(Recollect.correct)
    edit = on_thread(Recollect.edit)
    confirm = on_thread(Recollect.confirm)
    reject = on_thread(Recollect.reject)
    dispute = on_thread(Recollect.dispute)
    pin = on_thread(Recollect.pin)
    forget = on_thread(Recollect.forget)
    forget_all = on_thread(Recollect.forget_all)
    find_subject = on_thread(Recollect.find_subject)
    erase = on_thread(Recollect.erase)
    undo = on_thread(Recollect.undo)
    relate = on_thread(Recollect.relate)
    recall = on_thread(Recollect.recall)
    brief = on_thread(Recollect.brief)
    ask = on_thread(Recollect.ask)
    get = on_thread(Recollect.get)
    list = on_thread(Recollect.list)
    count = on_thread(Recollect.count)
    trend = on_thread(Recollect.trend)
    why = on_thread(Recollect.why)
    history = on_thread(Recollect.history)
    confidence = on_thread(Recollect.confidence)
    tend = on_thread(Recollect.tend)
    export = on_thread(Recollect.export)
    import_memories = on_thread(Recollect.import_memories)
    told = on_thread(Recollect.told)
    trust = on_thread(Recollect.trust)
    compare_trust = on_thread(Recollect.compare_trust)
    adopt = on_thread(Recollect.adopt)
    state = on_thread(Recollect.state)
    put_vectors_back = on_thread(Recollect.put_vectors_back)
    close = on_thread(Recollect.close)

    async def agent(self, session: str, *, host: str = "", arm: str | None = None) -> AsyncAgentSession:
        """Memory beside one working agent: what to say at each moment, and what was seen."""
        return AsyncAgentSession(await asyncio.to_thread(self._inner.agent, session, host=host, arm=arm))

    @property
    def docs(self) -> AsyncDocs:
        return AsyncDocs(self._inner.docs)

    @property
    def code(self) -> AsyncCode:
        return AsyncCode(self._inner.code)

    @property
    def observer(self) -> AsyncObserver:
        return AsyncObserver(self._inner.observer)

    @property
    def review(self) -> AsyncReview:
        return AsyncReview(self._inner.review)

    @property
    def sync(self) -> AsyncSync:
        return AsyncSync(self._inner.sync)

    @property
    def sessions(self) -> AsyncSessions:
        return AsyncSessions(self._inner.sessions)

    @property
    def chats(self) -> AsyncChats:
        return AsyncChats(self._inner.chats)

    @property
    def maintenance(self) -> AsyncMaintenance:
        return AsyncMaintenance(self._inner.maintenance)

    @property
    def overview(self) -> AsyncOverview:
        return AsyncOverview(self._inner.overview)

    @property
    def team(self) -> AsyncTeam:
        return AsyncTeam(self._inner.team)

    def seen_by(self, member: Member, *, door: str = "http") -> AsyncRecollect:
        """The same memory as a member of its team sees and may change it."""
        return AsyncRecollect(self._inner.seen_by(member, door=door))

    def through(self, door: str, *, actor: str | None = None) -> AsyncRecollect:
        """The same memory for what comes in by another door."""
        return AsyncRecollect(self._inner.through(door, actor=actor))

    @property
    def door(self) -> str:
        return self._inner.door

    @property
    def path(self) -> Path | None:
        return self._inner.path

    @property
    def location(self) -> str:
        return self._inner.location

    @property
    def project(self) -> str:
        return self._inner.project

    @property
    def is_foreign(self) -> bool:
        """Did this store come from elsewhere, without being adopted?"""
        return self._inner.is_foreign

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should know of this store."""
        return self._inner.notices

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _twin_of(make: Callable[P, Recollect]) -> Callable[P, Opening[AsyncRecollect]]:
    @wraps(make)
    def open(*values: P.args, **options: P.kwargs) -> Opening[AsyncRecollect]:
        return Opening(lambda: AsyncRecollect(make(*values, **options)))

    return open


open = _twin_of(wiring.open)
