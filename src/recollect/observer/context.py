"""What the observer works with, handed in by the wiring: the store, the senses, time, identity, and a model if any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.core.drafts import Draft
from recollect.core.instants import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.models.port import Model
from recollect.recall.reader import RetrievalContext
from recollect.remember.act import ActContext
from recollect.store.store import Store

ACTOR = "observer"  # who the log says added what was observed


@dataclass(frozen=True, slots=True)
class ObserverContext:
    """Everything a part of the observer may need. Cheap to make: a model loads when first asked."""

    store: Store
    senses: Callable[[], RetrievalContext]
    clock: Clock
    identity: Identity
    placed: Callable[[Draft], Draft] = lambda draft: draft  # ties a draft about files to their commit
    model: Model | None = None

    @property
    def project(self) -> str:
        return self.store.project

    def now(self) -> datetime:
        """The time to the millisecond, which is what the store keeps."""
        return whole_ms(self.clock())

    def hand(self, why: str = "") -> ActContext:
        at = self.now()
        return ActContext(ACTOR, at, self.identity("act", at), why)
