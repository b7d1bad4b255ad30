"""Between values and columns: a Memory as a row of plain values and back.

The checksum of a row covers every column, so a bit that flips inside a value is noticed even where the database's own
structure checks pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from recollect.core.decay import parse_decay
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.records import Memory, Span, WorkUnit
from recollect.core.scope import Scope, Source, Status, Visibility
from recollect.store.engine import Row, Value

if TYPE_CHECKING:
    from recollect.core.payloads import Payload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

# Column order of every statement that reads or writes a whole memory. `seq` and `checksum` are the store's own.
COLUMNS = (
    "id", "project", "kind", "content", "confidence", "created_at", "updated_at", "accessed_at", "source", "scope",
    "visibility", "status", "fingerprint", "tags", "files", "modules", "event_at", "access_count", "streak", "session",
    "commit_sha", "work_unit", "source_role", "provenance", "node", "impacted", "entities", "citation", "needs_review",
    "verified", "pinned", "flagged", "stale_at", "valid_until", "superseded_by", "decay", "span", "embedding_model",
    "payload", "attributes", "revision",
)  # fmt: skip


def to_ms(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


def from_ms(stamp: int) -> datetime:
    return _EPOCH + timedelta(0, 0, 0, stamp)  # by position: hundreds are read for every question


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_row(memory: Memory) -> tuple[Value, ...]:
    """The memory as column values in the order of COLUMNS."""
    return (
        memory.id,
        memory.project,
        memory.kind,
        memory.content,
        memory.confidence,
        to_ms(memory.created_at),
        to_ms(memory.updated_at),
        to_ms(memory.accessed_at),
        str(memory.source),
        str(memory.scope),
        str(memory.visibility),
        str(memory.status),
        memory.fingerprint,
        _list(memory.tags),
        _list(memory.files),
        _list(memory.modules),
        _stamp(memory.event_at),
        memory.access_count,
        memory.streak,
        memory.session,
        memory.commit,
        _work_unit(memory.work_unit),
        memory.source_role,
        _list(memory.provenance),
        memory.node,
        _list(memory.impacted),
        _list(memory.entities),
        memory.citation,
        int(memory.needs_review),
        int(memory.verified),
        int(memory.pinned),
        int(memory.flagged),
        _stamp(memory.stale_at),
        _stamp(memory.valid_until),
        memory.superseded_by,
        None if memory.decay is None else str(memory.decay),
        _span(memory.span),
        memory.embedding_model,
        _payload(memory.payload),
        _object(memory.attributes) if memory.attributes else None,
        memory.revision,
    )


def from_row(row: Row, kinds: Kinds) -> Memory:
    """The memory that `to_row` wrote. The columns are the fields of a memory, in their order."""
    (
        id, project, kind, content, confidence, created_at, updated_at, accessed_at, source, scope,
        visibility, status, fingerprint, tags, files, modules, event_at, access_count, streak, session,
        commit, work_unit, source_role, provenance, node, impacted, entities, citation, needs_review,
        verified, pinned, flagged, stale_at, valid_until, superseded_by, decay, span, embedding_model,
        payload, attributes, revision,
    ) = row  # fmt: skip
    return Memory(
        MemoryId(id),
        project,
        kind,
        content,
        confidence,
        from_ms(created_at),
        from_ms(updated_at),
        from_ms(accessed_at),
        _SOURCES[source],
        _SCOPES[scope],
        _VISIBILITIES[visibility],
        _STATUSES[status],
        fingerprint,
        _tuple(tags) if tags else (),
        _tuple(files) if files else (),
        _tuple(modules) if modules else (),
        None if event_at is None else from_ms(event_at),
        access_count,
        streak,
        session,
        commit,
        _to_work_unit(work_unit) if work_unit else None,
        source_role,
        _tuple(provenance) if provenance else (),
        node,
        _tuple(impacted) if impacted else (),
        _tuple(entities) if entities else (),
        citation,
        needs_review == 1,
        verified == 1,
        pinned == 1,
        flagged == 1,
        None if stale_at is None else from_ms(stale_at),
        None if valid_until is None else from_ms(valid_until),
        superseded_by,
        _to_decay(decay) if decay else None,
        _to_span(span) if span else None,
        embedding_model,
        _to_payload(payload, kind, kinds) if payload else None,
        json.loads(attributes) if attributes else {},
        revision,
    )


# A look-up instead of a call: an enum's own costs a quarter of a microsecond, four times a row.
_SOURCES = {str(one): one for one in Source}
_SCOPES = {str(one): one for one in Scope}
_VISIBILITIES = {str(one): one for one in Visibility}
_STATUSES = {str(one): one for one in Status}
_to_decay = lru_cache(maxsize=256)(parse_decay)


def _object(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return _encode(value)


def _list(items: Sequence[str]) -> str | None:
    return _object(list(items)) if items else None


def _tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _stamp(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def _work_unit(unit: WorkUnit | None) -> str | None:
    return None if unit is None else _object([unit.methodology, list(unit.hierarchy), unit.label])


def _to_work_unit(text: str) -> WorkUnit:
    methodology, hierarchy, label = json.loads(text)
    return WorkUnit(methodology, tuple(hierarchy), label)


def _span(span: Span | None) -> str | None:
    return None if span is None else _object([span.type, span.start, span.end, span.context, span.document])


def _to_span(text: str) -> Span:
    return Span(*json.loads(text))


def _payload(payload: Payload | None) -> str | None:
    if payload is None:
        return None
    from recollect.core.payloads import payload_json  # few memories carry one, so few processes load it

    return _object(payload_json(payload))


def _to_payload(text: str, kind: str, kinds: Kinds) -> Payload | None:
    shape = kinds.rule(kind).payload
    if shape is None:
        return None
    from recollect.core.payloads import parse_payload

    return parse_payload(shape, json.loads(text))


# Columns that move without being a change of what is remembered.
_QUIET = frozenset({"accessed_at", "access_count", "streak", "updated_at", "revision"})


def difference(before: Memory, after: Memory) -> tuple[dict[str, Value], dict[str, Value]]:
    """The columns two states of a memory differ in, as they were and as they are."""
    pairs = [
        (name, old, new)
        for name, old, new in zip(COLUMNS, to_row(before), to_row(after), strict=True)
        if old != new and name not in _QUIET
    ]
    return {name: old for name, old, _ in pairs}, {name: new for name, _, new in pairs}


def patched(memory: Memory, columns: Mapping[str, Value], kinds: Kinds) -> Memory:
    """The memory with some columns set to stored values."""
    row = {**dict(zip(COLUMNS, to_row(memory), strict=True)), **columns}
    return from_row(tuple(row[name] for name in COLUMNS), kinds)
