"""Fifth stage of recall: relevance meets what is known about each memory. Pure; every factor stays on the candidate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from recollect.core.decay import DISPUTED_SHARE, effective
from recollect.core.kinds import Kind, Kinds
from recollect.core.query import Candidate
from recollect.core.ranking import multiply_odds
from recollect.core.records import Memory
from recollect.core.scope import TRUST, Phase, Status
from recollect.recall.recipes import PASSAGE_FLOOR, PHASE_WEIGHTS, Recipe


def score(
    ranking: Sequence[Candidate],
    *,
    recipe: Recipe,
    kinds: Kinds,
    phase: Phase | None,
    now: datetime,
    paces: Mapping[str, float] = MappingProxyType({}),
) -> list[Candidate]:
    """Relevance meets what is known of a memory, or stands alone. One without its memory is dropped.

    Relevance that evidence decided is a probability: what is known multiplies its odds, so it settles what is about as
    relevant and cannot lift what is not. A recipe without evidence has the design's sum: base × phase × trust ×
    confidence. `paces` tells how often files change, in changes per day: what is said of a busy file ages sooner.
    """
    scored = [
        _scored(
            candidate,
            candidate.memory,
            recipe=recipe,
            kinds=kinds,
            phase=phase,
            now=now,
            days=_fresh_for(candidate.memory, recipe, paces),
        )
        for candidate in ranking
        if candidate.memory is not None
    ]
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.id))


def files_of(ranking: Sequence[Candidate]) -> list[str]:
    """Every file that one of the candidates speaks of."""
    return list(
        dict.fromkeys(file for candidate in ranking if candidate.memory is not None for file in candidate.memory.files)
    )


def _fresh_for(memory: Memory, recipe: Recipe, paces: Mapping[str, float]) -> float:
    """The days after which a memory's recency has fallen to 1/e: by its busiest file, where one has a history."""
    known = [paces[file] for file in memory.files if file in paces]
    if not known:
        return recipe.recency_days
    return min(recipe.slowest_days, max(recipe.fastest_days, recipe.recency_changes / max(max(known), 1e-6)))


def confidence_now(memory: Memory, kinds: Kinds, now: datetime) -> float:
    """What the stored confidence is worth today: faded by its curve, lowered while disputed."""
    curve = memory.decay if memory.decay is not None else kinds.rule(memory.kind).decay
    last_used = max(memory.accessed_at, memory.created_at)
    faded = effective(memory.confidence, curve, last_used=last_used, now=now, held=memory.pinned)
    return faded * DISPUTED_SHARE if memory.status is Status.DISPUTED else faded


def _scored(
    candidate: Candidate,
    memory: Memory,
    *,
    recipe: Recipe,
    kinds: Kinds,
    phase: Phase | None,
    now: datetime,
    days: float,
) -> Candidate:
    relevance = min(1.0, candidate.score)
    if recipe.plain:
        return candidate.scored(relevance, relevance=relevance, confidence=confidence_now(memory, kinds, now))
    idle = max(0.0, (now - memory.accessed_at).total_seconds() / 86_400)
    recency = math.exp(-idle / days)
    frequency = min(1.0, math.log1p(memory.access_count) / math.log1p(recipe.frequency_full))
    weight = 1.0 if phase is None else PHASE_WEIGHTS[phase].get(memory.kind, 1.0)
    trust = TRUST[memory.source]
    confidence = confidence_now(memory, kinds, now)
    believed = PASSAGE_FLOOR + (1 - PASSAGE_FLOOR) * confidence if memory.kind == Kind.PASSAGE else confidence
    known = weight * trust * believed
    if recipe.evidence:
        used = math.exp(recipe.recency * (recency - 1) + recipe.frequency * frequency)
        final = multiply_odds(relevance, known * used)
    else:
        final = known * (recipe.relevance * relevance + recipe.recency * recency + recipe.frequency * frequency)
    return candidate.scored(
        final,
        relevance=relevance,
        recency=recency,
        frequency=frequency,
        phase=weight,
        trust=trust,
        confidence=confidence,
    )
