"""Second step of remembering: a draft becomes a Memory in normal form, or an error that names the field. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recollect.core.decay import Exponential
from recollect.core.drafts import Draft
from recollect.core.errors import ContentTooLarge, EmptyContent, InvalidField
from recollect.core.instants import whole_ms
from recollect.core.kinds import Kind, KindRule, Kinds
from recollect.core.payloads import Payload, parse_payload
from recollect.core.ports import Identity
from recollect.core.records import CITATION_LIMIT, Memory
from recollect.core.scope import Scope, Source, Status, Visibility, choose, share
from recollect.core.text import clean, excerpt, fingerprint, require_storable
from recollect.remember.screen import CONTENT_LIMIT

LABEL_LIMIT = 1_000  # characters of one tag, file or module name
LABELS = 200  # of each sort on one memory

# How sure we are of a statement when nobody says: a person who teaches knows, an inference guesses.
_STARTING_CONFIDENCE = {Source.USER_TAUGHT: 0.9, Source.OBSERVER_INFERRED: 0.6}
_USUAL_CONFIDENCE = 0.8


@dataclass(frozen=True, slots=True)
class Shaped:
    """A memory ready to be weighed against what is known, and what was noticed while shaping it."""

    memory: Memory
    notes: tuple[str, ...]


def shape(
    draft: Draft, *, project: str, kinds: Kinds, now: datetime, identity: Identity, redacted: bool = False
) -> Shaped:
    """Check every field and bring the text into its normal form."""
    rule = kinds.rule(draft.kind)
    source = choose(Source, draft.source, "source")
    content, notes = _content(draft.content)
    created = _moment(draft.created_at, "created_at") or whole_ms(now)
    memory = Memory(
        id=identity(rule.family, created),
        project=project,
        kind=str(rule.name),
        content=content,
        confidence=_confidence(draft.confidence, source),
        created_at=created,
        updated_at=whole_ms(now),
        accessed_at=created,
        source=source,
        scope=choose(Scope, draft.scope, "scope"),
        visibility=choose(Visibility, draft.visibility, "visibility"),
        status=_status(draft.status, source),
        fingerprint=fingerprint(content),
        tags=_labels(draft.tags, "tags"),
        files=tuple(file.replace("\\", "/") for file in _labels(draft.files, "files")),
        modules=_labels(draft.modules, "modules"),
        event_at=_moment(draft.event_at, "event_at"),
        session=_name(draft.session, "session"),
        commit=_name(draft.commit, "commit"),
        work_unit=draft.work_unit,
        source_role=_name(draft.source_role, "source_role"),
        provenance=_labels([*draft.provenance, *([draft.session] if draft.session else [])], "provenance"),
        node=_name(draft.node, "node"),
        impacted=_labels(draft.impacted, "impacted"),
        entities=_labels(draft.entities, "entities"),
        citation=None if draft.citation is None else excerpt(_name(draft.citation, "citation") or "", CITATION_LIMIT),
        needs_review=draft.needs_review or source is Source.OBSERVER_INFERRED,
        verified=draft.verified,
        pinned=draft.pinned,
        flagged=redacted,
        stale_at=_moment(draft.stale_at, "stale_at"),
        valid_until=_moment(draft.valid_until, "valid_until"),
        decay=_decay(draft, rule, source),
        span=draft.span,
        payload=_payload(draft.payload, rule),
        attributes=_attributes(draft.attributes),
    )
    return Shaped(memory, notes)


def _content(text: str) -> tuple[str, tuple[str, ...]]:
    """The text as it is kept; `screen` has seen to its size and encoding."""
    content, removed = clean(text)
    if not content:
        raise EmptyContent
    return content, (f"removed {removed} control or invisible character(s)",) if removed else ()


def _confidence(given: float | None, source: Source) -> float:
    return _STARTING_CONFIDENCE.get(source, _USUAL_CONFIDENCE) if given is None else share(given, "confidence")


def _status(given: str | None, source: Source) -> Status:
    if given is None:
        return Status.CANDIDATE if source is Source.OBSERVER_INFERRED else Status.ACTIVE
    status = choose(Status, given, "status")
    if status not in (Status.CANDIDATE, Status.ACTIVE, Status.DISPUTED):
        raise InvalidField("status", f"a new memory cannot start as {status}")
    return status


def _decay(draft: Draft, rule: KindRule, source: Source) -> Exponential | Any:
    """A fact that a person taught is protected at once: they need not say it twice."""
    if draft.decay is None and rule.name == Kind.FACT and source is Source.USER_TAUGHT:
        return Exponential(0.0)
    return draft.decay


def _payload(given: Mapping[str, Any] | Payload | None, rule: KindRule) -> Payload | None:
    if rule.payload is None:
        if given is not None:
            raise InvalidField("payload", f"{rule.name} carries none; use attributes")
        return None
    if given is None:
        return None
    return parse_payload(rule.payload, given)


def _labels(given: Sequence[str], field: str) -> tuple[str, ...]:
    if given == ():
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidField(field, "expected a list of texts")
    if len(given) > LABELS:
        raise InvalidField(field, f"{len(given)} of them; a memory holds at most {LABELS}")
    named = (_name(label, f"{field}[{index}]") for index, label in enumerate(given))
    return tuple(dict.fromkeys(label for label in named if label))


def _name(given: str | None, field: str) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidField(field, f"expected a text, not {type(given).__name__}")
    if len(given) > LABEL_LIMIT:
        raise InvalidField(field, f"{len(given)} characters; at most {LABEL_LIMIT} are kept")
    return clean(require_storable(given, field))[0].replace("\n", " ")


def _attributes(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attributes as they will be read back: plain JSON."""
    if not isinstance(given, Mapping):
        raise InvalidField("attributes", f"expected an object, not {type(given).__name__}")
    if not given:
        return {}
    try:
        text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidField("attributes", f"not plain JSON ({error})") from None
    if len(text) > CONTENT_LIMIT:
        raise ContentTooLarge(size=len(text), limit=CONTENT_LIMIT)
    require_storable(text.replace("\\u0000", "\0"), "attributes")
    plain: Mapping[str, Any] = json.loads(text)
    return plain


def _moment(at: datetime | None, field: str) -> datetime | None:
    if at is None:
        return None
    if not isinstance(at, datetime):
        raise InvalidField(field, f"expected a date and time, not {type(at).__name__}")
    return whole_ms(at if at.tzinfo else at.replace(tzinfo=UTC))
