"""Memories, hits, briefings, receipts and their history as plain JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.fields import SHOWN
from recollect.core.forms import spell
from recollect.core.query import Briefing, Hit, Query
from recollect.core.records import Memory
from recollect.interfaces.payloads.base import Json, filled, iso_time

if TYPE_CHECKING:
    from recollect.agent.answer import CitedAnswer
    from recollect.core.drafts import Receipt
    from recollect.core.links import Account, Link
    from recollect.core.log import Entry
    from recollect.remember.forget import Forgotten
    from recollect.remember.undo import Undone


def memory_json(memory: Memory) -> Json:
    """All of a memory but its fingerprint, which is nobody's business outside."""
    return filled({field.name: spell(field, getattr(memory, field.name)) for field in SHOWN})


def listed_json(memory: Memory, confidence: float) -> Json:
    """A memory as lists show it: with what its confidence is worth now."""
    return {**memory_json(memory), "confidence_now": round(confidence, 4)}


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
    return filled(
        {
            "number": entry.number,
            "act": entry.act,
            "at": iso_time(entry.at),
            "actor": entry.actor,
            "door": entry.door,
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


def _link_json(link: Link) -> Json:
    return filled(
        {
            "source": link.source,
            "relation": str(link.relation),
            "target": link.target,
            "file": link.file,
            "confidence": link.confidence,
            "automatic": link.automatic,
            "created_at": iso_time(link.created_at),
        }
    )


def account_json(account: Account) -> Json:
    return {
        "memory": memory_json(account.memory),
        "confidence_now": account.confidence,
        "points_at": [_link_json(link) for link in account.points_at],
        "pointed_at_by": [_link_json(link) for link in account.pointed_at_by],
        "history": [entry_json(entry) for entry in account.history],
    }


def found_json(hit: Hit, question: str) -> Json:
    """A hit with where the words of the question stand in it."""
    from recollect.recall.highlight import find_highlights
    from recollect.recall.question import read

    words = read(Query(question)).words
    return {**hit_json(hit), "highlights": [list(span) for span in find_highlights(words, hit.memory.content)]}


def answer_json(answer: CitedAnswer) -> Json:
    return {
        "question": answer.question,
        "model": answer.model,
        "sentences": [{"text": one.text, "memories": list(one.memories)} for one in answer.sentences],
        "hits": [found_json(hit, answer.question) for hit in answer.hits],
        "notes": list(answer.notes),
    }


def undone_json(undone: Undone) -> Json:
    return {"act": undone.act, "actions": list(undone.actions), "memories": list(undone.memories)}


def forgotten_json(gone: Forgotten, store: Path | None) -> Json:
    """What was forgotten, and the backups beside the store that may still hold it."""
    backups = [] if store is None else sorted(str(file) for file in (store.parent / "backups").glob("*.db"))
    return {"forgotten": gone.id, "lingering": gone.lingering, "backups": backups}
