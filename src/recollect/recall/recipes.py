"""Every weight of recall, named, with its unit and reason. A recipe is a frozen set of them.

Change a number here only together with its benchmark report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.core.query import QueryType
from recollect.core.scope import Phase

# --- phases -------------------------------------------------------------------------------------------------------

# How much a kind matters in a phase. The design's latest table, filled from its earlier draft where it is silent;
# kinds in neither are neutral.
PHASE_WEIGHTS: Mapping[Phase, Mapping[str, float]] = {
    Phase.DEFINE: {
        "workflow_recipe": 1.4, "dead_end": 1.2, "requirement": 1.2, "decision": 1.1, "task_calibration": 1.1,
        "gotcha": 0.8, "error_pattern": 0.8, "pattern": 1.2, "work_state": 1.1, "prefetch_pattern": 0.6,
        "preference": 1.0, "module_insight": 1.0, "causal_dependency": 0.9,
    },
    Phase.IMPLEMENT: {
        "gotcha": 1.4, "error_pattern": 1.3, "causal_dependency": 1.2, "pattern": 1.1, "dead_end": 1.2,
        "prefetch_pattern": 1.1, "module_insight": 1.2, "work_state": 1.0, "requirement": 0.8, "decision": 0.7,
        "task_calibration": 0.6, "preference": 0.9, "workflow_recipe": 0.8,
    },
    Phase.VALIDATE: {
        "error_pattern": 1.4, "e2e_observation": 1.4, "requirement": 1.2, "work_unit_outcome": 1.1, "gotcha": 1.2,
        "decision": 1.1, "module_insight": 0.9, "pattern": 0.8, "work_state": 0.5, "prefetch_pattern": 0.3,
        "preference": 0.7, "causal_dependency": 1.0, "task_calibration": 0.8, "workflow_recipe": 0.9,
    },
    Phase.REFINE: {
        "error_pattern": 1.3, "gotcha": 1.2, "dead_end": 1.2, "pattern": 1.0, "causal_dependency": 1.3,
        "module_insight": 1.2, "decision": 0.8, "requirement": 0.6, "work_state": 0.9, "prefetch_pattern": 0.5,
        "task_calibration": 0.5, "preference": 0.7, "workflow_recipe": 0.8,
    },
    Phase.EXPLORE: {
        "module_insight": 1.4, "decision": 1.2, "pattern": 1.1, "causal_dependency": 1.0, "workflow_recipe": 1.1,
        "requirement": 1.0, "preference": 1.0, "gotcha": 0.8, "error_pattern": 0.7, "task_calibration": 0.6,
        "work_state": 0.4, "prefetch_pattern": 0.3,
    },
    Phase.REFLECT: {"work_unit_outcome": 1.4, "task_calibration": 1.3, "dead_end": 1.1},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for one phase and the share each kind may fill; what a kind leaves unused rolls over to the rest."""

    tokens: int
    shares: Mapping[str, float]


BUDGETS: Mapping[Phase, Budget] = {
    Phase.DEFINE: Budget(2500, {
        "workflow_recipe": 0.30, "requirement": 0.20, "decision": 0.20, "dead_end": 0.15, "task_calibration": 0.10,
    }),
    Phase.IMPLEMENT: Budget(3000, {
        "gotcha": 0.30, "error_pattern": 0.25, "causal_dependency": 0.15, "pattern": 0.15, "dead_end": 0.10,
    }),
    Phase.VALIDATE: Budget(2500, {
        "error_pattern": 0.30, "requirement": 0.25, "e2e_observation": 0.25, "work_unit_outcome": 0.15,
    }),
    Phase.REFINE: Budget(2000, {"error_pattern": 0.35, "gotcha": 0.25, "dead_end": 0.20, "pattern": 0.15}),
    Phase.EXPLORE: Budget(2000, {"module_insight": 0.40, "decision": 0.25, "pattern": 0.20, "causal_dependency": 0.15}),
    Phase.REFLECT: Budget(1500, {"work_unit_outcome": 0.40, "task_calibration": 0.35, "dead_end": 0.15}),
}  # fmt: skip

PLAIN_BUDGET = Budget(2500, {})  # a briefing outside any phase: no kind is favoured
UNBOUNDED = Budget(10**9, {})  # an explicit question: only k limits the answer


# --- recipes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recipe:
    """One named set of weights."""

    name: str
    # gather: how many candidates each channel may bring, and how long all of them may take together
    depth: Mapping[str, int] = field(default_factory=lambda: {"keyword": 20, "dense": 30, "graph": 15, "entity": 15})
    deadline: float = 3.0  # seconds; a late channel is named in the notes, not awaited
    # BM25 weights of the index columns: the text, the names in it, the words around it
    columns: tuple[float, float, float] = (1.0, 0.8, 0.3)
    # fuse: weight of each channel by query type, and the damping of reciprocal ranks
    channels: Mapping[QueryType, Mapping[str, float]] = field(default_factory=dict)
    damping: int = 60
    # boost: for candidates that touch a neighbour of the best ones' files
    boost: float = 0.3
    boost_from: int = 10  # the ranks whose files are looked at
    boost_to: int = 50  # the last rank that may gain
    # score: shares of the base score
    relevance: float = 0.6
    recency: float = 0.25
    frequency: float = 0.15
    recency_days: float = 30.0  # days after which recency has fallen to 1/e
    frequency_full: int = 100  # accesses that count as often
    # rerank: how many are read, how many survive
    rerank_top: int = 20


# "personal" is the keyword channel over the person's own file: its words count as much as the project's.
_SEED_CHANNELS: Mapping[QueryType, Mapping[str, float]] = {
    "identifier": {"keyword": 0.5, "personal": 0.5, "graph": 0.3, "dense": 0.2, "entity": 0.25},
    "semantic": {"dense": 0.5, "keyword": 0.25, "personal": 0.25, "graph": 0.25, "entity": 0.25},
    "structural": {"graph": 0.6, "keyword": 0.25, "personal": 0.25, "dense": 0.15, "entity": 0.25},
}

SEED = Recipe("seed", channels=_SEED_CHANNELS)
RECIPES: Mapping[str, Recipe] = {SEED.name: SEED}
DEFAULT = SEED
