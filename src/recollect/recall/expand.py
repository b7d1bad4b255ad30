"""Looking again when the first look found little: by an answer made up for the question, or by what was found.

A language model writes the answer a memory might hold; its vector lies nearer to the memory than the question's does.
Without one, the leading results lend their vectors and their telling words (pseudo-relevance feedback). Either way more
candidates come, and the evidence decides which of them win. Only for explicit searches: an injection must not grow on
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from recollect.core.ports import Channel
from recollect.core.query import Candidate, Query, Reading
from recollect.core.text import is_telling, words
from recollect.recall.evidence import worth
from recollect.recall.gather import answer_in_time, try_answer
from recollect.recall.recipes import Widening

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel
    from recollect.store.store import Store

_PROMPT = Path(__file__).with_name("hypothesis.txt")
_ASKED = 1_000  # characters of the question that the language model is shown
_ANSWER = 2_000  # characters of its answer that are embedded
_IMAGINED = 120  # tokens of the answer that is made up
_LEAST_WORD = 3  # letters of an expansion word
_SHARED = 2  # leading results that must hold it: one alone may be about anything
_COMMON = 0.1  # share of all memories from which on a word tells nothing


AnswerWriter: TypeAlias = "Callable[[], LanguageModel]"  # chosen when first needed, and then it may raise


class Meaning(Protocol):
    """The dense channel, asked by vector."""

    def asked(self, text: str) -> Any:
        """The vector of a question."""
        ...

    def said(self, text: str) -> Any:
        """The vector of a statement."""
        ...

    def mean_of(self, ids: Sequence[str]) -> Any | None:
        """The mean direction of some memories, if any of them has a vector."""
        ...

    def near(self, query: Query, vector: Any) -> list[Candidate]:
        """Candidates by their nearness to a vector."""
        ...


@dataclass(slots=True)
class Expansion:
    """What the second look found, as channels of their own, and what to say of it."""

    channels: dict[str, Sequence[Candidate]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def is_weak(ranking: Sequence[Candidate], how: Widening) -> bool:
    """Are fewer candidates than wanted more likely right than not?"""
    return sum(candidate.score > how.above for candidate in ranking) < how.enough


def expand(
    ranking: Sequence[Candidate],
    query: Query,
    reading: Reading,
    how: Widening,
    *,
    store: Store,
    keyword: Channel | None = None,
    dense: Meaning | None = None,
    writer: AnswerWriter | None = None,
) -> Expansion:
    """A second look: by a hypothesis where a language model gives one, by feedback where the recipe wants it."""
    wider = Expansion()
    if not query.text.strip():
        return wider
    if writer is not None and dense is not None and how.hypothesis > 0:
        _by_hypothesis(query, how, dense, writer, wider)
    if wider.channels or not how.feedback:
        return wider
    leaders = [candidate for candidate in ranking[: how.leaders] if candidate.memory is not None]
    if leaders and dense is not None:
        _by_vectors(leaders, query, how, dense, wider)
    if leaders and keyword is not None:
        _by_words(leaders, query, reading, how, store, keyword, wider)
    return wider


def _by_hypothesis(query: Query, how: Widening, dense: Meaning, writer: AnswerWriter, wider: Expansion) -> None:
    prompt = _PROMPT.read_text(encoding="utf-8").replace("{question}", query.text[:_ASKED])

    def imagine() -> Any:
        answer = writer().text(prompt, max_tokens=_IMAGINED).text.strip()[:_ANSWER]
        if not answer:
            raise ValueError("the language model wrote nothing")
        return dense.said(answer)

    imagined = answer_in_time(imagine, deadline=how.deadline, name="widen")
    if imagined.answer is None:
        wider.notes.append(f"widen: {imagined.trouble}")
        return
    found = try_answer(lambda: dense.near(query, _mixed(dense.asked(query.text), imagined.answer, how.hypothesis)))
    if found.answer is None:
        wider.notes.append(f"widen: {found.trouble}")
    else:
        wider.channels["hypothesis"] = [_because(one, "hypothesis", keep="dense") for one in found.answer]
        wider.notes.append("widened: little was found, so a hypothetical answer was looked for too")


def _by_vectors(leaders: Sequence[Candidate], query: Query, how: Widening, dense: Meaning, wider: Expansion) -> None:
    """Rocchio: the question moves towards the mean of the leading results."""

    def look() -> list[Candidate]:
        middle = dense.mean_of([one.id for one in leaders])
        return [] if middle is None else dense.near(query, _mixed(dense.asked(query.text), middle, how.share))

    found, kept = try_answer(look), "dense" if how.moved else ""
    if found.answer:
        wider.channels["feedback"] = [_because(one, "feedback", keep=kept) for one in found.answer]
        wider.notes.append("widened: little was found, so what resembles it was looked for too")
    elif found.trouble:
        wider.notes.append(f"widen: {found.trouble}")


def _by_words(
    leaders: Sequence[Candidate],
    query: Query,
    reading: Reading,
    how: Widening,
    store: Store,
    keyword: Channel,
    wider: Expansion,
) -> None:
    more = telling_words([one.memory.content for one in leaders if one.memory], reading, store, most=how.words)
    if not more:
        return
    expanded = replace(reading, words=(*reading.words, *more))
    found = try_answer(lambda: keyword.candidates(query, expanded))
    if found.answer:
        wider.channels["expansion"] = [_because(one, f"expansion {', '.join(more)}") for one in found.answer]
        wider.notes.append(f"widened: also looked for {', '.join(more)}")
    elif found.trouble:
        wider.notes.append(f"widen: {found.trouble}")


def telling_words(texts: Sequence[str], reading: Reading, store: Store, *, most: int) -> list[str]:
    """The words that several of the texts share and few memories hold, the most telling first."""
    asked = {word.lower() for word in reading.words}
    counts = Counter(word for text in texts for word in {word.lower() for word in words(text)})
    shared = sorted(word for word, count in counts.items() if count >= _SHARED and _may_help(word, asked))
    terms = [tokens[0] if tokens else "" for tokens in store.words.tokens(shared)]
    frequencies, memories = store.words.frequencies([term for term in terms if term])
    telling = {
        word: counts[word] * worth(frequencies.get(term, 0), max(memories, 1))
        for word, term in zip(shared, terms, strict=True)
        if term and frequencies.get(term, 0) <= _COMMON * memories
    }
    return sorted(telling, key=lambda word: (-telling[word], word))[:most]


def _may_help(word: str, asked: set[str]) -> bool:
    return len(word) >= _LEAST_WORD and word not in asked and is_telling(word)


def _mixed(question: Any, other: Any, share: float) -> Any:
    import numpy as np

    mixed = (1 - share) * question + share * other
    length = float(np.linalg.norm(mixed))
    return mixed / length if length > 0 else question


def _because(one: Candidate, why: str, *, keep: str = "") -> Candidate:
    """A candidate of the second look. What the question itself says of it is measured later, so no score is carried
    over, except nearness to what was looked for where the recipe wants that to count."""
    return replace(one, factors={name: value for name, value in one.factors.items() if name == keep}, reasons=(why,))
