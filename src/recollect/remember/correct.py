"""Correcting a memory for one of four reasons, each with an effect of its own.

Inaccurate: it was wrong and must not come back. Outdated: it held until some moment. Too specific: a more general
statement takes its place, or it holds only where it was learnt. Duplicate: another memory says the same and takes over
what this one knew. The reason leads what the log says of the act.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidField, MemoryNotOpen, PersonsMemory
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import OPEN, CorrectionReason, Relation, Scope, Status
from recollect.remember.act import ActContext
from recollect.remember.acts import (
    certain,
    change_memory,
    memory_gives_way,
    reject,
    require_revision,
    require_visible,
)
from recollect.remember.agents import is_persons, require_own
from recollect.remember.changes import Changes
from recollect.remember.rivals import settle_rivals
from recollect.store.store import Store

_EVIDENCE = "evidence"  # the attribute that lists the sessions a memory was seen in


def describe_reason(reason: CorrectionReason, why: str) -> str:
    """What the log says of a correction."""
    told = reason.replace("_", " ")
    return f"{told}: {why}" if why else told


def check_reason(
    reason: CorrectionReason, *, content: str | None, duplicate_of: str | None, until: datetime | None
) -> None:
    """Refuse what does not go together with a reason."""
    if (reason is CorrectionReason.DUPLICATE) != (duplicate_of is not None):
        raise InvalidField(
            "duplicate_of",
            "a duplicate names the memory it repeats, and no other reason does",
            hint="Say reason duplicate together with the id of the memory that stays.",
        )
    if duplicate_of is not None and content is not None:
        raise InvalidField("content", "a duplicate needs no new words: the memory it repeats stays")
    if until is not None and reason is not CorrectionReason.OUTDATED:
        raise InvalidField("until", "only an outdated memory held until some moment")


def draft_correction(
    old: Memory,
    content: str,
    *,
    reason: CorrectionReason,
    why: str,
    until: datetime | None,
    files: Sequence[str] | None,
    modules: Sequence[str] | None,
) -> Draft:
    """The draft that replaces `old`: the same place, better words. Only what was inaccurate may not come back."""
    general = reason is CorrectionReason.TOO_SPECIFIC
    placed = bool(files or modules)
    return Draft(
        content,
        kind=old.kind,
        scope=(Scope.MODULE if placed else Scope.GLOBAL) if general else old.scope,
        visibility=old.visibility,
        tags=old.tags,
        files=tuple(files) if files is not None else () if general else old.files,
        modules=tuple(modules) if modules is not None else () if general else old.modules,
        user=old.user,
        team=old.team,
        event_at=until,
        supersedes=old.id,
        corrects=reason is CorrectionReason.INACCURATE,
        why=describe_reason(reason, why),
        override_tombstone=True,
    )


def close_inaccurate(store: Store, id: str, act: ActContext, *, expected: int | None) -> Receipt:
    """It is wrong, and nothing takes its place."""
    rejected = reject(store, id, act, expected=expected)
    return Receipt(rejected.id, "closed", rejected)


def close_outdated(store: Store, id: str, act: ActContext, *, until: datetime | None, expected: int | None) -> Receipt:
    """It held until some moment: it leaves recall then, and answers for the time before. A moment to come is an end of
    its validity: whether it is right until then stays open if it was."""

    def outdated(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        require_own(memory, act.door)
        ends = until or act.at
        if ends > act.at:
            return memory.having(valid_until=ends)
        settle_rivals(store, memory, act, changes)
        return memory.having(status=Status.EXPIRED, valid_until=ends, needs_review=False)

    closed = change_memory(store, id, "edit", outdated, act)
    return Receipt(closed.id, "ends" if closed.status in OPEN else "closed", closed)


def narrow(
    store: Store,
    id: str,
    act: ActContext,
    *,
    files: Sequence[str] | None,
    modules: Sequence[str] | None,
    expected: int | None,
) -> Receipt:
    """It holds only in some files or modules: those that are given, else those it was learnt in."""

    def narrowed(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        require_own(memory, act.door)
        given = files is not None or modules is not None
        where = (tuple(files or ()), tuple(modules or ())) if given else (memory.files, memory.modules)
        if not any(where):
            raise InvalidField(
                "too_specific",
                "say where it holds, or say it more generally",
                hint="Name files or modules, or give the more general statement as the new text.",
            )
        placed = memory.having(scope=Scope.MODULE, files=where[0], modules=where[1])
        return certain(placed, act)  # the person looked at it, and where they say it is right

    placed = change_memory(store, id, "edit", narrowed, act)
    return Receipt(placed.id, "narrowed", placed)


def close_duplicate(store: Store, id: str, of: str, act: ActContext, *, expected: int | None) -> Receipt:
    """Another memory says the same: it stays, with all that this one knew, and this one leads to it."""
    kept: list[Memory] = []

    def repeated(memory: Memory, changes: Changes) -> Memory:
        require_revision(memory, expected)
        other = store.memories.get(store.memories.resolve(of))
        if other.id == memory.id:
            raise InvalidField("duplicate_of", "a memory does not repeat itself")
        if other.status not in OPEN:
            raise MemoryNotOpen(other.id, other.status)
        require_visible(store, [other.id], memory.user)
        if not memory_gives_way(memory, other, act):
            raise PersonsMemory(memory.id)
        settle_rivals(store, memory, act, changes, but=other)
        kept.append(_take_over(store, other, memory, act, changes))
        changes.put_links("supersede", [Link(other.id, Relation.SUPERSEDES, memory.id, None, 1.0, False, act.at)])
        return memory.having(status=Status.SUPERSEDED, superseded_by=other.id, valid_until=act.at, needs_review=False)

    closed = change_memory(store, id, "supersede", repeated, act)
    return Receipt(kept[0].id, "same", kept[0], (closed.id,))


def _take_over(store: Store, other: Memory, memory: Memory, act: ActContext, changes: Changes) -> Memory:
    """What a duplicate knew, added to the memory that stays; an agent adds nothing to a person's."""
    if not act.is_persons and is_persons(other):
        return other
    evidence = [*_listed(other), *(one for one in _listed(memory) if one not in _listed(other))]
    merged = other.having(
        tags=_union(other.tags, memory.tags),
        files=_union(other.files, memory.files),
        modules=_union(other.modules, memory.modules),
        provenance=_union(other.provenance, memory.provenance),
        attributes={**other.attributes, **({_EVIDENCE: evidence} if evidence else {})},
    )
    if merged == other:
        return other
    merged = merged.having(updated_at=act.at, revision=other.revision + 1)
    changes.update("merge", other, merged, f"{memory.id} said the same")
    return merged


def _listed(memory: Memory) -> list[object]:
    evidence = memory.attributes.get(_EVIDENCE)
    return list(evidence) if isinstance(evidence, list | tuple) else []


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
