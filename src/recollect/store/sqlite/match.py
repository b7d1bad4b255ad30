"""The language of FTS5: a question as an expression of quoted tokens. Nothing a person types can be syntax."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.store.terms import read_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.query import Reading


def terms(reading: Reading, *, prefix: bool = False) -> list[str]:
    """What was read as terms of a match expression; nothing when it holds no word at all."""
    return [quoted(words) + ("*" if is_prefix else "") for words, is_prefix in read_terms(reading, prefix=prefix)]


def any_of(terms: Iterable[str]) -> str:
    """An expression that any of some terms fulfils."""
    return " OR ".join(terms)


def quoted(text: str) -> str:
    """Text as FTS5 syntax that can mean nothing but itself."""
    return '"' + text.replace('"', '""') + '"'
