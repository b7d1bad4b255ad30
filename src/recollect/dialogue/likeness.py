"""When do two facts say the same? By the share of telling words, unless they disagree. Pure."""

from __future__ import annotations

from functools import lru_cache

from recollect.core.likeness import jaccard
from recollect.core.text import words
from recollect.dialogue.policy import SAME
from recollect.remember.resolve import conflict

_FILLER = frozenset(
    "a an the i i'm im me my mine we our us you your he she it its they them their this that these those is are "
    "was were be been being am do does did has have had will would can could should shall may might must to of in "
    "on at for with by from and or but so as if then than there here just really very also too now actually about "
    "into up out s t m ve d ll re user said".split()
)


@lru_cache(maxsize=4096)
def telling(text: str) -> frozenset[str]:
    """The words of a statement that carry it, without endings that only grammar needs."""
    found = {_stem(word) for word in words(text) if word not in _FILLER}
    return frozenset(found or words(text))


def likeness(one: str, other: str) -> float:
    """The share of telling words that two statements have in common."""
    return jaccard(telling(one), telling(other))


def says_the_same(one: str, other: str, *, at_least: float = SAME) -> bool:
    """Alike enough, and not in conflict: a statement with another number says something else."""
    return likeness(one, other) >= at_least and _numbers(one) == _numbers(other) and not conflict(one, other)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word.isdigit())


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word
