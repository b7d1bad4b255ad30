"""First step of remembering: nothing too large to be looked at and no secret gets past here. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from recollect.core.drafts import Draft
from recollect.core.errors import ContentTooLarge, InvalidField
from recollect.core.payloads import Payload, payload_json
from recollect.core.text import CONTENT_LIMIT, require_storable
from recollect.privacy.scan import redact, scan

_ENTITY_ID = re.compile(r"ent_[0-9a-hjkmnp-tv-z]{23}")  # our own ids, of which an episode carries dozens

_SHORT = 200  # characters: the texts that are worth remembering the answer for


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft without secrets, and the rules that fired."""

    draft: Draft
    redacted: tuple[str, ...]


def screen(draft: Draft) -> Screened:
    """Replace every secret in any text of the draft by a typed placeholder."""
    _require_readable(draft.content)
    fired = tuple(dict.fromkeys(rule for text in _texts(draft) for rule in _rules(text)))
    if not fired:
        return Screened(draft, ())
    return Screened(_redacted(draft), fired)


def _rules(text: str) -> tuple[str, ...]:
    """The rules that fire on a text. Paths, headings and names of attributes come by the thousand, and often."""
    return _known_rules(text) if len(text) <= _SHORT else tuple(finding.rule for finding in scan(text))


@lru_cache(maxsize=2_048)
def _known_rules(text: str) -> tuple[str, ...]:
    return tuple(finding.rule for finding in scan(text))


def _require_readable(content: str) -> None:
    """Refuse what cannot be a statement before spending any time on it."""
    if not isinstance(content, str):
        raise InvalidField("content", f"expected a text, not {type(content).__name__}")
    if len(content) > CONTENT_LIMIT:  # a character is at least a byte
        raise ContentTooLarge(size=len(content.encode(errors="replace")), limit=CONTENT_LIMIT)
    if (size := len(require_storable(content, "content").encode())) > CONTENT_LIMIT:
        raise ContentTooLarge(size=size, limit=CONTENT_LIMIT)


def _texts(draft: Draft) -> Iterator[str]:
    """Every text a secret could hide in."""
    yield draft.content
    for part in (draft.why, draft.citation, draft.span.context if draft.span else None):
        if part:
            yield part
    for labels in (draft.tags, draft.files, draft.modules, draft.entities):
        yield from (label for label in labels if isinstance(label, str) and not _ENTITY_ID.fullmatch(label))
    if draft.payload is not None:
        yield from _leaves(_plain(draft.payload))
    if draft.attributes:
        yield from _leaves(draft.attributes)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(key)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)


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
        payload=_within(_plain(draft.payload), _hide),
        attributes=_within(draft.attributes, _hide),
        span=None if draft.span is None else replace(draft.span, context=_hide(draft.span.context)),
    )


def _hide(text: str) -> str:
    return redact(text).text


def _plain(payload: Mapping[str, Any] | Payload | None) -> Any:
    return payload if payload is None or isinstance(payload, Mapping) else payload_json(payload)


def _each(texts: Sequence[str]) -> Sequence[str]:
    return tuple(_hide(text) if isinstance(text, str) else text for text in texts)


def _within(value: Any, change: Callable[[str], str]) -> Any:
    """The same structure with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_within(key, change): _within(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_within(item, change) for item in value]
    return value
