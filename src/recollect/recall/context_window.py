"""What `weigh` needs to know of the store: what each word is worth, what was said around each candidate, and the few
further candidates that only their surroundings suggest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise

from recollect.core.query import Candidate, Query, Reading
from recollect.core.records import Memory
from recollect.core.states import describe_state
from recollect.recall.evidence import REACH, ContextWindow, Terms, Turn, worth
from recollect.recall.question import Question, is_standing_order, states_preference
from recollect.recall.recipes import NEIGHBOUR_LEADERS, NEIGHBOUR_STEPS, TYPICAL_WORDS, WISHES_LIMIT, WISHES_SCREENED
from recollect.store.nearby import Nearby
from recollect.store.port import Tokens
from recollect.store.store import Store

_WISH_WORDS = ("always", "never", "prefer", "rather", "insist", "prioritize", "from now on", "whenever I ask")


def add_neighbours(
    candidates: Sequence[Candidate], query: Query, reading: Reading, asked: Question, store: Store
) -> list[Candidate]:
    """Candidates that no channel found by themselves: neighbours of the best, and standing wishes for a request."""
    known = {candidate.id for candidate in candidates}
    leaders = _in_sessions(candidates[:NEIGHBOUR_LEADERS])
    near = store.memories.nearby(leaders, reach=NEIGHBOUR_STEPS)
    steps = [step for step in range(-NEIGHBOUR_STEPS, NEIGHBOUR_STEPS + 1) if step]
    ids = {said.id for id in leaders for step in steps if (said := near.beside(id, step))} - known
    if asked.is_request:
        ids |= _wishes(known, reading, store)
    found = store.memories.admitted(sorted(ids), query.filter)
    return [Candidate(one.id, memory=one, reasons=("beside another",)) for one in found]


def _in_sessions(candidates: Sequence[Candidate]) -> list[str]:
    """Those that were said in a session."""
    return [candidate.id for candidate in candidates if candidate.memory and candidate.memory.session]


def _wishes(known: Set[str], reading: Reading, store: Store) -> set[str]:
    """Standing wishes: those about what is asked first, then the newest."""
    said = store.words.saying_any(_WISH_WORDS, reading, limit=WISHES_SCREENED)
    wishes = [one.id for one in said if one.role == "user" and one.id not in known and _is_wish(one.content)]
    return set(wishes[:WISHES_LIMIT])


def _is_wish(text: str) -> bool:
    return is_standing_order(text) or states_preference(text)


def weigh_terms(reading: Reading, asked: Question, store: Store) -> Terms:
    """The question's words as index terms, with their worth."""
    cut = store.words.tokens([" ".join(reading.words), asked.text])
    words = tuple(dict.fromkeys(cut[0]))
    frequencies, documents = store.words.frequencies(words)
    telling = set(words)
    return Terms(
        words=words,
        worth={word: worth(frequencies.get(word, 0), max(documents, 1)) for word in words},
        pairs=frozenset(pair for pair in pairwise(cut[1]) if telling & set(pair)),
        usual_length=TYPICAL_WORDS,
    )


def read_windows(
    candidates: Sequence[Candidate], asked: Terms, store: Store, *, whole: bool
) -> dict[str, ContextWindow]:
    """Each candidate among its neighbours; one without a session stands alone. `whole`: with every turn around it."""
    near = store.memories.nearby(_in_sessions(candidates), reach=REACH)
    own = {candidate.id: _whole(candidate.memory) for candidate in candidates if candidate.memory}
    others = {said.id: _spoken(said.role, said.content) for said in near if said.id not in own}
    hint = _hint(asked.words)
    telling = {id: text for id, text in others.items() if hint(text)}
    cuts = dict(zip([*own, *telling], store.words.known_tokens([*own.values(), *telling.values()]), strict=True))
    words = frozenset(asked.words)
    bit = {word: 1 << index for index, word in enumerate(asked.words)}
    turns = {id: Turn(0, _NO_COUNTS, text.count(" ") + 1) for id, text in others.items() if id not in telling}
    turns |= {id: _turn(cut, words, bit) for id, cut in cuts.items()}
    return {
        candidate.id: _among(candidate, near, turns, cuts[candidate.id], asked, whole)
        for candidate in candidates
        if candidate.memory
    }


def _hint(words: Sequence[str]) -> Callable[[str], bool]:
    """May a text hold one of these index terms? Most turns around a candidate hold none and need not be cut.

    A term is the stem of its word, perhaps with the last letter changed, so all but that letter must stand there. Only
    plain letters are judged: elsewhere the index folds accents.
    """
    roots = [word[:-1] if len(word) > _SHORT else word for word in words]

    def hint(text: str) -> bool:
        lowered = text.lower()
        return not text.isascii() or any(root in lowered for root in roots)

    return hint


_SHORT = 3  # letters of a word that is its own stem


def _turn(cut: Tokens, words: frozenset[str], bit: Mapping[str, int]) -> Turn:
    held = words.intersection(cut)
    if not held:
        return Turn(0, _NO_COUNTS, len(cut))
    return Turn(sum([bit[word] for word in held]), {word: cut.count(word) for word in held}, len(cut))


_NO_COUNTS: Mapping[str, int] = {}


def _among(
    one: Candidate, near: Nearby, turns: Mapping[str, Turn], own: Tokens, asked: Terms, whole: bool
) -> ContextWindow:
    mine = turns[one.id]
    rings, around, asks_before, opens, last = [mine.bits], {0: mine}, False, False, ""
    if one.id in near:
        for distance in range(1, REACH + 1):
            bits = 0
            for step in (distance, -distance):
                if (other := near.beside(one.id, step)) is not None:
                    turn = turns[other.id]
                    bits |= turn.bits
                    if whole or step == -1:
                        around[step] = turn
            rings.append(bits)
        before = near.beside(one.id, -1)
        asks_before = before is not None and before.content.rstrip().endswith("?")
        last = "" if before is None else before.id
        opens = near.beside(one.id, -2) is None
    pairs = len(asked.pairs.intersection(pairwise(own))) if len(mine.counts) > 1 else 0
    return ContextWindow(rings, around, pairs, asks_before, opens, last)


def _whole(memory: Memory) -> str:
    """A statement with who says it and which state it tells, a passage with what it stands under."""
    head = memory.span.context if memory.span is not None else memory.source_role or describe_state(memory.attributes)
    return _spoken(head, memory.content)


def _spoken(role: str | None, text: str) -> str:
    return f"{role} {text}" if role else text
