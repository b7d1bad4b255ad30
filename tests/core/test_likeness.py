"""Likeness and the token estimate: one formula each, defined for empty input too."""

from __future__ import annotations

import pytest

from recollect.core.likeness import containment, jaccard, overlap
from recollect.core.tokens import estimate_tokens

ONE, OTHER = {"a", "b", "c"}, {"b", "c", "d", "e"}


def test_jaccard_is_the_share_of_all_words() -> None:
    assert jaccard(ONE, OTHER) == 2 / 5


def test_containment_is_the_share_of_the_part() -> None:
    assert containment(ONE, OTHER) == 2 / 3
    assert containment(OTHER, ONE) == 2 / 4


def test_overlap_is_the_share_of_the_smaller_whichever_comes_first() -> None:
    assert overlap(ONE, OTHER) == overlap(OTHER, ONE) == 2 / 3


@pytest.mark.parametrize("formula", [jaccard, containment, overlap])
def test_nothing_is_like_nothing(formula: object) -> None:
    assert callable(formula)
    assert formula(set(), set()) == formula(set(), ONE) == 0.0


def test_wide_scripts_cost_a_token_a_letter() -> None:
    assert estimate_tokens("abcdefgh") == 2
    assert estimate_tokens("記憶") == 2
    assert estimate_tokens("abcdefgh", chars_per_token=3) == 3
