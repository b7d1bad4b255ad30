"""The chore that keeps vectors in step with memories: embed what is missing, switch models without a gap.

Newest first, in small transactions, resumable after a kill at any point. No model is called inside a transaction. A new
model fills a space of its own while the old one answers; when it is complete, the switch is one atomic step, and the
old space can be put back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.ports import Clock
from recollect.recall.embedding_texts import embedding_texts, stamp
from recollect.store.port import Space
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.embed.port import Embedder

_BATCH = 64  # memories embedded between two transactions

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Followed:
    """What one run did."""

    model: str
    embedded: int
    waiting: int
    switched: bool = False


def follow(
    store: Store,
    embedder: Embedder,
    *,
    now: datetime,
    most: int | None = None,
    seconds: float | None = None,
    progress: Progress = lambda done, waiting: None,
) -> Followed:
    """Embed up to `most` memories or for so many seconds; then switch to the new space if it is complete."""
    space = _space(store, embedder, now)
    end = None if seconds is None else time.monotonic() + seconds
    done, edge = 0, None
    while most is None or done < most:
        ids = store.vectors.missing(space, _BATCH if most is None else min(_BATCH, most - done), before=edge)
        if not ids or (end is not None and time.monotonic() >= end):
            break
        done += _embed(store, embedder, space, ids)
        edge = ids[-1]
        progress(done, store.vectors.waiting(space))
    waiting = store.vectors.waiting(space)
    switched = space.state == "building" and waiting == 0
    if switched:
        store.vectors.activate(space)
    if store.vectors.due_for_training(space) and waiting == 0:
        store.vectors.train(space)
    return Followed(embedder.model, done, waiting, switched)


def place(store: Store, embedder: Embedder, ids: Sequence[str]) -> int:
    """Give a few memories their vectors now, where this model's space already answers."""
    active = store.vectors.active()
    if not ids or active is None or (active.model, active.dims) != (embedder.model, embedder.dims):
        return 0
    return _embed(store, embedder, active, ids)


class VectorsAtOnce:
    """Vectors for what was just remembered, while the model is loaded anyway."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    @property
    def at_hand(self) -> bool:
        return self._embedder.at_hand

    def embed(self, ids: Sequence[str]) -> int:
        return place(self._store, self._embedder, ids)


class VectorChore:
    """Keeps vectors in step. Always due: what was just remembered should be found by meaning soon."""

    name = "vectors"

    def __init__(self, store: Store, embedder: Embedder, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock

    def plan(self, now: datetime, *, due: bool) -> Plan:
        active = self._store.vectors.active()
        fits = active is not None and (active.model, active.dims) == (self._embedder.model, self._embedder.dims)
        if active is None or not fits:
            total = sum(self._store.memories.tally().values())
            return Plan(self.name, (Step(self._embedder.model, "a new space is to be filled"),), max(1, total))
        waiting = self._store.vectors.waiting(active)
        steps = (Step(self._embedder.model, f"{waiting} memories without a vector"),) if waiting else ()
        return Plan(self.name, steps, max(waiting, int(self._store.vectors.due_for_training(active))))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        done = follow(
            self._store,
            self._embedder,
            now=self._clock(),
            most=budget.left,
            seconds=budget.seconds,
            progress=budget.progress,
        )
        details = {"model": done.model, "embedded": done.embedded, "waiting": done.waiting, "switched": done.switched}
        return Done(self.name, done.embedded, done.waiting, (), details)


def _space(store: Store, embedder: Embedder, now: datetime) -> Space:
    """The space to fill. The very first one answers at once, while it is still being filled."""
    active = store.vectors.active()
    if active is not None and (active.model, active.dims) == (embedder.model, embedder.dims):
        return active
    building = store.vectors.begin(embedder.model, embedder.dims, now)
    return store.vectors.activate(building) if active is None else building


def _embed(store: Store, embedder: Embedder, space: Space, ids: Sequence[str]) -> int:
    """Embed some memories and store their views, except those that were changed while the model was busy."""
    texts = _texts(store, ids)
    flat = [text for each in texts.values() for text in each]
    if not flat:
        return 0
    rows = embedder.embed_documents(flat)
    items, place = [], 0
    for id, each in texts.items():
        items.append((id, _directed(rows[place : place + len(each)]), stamp(each)))
        place += len(each)
    with store.engine.write():
        now = {id: stamp(each) for id, each in _texts(store, list(texts)).items()}
        current = [item for item in items if now.get(item[0]) == item[2]]
        store.vectors.put(space, current)
    return len(current)


def _texts(store: Store, ids: Sequence[str]) -> dict[str, list[str]]:
    near = store.memories.nearby(ids, reach=1)
    return {
        memory.id: embedding_texts(memory, near.beside(memory.id, -1))
        for memory in store.memories.get_many(ids).memories
    }


def _directed(rows: Any) -> Any:
    """Views that have a direction. A zero row (no known word in it) takes the mean of the others, or one of its own."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1)
    if lengths.min() > 0:
        return rows
    known = rows[lengths > 0]
    filler = known.mean(axis=0) if len(known) else np.ones(rows.shape[1], np.float32)
    patched = rows.copy()
    patched[lengths == 0] = filler / np.linalg.norm(filler)
    return patched
