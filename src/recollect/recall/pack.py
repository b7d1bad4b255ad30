"""Last stage of recall: the hits that fit the budget, without repeats, by file, each with its citation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.core.kinds import Kind
from recollect.core.likeness import jaccard
from recollect.core.ports import Tokenizer
from recollect.core.query import Candidate, Hit
from recollect.core.records import CITATION_LIMIT, Memory
from recollect.core.text import excerpt, words
from recollect.recall.recipes import UNBOUNDED, Budget

REPEAT = 0.9  # shared share of words from which one memory repeats another
_OVERHEAD = 12  # tokens of marks and citation around each hit


@dataclass(frozen=True, slots=True)
class Packed:
    hits: tuple[Hit, ...]
    tokens: int
    notes: tuple[str, ...]


def pack(
    ranking: Sequence[Candidate], *, k: int, budget: Budget, tokenizer: Tokenizer, per_document: int | None = None
) -> Packed:
    """At most `k` hits, by score, of which so many may be passages of one document. Within a bounded budget each kind
    has its share first, then the best of the rest take what is left; the memories of one file are kept together."""
    distinct, repeats = _distinct(ranking, k if budget is UNBOUNDED else len(ranking), per_document)
    chosen = _Chosen(k, budget, tokenizer)
    for place, hit in enumerate(distinct):
        chosen.take(place, hit, within_share=True)
    for place, hit in enumerate(distinct):
        chosen.take(place, hit, within_share=False)
    crowded = len(distinct) - len(chosen.hits) if len(chosen.hits) < k else 0
    notes = [f"{repeats} near-duplicate(s) left out"] if repeats else []
    notes += [f"{crowded} more did not fit {budget.tokens} tokens"] if crowded else []
    hits = [chosen.hits[place] for place in sorted(chosen.hits)]
    return Packed(tuple(hits if budget is UNBOUNDED else _by_file(hits)), chosen.spent, tuple(notes))


def _distinct(ranking: Sequence[Candidate], most: int, per_document: int | None) -> tuple[list[Hit], int]:
    """The hits that say something of their own, the best first, and how many repeat one before them."""
    distinct: list[Hit] = []
    taken: dict[str, int] = {}  # passages by document
    repeats = 0
    for candidate in ranking:
        if len(distinct) >= most:
            break
        hit = _hit(candidate)
        document = _document(hit.memory)
        if document is not None and per_document is not None and taken.get(document, 0) >= per_document:
            continue
        if any(_repeats(hit.memory, other.memory) for other in distinct):
            repeats += 1
            continue
        distinct.append(hit)
        if document is not None:
            taken[document] = taken.get(document, 0) + 1
    return distinct, repeats


class _Chosen:
    """The hits that fit so far, by their place in the ranking, and what they cost. Every token is spent once."""

    def __init__(self, k: int, budget: Budget, tokenizer: Tokenizer) -> None:
        self._k, self._budget, self._tokenizer = k, budget, tokenizer
        self._costs: dict[int, int] = {}
        self._of_kind: dict[str, int] = {}
        self.hits: dict[int, Hit] = {}
        self.spent = 0

    def take(self, place: int, hit: Hit, *, within_share: bool) -> None:
        """Take a hit if it fits: into what is left of its kind's share, or of the whole."""
        if place in self.hits or len(self.hits) >= self._k:
            return
        kind, cost = hit.memory.kind, self._cost(place, hit)
        used = self._of_kind.get(kind, 0)
        share = self._budget.shares.get(kind, 0.0) * self._budget.tokens
        if self.spent + cost > self._budget.tokens or (within_share and used + cost > share):
            return
        self.hits[place] = hit
        self.spent += cost
        self._of_kind[kind] = used + cost

    def _cost(self, place: int, hit: Hit) -> int:
        if place not in self._costs:
            self._costs[place] = self._tokenizer.count(hit.memory.content) + _OVERHEAD
        return self._costs[place]


def cite(memory: Memory) -> str:
    """The mark an agent puts behind what it took from a memory."""
    return f"[Memory #{memory.id}: {memory.citation or excerpt(memory.content, CITATION_LIMIT)}]"


def as_hit(memory: Memory, confidence: float, *, because: str = "") -> Hit:
    """A memory that was not searched for, to be shown like one that was."""
    return Hit(memory, 0.0, confidence, cite(memory), {}, (because,) if because else ())


def _document(memory: Memory) -> str | None:
    return memory.span.document if memory.kind == Kind.PASSAGE and memory.span is not None else None


def _hit(candidate: Candidate) -> Hit:
    memory = candidate.memory
    assert memory is not None  # `score` dropped those
    return Hit(
        memory=memory,
        score=candidate.score,
        confidence=candidate.factors.get("confidence", memory.confidence),
        citation=cite(memory),
        factors=candidate.factors,
        reasons=candidate.reasons,
        doubts=candidate.doubts,
    )


def _repeats(one: Memory, other: Memory) -> bool:
    if one.fingerprint == other.fingerprint or _overlaps(one, other):
        return True
    mine, theirs = _words(one.content), _words(other.content)
    return jaccard(mine, theirs) >= REPEAT and _same_numbers(mine, theirs)


@lru_cache(maxsize=1_024)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _same_numbers(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Statements that differ in a number say different things, however alike they look."""
    return {word for word in mine if word.isdigit()} == {word for word in theirs if word.isdigit()}


def _overlaps(one: Memory, other: Memory) -> bool:
    if one.span is None or other.span is None or one.span.document is None:
        return False
    if one.span.document != other.span.document:
        return False
    return one.span.start < other.span.end and other.span.start < one.span.end


def _by_file(hits: Sequence[Hit]) -> list[Hit]:
    """Best first, except that memories about the same file follow the best of them."""
    order: dict[str, int] = {}
    for place, hit in enumerate(hits):
        order.setdefault(hit.memory.files[0] if hit.memory.files else hit.id, place)
    return sorted(hits, key=lambda hit: order[hit.memory.files[0] if hit.memory.files else hit.id])
