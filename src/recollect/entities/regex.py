"""Names that have a shape: mentions, hashtags, emails, addresses, dates, paths, versions. Linear time, no model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.core.entities import EntityType, Mention
from recollect.core.lazy import Lazy

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"

# Each pattern with what it finds and how sure it is. Earlier ones are surer, so an email is not read as a mention.
_PATTERNS = (
    (EntityType.URL, 0.99, Lazy(r"\bhttps?://[^\s<>\"'`\])}]{3,2000}|\bwww\.[\w-]{1,63}\.[^\s<>\"'`\])}]{2,2000}")),
    (EntityType.EMAIL, 0.98, Lazy(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}\b")),
    (EntityType.DATE, 0.95, Lazy(r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b|\b[0-3]?\d/[0-3]?\d/(?:19|20)\d\d\b")),
    (
        EntityType.DATE,
        0.93,
        Lazy(
            rf"\b{_DAY} (?:of )?{_MONTH}\b\.?(?:,? (?:19|20)\d\d)?|\b{_MONTH}\b\.? {_DAY}\b(?:,? (?:19|20)\d\d)?"
            rf"|\b(?:january|february|march|april|june|july|august|september|october|november|december|may)"
            rf",? (?:19|20)\d\d\b"
        ),
    ),
    (
        EntityType.OTHER,
        0.9,
        Lazy(r"(?<![\w/:.@~-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+-]{1,100}[/\\]){0,20}[\w.@+-]{1,100}"),
    ),
    (
        EntityType.OTHER,
        0.9,
        Lazy(
            r"(?<![\w/.@-])(?:[\w@+-]{1,80}/){0,20}[\w@+-]{1,80}\.(?:py|ts|tsx|js|jsx|rs|go|md|toml|json|ya?ml|txt|sh|sql"
            r"|c|h|cpp|java|rb|css|html|ipynb|csv|pdf|docx?|xlsx?|png|jpe?g|lock|cfg|ini|env)\b"
        ),
    ),
    (EntityType.OTHER, 0.85, Lazy(r"\bv\d{1,4}(?:\.\d{1,6}){1,3}(?:-[\w.]{1,20})?\b|\b\d{1,4}(?:\.\d{1,6}){2,3}\b")),
    (EntityType.PERSON, 0.9, Lazy(r"(?<![\w@/.])@[A-Za-z_][\w]{1,38}\b(?!@)")),
    (EntityType.TAG, 0.95, Lazy(r"(?<![\w#&/])#[^\W\d_][\w-]{1,60}")),
)
_HINTS = re.compile(r"[@#/\\\d]|www\.")  # without one of these, no pattern can match
_TRAIL = ".,;:!?'\""


def shaped_mentions(text: str) -> Iterator[Mention]:
    """Every stretch of `text` with a telling shape."""
    if _HINTS.search(text) is None:
        return
    for type, confidence, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            found = match.group().rstrip(_TRAIL)
            if len(found) > 1:
                yield Mention(found, type, match.start(), match.start() + len(found), confidence, "regex")
