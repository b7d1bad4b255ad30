"""What goes in and what comes back from remembering: the Draft and the Receipt. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_args

from recollect.core.decay import Decay
from recollect.core.errors import InvalidField
from recollect.core.fields import DRAFTED
from recollect.core.ids import MemoryId
from recollect.core.payloads import Payload
from recollect.core.records import Memory, Span, WorkUnit
from recollect.core.scope import Scope, Source, Visibility


@dataclass(frozen=True, slots=True)
class Draft:
    """What someone wants remembered; not yet accepted. Plain words, checked by `shape`."""

    content: str
    kind: str = "fact"
    confidence: float | None = None
    source: Source = Source.USER_TAUGHT
    scope: str = Scope.GLOBAL
    visibility: str = Visibility.PROJECT
    tags: Sequence[str] = ()
    files: Sequence[str] = ()
    modules: Sequence[str] = ()
    event_at: datetime | None = None
    session: str | None = None
    provenance: Sequence[str] = ()  # further sessions it was seen in
    commit: str | None = None
    work_unit: WorkUnit | None = None
    source_role: str | None = None
    node: str | None = None
    impacted: Sequence[str] = ()
    entities: Sequence[str] = ()
    citation: str | None = None
    status: str | None = None  # None: candidate when inferred, active otherwise
    needs_review: bool = False
    verified: bool = False
    pinned: bool = False
    stale_at: datetime | None = None
    valid_until: datetime | None = None
    decay: Decay | None = None
    span: Span | None = None
    payload: Mapping[str, Any] | Payload | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    user: str | None = None  # the one user of an assistant it belongs to
    team: str | None = None  # the team that sees it, where `visibility` is team
    supersedes: str | None = None
    derived_from: Sequence[str] = ()
    created_at: datetime | None = None  # None: now; set by imports only
    corrects: bool = False  # what it supersedes was wrong, not just outdated: it must not come back
    why: str = ""  # the reason, for the log
    skip_conflict_check: bool = False  # the caller has settled how it stands to what is known
    override_tombstone: bool = False  # say a rejected or forgotten statement once more, on purpose


_FORMS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "text": (str, "a text"),
    "name": (str, "a text"),
    "choice": (str, "a word"),
    "labels": ((list, tuple, set, frozenset), "a list of texts"),
    "real": ((int, float), "a number"),
    "flag": (bool, "true or false"),
    "moment": (datetime, "a date and time"),
    "decay": (Decay, "a decay"),
    "work_unit": (WorkUnit, "a work unit"),
    "span": (Span, "a span"),
    "payload": ((Mapping, *get_args(Payload)), "an object"),
    "object": (Mapping, "an object"),
}
_GIVEN = attrgetter(*(one.name for one in DRAFTED))
_EXPECTED = tuple((one.name, *_FORMS[one.form]) for one in DRAFTED)


def check_types(draft: Draft) -> None:
    """Refuse a draft one of whose fields is of another type than it can be; the error names the field."""
    for value, (name, types, expected) in zip(_GIVEN(draft), _EXPECTED, strict=True):
        if value is not None and not isinstance(value, types):
            raise InvalidField(name, f"expected {expected}, not {type(value).__name__}")


Verdict: TypeAlias = Literal["new", "same", "supersedes", "contradicts", "closed", "ends", "narrowed"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a draft or a correction. The write it speaks of is durable unless `queued`.

    `closed`: a correction ended the memory and nothing took its place; `ends`: it will hold until a
    moment to come; `narrowed`: it now holds in fewer places.
    """

    id: MemoryId
    verdict: Verdict
    memory: Memory
    against: tuple[MemoryId, ...] = ()  # the memories the verdict is about
    redacted: tuple[str, ...] = ()  # names of the secret rules that fired
    notes: tuple[str, ...] = ()
    queued: bool = False
