"""First stage of recall: what kind of question is this, and what words does it hold? Pure."""

from __future__ import annotations

import re

from recollect.core.query import Query, QueryType, Reading
from recollect.core.text import split_terms

_MOST_TEXT = 20_000  # characters of a question that are read; the rest cannot change the answer
_STRUCTURAL = frozenset({"analyzeImpact", "getDependencies", "impact", "deps", "trace", "code_impact", "code_deps"})


def read(query: Query) -> Reading:
    """The question taken apart."""
    words, phrases, identifiers = split_terms(query.text, max_chars=_MOST_TEXT)
    return Reading(_type(identifiers, query.recent_calls), words, phrases, identifiers)


def _type(identifiers: tuple[str, ...], recent_calls: tuple[str, ...]) -> QueryType:
    if any(_is_code(name) for name in identifiers):
        return "identifier"
    if any(call.rpartition(".")[2] in _STRUCTURAL for call in recent_calls):
        return "structural"
    return "semantic"


_CODE = re.compile(r"[a-z][A-Z]|\w_\w|/|\\|\w\.\w|::")


def _is_code(name: str) -> bool:
    return _CODE.search(name) is not None
