"""The plain detector: an energy of opposed words and shared words. Kept because it is simple to foresee."""

from __future__ import annotations

import re

from recollect.core.likeness import jaccard
from recollect.documents.detector import Judgement, leveled

PAIRS = (
    ("must", "never"), ("always", "don't"), ("enable", "disable"), ("allow", "deny"), ("require", "forbid"),
    ("include", "exclude"), ("add", "remove"),
)  # fmt: skip
ANTONYM_SHARE = 0.6
OVERLAP_SHARE = 0.4
REJECT = 0.7
WARN = 0.3
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


class Lexical:
    """Energy = 0.6 when an opposed pair is split between the two + 0.4 × the share of words they have in common."""

    name = "lexical"

    def judge(self, claim: str, known: str) -> Judgement:
        mine, theirs = _words(claim), _words(known)
        split = [(one, two) for one, two in PAIRS if _is_split(one, two, mine, theirs)]
        overlap = jaccard(mine, theirs)
        energy = ANTONYM_SHARE * bool(split) + OVERLAP_SHARE * overlap
        reasons = [f"{one} against {two}" for one, two in split] + [f"{overlap:.0%} of the words in common"]
        return Judgement(energy, leveled(energy, warn=WARN, reject=REJECT), tuple(reasons))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower().replace("’", "'")))


def _is_split(one: str, two: str, mine: set[str], theirs: set[str]) -> bool:
    return (one in mine and two in theirs) or (two in mine and one in theirs)
