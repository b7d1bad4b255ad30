"""First step of remembering: nothing too large to be looked at and no secret gets past here. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from recollect.core.drafts import Draft, check_types
from recollect.core.errors import ContentTooLarge, InvalidField
from recollect.core.fields import FIELDS
from recollect.core.payloads import Payload, parse_payload, payload_json
from recollect.core.records import Memory
from recollect.core.text import CONTENT_LIMIT, require_storable
from recollect.privacy.scan import redact, scan
from recollect.privacy.values import redact_name, redact_value, rules_in

_ENTITY_ID = re.compile(r"ent_[0-9a-hjkmnp-tv-z]{23}")  # our own ids, of which an episode carries dozens

_SHORT = 200  # characters: the texts that are worth remembering the answer for


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft without secrets, and the rules that fired."""

    draft: Draft
    redacted: tuple[str, ...]


def screen(draft: Draft) -> Screened:
    """Replace every secret in any text of the draft by a typed placeholder."""
    check_types(draft)
    require_readable(draft.content)
    if isinstance(draft.user, str) and (rules := _rules(draft.user)):
        raise InvalidField("user", f"a user's name must not hold a secret ({rules[0]})")
    fired = tuple(dict.fromkeys((*(rule for text in _texts(draft) for rule in _rules(text)), *_in_values(draft))))
    if not fired:
        return Screened(draft, ())
    return Screened(_redacted(draft), fired)


def screen_memory(memory: Memory) -> tuple[Memory, tuple[str, ...]]:
    """A memory that is stored, without secrets in any text of it, and the rules that fired."""
    span, unit = memory.span, memory.work_unit
    held: dict[str, Any] = {name: getattr(memory, name) for name in _TEXTS if getattr(memory, name)}
    if memory.attributes:
        held["attributes"] = dict(memory.attributes)
    fired = dict.fromkeys(rule for value in held.values() for rule in _stored_rules(value))
    payload = None if memory.payload is None else payload_json(memory.payload)
    fired |= dict.fromkeys(rules_in(payload))
    names = {"span": span.context if span else "", "work_unit": unit.label if unit else ""}
    fired |= dict.fromkeys(rule for text in names.values() for rule in _rules(text))
    if not fired:
        return memory, ()
    safe: dict[str, Any] = {name: redact_value(value) for name, value in held.items()}
    safe |= {name: redact_name(value) for name in ("session", "user") if (value := getattr(memory, name))}
    if span:
        safe["span"] = replace(span, context=_hide(span.context))
    if unit:
        safe["work_unit"] = replace(unit, label=_hide(unit.label))
    if memory.payload is not None and payload is not None:
        safe["payload"] = parse_payload(memory.payload.name, redact_value(payload))
    return memory.having(**safe), tuple(fired)


# Whatever people and agents may write into a memory. What we name ourselves (ids, kinds) opens nothing.
_TEXTS = tuple(field.name for field in FIELDS if field.draft and field.form in ("text", "name", "labels"))


def _stored_rules(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return _rules(value)
    if isinstance(value, tuple):
        return tuple(rule for text in value if not _ENTITY_ID.fullmatch(text) for rule in _rules(text))
    return rules_in(dict(value))


def _rules(text: str) -> tuple[str, ...]:
    """The rules that fire on a text. Paths, headings and names of attributes come by the thousand, and often."""
    return _known_rules(text) if len(text) <= _SHORT else tuple(finding.rule for finding in scan(text))


@lru_cache(maxsize=2_048)
def _known_rules(text: str) -> tuple[str, ...]:
    return tuple(finding.rule for finding in scan(text))


def require_readable(content: str) -> None:
    """Refuse what cannot be a statement before spending any time on it."""
    if len(content) > CONTENT_LIMIT:  # a character is at least a byte
        raise ContentTooLarge(size=len(content.encode(errors="replace")), limit=CONTENT_LIMIT)
    if (size := len(require_storable(content, "content").encode())) > CONTENT_LIMIT:
        raise ContentTooLarge(size=size, limit=CONTENT_LIMIT)


def _texts(draft: Draft) -> Iterator[str]:
    """Every text a secret could hide in."""
    yield draft.content
    unit, span = draft.work_unit, draft.span
    named = (draft.session, draft.node, draft.commit, draft.source_role)
    for part in (draft.why, draft.citation, span.context if span else None, unit.label if unit else None, *named):
        if part and isinstance(part, str):
            yield part
    for labels in (draft.tags, draft.files, draft.modules, draft.entities, draft.provenance, draft.impacted):
        yield from (label for label in labels if isinstance(label, str) and not _ENTITY_ID.fullmatch(label))


def _in_values(draft: Draft) -> Iterator[str]:
    """The rules that fire in payload and attributes, where a name may give its value away."""
    for values in (_plain(draft.payload), draft.attributes):
        if values:
            yield from rules_in(values)


def _redacted(draft: Draft) -> Draft:
    return replace(
        draft,
        content=_hide(draft.content),
        why=_hide(draft.why),
        tags=_each(draft.tags),
        files=_each(draft.files),
        modules=_each(draft.modules),
        entities=_each(draft.entities),
        citation=None if draft.citation is None else _hide(draft.citation),
        payload=redact_value(_plain(draft.payload)),
        attributes=redact_value(draft.attributes),
        session=None if draft.session is None else redact_name(draft.session),
        provenance=tuple(redact_name(one) if isinstance(one, str) else one for one in draft.provenance),
        node=None if draft.node is None else _hide(draft.node),
        impacted=_each(draft.impacted),
        commit=None if draft.commit is None else _hide(draft.commit),
        source_role=None if draft.source_role is None else _hide(draft.source_role),
        work_unit=None if draft.work_unit is None else replace(draft.work_unit, label=_hide(draft.work_unit.label)),
        span=None if draft.span is None else replace(draft.span, context=_hide(draft.span.context)),
    )


def _hide(text: str) -> str:
    return redact(text).text


def _plain(payload: Mapping[str, Any] | Payload | None) -> Any:
    return payload if payload is None or isinstance(payload, Mapping) else payload_json(payload)


def _each(texts: Sequence[str]) -> Sequence[str]:
    return tuple(_hide(text) if isinstance(text, str) else text for text in texts)
