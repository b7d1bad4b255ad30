"""`memory.chats`: conversations with a language model that remembers, and the turns of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.agent.chat import SYSTEM, Chat, Setup
from recollect.agent.providers import MemoryProvider, Offer, Surroundings
from recollect.core.errors import InvalidField, ModelCannotChat, NoModel, NotFound, SessionNotFound
from recollect.core.text import clean, require_storable
from recollect.core.turns import Turn
from recollect.dialogue.policy import SESSION_NAME
from recollect.dialogue.room import Room
from recollect.dialogue.tools import Tool, agent_tools
from recollect.embed.port import Embedder
from recollect.models.port import ChatModel, Model


class Chats:
    """Opens chats with any provider, and reads back what was said in them."""

    def __init__(
        self,
        room: Room,
        *,
        embedder: Embedder | None,
        provider: Callable[[str, Surroundings], MemoryProvider],
        offers: Callable[[], Sequence[Offer]],
        model: Callable[[str | None], Model | None],
        usual: str,
        options: Mapping[str, str],
    ) -> None:
        self._room = room
        self._embedder = embedder
        self._provider = provider
        self._offers = offers
        self._model = model
        self._usual = usual
        self._options = options

    def providers(self) -> tuple[Offer, ...]:
        """The memory providers there are, shipped ones first."""
        return tuple(self._offers())

    def open(
        self,
        *,
        memory: str | None = None,
        session: str | None = None,
        model: str | None = None,
        tools: bool = True,
        system: str = SYSTEM,
        options: Mapping[str, str] | None = None,
    ) -> Chat:
        """A chat that is still asleep; `with` wakes it. A session that exists goes on, any other name begins one."""
        chosen = self._provider(
            memory or self._usual, Surroundings(self._room, self._embedder, {**self._options, **(options or {})})
        )
        name = self._named(session)
        asked = self._model(model)

        def talking() -> ChatModel:
            if asked is None:
                raise NoModel("A chat")
            governed = asked("chat", name)
            if not isinstance(governed, ChatModel):
                raise ModelCannotChat(governed.model)
            return governed

        return Chat(
            Setup(
                store=self._room.store,
                provider=chosen,
                model=talking,
                clock=self._room.clock,
                identity=self._room.identity,
                session=name,
                agent=self._room.actor,
                tools=(*agent_tools(lambda: self._room), _clock_tool(self._room)) if tools else (),
                system=system,
            )
        )

    def turns(self, *, session: str | None = None, limit: int = 20) -> tuple[Turn, ...]:
        """The last turns, of one session when it is named, oldest of them first."""
        store = self._room.store
        found = tuple(store.turns.recent(session=session, limit=limit))
        if session is not None and not found and not store.turns.count(session=session):
            raise SessionNotFound(session)
        return found

    def last_session(self) -> str:
        """The session that was spoken in last."""
        store = self._room.store
        found = store.turns.last_session()
        if found is None:
            raise NotFound("No chat was held yet.", hint="`recollect chat` begins one.")
        return found

    def _named(self, session: str | None) -> str:
        if session is None:
            return str(self._room.identity("chat", self._room.now()))
        name = clean(require_storable(session, "session"))[0].replace("\n", " ")
        if not name or len(name) > SESSION_NAME:
            raise InvalidField("session", f"{session[:40]!r} is not a name of 1 to {SESSION_NAME} characters")
        return name


def _clock_tool(room: Room) -> Tool:
    def now(_: Mapping[str, Any]) -> Mapping[str, Any]:
        at: datetime = room.clock()
        return {"now": at.isoformat(timespec="seconds"), "weekday": f"{at:%A}"}

    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return Tool("current_time", "The date and time now, in UTC, and the day of the week.", schema, now)
