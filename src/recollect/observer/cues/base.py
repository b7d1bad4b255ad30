"""What a cue is, and the pieces of sentences that several of them share."""

from __future__ import annotations

from typing import NamedTuple

from recollect.core.lazy import Lazy


class Cue(NamedTuple):
    """A sign in a sentence, what it says for a rule and for a correction, and whether it leaves doubt."""

    name: str
    pattern: Lazy
    rule: int
    correction: int
    doubt: int = 0


# Where a clause begins.
CLAUSE = (
    r"(?:^\W{0,4}|[.;:,!(–—-]\s{0,2}"
    r"|\b(?:and|but|so|also|please|pls|just|ok|okay|yes|yeah|no|nope|then|again|to) )"
)
# Verbs after "don't" that tell of the speaker and ask for nothing.
NO_ORDER = (
    r"(?!(?:know|think|see|understand|mind|worry|forget|have|need|like|want|care|remember|bother|get|believe|follow"
    r"|seem|feel|mean|really|even|quite|work|yet|do|be|give|exist|wait|look|appear|contribute|recall|agree|expect)\b)"
)
OBJECT = r"(?!(?:it|this|that|them|these|those|anything|everything)\b(?! \w))"  # a thing that has a name
