"""What the room works with, handed in by the wiring: the store, the senses, time, identity, finders, a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from recollect.core.instants import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.entities.pipeline import Pipeline
from recollect.models.port import Model
from recollect.recall.recall import RetrievalContext
from recollect.remember.act import ActContext
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class Room:
    """Everything a part of the room may need. Cheap to make: models and finders load when first asked."""

    store: Store
    senses: RetrievalContext
    clock: Clock
    identity: Identity
    actor: str
    finders: Pipeline = field(default_factory=Pipeline)
    model: Model | None = None

    def now(self) -> datetime:
        """The time to the millisecond, which is what the store keeps."""
        return whole_ms(self.clock())

    def hand(self, why: str = "", *, actor: str | None = None) -> ActContext:
        at = self.now()
        return ActContext(actor or self.actor, at, self.identity("act", at), why)
