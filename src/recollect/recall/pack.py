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
    """At most `k` hits, by score, of which so many may be passages of one document. Within a bounded budget the
    memories of one file are kept together."""
    chosen: list[Hit] = []
    spent, repeats, crowded = 0, 0, 0
    used: dict[str, int] = {}
    cut: dict[str, int] = {}
    for candidate in ranking:
        if len(chosen) >= k:
            break
        hit = _hit(candidate)
        document = _document(hit.memory)
        if document is not None and per_document is not None and cut.get(document, 0) >= per_document:
            continue
        cost = tokenizer.count(hit.memory.content) + _OVERHEAD
        if any(_repeats(hit.memory, other.memory) for other in chosen):
            repeats += 1
        elif spent + cost > budget.tokens or not _has_room(hit.memory.kind, cost, used, budget, ranking):
            crowded += 1
        else:
            chosen.append(hit)
            spent += cost
            if document is not None:
                cut[document] = cut.get(document, 0) + 1
            used[hit.memory.kind] = used.get(hit.memory.kind, 0) + cost
    notes = [f"{repeats} near-duplicate(s) left out"] if repeats else []
    notes += [f"{crowded} more did not fit {budget.tokens} tokens"] if crowded else []
    ordered = chosen if budget is UNBOUNDED else _by_file(chosen)
    return Packed(tuple(ordered), spent, tuple(notes))


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


def _has_room(kind: str, cost: int, used: dict[str, int], budget: Budget, ranking: Sequence[Candidate]) -> bool:
    """A kind may fill its own share and whatever the kinds that are not in the ranking leave unused."""
    if not budget.shares:
        return True
    present = {candidate.memory.kind for candidate in ranking if candidate.memory}
    unclaimed = 1.0 - sum(share for name, share in budget.shares.items() if name in present)
    allowed = budget.shares.get(kind, 0.0) + max(0.0, unclaimed)
    return used.get(kind, 0) + cost <= max(allowed * budget.tokens, cost if not used.get(kind) else 0)


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
