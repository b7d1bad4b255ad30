"""The verb remember, told as a story: screen → shape → resolve → commit.

Everything before `commit` is pure or reads; the transaction is short and last. Vectors follow: see `tend.vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.core.doors import ActDoor
from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import RecollectError, name_place
from recollect.core.ports import Identity
from recollect.remember.act import ActContext
from recollect.remember.acts import require_visible
from recollect.remember.agents import limit_draft
from recollect.remember.commit import Resolved, commit
from recollect.remember.resolve import SAID_SO, ConflictCandidates, Resolution, resolve
from recollect.remember.rights import limit_members_draft, require_clean
from recollect.remember.screen import screen
from recollect.remember.shape import Shaped, shape
from recollect.store.store import Store


def remember(
    drafts: Sequence[Draft],
    store: Store,
    *,
    now: datetime,
    identity: Identity,
    actor: str,
    door: ActDoor,
    durable: bool = True,
) -> list[Receipt]:
    """Remember all drafts or none, as their door may write them. Each receipt says what became of its draft."""
    limited = [limit_draft(limit_members_draft(draft, store), door) for draft in drafts]
    resolved = _resolve(limited, store, now, identity)
    require_clean(store, [each.memory for each in resolved])
    return commit(resolved, store, ActContext(actor, now, identity("act", now), door), durable=durable)


def _resolve(drafts: Sequence[Draft], store: Store, now: datetime, identity: Identity) -> list[Resolved]:
    shaped = [_shaped(index, draft, store, now, identity, len(drafts)) for index, draft in enumerate(drafts)]
    candidates = ConflictCandidates(store, batch=len(drafts))
    resolved = []
    for index, (draft, one, redacted) in enumerate(shaped):
        try:
            explicit = None if draft.supersedes is None else store.memories.resolve(draft.supersedes)
            derived = tuple(store.memories.resolve(id) for id in draft.derived_from)
            if derived:
                require_visible(store, derived, one.memory.user)
        except RecollectError as error:
            name_place(error, index, len(drafts))
            raise
        if explicit is not None:
            resolution = Resolution("supersedes", (explicit,), SAID_SO)
        elif draft.skip_conflict_check:
            resolution = Resolution("new")
        else:
            resolution = resolve(one.memory, candidates.of(one.memory))
        resolved.append(
            Resolved(
                one.memory,
                resolution,
                redacted,
                one.notes,
                derived,
                draft.override_tombstone,
                draft.corrects,
                draft.why,
            )
        )
        candidates.add(one.memory)
    return resolved


def _shaped(
    index: int, draft: Draft, store: Store, now: datetime, identity: Identity, of: int
) -> tuple[Draft, Shaped, tuple[str, ...]]:
    try:
        screened = screen(draft)
        shaped = shape(
            screened.draft,
            project=store.project,
            kinds=store.kinds,
            now=now,
            identity=identity,
            redacted=bool(screened.redacted),
        )
    except RecollectError as error:
        name_place(error, index, of)
        raise
    return screened.draft, shaped, screened.redacted
