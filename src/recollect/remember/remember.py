"""The verb remember, told as a story: screen → shape → resolve → commit → project.

Everything before `commit` is pure or reads; the transaction is short and last; projections follow and may lag.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidInput
from recollect.core.ports import Identity, Projector
from recollect.core.records import Memory
from recollect.remember.commit import Weighed, commit
from recollect.remember.neighbours import Rivals
from recollect.remember.project import project
from recollect.remember.resolve import SAID_SO, Resolution, resolve
from recollect.remember.screen import screen
from recollect.remember.shape import Shaped, shape
from recollect.store.store import Store

AT_ONCE = 16  # memories: larger batches leave their projections to the next chore


def remember(
    drafts: Sequence[Draft],
    store: Store,
    *,
    now: datetime,
    identity: Identity,
    actor: str,
    projectors: Sequence[Projector] = (),
    durable: bool = True,
    at_once: bool = True,
) -> list[Receipt]:
    """Remember all drafts or none. Each receipt says what became of its draft.

    Projections follow at once for a few drafts, unless the caller is inside a transaction of its own and says not to.
    """
    weighed = _weigh(drafts, store, now, identity)
    receipts = commit(
        weighed,
        store,
        now=now,
        act=identity("act", now),
        actor=actor,
        projectors=[projector.name for projector in projectors],
        durable=durable,
    )
    if at_once and projectors and len(drafts) <= AT_ONCE:
        project(store, projectors)
    return receipts


def correction(old: Memory, content: str, *, why: str = "") -> Draft:
    """The draft that replaces `old`: the same place, better words, and the old ones may not come back."""
    return Draft(
        content,
        kind=old.kind,
        scope=old.scope,
        visibility=old.visibility,
        tags=old.tags,
        files=old.files,
        modules=old.modules,
        supersedes=old.id,
        corrects=True,
        why=why,
        again=True,
    )


def _weigh(drafts: Sequence[Draft], store: Store, now: datetime, identity: Identity) -> list[Weighed]:
    shaped = [_shaped(index, draft, store, now, identity, len(drafts)) for index, draft in enumerate(drafts)]
    rivals = Rivals(store)
    weighed = []
    for draft, one, redacted in shaped:
        explicit = None if draft.supersedes is None else store.memories.resolve(draft.supersedes)
        if explicit is not None:
            resolution = Resolution("supersedes", (explicit,), SAID_SO)
        elif draft.weighed:
            resolution = Resolution("new")
        else:
            resolution = resolve(one.memory, rivals.of(one.memory))
        derived = tuple(store.memories.resolve(id) for id in draft.derived_from)
        weighed.append(
            Weighed(one.memory, resolution, redacted, one.notes, derived, draft.again, draft.corrects, draft.why)
        )
        rivals.add(one.memory)
    return weighed


def _shaped(
    index: int, draft: Draft, store: Store, now: datetime, identity: Identity, of: int
) -> tuple[Draft, Shaped, tuple[str, ...]]:
    screened = screen(draft)
    try:
        shaped = shape(
            screened.draft,
            project=store.project,
            kinds=store.kinds,
            now=now,
            identity=identity,
            redacted=bool(screened.redacted),
        )
    except InvalidInput as error:
        if of > 1:
            error.args = (f"Number {index + 1} of {of}: {error}",)
        raise
    return screened.draft, shaped, screened.redacted
