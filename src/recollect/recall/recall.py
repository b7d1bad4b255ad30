"""The verb recall, told as a story: read → gather → fuse → boost → score → rerank → pack.

Never writes; the façade notes the access. Whatever was skipped is in the briefing's notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from recollect.core.kinds import Kinds
from recollect.core.ports import Channel, Neighbourhood, Reranker, Tokenizer
from recollect.core.query import Briefing, Candidate, Query, Reading
from recollect.recall.boost import boost
from recollect.recall.context import beside, surroundings, terms
from recollect.recall.evidence import weigh
from recollect.recall.fuse import fuse
from recollect.recall.gather import gather
from recollect.recall.pack import ESTIMATE, pack
from recollect.recall.question import question
from recollect.recall.read import read
from recollect.recall.recipes import UNBOUNDED, Budget, Recipe, Tier
from recollect.recall.rerank import rerank
from recollect.recall.score import score
from recollect.store.store import Store


class DenseScores(Protocol):
    """Measures nearness for candidates that another channel found."""

    def scores(self, ids: Sequence[str], text: str) -> Mapping[str, Mapping[str, float]]: ...


@dataclass(frozen=True, slots=True)
class Senses:
    """What recall works with: its channels and, where configured, a graph, a reranker and a tokenizer."""

    channels: Sequence[Channel]
    kinds: Kinds
    recipe: Recipe
    neighbourhood: Neighbourhood | None = None
    reranker: Reranker | None = None
    tokenizer: Tokenizer = ESTIMATE
    store: Store | None = None  # where evidence is looked up
    dense: DenseScores | None = None  # how near any memory is to a question
    tier: Tier = "none"
    notes: tuple[str, ...] = ()  # what could not be wired, told with every answer


def recall(query: Query, senses: Senses, *, now: datetime, budget: Budget = UNBOUNDED) -> Briefing:
    """The right few memories for a question, cited and packed, with every reason kept on them."""
    recipe = senses.recipe
    reading = read(query)
    gathered = gather(query, reading, senses.channels, deadline=recipe.deadline)
    fused = fuse(gathered.channels, weights=recipe.channels[reading.type], damping=recipe.damping)
    if recipe.evidence:
        fused = _weighed(fused, query, reading, senses, now)
    near = boost(fused, senses.neighbourhood, top=recipe.boost_from, last=recipe.boost_to, gain=recipe.boost)
    scored = score(near, recipe=recipe, kinds=senses.kinds, phase=query.phase, now=now)
    ranked, trouble = rerank(scored, senses.reranker, question=query.text, top=recipe.rerank_top)
    packed = pack(ranked, k=query.k, budget=budget, tokenizer=senses.tokenizer)
    notes = [*senses.notes, *gathered.notes, *([trouble] if trouble else []), *packed.notes]
    return Briefing(
        hits=packed.hits,
        text="",
        tokens=packed.tokens,
        notes=tuple(notes),
        query_type=reading.type,
    )


def _weighed(
    candidates: list[Candidate], query: Query, reading: Reading, senses: Senses, now: datetime
) -> list[Candidate]:
    """The candidates and what stands beside them, by evidence instead of by rank. The order in which the channels
    found them decides who is looked at, not who wins."""
    if senses.store is None or not candidates:
        return candidates
    asked = question(query.text[:_MOST_READ], now)
    everyone = [*candidates, *beside(candidates, query, asked, senses.store)]
    tier: Tier = "none"
    if senses.dense is not None and any("dense" in one.factors for one in candidates):
        everyone, tier = _measured(everyone, query, senses.dense), senses.tier
    words = terms(reading, asked, senses.store)
    return weigh(
        everyone,
        asked,
        words,
        surroundings(everyone, words, senses.store),
        weights=senses.recipe.evidence[tier],
        middle=senses.recipe.middle,
    )


def _measured(candidates: Sequence[Candidate], query: Query, dense: DenseScores) -> list[Candidate]:
    """Every candidate with its nearness, whichever channel found it."""
    unknown = [one.id for one in candidates if "dense" not in one.factors]
    found = dense.scores(unknown, query.text) if unknown else {}
    return [replace(one, factors={**one.factors, **found.get(one.id, {})}) for one in candidates]


_MOST_READ = 2_000  # characters of a question that its cues are looked for in
