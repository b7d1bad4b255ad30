"""What `weigh` needs to know of the store: what each word is worth, what was said around each candidate, and the few
further candidates that only their surroundings suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from recollect.core.query import Candidate, Query, Reading
from recollect.recall.evidence import REACH, Surroundings, Terms, Turn, worth
from recollect.recall.question import Question, is_standing_order, states_preference
from recollect.store.memories import Said
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
    near = store.memories.nearby(leaders, reach=_STEP) if leaders else {}
    ids = sorted({said.id for around in near.values() for said in around.values()} - known)
    found = list(store.memories.admitted(ids, query.filter, store.project).memories) if ids else []
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


def surroundings(candidates: Sequence[Candidate], asked: Terms, store: Store) -> dict[str, Surroundings]:
    """Each candidate among its neighbours; one without a session stands alone."""
    with_session = [one.id for one in candidates if one.memory and one.memory.session]
    near = store.memories.nearby(with_session, reach=REACH) if with_session else {}
    texts = {said.id: _spoken(said.role, said.content) for around in near.values() for said in around.values()}
    texts |= {one.id: _spoken(one.memory.source_role, one.memory.content) for one in candidates if one.memory}
    words = dict(zip(texts, store.memories.tokens(list(texts.values())), strict=True))
    turns = {id: _turn(said, asked) for id, said in words.items()}
    return {one.id: _among(one, near.get(one.id, {}), turns, words[one.id], asked) for one in candidates if one.memory}


def _turn(words: Sequence[str], asked: Terms) -> Turn:
    counts: dict[str, int] = {}
    for word in words:
        if word in asked.worth:
            counts[word] = counts.get(word, 0) + 1
    return Turn(counts, len(words))


def _among(
    one: Candidate, near: Mapping[int, Said], turns: Mapping[str, Turn], own: Sequence[str], asked: Terms
) -> Surroundings:
    around = {distance: turns[said.id] for distance, said in near.items()}
    around[0] = turns[one.id]
    before = near.get(-1)
    pairs = len(asked.pairs.intersection(pairwise(own))) if len(around[0].counts) > 1 else 0
    return Surroundings(
        turns=around,
        pairs=pairs,
        asks_before=before is not None and before.content.rstrip().endswith("?"),
        opens=bool(near) and -2 not in near,
    )


def _spoken(role: str | None, text: str) -> str:
    return f"{role} {text}" if role else text
