"""Second step of remembering: a draft becomes a Memory in normal form, or an error that names the field. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.decay import Exponential
from recollect.core.drafts import Draft
from recollect.core.errors import ContentTooLarge, EmptyContent, InvalidField
from recollect.core.fields import FIELDS
from recollect.core.forms import CHOICES
from recollect.core.ids import in_utc, whole_ms
from recollect.core.kinds import EVIDENCE, Kind, KindRule, Kinds
from recollect.core.payloads import Payload, parse_payload
from recollect.core.ports import Identity
from recollect.core.query import read_user
from recollect.core.records import CITATION_LIMIT, Memory
from recollect.core.scope import Source, Status, choose, share
from recollect.core.states import STATE_OF
from recollect.core.text import CONTENT_LIMIT, clean, excerpt, fingerprint, require_storable
from recollect.remember.state import read_state

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
    content, notes = _content(draft.content)
    values: dict[str, Any] = {name: check(getattr(draft, name), name) for name, check in _CHECKED}
    source = values["source"]
    created = min(values["created_at"] or whole_ms(now), whole_ms(now))  # nothing was written tomorrow
    values["id"] = identity(rule.family, created)
    values["project"] = project
    values["kind"] = str(rule.name)
    values["content"] = content
    values["fingerprint"] = fingerprint(content)
    values["flagged"] = redacted
    values["created_at"], values["accessed_at"] = created, whole_ms(now)  # what comes in today has not been idle since
    values["updated_at"] = whole_ms(now)
    # What follows from other fields when nobody says.
    values["confidence"] = _confidence(draft.confidence, source)
    values["status"] = _status(draft.status, source)
    values["needs_review"] = (
        draft.needs_review
        or source is Source.OBSERVER_INFERRED
        or asks_by_itself(values["status"], values["stale_at"], now)
    )
    values["decay"] = _decay(draft, rule, source)
    values["payload"] = _payload(draft.payload, rule)
    values["user"] = read_user(draft.user)
    values["attributes"] = mark_state(content, values["kind"], values["attributes"])
    if draft.session:
        values["provenance"] = _labels([*draft.provenance, draft.session], "provenance")
    if values["files"]:
        values["files"] = tuple(file.replace("\\", "/") for file in values["files"])
    if values["citation"] is not None:
        values["citation"] = excerpt(values["citation"], CITATION_LIMIT)
    return Shaped(Memory(**values), notes)


def mark_state(content: str, kind: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes that say which state a statement tells, if it tells one: it is asked for by other words."""
    claim = read_state(content) if kind not in EVIDENCE else None
    kept = {name: value for name, value in attributes.items() if name != STATE_OF}
    return kept if claim is None or not claim.key else {**kept, STATE_OF: claim.key}


def asks_by_itself(status: Status, stale_at: datetime | None, now: datetime) -> bool:
    """Is a memory a question to a person because of what it is: a candidate, doubted, or past its time?"""
    return status in (Status.CANDIDATE, Status.DISPUTED) or (stale_at is not None and stale_at <= whole_ms(now))


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
    return whole_ms(in_utc(at, field))


def _choice(options: type[StrEnum]) -> Callable[[Any, str], StrEnum]:
    return lambda given, field: choose(options, given, field)


def _as_given(given: Any, field: str) -> Any:
    return given


# What a Draft may say, each with the check of its form; `shape` adds what depends on other fields.
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "labels": _labels,
    "name": _name,
    "moment": _moment,
    "object": lambda given, field: _attributes(given),
}
_LATER = ("kind", "content", "confidence", "status", "payload", "decay", "needs_review")
_CHECKED = tuple(
    (field.name, _choice(CHOICES[field.choices]) if field.choices else _CHECKS.get(field.form, _as_given))
    for field in FIELDS
    if field.draft and field.name not in _LATER
)
