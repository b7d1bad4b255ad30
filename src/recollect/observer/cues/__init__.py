"""The cues by which a sentence of a person is told: a sign, and what it weighs for a rule and for a correction.

Weights are whole numbers, chosen so that one plain cue of lastingness with a reason, a remedy or the name of a practice
is enough and a sign of the day outweighs it. `benchmarks/said.py` measures them on real prompts, also without the cues
that only the measured project bears out; weights fitted there did worse. Patterns are linear: what repeats is bounded.
"""

from __future__ import annotations

from recollect.observer.cues.against import AGAINST
from recollect.observer.cues.base import Cue
from recollect.observer.cues.doubts import DOUBTS
from recollect.observer.cues.facts import FACTS
from recollect.observer.cues.practice import PRACTICES
from recollect.observer.cues.rules import RULES

__all__ = ["CUES", "Cue"]

CUES: tuple[Cue, ...] = (*RULES, *FACTS, *PRACTICES, *AGAINST, *DOUBTS)
