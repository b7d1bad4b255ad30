"""The optional detector: a language model is asked about the pairs that the plain detector finds worth asking about.

What the model is, and what it may cost, is its owner's affair; here is only the question and the reading of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

from recollect.documents.detector import Detector, Judgement, leveled

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

WARN = 0.5
REJECT = 0.75
WORTH_ASKING = 0.2  # score of the plain detector from which on the model is asked
_LONGEST = 2_000  # characters of each statement that are shown to the model
_MOST = 60  # tokens of an answer: a number and a short reason
_ANSWER = re.compile(r"^\s*(\d{1,3})\b[\s.:–-]*(.*)")


class Asked:
    """The plain detector first; the model has the last word on what is not plainly harmless."""

    name = "model"

    def __init__(self, model: Callable[[], LanguageModel], first: Detector) -> None:
        self._model = model
        self._first = first
        self._prompt = files("recollect.documents").joinpath("prompts/contradiction.txt").read_text(encoding="utf-8")

    def judge(self, claim: str, known: str) -> Judgement:
        plain = self._first.judge(claim, known)
        if plain.score < WORTH_ASKING:
            return plain
        try:
            said = self._model().text(self._filled(claim, known), most=_MOST).text
        except Exception as error:  # a stranger's model: whatever it raises, there is still a judgement
            return Judgement(plain.score, plain.level, (*plain.reasons, f"the model did not answer: {error}"))
        found = _ANSWER.match(said)
        if found is None or int(found[1]) > 100:
            return Judgement(plain.score, plain.level, (*plain.reasons, "the model's answer could not be read"))
        score = int(found[1]) / 100
        return Judgement(score, leveled(score, warn=WARN, reject=REJECT), (found[2].strip() or "the model says so",))

    def _filled(self, claim: str, known: str) -> str:
        return self._prompt.replace("{claim}", _quoted(claim)).replace("{known}", _quoted(known))


def _quoted(text: str) -> str:
    """Text that cannot end its own quotation."""
    return text[:_LONGEST].replace("<<<", "« ").replace(">>>", " »").replace("{known}", "{ known }")
