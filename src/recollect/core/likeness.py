"""How alike two sets of words are: the house's only formulas for it. Pure.

Light to load: a hook process asks too. Which words count, and from which share on two things are the same, is the
caller's policy and not decided here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of all their words that both have; 0 when there are none."""
    return len(one & other) / max(1, len(one | other))


def containment(part: AbstractSet[str], whole: AbstractSet[str]) -> float:
    """The share of `part` that stands in `whole`; 0 when `part` is empty."""
    return len(part & whole) / max(1, len(part))


def overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of the smaller set that stands in the larger; 0 when either is empty."""
    return len(one & other) / max(1, min(len(one), len(other)))
