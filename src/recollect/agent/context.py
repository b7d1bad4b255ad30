"""What an agent's session stands on, handed in by the façade: the store, recall, time, and who acts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recollect.agent.methodology import Methodology
from recollect.core.drafts import Draft, Receipt
from recollect.core.instants import whole_ms
from recollect.core.ports import Clock
from recollect.core.query import Briefing, Query
from recollect.observer.api import Observer
from recollect.recall.recipes import Budget
from recollect.remember.act import ActContext
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Everything a part of the agent loop may need. Cheap to make: models load when recall first asks for them."""

    store: Store
    recall: Callable[[Query, Budget], Briefing]  # hands back hits and notes, writes nothing
    remember: Callable[[Sequence[Draft]], Sequence[Receipt]]
    clock: Clock
    hand: Callable[[], ActContext]
    methodology: Methodology
    root: Path | None = None  # the project's directory, where there is one
    observer: Observer | None = None  # watches, foresees and learns

    def now(self) -> datetime:
        """The time to the millisecond, which is what the store keeps."""
        return whole_ms(self.clock())
