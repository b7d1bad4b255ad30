"""The review queue and its decisions as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.interfaces.payloads.base import Json, filled, iso_time
from recollect.interfaces.payloads.memories import entry_json, memory_json

if TYPE_CHECKING:
    from recollect.core.review import Decided, ReviewEvidence, ReviewGroup, ReviewItem, ReviewPage


def review_item_json(item: ReviewItem) -> Json:
    """A memory that waits for a person. `revisions` goes back with a decision, so that it holds for these words."""
    return {
        "id": item.id,
        "question": str(item.question),
        "subject": item.subject,
        "memory": memory_json(item.memory),
        "rivals": [memory_json(rival) for rival in item.rivals],
        "revisions": dict(item.revisions),
        "sessions": list(item.sessions),
        "steps": item.steps,
        "saves_tokens": item.saves,
        "tainted": item.tainted,
        "spoken": item.spoken,
        "in_others_words": item.in_others_words,
    }


def review_page_json(page: ReviewPage) -> Json:
    return {
        "items": [review_item_json(item) for item in page.items],
        "total": page.total,
        "cursor": page.cursor,
        "damaged": list(page.damaged),
    }


def review_groups_json(groups: Sequence[ReviewGroup]) -> Json:
    return {"groups": [{"by": one.by, "name": one.name, "count": one.count} for one in groups]}


def review_evidence_json(evidence: ReviewEvidence) -> Json:
    """What speaks for and against an item, both sides of a contradiction included."""
    return {
        "item": review_item_json(evidence.item),
        "times": evidence.times,
        "sightings": [
            filled(
                {
                    "session": one.session,
                    "host": one.host,
                    "at": iso_time(one.at),
                    "steps": list(one.steps),
                    "prompt": one.prompt,
                    "taint": one.taint,
                }
            )
            for one in evidence.sightings
        ],
        "sources": [memory_json(source) for source in evidence.sources],
        "history": [entry_json(entry) for entry in evidence.history],
        "rival_histories": {
            id: [entry_json(entry) for entry in entries] for id, entries in evidence.rival_histories.items()
        },
    }


def decided_json(done: Decided) -> Json:
    return {
        "decision": done.decision,
        "memory": memory_json(done.memory),
        "settled": [memory_json(one) for one in done.settled],
        "waiting": done.waiting,
        "act": done.act,
    }
