"""The bulk path for passages: what a document says now replaces what it said before, in one transaction.

A passage is evidence cut from a file, not a statement somebody made, so it is screened and shaped like any draft but
never weighed against its neighbours. The file is the truth: an unchanged passage keeps its row, its id and its vectors,
however far it moved, and the log gets one entry per document instead of one per passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.core.drafts import Draft
from recollect.core.errors import InvalidField
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.ports import Identity
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.remember.screen import Screened, screen
from recollect.remember.shape import shape
from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class DocumentChunks:
    """All passages of one document as it is now, in order. None at all: the document is gone."""

    document: str
    drafts: tuple[Draft, ...]
    screened: bool = False  # whoever cut them has looked at every text with `privacy.scan` and found no secret


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of one cut."""

    document: str
    passages: tuple[MemoryId, ...]  # in the order of the cut, without those withheld
    added: int
    removed: int
    withheld: int  # somebody rejected or forgot these words: they stay away
    redacted: tuple[str, ...] = ()  # names of the secret rules that fired


def replace_passages(
    cuts: Sequence[DocumentChunks], store: Store, hand: ActContext, *, identity: Identity
) -> list[Kept]:
    """Replace the passages of each document by its cut: all of them or, on any error, none."""
    shaped = [_shaped(cut, store, hand, identity) for cut in cuts]
    with store.engine.write():
        plans = [_plan(cut, passages, store) for cut, (passages, _) in zip(cuts, shaped, strict=True)]
        changes = Changes(store, hand)
        for cut, plan in zip(cuts, plans, strict=True):
            counts = {"added": len(plan.new), "removed": len(plan.gone), "kept": len(plan.ids) - len(plan.new)}
            changes.replace_passages("index", cut.document, plan.new, plan.moved, plan.gone, counts)
        if new := [memory for plan in plans for memory in plan.new]:
            store.memories.add(new)
        changes.write()
    return [
        Kept(cut.document, plan.ids, len(plan.new), len(plan.gone), plan.withheld, redacted)
        for cut, plan, (_, redacted) in zip(cuts, plans, shaped, strict=True)
    ]


def drop_passages(passages: Sequence[Memory], store: Store, act: ActContext) -> dict[str, int]:
    """Delete some passages whose documents stay; how many of each document."""
    by_document: dict[str, list[Memory]] = {}
    for memory in passages:
        if memory.span is not None and memory.span.document is not None:
            by_document.setdefault(memory.span.document, []).append(memory)
    with store.engine.write():
        changes = Changes(store, act)
        for document, gone in sorted(by_document.items()):
            changes.replace_passages("index", document, [], [], gone, {"removed": len(gone)})
        changes.write()
    return {document: len(gone) for document, gone in by_document.items()}


@dataclass(frozen=True, slots=True)
class _Plan:
    ids: tuple[MemoryId, ...]
    new: list[Memory]
    moved: list[tuple[Memory, Memory]]
    gone: list[Memory]
    withheld: int


def _plan(cut: DocumentChunks, passages: Sequence[Memory], store: Store) -> _Plan:
    """Pair what is there with what should be: the same words under the same heading are the same passage."""
    there: dict[tuple[object, ...], list[Memory]] = {}
    for memory in store.memories.of_document(cut.document):
        if memory.status is Status.REJECTED:  # a person's word on it, kept whatever the file says
            continue
        there.setdefault(_likeness(memory), []).append(memory)
    buried = store.tombstones.find([memory.fingerprint for memory in passages])
    plan = _Plan((), [], [], [], sum(memory.fingerprint in buried for memory in passages))
    ids: list[MemoryId] = []
    for memory in passages:
        if memory.fingerprint in buried:
            continue
        twins = there.get(_likeness(memory))
        if not twins:
            plan.new.append(memory)
            ids.append(memory.id)
            continue
        known = twins.pop(0)
        ids.append(known.id)
        now = _brought_up(known, memory)
        if now != known:
            plan.moved.append((known, replace(now, updated_at=memory.updated_at, revision=known.revision + 1)))
    plan.gone.extend(memory for left in there.values() for memory in left)
    return replace(plan, ids=tuple(ids))


def _likeness(memory: Memory) -> tuple[object, ...]:
    span = memory.span
    return memory.content, span and span.type, span and span.context


def _brought_up(known: Memory, now: Memory) -> Memory:
    """The row that is kept, with what the file decides taken over; what people and use decided stays."""
    return replace(
        known,
        span=now.span,
        tags=now.tags,
        files=now.files,
        modules=now.modules,
        node=now.node,
        commit=now.commit,
        attributes=now.attributes,
        flagged=now.flagged,
    )


def _shaped(
    cut: DocumentChunks, store: Store, hand: ActContext, identity: Identity
) -> tuple[list[Memory], tuple[str, ...]]:
    passages: list[Memory] = []
    fired: dict[str, None] = {}
    for draft in cut.drafts:
        if draft.kind != Kind.PASSAGE or draft.span is None:
            raise InvalidField("kind", "only passages, each with its span, are kept this way")
        screened = Screened(draft, ()) if cut.screened else screen(draft)
        fired |= dict.fromkeys(screened.redacted)
        shaped = shape(
            screened.draft,
            project=store.project,
            kinds=store.kinds,
            now=hand.at,
            identity=identity,
            redacted=bool(screened.redacted),
        )
        span = shaped.memory.span
        if span is not None and span.document != cut.document:
            passages.append(replace(shaped.memory, span=replace(span, document=cut.document)))
        else:
            passages.append(shaped.memory)
    return passages, tuple(fired)
