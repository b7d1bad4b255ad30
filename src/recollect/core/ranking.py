"""What recall and the light reader of the hooks must agree on: which memories are shown, and what a column weighs.

Plain data without imports, because a hook process has no time for the modules that use it (`scope`, `recipes`).
"""

from __future__ import annotations

SHOWN_STATUSES = ("active", "disputed")  # nobody is shown what is closed, or what nobody confirmed yet
EVIDENCE_KINDS = ("episode", "passage")  # raw material: for those who ask, never told unasked
# BM25 weights of the keyword index's columns: the text, the names in it, the words around it. What a passage stands
# under tells as much as what it says.
KEYWORD_COLUMNS = (1.0, 0.8, 1.0)
_ALL_BUT_CERTAIN = 1 - 1e-12  # its odds can still be weighed


def multiply_odds(probability: float, times: float) -> float:
    """The probability whose odds are so many times those of another; what is certain stays all but certain."""
    sure = min(probability, _ALL_BUT_CERTAIN)
    return sure * times / (1 - sure + sure * times)
