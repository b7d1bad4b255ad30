"""What every detector of contradictions offers, and what it says of two statements. No detector is known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from recollect.core.errors import NoModel, UnknownChoice

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

Level: TypeAlias = Literal["reject", "warn", "allow"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far two statements contradict each other, and why one thinks so."""

    score: float  # 0 to 1
    level: Level
    reasons: tuple[str, ...] = ()


class Detector(Protocol):
    """Judges pairs of statements. The first is the new one, the second what holds."""

    @property
    def name(self) -> str: ...

    def judge(self, claim: str, known: str) -> Judgement: ...


def leveled(score: float, *, warn: float, reject: float) -> Level:
    if score >= reject:
        return "reject"
    return "warn" if score >= warn else "allow"


def _lexical() -> Detector:
    from recollect.documents.lexical import Lexical

    return Lexical()


def _opposition() -> Detector:
    from recollect.documents.opposition import Opposition

    return Opposition()


DETECTORS: Mapping[str, Callable[[], Detector]] = {"opposition": _opposition, "lexical": _lexical}
MODEL = "model"  # the default one, and where it hesitates the configured language model


def detector(name: str, model: Callable[[], LanguageModel] | None = None) -> Detector:
    """The detector of that name; an error lists those there are, or says that no language model is configured."""
    if name == MODEL:
        from recollect.documents.asked import Asked

        if model is None:
            raise NoModel("The detector that asks a language model")
        return Asked(model, _opposition())
    if name not in DETECTORS:
        raise UnknownChoice("detector", name, [*DETECTORS, MODEL])
    return DETECTORS[name]()
