"""How two things said in conversation stand to each other: do they say the same, or exclude each other? Pure.

The same is said by the share of telling words. Two exclude each other when the judge of memories says so of their
wording, or when one is a running total of what the other counted: "I've read three books", then "I've read five".
"""

from __future__ import annotations

from functools import lru_cache

from recollect.core.lazy import Lazy
from recollect.core.likeness import jaccard, overlap
from recollect.core.text import words
from recollect.dialogue.policy import SAME
from recollect.remember.contradiction import WORDING, Judge, score_wording

_FILLER = frozenset(
    "a an the i i'm im me my mine we our us you your he she it its they them their this that these those is are "
    "was were be been being am do does did has have had will would can could should shall may might must to of in "
    "on at for with by from and or but so as if then than there here just really very also too now actually about "
    "into up out s t m ve d ll re user said".split()
)


@lru_cache(maxsize=4096)
def telling_words(text: str) -> frozenset[str]:
    """The words of a statement that carry it, without endings that only grammar needs."""
    found = {_stem(word) for word in words(text) if word not in _FILLER}
    return frozenset(found or words(text))


def likeness(one: str, other: str) -> float:
    """The share of telling words that two statements have in common."""
    return jaccard(telling_words(one), telling_words(other))


def says_the_same(one: str, other: str, *, at_least: float = SAME) -> bool:
    """Alike enough, and not in conflict: a statement with another number says something else."""
    return (
        likeness(one, other) >= at_least and _numbers(one) == _numbers(other) and not WORDING.judge(one, other).excludes
    )


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word.isdigit())


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


# --- running totals ------------------------------------------------------------------------------------------------

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
_MAX_WORDS = 35  # words; a longer statement counts several things
_LOOK_AHEAD = 3  # words behind a number that may say what is counted
_MIN_SHARED = 2  # shared telling words, where both have as many
_SHARE = 0.4  # of the shorter statement's telling words


def read_numbers(text: str) -> frozenset[str]:
    """The numbers a statement holds, in digits or in words; what a number word is part of does not count."""
    said = words(text)
    return frozenset(word for word in said if word in _NUMBERS or word[0].isdigit())


def outdoes(new: str, old: str) -> bool:
    """Is `new` a running total of what `old` counted, with another number?

    A running total holds a number and says that it still grows. What is counted stands behind the number, and enough of
    the words around are shared.
    """
    if _GROWS.search(new) is None or (_GROWS.search(old) is None and _PERFECT.search(old) is None):
        return False
    if max(len(words(new)), len(words(old))) > _MAX_WORDS:
        return False
    fresh, gone = read_numbers(new), read_numbers(old)
    if not fresh or not gone or fresh & gone or not _counted_things(new) & _counted_things(old):
        return False
    mine, theirs = _topic(new), _topic(old)
    fewest = min(len(mine), len(theirs))
    return len(mine & theirs) >= max(1, min(_MIN_SHARED, fewest)) and overlap(mine, theirs) >= _SHARE


def counts_on(one: str, other: str) -> bool:
    """Do two statements count the same things? Which of them is the later is seen when one is closed."""
    return outdoes(one, other) or outdoes(other, one)


def _score_spoken(new: str, old: str) -> tuple[float, tuple[str, ...]]:
    score, reasons = score_wording(new, old)
    return (1.0, ("another count of the same things",)) if not score and counts_on(new, old) else (score, reasons)


SPOKEN = Judge("spoken", _score_spoken, warn=1.0, reject=1.0)


def _counted_things(text: str) -> frozenset[str]:
    """What stands behind the numbers of a statement: the things it counts."""
    said = words(text)
    places = [place for place, word in enumerate(said) if word in _NUMBERS or word[0].isdigit()]
    behind = {word for place in places for word in said[place + 1 : place + 1 + _LOOK_AHEAD]}
    return frozenset(stem for word in behind if len(word) > 2 for stem in telling_words(word))


def _topic(text: str) -> frozenset[str]:
    return frozenset(word for word in telling_words(text) if word not in _NUMBERS | _CUES and not word[0].isdigit())
