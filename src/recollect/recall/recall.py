"""The verb recall, told as a story: read → gather → fuse → boost → score → doubt → rerank → pack.

Never writes; the façade notes the access. Whatever was skipped is in the briefing's notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind, Kinds
from recollect.core.ports import Anchors, Changes, Channel, Companions, Neighbourhood, Reranker, Tokenizer, Volatility
from recollect.core.query import Briefing, Candidate, Query, QueryType, Reading
from recollect.core.tokens import ESTIMATE
from recollect.recall.bodies import with_memories
from recollect.recall.boost import boost
from recollect.recall.chain import chained
from recollect.recall.context import beside, surroundings, terms
from recollect.recall.doubt import doubt
from recollect.recall.evidence import weigh
from recollect.recall.fuse import fuse
from recollect.recall.gather import Gathered, gather
from recollect.recall.pack import pack
from recollect.recall.question import question
from recollect.recall.read import read
from recollect.recall.recipes import UNBOUNDED, Budget, Recipe, Tier
from recollect.recall.renew import newest_first
from recollect.recall.rerank import rerank
from recollect.recall.score import files_of, score
from recollect.recall.widen import Meaning, Wider, Writer, is_weak, widen
from recollect.store.store import Store


class DenseScores(Meaning, Protocol):
    """Measures nearness for candidates that another channel found, and looks by vector."""

    def scores(self, ids: Sequence[MemoryId], text: str) -> Mapping[str, Mapping[str, float]]: ...


@dataclass(frozen=True, slots=True)
class RetrievalContext:
    """What recall works with: its channels and, where configured, a graph, a reranker and a tokenizer."""

    channels: Sequence[Channel]
    kinds: Kinds
    recipe: Recipe
    neighbourhood: Neighbourhood | None = None
    companions: Companions | None = None  # files that go together
    changes: Changes | None = None  # what happened to files since
    anchors: Anchors | None = None  # what became of symbols
    volatility: Volatility | None = None  # how fast files change
    reranker: Reranker | None = None
    writer: Writer | None = None  # a language model, for a second look
    tokenizer: Tokenizer = ESTIMATE
    store: Store | None = None  # where evidence is looked up
    dense: DenseScores | None = None  # how near any memory is to a question
    tier: Tier = "none"
    notes: tuple[str, ...] = ()  # what could not be wired, told with every answer


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates in order, before any is left out, and what was noticed on the way."""

    candidates: list[Candidate]
    type: QueryType
    notes: tuple[str, ...]


def recall(query: Query, senses: RetrievalContext, *, now: datetime, budget: Budget = UNBOUNDED) -> Briefing:
    """The right few memories for a question, cited and packed, with every reason kept on them."""
    ranking = rank(query, senses, now=now)
    packed = pack(
        ranking.candidates,
        k=query.k,
        budget=budget,
        tokenizer=senses.tokenizer,
        per_document=None if Kind.PASSAGE in query.filter.kinds else senses.recipe.per_document,
    )
    return Briefing(
        hits=packed.hits,
        text="",
        tokens=packed.tokens,
        notes=(*ranking.notes, *packed.notes),
        query_type=ranking.type,
    )


def rank(query: Query, senses: RetrievalContext, *, now: datetime) -> Ranking:
    """Every stage but the last: for rooms that order by something of their own before they pack."""
    recipe = senses.recipe
    query, narrow = _narrowed(query, senses)
    reading = read(query)
    gathered = _gathered(query, reading, senses)
    fused, broken = _ranked(gathered.channels, query, reading, senses, now)
    wider = _wider(fused, query, reading, senses)
    if wider.channels:
        fused, broken = _ranked({**gathered.channels, **wider.channels}, query, reading, senses, now)
    near = boost(fused, senses.neighbourhood, top=recipe.boost_from, last=recipe.boost_to, gain=recipe.boost)
    linked = chained(near, query, senses.companions, senses.store)
    held = _held(linked, query, now)[: max(_MOST_SCORED, 3 * query.k)]
    paces = {} if senses.volatility is None else senses.volatility.rates(files_of(held))
    scored = score(held, recipe=recipe, kinds=senses.kinds, phase=query.phase, now=now, paces=paces)
    firm = doubt(
        scored, top=recipe.rerank_top, kinds=senses.kinds, now=now, changes=senses.changes, anchors=senses.anchors
    )
    ranked, trouble = rerank(
        firm, senses.reranker, question=query.text, top=recipe.rerank_top, deadline=recipe.rerank_deadline
    )
    notes = [*senses.notes, *narrow, *gathered.notes, *broken, *wider.notes, *([trouble] if trouble else [])]
    return Ranking(ranked, reading.type, tuple(notes))


def _ranked(
    channels: Mapping[str, Sequence[Candidate]], query: Query, reading: Reading, senses: RetrievalContext, now: datetime
) -> tuple[list[Candidate], list[str]]:
    """The channels' candidates in one order, by evidence where the recipe has weights for it, else by rank; and what
    could not be read of them. The order in which the channels found them decides who is looked at, not who wins."""
    first = senses.recipe.channels[reading.type]
    weights = {**dict.fromkeys(_SECOND, first.get("dense", 0.0)), **first}
    fused = fuse(channels, weights=weights, damping=senses.recipe.damping)
    if senses.store is None:
        return fused, []
    if not senses.recipe.evidence or query.mode == "dense":
        return with_memories(fused, senses.store)
    read, broken = with_memories(fused[: max(_MOST_WEIGHED, 2 * query.k)], senses.store)
    dense = senses.dense if query.mode == "hybrid" and channels.get("dense") else None
    return _weighed(read, query, reading, senses, senses.store, dense, now), broken


def _wider(ranking: Sequence[Candidate], query: Query, reading: Reading, senses: RetrievalContext) -> Wider:
    """What a second look finds, for a search somebody asked for, when the first found little."""
    how = senses.recipe.widening
    if not query.explicit or senses.store is None or not (how.feedback or senses.writer) or not is_weak(ranking, how):
        return Wider()
    return widen(
        ranking,
        query,
        reading,
        how,
        store=senses.store,
        keyword=None if query.mode == "dense" else _channel(senses, "keyword"),
        dense=None if query.mode == "keyword" else senses.dense,
        writer=senses.writer,
    )


def _channel(senses: RetrievalContext, name: str) -> Channel | None:
    return next((one for one in senses.channels if one.name == name), None)


def _narrowed(query: Query, senses: RetrievalContext) -> tuple[Query, tuple[str, ...]]:
    if senses.store is None or (query.last_sessions is None and query.around is None):
        return query, ()
    from recollect.recall.period import narrowed  # few questions name sessions

    return narrowed(query, senses.store)


def _gathered(query: Query, reading: Reading, senses: RetrievalContext) -> Gathered:
    """Every channel the mode allows. Without vectors a question by meaning is answered by words, and says so."""
    deadline = senses.recipe.deadline
    if query.mode == "hybrid":
        return gather(query, reading, senses.channels, deadline=deadline)
    by_words = [channel for channel in senses.channels if channel.name != "dense"]
    if query.mode == "keyword":
        return gather(query, reading, by_words, deadline=deadline)
    by_meaning = [channel for channel in senses.channels if channel.name == "dense"]
    gathered = gather(query, reading, by_meaning, deadline=deadline)
    if any(gathered.channels.values()):
        return gathered
    instead = gather(query, reading, by_words, deadline=deadline)
    why = gathered.notes or ["dense: nothing to compare with"]
    return Gathered(instead.channels, [*why, "answered by keyword instead", *instead.notes])


def _held(ranking: Sequence[Candidate], query: Query, now: datetime) -> list[Candidate]:
    """Without statements whose time is over."""
    at = query.filter.as_of or now
    return [one for one in ranking if one.memory is None or (one.memory.valid_until or _ALWAYS) > at]


_ALWAYS = datetime.max.replace(tzinfo=UTC)


def _weighed(
    candidates: list[Candidate],
    query: Query,
    reading: Reading,
    senses: RetrievalContext,
    store: Store,
    dense: DenseScores | None,
    now: datetime,
) -> list[Candidate]:
    """The candidates and what stands beside them, by evidence instead of by rank. `dense` measures their nearness, if
    that channel answered."""
    if not candidates:
        return candidates
    asked = question(query.text[:_MOST_READ], now)
    if asked.window is not None and asked.window.event:
        from recollect.recall.period import placed

        asked = replace(asked, window=placed(asked.window, query.filter, store))
    everyone = [*candidates, *beside(candidates, query, reading, asked, store)]
    tier: Tier = "none"
    if dense is not None:
        everyone, tier = _measured(everyone, query, dense), senses.tier
    words = terms(reading, asked, store)
    weights = senses.recipe.evidence[tier]
    around = surroundings(everyone, words, store, whole="kernel" in weights)
    weighed = weigh(
        everyone,
        asked,
        words,
        around,
        weights=weights,
        passages=senses.recipe.passages[tier],
        middle=senses.recipe.middle,
    )
    return newest_first(weighed, words, around) if asked.asks_state else weighed


def _measured(candidates: Sequence[Candidate], query: Query, dense: DenseScores) -> list[Candidate]:
    """Every candidate with its nearness, whichever channel found it."""
    unknown = [one.id for one in candidates if "dense" not in one.factors]
    found = dense.scores(unknown, query.text) if unknown else {}
    return [one.scored(one.score, **found[one.id]) if one.id in found else one for one in candidates]


_SECOND = ("hypothesis", "feedback", "expansion")  # the channels of a second look count as much as the dense one
_MOST_WEIGHED = 120  # candidates by rank that are looked at closely: costs a fifth of a point, 90 would cost half
_MOST_SCORED = 90  # candidates by relevance; what is known of a memory does not lift one from farther down
_MOST_READ = 2_000  # characters of a question that its cues are looked for in
