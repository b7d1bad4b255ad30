"""What a search means for the documents it handed out: more trust, one more access, who was found with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from recollect.documents.confidence import found
from recollect.documents.search import Match
from recollect.store.store import Store

_TOGETHER = 5  # documents of one answer that count as found together


def note_use(matches: Sequence[Match], store: Store, at: datetime) -> None:
    """Count one access of each document and each pair of the first five. Not synced: a lost count harms nobody."""
    ids = list(dict.fromkeys(match.document.id for match in matches))
    if not ids:
        return
    with store.engine.write(durable=False):
        documents = store.documents.by_ids(ids)  # as they are now: others may have found them meanwhile
        store.documents.put(
            [
                replace(
                    document,
                    confidence=found(document.confidence),
                    access_count=document.access_count + 1,
                    accessed_at=at,
                )
                for document in documents.values()
            ]
        )
        store.documents.count_pairs(combinations([id for id in ids[:_TOGETHER] if id in documents], 2), at)
