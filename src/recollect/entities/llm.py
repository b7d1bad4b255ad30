"""Names found by a language model: dear, so only for the night, and only within the budget its caller wraps it in.

An answer is taken at its word only where that word stands in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recollect.core.entities import EntityType, Mention
from recollect.models.port import LanguageModel

_SURE = 0.85
_MOST_TOKENS = 600  # of one answer
_PROMPT = Path(__file__).with_name("llm.txt")
_SCHEMA = {
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
    """Named entities by a language model."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def __call__(self, text: str) -> Iterator[Mention]:
        system = _PROMPT.read_text(encoding="utf-8")
        answer = self._model.object(text, system=system, schema=_SCHEMA, most=_MOST_TOKENS)
        for one in answer.value["entities"]:
            name = one["name"].strip()
            start = text.find(name) if name else -1
            if start >= 0:
                yield Mention(name, EntityType(one["type"]), start, start + len(name), _SURE, "llm")
