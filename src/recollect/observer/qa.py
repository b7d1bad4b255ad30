"""What checkers of an agent's work report: findings of a review become error patterns at once. Who reports is known by
the code path, never by the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import UnknownChoice
from recollect.core.kinds import Kind
from recollect.core.scope import Source
from recollect.observer.record import module_of
from recollect.observer.room import ACTOR, Room
from recollect.remember.remember import remember

Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
SERIOUS = frozenset({"critical", "high"})
FINDING_CONFIDENCE = 0.8  # the design's


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a review found."""

    text: str
    severity: str = "high"
    files: tuple[str, ...] = ()


def note_findings(findings: Sequence[Finding], room: Room, *, session: str | None) -> list[Receipt]:
    """Critical and high findings become memories, active at once; the others are the session's own affair."""
    for one in findings:
        if one.severity not in SEVERITIES:
            raise UnknownChoice("severity", one.severity, SEVERITIES)
    drafts = [
        Draft(
            one.text,
            kind=Kind.ERROR_PATTERN,
            confidence=FINDING_CONFIDENCE,
            source=Source.QA_AUTO,
            files=one.files,
            session=session,
            modules=tuple(dict.fromkeys(module_of(path) for path in one.files)),
            attributes={"severity": one.severity, "trigger": {"files": list(one.files)}},
        )
        for one in findings
        if one.severity in SERIOUS
    ]
    return note_drafts(drafts, room)


def note_drafts(drafts: Sequence[Draft], room: Room) -> list[Receipt]:
    """Remember what was reported, tied to the commit of its files."""
    placed = [room.placed(draft) for draft in drafts]
    return remember(placed, room.store, now=room.now(), identity=room.identity, actor=ACTOR)
