"""What a store was asked to lose: tombstones and erased memories, as its rows and its log tell them.

Read from a store that is about to be replaced, so that what was forgotten since a backup does not come back with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.core.digest import checksum
from recollect.core.erasing import ErasureMarks, marks_by_copy
from recollect.core.forms import moment
from recollect.store.codec import from_ms
from recollect.store.port import Row
from recollect.store.tombstones import ERASED_REASON, Tombstone

TOMBSTONE_COLUMNS = "fingerprint, project, reason, at, checksum"
LOG_COLUMNS = "number, project, action, about, subject, body"


@dataclass(frozen=True, slots=True)
class Erasures:
    """Tombstones by project and key, ids that were erased or had secrets taken out, and the ids that were there."""

    tombstones: Mapping[tuple[str, str], Tombstone]
    forgotten: frozenset[str]
    redacted: frozenset[str]
    memories: frozenset[str]
    is_whole: bool  # everything that tells of them could be read

    def marks(self, known: Mapping[tuple[str, str], Tombstone]) -> dict[str, list[ErasureMarks]]:
        """What was erased by name, session, user or whole, and another state (`known` are its tombstones) does not
        know of, by project. A state that knows a mark was made after it: what it holds was said later, whatever the
        project is called there."""
        latest: dict[str, datetime] = {}
        for (_, kept), stone in known.items():
            latest[kept] = max(stone.at, latest.get(kept, stone.at))
        found: dict[str, list[str]] = {}
        for (project, kept), stone in self.tombstones.items():
            if stone.reason == ERASED_REASON and (kept not in latest or latest[kept] < stone.at):
                found.setdefault(project, []).append(kept)
        return {project: marks_by_copy(kept) for project, kept in found.items()}


def gather_erasures(
    tombstones: Iterable[Row], log: Iterable[Row], memories: Iterable[str], *, is_whole: bool
) -> Erasures:
    """Put together what the rows of some tables say. What cannot be read says nothing, and is no longer whole."""
    buried: dict[tuple[str, str], Tombstone] = {}
    forgotten: set[str] = set()
    redacted: set[str] = set()
    for _, project, action, about, subject, body in sorted(log, key=lambda row: int(row[0])):
        if about == "tombstone" and body is not None:
            buried.pop((project, subject), None)
            try:
                after = json.loads(body).get("after")
                if after is not None:
                    buried[project, subject] = Tombstone(subject, after["reason"], moment(after["at"]))
            except (ValueError, TypeError, KeyError, AttributeError):
                is_whole = False
        elif action in ("forget", "erase", "prune") and about == "memory" and subject is not None:
            forgotten.add(subject)
        elif action == "redact" and subject is not None:
            redacted.add(subject)
    for row in tombstones:
        if checksum(row[:-1]) != row[-1]:
            is_whole = False
            continue
        fingerprint, project, reason, at, _ = row
        buried[project, fingerprint] = Tombstone(fingerprint, reason, from_ms(at))
    return Erasures(buried, frozenset(forgotten), frozenset(redacted), frozenset(memories), is_whole)
