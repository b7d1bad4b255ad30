"""`memory.ask`: a question, what is remembered about it, and a written answer where a language model is configured.

Each sentence of an answer names the memories it rests on; one that names none is dropped. Without a model, or when it
does not answer, the memories are the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import BudgetSpent, ModelDown, ModelWrong, StoreForeign
from recollect.core.query import Hit, Query
from recollect.core.text import clean, excerpt
from recollect.privacy.fence import defuse
from recollect.recall.reader import Reader

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

_PROMPT = Path(__file__).with_name("prompts") / "answer.txt"
_MAX_TOKENS = 700  # of an answer
_MAX_NOTE = 600  # characters of a memory that the model reads
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "notes": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["text", "notes"],
            },
        }
    },
    "required": ["sentences"],
}


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """One sentence of an answer, and the memories it rests on."""

    text: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """What is remembered about a question, best first, and what a model made of it where one was asked."""

    question: str
    hits: tuple[Hit, ...]
    sentences: tuple[CitedSentence, ...] = ()
    model: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions with what the Reader finds."""

    reader: Reader
    model: Callable[[], LanguageModel] | None

    def answer(self, query: Query, *, write: bool, track: bool) -> CitedAnswer:
        """The memories and, with `write`, the sentences of a language model about them."""
        found = self.reader.recall(query, track=track)
        if not write or self.model is None or not found.hits:
            return CitedAnswer(query.text, found.hits, notes=found.notes)
        try:
            model = self.model()
            prompt = _ask(query.text, found.hits)
            told = model.object(prompt, system=_PROMPT.read_text("utf-8"), schema=_SCHEMA, max_tokens=_MAX_TOKENS)
        except (ModelDown, ModelWrong, BudgetSpent, StoreForeign) as error:
            return CitedAnswer(query.text, found.hits, notes=(*found.notes, f"no written answer: {error}"))
        sentences, dropped = _cited(told.value, found.hits)
        more = (f"{dropped} sentence(s) without a memory behind them were dropped",) if dropped else ()
        return CitedAnswer(query.text, found.hits, sentences, model.model, (*found.notes, *more))


def _ask(question: str, hits: Sequence[Hit]) -> str:
    notes = [f"{n}. {defuse(excerpt(hit.memory.content, _MAX_NOTE))}" for n, hit in enumerate(hits, start=1)]
    return "\n".join([f"Question: {defuse(question)}", "", "Notes:", *notes])


def _cited(told: Mapping[str, Any], hits: Sequence[Hit]) -> tuple[tuple[CitedSentence, ...], int]:
    """The sentences that rest on memories there are, and how many do not."""
    kept: list[CitedSentence] = []
    dropped = 0
    for sentence in told["sentences"]:
        named = dict.fromkeys(hits[n - 1].id for n in sentence["notes"] if 1 <= n <= len(hits))
        text = clean(sentence["text"])[0]
        if named and text:
            kept.append(CitedSentence(text, tuple(named)))
        else:
            dropped += 1
    return tuple(kept), dropped
