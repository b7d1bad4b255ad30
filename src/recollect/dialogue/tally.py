"""Running totals: "I've read three books", then "I've read five so far": the later takes the earlier's place. Pure.

A statement is a running total when it holds a number and says that it still grows. It outdoes an earlier one with
another number of the same things: what is counted stands behind the number, and enough of the words around are shared.
"""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.core.likeness import overlap
from recollect.core.text import words
from recollect.dialogue.likeness import telling

_SPAN = (
    r"for (?:about |around |over |almost |nearly )?(?:\d{1,4}|an?|two|three|four|five|six|seven|eight|nine|ten|several)"
)
_GROWS = Lazy(
    r"\b(?:so far|by now|now|already|currently|in total|total of|total|to date|as of|brings (?:my|our|the)|up to|since|"
    + _SPAN
    + r" (?:day|week|month|year)s?)\b"
)
_PERFECT = Lazy(r"\b(?:i've|i’ve|we've|we’ve|i have|we have|i own|i lead|my \w+ (?:is|are|has|have))\b")
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty "
    "fifty first second third fourth fifth sixth seventh eighth ninth tenth once twice".split()
)
_CUES = frozenset(
    "far already currently total date since count brings about around over almost nearly day days week weeks month "
    "months year years hour hours time times recently lately new ve been got get have had just some few all".split()
)
_LONGEST = 35  # words; a longer statement counts several things
_BEHIND = 3  # words behind a number that may say what is counted
_LEAST = 2  # shared telling words, where both have as many
_SHARE = 0.4  # of the shorter statement's telling words


def numbers(text: str) -> frozenset[str]:
    """The numbers a statement holds, in digits or in words; what a number word is part of does not count."""
    said = words(text)
    return frozenset(word for word in said if word in _NUMBERS or word[0].isdigit())


def outdoes(new: str, old: str) -> bool:
    """Is `new` a running total of what `old` counted, with another number?"""
    if _GROWS.search(new) is None or (_GROWS.search(old) is None and _PERFECT.search(old) is None):
        return False
    if max(len(words(new)), len(words(old))) > _LONGEST:
        return False
    fresh, gone = numbers(new), numbers(old)
    if not fresh or not gone or fresh & gone or not _counted(new) & _counted(old):
        return False
    mine, theirs = _things(new), _things(old)
    fewest = min(len(mine), len(theirs))
    return len(mine & theirs) >= max(1, min(_LEAST, fewest)) and overlap(mine, theirs) >= _SHARE


def _counted(text: str) -> frozenset[str]:
    """What stands behind the numbers of a statement: the things it counts."""
    said = words(text)
    places = [place for place, word in enumerate(said) if word in _NUMBERS or word[0].isdigit()]
    behind = {word for place in places for word in said[place + 1 : place + 1 + _BEHIND]}
    return frozenset(stem for word in behind if len(word) > 2 for stem in telling(word))


def _things(text: str) -> frozenset[str]:
    return frozenset(word for word in telling(text) if word not in _NUMBERS | _CUES and not word[0].isdigit())
