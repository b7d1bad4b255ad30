"""The same memory for asyncio: the same names on worker threads, because the work below is blocking C that frees the
interpreter. A test compares every name and signature with the synchronous façade."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import update_wrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect import wiring
from recollect.agent.chat import Chat
from recollect.agent.providers import ProviderInfo
from recollect.agent.session import AgentSession
from recollect.app import Recollect
from recollect.core.account import Account
from recollect.core.chores import quiet
from recollect.core.documents import Document, Related
from recollect.core.drafts import Draft, Receipt
from recollect.core.links import Link
from recollect.core.log import Entry
from recollect.core.records import Memory
from recollect.core.turns import Turn
from recollect.documents.api import Docs
from recollect.documents.check import Checked
from recollect.documents.gc import GcPlan
from recollect.documents.guidance.teach import Lesson
from recollect.documents.index import Summary
from recollect.documents.search import DEFAULT_LIMIT, PER_DOCUMENT, Found
from recollect.models.port import Heard
from recollect.remember.forget import Forgotten
from recollect.remember.undo import Undone
from recollect.tend.runner import Tended


async def open(path: str | os.PathLike[str] | None = None, **options: Any) -> AsyncRecollect:
    """Open a memory for asyncio; takes what `recollect.open` takes."""
    return AsyncRecollect(await asyncio.to_thread(wiring.open, path, **options))


Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def _awaitable(
    method: Callable[Concatenate[Recollect, Given], Answer],
) -> Callable[Concatenate[AsyncRecollect, Given], Coroutine[Any, Any, Answer]]:
    """The method with the same signature, run in a thread."""

    async def run(self: AsyncRecollect, /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return await asyncio.to_thread(method, self._memory, *args, **kwargs)

    update_wrapper(run, method)
    return run


class AsyncRecollect:
    """Every verb of Recollect, awaitable."""

    def __init__(self, memory: Recollect) -> None:
        self._memory = memory

    remember = _awaitable(Recollect.remember)

    async def remember_all(self, drafts: Iterable[Draft]) -> list[Receipt]:
        return await asyncio.to_thread(self._memory.remember_all, drafts)

    async def correct(self, id: str, content: str, *, why: str = "") -> Receipt:
        return await asyncio.to_thread(self._memory.correct, id, content, why=why)

    edit = _awaitable(Recollect.edit)

    async def confirm(self, id: str, *, why: str = "") -> Memory:
        return await asyncio.to_thread(self._memory.confirm, id, why=why)

    async def reject(self, id: str, *, why: str = "") -> Memory:
        return await asyncio.to_thread(self._memory.reject, id, why=why)

    async def dispute(self, id: str, *, why: str = "") -> Memory:
        return await asyncio.to_thread(self._memory.dispute, id, why=why)

    async def pin(self, id: str, *, pinned: bool = True) -> Memory:
        return await asyncio.to_thread(self._memory.pin, id, pinned=pinned)

    async def forget(self, id: str, *, why: str = "") -> Forgotten:
        return await asyncio.to_thread(self._memory.forget, id, why=why)

    async def forget_all(self, ids: Iterable[str], *, why: str = "") -> Sequence[Forgotten]:
        return await asyncio.to_thread(self._memory.forget_all, ids, why=why)

    async def undo(self, id: str | None = None, *, why: str = "", actor: str | None = None) -> Undone:
        return await asyncio.to_thread(self._memory.undo, id, why=why, actor=actor)

    async def relate(
        self, id: str, relation: str, *, to: str | None = None, file: str | None = None, confidence: float = 1.0
    ) -> Link:
        return await asyncio.to_thread(self._memory.relate, id, relation, to=to, file=file, confidence=confidence)

    recall = _awaitable(Recollect.recall)

    brief = _awaitable(Recollect.brief)

    async def get(self, id: str) -> Memory:
        return await asyncio.to_thread(self._memory.get, id)

    list = _awaitable(Recollect.list)

    count = _awaitable(Recollect.count)

    async def why(self, id: str) -> Account:
        return await asyncio.to_thread(self._memory.why, id)

    async def history(self, id: str | None = None, *, limit: int = 50) -> tuple[Entry, ...]:
        return await asyncio.to_thread(self._memory.history, id, limit=limit)

    async def tend(
        self,
        *,
        job: str | None = None,
        dry_run: bool = False,
        most: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int, int], None] = quiet,
    ) -> Tended:
        return await asyncio.to_thread(
            self._memory.tend, job=job, dry_run=dry_run, most=most, seconds=seconds, progress=progress
        )

    async def put_vectors_back(self) -> str:
        return await asyncio.to_thread(self._memory.put_vectors_back)

    async def agent(self, session: str, *, host: str = "", arm: str | None = None) -> AgentSession:
        return await asyncio.to_thread(self._memory.agent, session, host=host, arm=arm)

    @property
    def sessions(self) -> OnThreads:
        """Conversations; every method of the synchronous one, awaitable."""
        return OnThreads(self._memory.sessions)

    @property
    def chats(self) -> AsyncChats:
        """Chats with a language model that remembers, and the turns of all of them."""
        return AsyncChats(self._memory)

    @property
    def observer(self) -> OnThreads:
        """What agents do; every method of the synchronous one, awaitable."""
        return OnThreads(self._memory.observer)

    async def close(self) -> None:
        await asyncio.to_thread(self._memory.close)

    @property
    def docs(self) -> AsyncDocs:
        return AsyncDocs(self._memory.docs)

    @property
    def path(self) -> Path | None:
        return self._memory.path

    @property
    def project(self) -> str:
        return self._memory.project

    async def __aenter__(self) -> AsyncRecollect:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncDocs:
    """Every verb of the documents room, awaitable."""

    def __init__(self, docs: Docs) -> None:
        self._docs = docs

    async def index(
        self,
        roots: Sequence[str | os.PathLike[str]] = (),
        *,
        base: str | os.PathLike[str] | None = None,
        full: bool = False,
        pruned: bool = False,
        progress: Callable[[int, int], None] = quiet,
    ) -> Summary:
        return await asyncio.to_thread(self._docs.index, roots, base=base, full=full, pruned=pruned, progress=progress)

    async def search(
        self,
        text: str,
        *,
        mode: str = "hybrid",
        limit: int = DEFAULT_LIMIT,
        max_per_document: int | None = PER_DOCUMENT,
        label: str | None = None,
        type: str | None = None,
        track: bool = True,
    ) -> Found:
        return await asyncio.to_thread(
            self._docs.search,
            text,
            mode=mode,
            limit=limit,
            max_per_document=max_per_document,
            label=label,
            type=type,
            track=track,
        )

    async def related(self, path: str, *, limit: int = 5) -> list[Related]:
        return await asyncio.to_thread(self._docs.related, path, limit=limit)

    async def list(self, *, label: str | None = None, type: str | None = None) -> list[Document]:
        return await asyncio.to_thread(self._docs.list, label=label, type=type)

    async def gc(self, *, dry_run: bool = False, progress: Callable[[int, int], None] = quiet) -> GcPlan:
        return await asyncio.to_thread(self._docs.gc, dry_run=dry_run, progress=progress)

    async def check(
        self,
        change: str | None = None,
        *,
        between: Sequence[str] = (),
        detector: str | None = None,
        base: str | os.PathLike[str] | None = None,
    ) -> Checked:
        return await asyncio.to_thread(self._docs.check, change, between=between, detector=detector, base=base)

    async def import_rules(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        base: str | os.PathLike[str] | None = None,
        retire: bool = False,
        dry_run: bool = False,
    ) -> Lesson:
        return await asyncio.to_thread(self._docs.import_rules, paths, base=base, retire=retire, dry_run=dry_run)


class AsyncChats:
    """Every method of the synchronous one, awaitable; `open` gives a chat for `async with`."""

    def __init__(self, memory: Recollect) -> None:
        self._memory = memory

    async def providers(self) -> tuple[ProviderInfo, ...]:
        return await asyncio.to_thread(lambda: self._memory.chats.providers())

    async def turns(self, *, session: str | None = None, limit: int = 20) -> tuple[Turn, ...]:
        return await asyncio.to_thread(lambda: self._memory.chats.turns(session=session, limit=limit))

    async def last_session(self) -> str:
        return await asyncio.to_thread(lambda: self._memory.chats.last_session())

    def open(self, **options: Any) -> AsyncChat:
        """A chat that is still asleep; takes what the synchronous one takes."""
        return AsyncChat(lambda: self._memory.chats.open(**options))


class AsyncChat:
    """One waking of a session."""

    def __init__(self, make: Callable[[], Chat]) -> None:
        self._make = make
        self._chat: Chat | None = None

    async def say(self, text: str, *, heard: Heard | None = None) -> Turn:
        """One message, and the turn it became. `heard` is called on a worker thread."""
        chat = await self._awake()
        return await asyncio.to_thread(chat.say, text, heard=heard)

    async def sleep(self) -> None:
        if self._chat is not None:
            await asyncio.to_thread(self._chat.sleep)

    async def _awake(self) -> Chat:
        if self._chat is None:
            self._chat = await asyncio.to_thread(self._make)
        return self._chat

    async def __aenter__(self) -> AsyncChat:
        await asyncio.to_thread((await self._awake()).wake)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sleep()


class OnThreads:
    """The methods of an object, each awaitable and run on a worker thread."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._inner, name)

        async def awaited(*values: Any, **options: Any) -> Any:
            return await asyncio.to_thread(method, *values, **options)

        return awaited
