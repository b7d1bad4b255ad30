"""A text taken apart: the words that tell something, quoted phrases, names in code. Pure, and light to load."""

from __future__ import annotations

import re

from recollect.core.text import clean, names, words

_PHRASE = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”')
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


def parts(text: str, *, most: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The telling words, the quoted phrases and the identifiers among the first `most` characters, each once.

    Words that are in every sentence are left out unless there are no others.
    """
    plain = clean(text.replace("\0", " ")[:most])[0]
    phrases = tuple(dict.fromkeys(one or other for one, other in _PHRASE.findall(plain)))
    found = list(dict.fromkeys(words(plain)))
    telling = [word for word in found if is_telling(word)]
    return tuple(telling or found), phrases, tuple(dict.fromkeys(names(plain)))
