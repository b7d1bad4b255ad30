"""What `weigh` needs to know of the store: what each word is worth, what was said around each candidate, and the few
further candidates that only their surroundings suggest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from recollect.core.query import Candidate, Query, Reading
from recollect.core.records import Memory
from recollect.recall.evidence import REACH, Surroundings, Terms, Turn, worth
from recollect.recall.question import Question, is_standing_order, states_preference
from recollect.store.memories import Cut, Nearby
from recollect.store.store import Store

_LEADERS = 24  # best candidates of each channel whose neighbours are looked at too
_STEP = 2  # turns on either side of a leader that become candidates themselves
_WISHES = 40  # standing wishes that are weighed when something is asked for
_WISH_WORDS = ("always", "never", "prefer", "rather", "insist", "prioritize", "from now on", "whenever I ask")
_TYPICAL = 24.0  # words in a typical memory, until the candidates tell otherwise


def beside(candidates: Sequence[Candidate], query: Query, asked: Question, store: Store) -> list[Candidate]:
    """Candidates that no channel found by themselves: neighbours of the best, and standing wishes for a request."""
    known = {one.id for one in candidates}
    leaders = [one.id for one in candidates[:_LEADERS] if one.memory and one.memory.session]
    near = store.memories.nearby(leaders, reach=_STEP) if leaders else _NOBODY
    steps = [step for step in range(-_STEP, _STEP + 1) if step]
    places = {place + step for place in near.places.values() for step in steps if near.beside(place, step)}
    new = sorted(place for place in places if near.said[place].id not in known)
    found = list(store.memories.admitted(new, query.filter, store.project).memories)
    if asked.is_request:
        said = store.memories.saying_any(_WISH_WORDS, query.filter, store.project, limit=5 * _WISHES).memories
        wishes = [one for one in said if one.source_role == "user" and _is_wish(one.content) and one.id not in known]
        found += wishes[-_WISHES:]
    return [Candidate(one.id, memory=one, reasons=("beside another",)) for one in {m.id: m for m in found}.values()]


def _is_wish(text: str) -> bool:
    return is_standing_order(text) or states_preference(text)


def terms(reading: Reading, asked: Question, store: Store) -> Terms:
    """The question's words as index terms, with their worth."""
    cut = store.memories.tokens([" ".join(reading.words), asked.text])
    words = tuple(dict.fromkeys(cut[0]))
    frequencies, documents = store.memories.frequencies(words)
    telling = set(words)
    return Terms(
        words=words,
        worth={word: worth(frequencies.get(word, 0), max(documents, 1)) for word in words},
        pairs=frozenset(pair for pair in pairwise(cut[1]) if telling & set(pair)),
        usual_length=_TYPICAL,
    )


def surroundings(
    candidates: Sequence[Candidate], asked: Terms, store: Store, *, whole: bool
) -> dict[str, Surroundings]:
    """Each candidate among its neighbours; one without a session stands alone. `whole`: with every turn around it."""
    with_session = [one.id for one in candidates if one.memory and one.memory.session]
    near = store.memories.nearby(with_session, reach=REACH) if with_session else _NOBODY
    own = {one.id: _whole(one.memory) for one in candidates if one.memory}
    others = {said.id: _spoken(said.role, said.content) for said in near.said.values() if said.id not in own}
    hint = _hint(asked.words)
    telling = {id: text for id, text in others.items() if hint(text)}
    cuts = dict(zip([*own, *telling], store.memories.cuts([*own.values(), *telling.values()]), strict=True))
    words = frozenset(asked.words)
    bit = {word: 1 << index for index, word in enumerate(asked.words)}
    turns = {id: Turn(0, _NO_COUNTS, text.count(" ") + 1) for id, text in others.items() if id not in telling}
    turns |= {id: _turn(cut, words, bit) for id, cut in cuts.items()}
    return {one.id: _among(one, near, turns, cuts[one.id], asked, whole) for one in candidates if one.memory}


_NOBODY = Nearby({}, {})


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


def _turn(cut: Cut, words: frozenset[str], bit: Mapping[str, int]) -> Turn:
    held = words & cut.words
    if not held:
        return Turn(0, _NO_COUNTS, len(cut.tokens))
    return Turn(sum(bit[word] for word in held), {word: cut.tokens.count(word) for word in held}, len(cut.tokens))


_NO_COUNTS: Mapping[str, int] = {}


def _among(
    one: Candidate, near: Nearby, turns: Mapping[str, Turn], own: Cut, asked: Terms, whole: bool
) -> Surroundings:
    mine, place, said = turns[one.id], near.places.get(one.id), near.said
    rings, around, asks_before, opens = [mine.bits], {0: mine}, False, False
    if place is not None:
        session = said[place].session
        for distance in range(1, REACH + 1):
            bits = 0
            for step in (distance, -distance):
                other = said.get(place + step)
                if other is not None and other.session == session:
                    turn = turns[other.id]
                    bits |= turn.bits
                    if whole or step == -1:
                        around[step] = turn
            rings.append(bits)
        before = near.beside(place, -1)
        asks_before = before is not None and before.content.rstrip().endswith("?")
        opens = near.beside(place, -2) is None
    pairs = sum(own.holds_pair(*pair) for pair in asked.pairs) if len(mine.counts) > 1 else 0
    return Surroundings(rings, around, pairs, asks_before, opens)


def _whole(memory: Memory) -> str:
    """A statement with who says it, a passage with what it stands under."""
    head = memory.span.context if memory.span is not None else memory.source_role
    return _spoken(head, memory.content)


def _spoken(role: str | None, text: str) -> str:
    return f"{role} {text}" if role else text
