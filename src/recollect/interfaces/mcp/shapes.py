"""The shapes of what the tools answer, for their output schemas. The values are made by `payloads`.

Only what an agent may rely on is named; a shape is open, so a new field in a payload breaks nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypeAlias

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from recollect.core.fields import SHOWN

_OPEN = ConfigDict(extra="allow")


_TYPES = {"real": float, "count": int, "labels": list[str]}

if TYPE_CHECKING:
    MemoryShape: TypeAlias = dict[str, Any]
else:  # the fields an agent may rely on, as the table of fields has them
    MemoryShape = with_config(_OPEN)(
        TypedDict(
            "MemoryShape",
            {
                field.name: kind if field.promised else NotRequired[kind]
                for field in SHOWN
                if field.promised is not None
                for kind in [_TYPES.get(field.form, str)]
            },
        )
    )
    MemoryShape.__doc__ = "A memory. Empty fields are left out; times are ISO 8601 in UTC."


@with_config(_OPEN)
class HitShape(TypedDict):
    id: str
    score: float
    confidence: float
    citation: str
    reasons: list[str]
    doubts: list[str]
    memory: MemoryShape


@with_config(_OPEN)
class FoundShape(TypedDict):
    """What was found, best first; `notes` say what was skipped and why."""

    query_type: str
    notes: list[str]
    hits: list[HitShape]


@with_config(_OPEN)
class BriefingShape(TypedDict):
    """A briefing within its budget: fenced text, and the ids of what is in it."""

    text: str
    ids: list[str]
    tokens: int
    notes: list[str]


@with_config(_OPEN)
class ReceiptShape(TypedDict):
    """What became of a statement: new, same, supersedes or contradicts."""

    id: str
    verdict: str
    against: list[str]
    redacted: list[str]
    notes: list[str]
    durable: bool
    memory: MemoryShape


@with_config(_OPEN)
class UpdatedShape(TypedDict):
    """The memory as it is now; `supersedes` names the one it took the place of, nothing when it is only proposed."""

    id: str
    memory: MemoryShape
    supersedes: NotRequired[str | None]
    notes: NotRequired[list[str]]


@with_config(_OPEN)
class ForgottenShape(TypedDict):
    forgotten: str
    lingering: str
    backups: list[str]


@with_config(_OPEN)
class StatusShape(TypedDict):
    project: str
    memories: dict[str, int]
    sessions: dict[str, int]
    entities: dict[str, int]
    observer: dict[str, Any]
    review: dict[str, Any]
    latest: list[dict[str, Any]]
    spend: dict[str, Any]
    jobs: list[dict[str, Any]]


@with_config(_OPEN)
class ReachShape(TypedDict):
    """What a change reaches, or what something needs."""

    target: str
    direction: str
    nodes: list[dict[str, Any]]
    files: list[dict[str, Any]]
    tests: list[str]
    notes: list[str]


class CodeFoundShape(TypedDict):
    hits: list[dict[str, Any]]


class MatchesShape(TypedDict):
    matches: list[dict[str, Any]]
    notes: list[str]


@with_config(_OPEN)
class DocsCheckedShape(TypedDict):
    ok: bool
    conflicts: list[dict[str, Any]]
    broken: list[dict[str, Any]]
    notes: list[str]


class CheckShape(TypedDict):
    ok: bool
    memories: int
    findings: list[dict[str, Any]]


class BackupShape(TypedDict):
    path: str | None
