"""Values as plain JSON, the same at every door. Empty fields are left out; times are ISO 8601 in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.errors import RecollectError
from recollect.core.query import Briefing, Hit
from recollect.core.records import Memory

if TYPE_CHECKING:
    from recollect.core.account import Account
    from recollect.core.documents import Document
    from recollect.core.drafts import Receipt
    from recollect.core.ledger import Entry
    from recollect.core.links import Link
    from recollect.core.payloads import Payload
    from recollect.documents.check import Checked, Conflict, Side

Json = dict[str, Any]


def memory_json(memory: Memory) -> Json:
    """All of a memory but its fingerprint, which is nobody's business outside."""
    return _filled(
        {
            "id": memory.id,
            "project": memory.project,
            "kind": memory.kind,
            "content": memory.content,
            "status": str(memory.status),
            "confidence": memory.confidence,
            "source": str(memory.source),
            "scope": str(memory.scope),
            "visibility": str(memory.visibility),
            "tags": list(memory.tags),
            "files": list(memory.files),
            "modules": list(memory.modules),
            "created_at": iso(memory.created_at),
            "updated_at": iso(memory.updated_at),
            "event_at": iso(memory.event_at),
            "accessed_at": iso(memory.accessed_at),
            "access_count": memory.access_count,
            "session": memory.session,
            "commit": memory.commit,
            "work_unit": None
            if memory.work_unit is None
            else {
                "methodology": memory.work_unit.methodology,
                "hierarchy": list(memory.work_unit.hierarchy),
                "label": memory.work_unit.label,
            },
            "source_role": memory.source_role,
            "provenance": list(memory.provenance),
            "node": memory.node,
            "impacted": list(memory.impacted),
            "entities": list(memory.entities),
            "citation": memory.citation,
            "needs_review": memory.needs_review,
            "verified": memory.verified,
            "pinned": memory.pinned,
            "flagged": memory.flagged,
            "stale_at": iso(memory.stale_at),
            "valid_until": iso(memory.valid_until),
            "superseded_by": memory.superseded_by,
            "decay": None if memory.decay is None else str(memory.decay),
            "span": None
            if memory.span is None
            else {
                "type": memory.span.type,
                "start": memory.span.start,
                "end": memory.span.end,
                "context": memory.span.context,
                "document": memory.span.document,
            },
            "payload": None if memory.payload is None else _payload(memory.payload),
            "attributes": dict(memory.attributes),
            "revision": memory.revision,
        }
    )


def receipt_json(receipt: Receipt) -> Json:
    return {
        "id": receipt.id,
        "verdict": receipt.verdict,
        "against": list(receipt.against),
        "redacted": list(receipt.redacted),
        "notes": list(receipt.notes),
        "durable": not receipt.queued,
        "memory": memory_json(receipt.memory),
    }


def hit_json(hit: Hit) -> Json:
    return {
        "id": hit.id,
        "score": hit.score,
        "confidence": hit.confidence,
        "citation": hit.citation,
        "factors": dict(hit.factors),
        "reasons": list(hit.reasons),
        "doubts": list(hit.doubts),
        "memory": memory_json(hit.memory),
    }


def briefing_json(briefing: Briefing) -> Json:
    return {
        "query_type": briefing.query_type,
        "tokens": briefing.tokens,
        "notes": list(briefing.notes),
        "hits": [hit_json(hit) for hit in briefing.hits],
        "text": briefing.text,
    }


def entry_json(entry: Entry) -> Json:
    return _filled(
        {
            "number": entry.number,
            "act": entry.act,
            "at": iso(entry.at),
            "actor": entry.actor,
            "action": entry.change.action,
            "memory": entry.change.memory,
            "why": entry.change.why,
            "before": entry.change.before,
            "after": entry.change.after,
            "undoes": entry.undoes,
            "erased": entry.erased,
            "hash": entry.hash,
        }
    )


def link_json(link: Link) -> Json:
    return _filled(
        {
            "source": link.source,
            "relation": str(link.relation),
            "target": link.target,
            "file": link.file,
            "confidence": link.confidence,
            "automatic": link.automatic,
            "created_at": iso(link.created_at),
        }
    )


def account_json(account: Account) -> Json:
    return {
        "memory": memory_json(account.memory),
        "confidence_now": account.confidence,
        "points_at": [link_json(link) for link in account.points_at],
        "pointed_at_by": [link_json(link) for link in account.pointed_at_by],
        "history": [entry_json(entry) for entry in account.history],
    }


def document_json(document: Document) -> Json:
    return _filled(
        {
            "id": document.id,
            "path": document.path,
            "title": document.title,
            "label": document.label,
            "type": document.type,
            "confidence": document.confidence,
            "created_at": iso(document.created_at),
            "updated_at": iso(document.updated_at),
            "accessed_at": iso(document.accessed_at),
            "access_count": document.access_count,
            "sha256": document.sha256,
            "size": document.size,
            "passages": document.passages,
            "former": list(document.former),
        }
    )


def checked_json(checked: Checked) -> Json:
    return {
        "ok": checked.ok,
        "conflicts": [_conflict(one) for one in checked.conflicts],
        "broken": [
            {"path": one.path, "line": one.line, "target": one.target, "problem": one.problem} for one in checked.broken
        ],
        "pairs": checked.pairs,
        "links": checked.links,
        "notes": list(checked.notes),
    }


def _conflict(one: Conflict) -> Json:
    return {
        "level": one.judgement.level,
        "score": one.judgement.score,
        "reasons": list(one.judgement.reasons),
        "claim": _side(one.claim),
        "known": _side(one.known),
    }


def _side(side: Side) -> Json:
    return {"path": side.path, "line": side.line, "name": side.name, "text": side.text}


def error_json(error: RecollectError) -> Json:
    return {"error": {"code": error.code, "message": str(error), "hint": error.hint}}


def _payload(payload: Payload) -> Json:
    from recollect.core.payloads import payload_json  # few memories carry one

    return payload_json(payload)


def _filled(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None and value not in ("", [], {}, False)}


def iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
