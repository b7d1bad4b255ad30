"""The provider `recency`: the last twenty turns of the session, tool calls and all. It stores nothing of its own."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.agent.providers import Surroundings
from recollect.agent.providers.replay import replay
from recollect.core.chat import ChatMessage
from recollect.core.turns import Turn, Waking

TURNS = 20  # replayed: what a small context window takes without thought


class Recency:
    """Reads the operational store and nothing else."""

    name = "recency"

    def __init__(self, surroundings: Surroundings) -> None:
        self._store = surroundings.room.store
        self._session: str | None = None

    def init(self) -> None:
        pass

    def on_wake(self, waking: Waking) -> None:
        self._session = waking.session

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        return replay(self.recent_turns(TURNS))

    def save_turn(self, turn: Turn) -> None:
        pass

    def turn_count(self) -> int:
        return 0 if self._session is None else self._store.turns.count(session=self._session)

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        if self._session is None:
            return ()
        return self._store.turns.recent(session=self._session, limit=limit, ended=True)

    def on_sleep(self) -> None:
        pass

    def close(self) -> None:
        self._session = None


def recency(surroundings: Surroundings) -> Recency:
    return Recency(surroundings)
