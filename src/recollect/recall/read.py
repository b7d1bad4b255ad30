"""First stage of recall: what kind of question is this, and what words does it hold? Pure."""

from __future__ import annotations

import re

from recollect.core.query import Query, QueryType, Reading
from recollect.core.text import clean, names, words

_PHRASE = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”')
_MOST_TEXT = 20_000  # characters of a question that are read; the rest cannot change the answer
_STRUCTURAL = frozenset({"analyzeImpact", "getDependencies", "impact", "deps", "trace", "code_impact", "code_deps"})
_STOP = frozenset(
    "a about after all also an and any are as at be because been before but by can could did do does doing for "
    "from had has have having he her here hers him his how i if in into is it its just me might more most my no "
    "nor not of on or our out over own please s she should so some such t than that the their them then there "
    "these they this those to too under up us very was we were what when where which while who whom why will with "
    "would you your".split()
)


def is_telling(word: str) -> bool:
    """Is it none of the words that are in every sentence?"""
    return word.lower() not in _STOP


def read(query: Query) -> Reading:
    """The question taken apart. Words that are in every sentence are left out unless there are no others."""
    text = clean(query.text.replace("\0", " ")[:_MOST_TEXT])[0]
    phrases = tuple(dict.fromkeys(one or other for one, other in _PHRASE.findall(text)))
    found = list(dict.fromkeys(words(text)))
    telling = [word for word in found if is_telling(word)]
    identifiers = tuple(dict.fromkeys(names(text)))
    return Reading(
        type=_type(identifiers, query.recent_calls),
        words=tuple(telling or found),
        phrases=phrases,
        identifiers=identifiers,
    )


def _type(identifiers: tuple[str, ...], recent_calls: tuple[str, ...]) -> QueryType:
    if any(_is_code(name) for name in identifiers):
        return "identifier"
    if any(call.rpartition(".")[2] in _STRUCTURAL for call in recent_calls):
        return "structural"
    return "semantic"


_CODE = re.compile(r"[a-z][A-Z]|\w_\w|/|\\|\w\.\w|::")


def _is_code(name: str) -> bool:
    return _CODE.search(name) is not None
