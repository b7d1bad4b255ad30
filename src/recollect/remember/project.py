"""Last step of remembering: hand queued memories to the projectors. Losing a race or a projector costs nothing: the
outbox keeps what is not done."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.errors import RecollectError
from recollect.core.ports import Projector
from recollect.store.store import Store

_BATCH = 64  # memories handed over at once


def project(store: Store, projectors: Sequence[Projector], *, most: int = _BATCH) -> dict[str, str]:
    """Drain up to `most` queued memories per projector; what went wrong, by projector."""
    trouble: dict[str, str] = {}
    for projector in projectors:
        try:
            _drain(store, projector, most)
        except (RecollectError, OSError, ValueError) as error:
            trouble[projector.name] = str(error)
    return trouble


def _drain(store: Store, projector: Projector, most: int) -> None:
    queued = store.outbox.next(projector.name, limit=most)
    if not queued:
        return
    ids = list(dict.fromkeys(id for _, id in queued))
    projector.project(store.memories.get_many(ids).memories)
    with store.engine.write(durable=False):
        store.outbox.done(projector.name, up_to=queued[-1][0])
