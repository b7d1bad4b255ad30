"""A session of the OpenAI Agents SDK kept in a memory: every item as it was, in order, and what was said as episodes.

Nothing of the SDK is imported: a session is whatever has these four methods. When the memory cannot be written or
read, the run goes on with the items of this process, and they are written when it can be again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from recollect.adapters.drawer import Drawer, storable
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.core.scope import Source

_Kept = tuple[str, Mapping[str, Any]]  # an item in its place: its order, and it with the episodes captured from it
_NOTES = 20  # troubles that are kept to be looked at

log = logging.getLogger("recollect.adapters")


class RecollectSession:
    """History under a session id. `limit` and `pop_item` mean what they mean for the SDK's own SQLiteSession."""

    def __init__(
        self,
        memory: Recollect,
        session_id: str,
        session_settings: Any = None,
        *,
        capture: bool = True,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self.notes: tuple[str, ...] = ()
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._drawer = Drawer(memory, "openai-agents", kind="episode", source=Source.MCP_AUTO)
        self._known: list[_Kept] = []  # as last read or written, for when the memory cannot be asked
        self._unsaved: list[_Kept] = []
        self._lock = RLock()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The last `limit` items, oldest first; all of them without a limit, or with one below zero."""
        items = [value["item"] for _, value in await asyncio.to_thread(self._read)]
        most = self._limit() if limit is None else limit
        if most is None or most < 0:
            return items
        return items[-most:] if most else []

    async def add_items(self, items: list[Any]) -> None:
        """Keep some items after those there are, in one durable write."""
        if items:
            await asyncio.to_thread(self._add, [_plain(item) for item in items])

    async def pop_item(self) -> Any | None:
        """Take back the last item. What was captured of it is rejected: it leaves recall, and may be said again."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Forget every item, and what was captured of it, for good."""
        await asyncio.to_thread(self._clear)

    # --- inside --------------------------------------------------------------------------------------------------

    def _limit(self) -> int | None:
        settings = self.session_settings
        return settings.get("limit") if isinstance(settings, Mapping) else getattr(settings, "limit", None)

    def _read(self) -> list[_Kept]:
        with self._lock:
            try:
                found = self._drawer.under("session", self.session_id)
                self._known = sorted((one.key[-1], one.value) for one in found)
            except RecollectError as trouble:
                self._note(trouble)
            return [*self._known, *self._unsaved]

    def _add(self, items: list[Any]) -> None:
        with self._lock:
            stamp = self._clock()
            orders = [f"{stamp:020d}-{place:06d}" for place in range(len(items))]
            heard = self._hear(dict(zip(orders, items, strict=True)))
            self._unsaved += [
                (order, {"item": item, "episodes": heard.get(order, [])})
                for order, item in zip(orders, items, strict=True)
            ]
            self._save()

    def _hear(self, items: Mapping[str, Any]) -> dict[str, list[str]]:
        """Capture what was said in some items; the episodes of each."""
        said = {order: item for order, item in items.items() if spoken(item).strip()} if self._capture else {}
        heard: dict[str, list[str]] = {}
        try:
            for order, item in said.items():
                told = self._memory.sessions.capture(
                    storable(spoken(item)), session=self.session_id, role=item["role"], id=order
                )
                heard[order] = list(told.episodes)
        except RecollectError as trouble:
            self._note(trouble)
        return heard

    def _save(self) -> None:
        drafts = [
            self._drawer.draft((self.session_id, order), value, marks=[("session", self.session_id)], shown=False)
            for order, value in self._unsaved
        ]
        try:
            self._memory.remember_all(drafts)
        except RecollectError as trouble:
            self._note(trouble)
            return
        self._known += self._unsaved
        self._unsaved = []

    def _pop(self) -> Any | None:
        with self._lock:
            items = self._read()
            if not items:
                return None
            order, value = items[-1]
            if self._unsaved:
                self._unsaved.pop()
            else:
                self._drawer.drop((self.session_id, order))
                self._known.pop()
            for episode in value["episodes"]:
                self._memory.reject(episode, why="taken back")
            return value["item"]

    def _clear(self) -> None:
        with self._lock:
            records = list(self._drawer.under("session", self.session_id))
            values = [*(one.value for one in records), *(value for _, value in self._unsaved)]
            episodes = [episode for value in values for episode in value["episodes"]]
            self._memory.forget_all([*episodes, *(one.memory.id for one in records)], why="the session was cleared")
            self._unsaved, self._known = [], []

    def _note(self, trouble: RecollectError) -> None:
        self.notes = (*self.notes[-_NOTES:], f"{type(trouble).__name__}: {trouble}")
        log.warning("the session %s goes on in memory only: %s", self.session_id, trouble)


def spoken(item: Any, *roles: str) -> str:
    """What was said in an item, by anyone or in one of these roles; nothing for calls, results and reasoning."""
    if not isinstance(item, Mapping) or item.get("role") not in (roles or ("user", "assistant")):
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in content or () if isinstance(part, Mapping))
    return "\n".join(part for part in parts if isinstance(part, str))


def _plain(item: Any) -> Any:
    return dict(item) if isinstance(item, Mapping) else item.model_dump(exclude_unset=True)
