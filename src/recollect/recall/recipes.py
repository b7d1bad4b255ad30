"""Every weight of recall, named, with its unit and reason. A recipe is a frozen set of them.

Change a number here only together with its benchmark report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from recollect.core.query import Mode, QueryType
from recollect.core.ranking import KEYWORD_COLUMNS
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


# --- the causal chain ---------------------------------------------------------------------------------------------

CHAIN_FROM = 0.6  # how surely two files must go together
CHAIN_MOST = 5  # memories that may be added
CHAIN_TOP = 3  # candidates whose files count as in play, besides those the asker names
CHAIN_KINDS = frozenset({"gotcha", "pattern", "error_pattern"})

# The code graph: which files are in play, which are their neighbours, and what a changed symbol leaves of a memory.
COCHANGE_NEIGHBOUR = 0.25  # weight from which on files that change together count as neighbours
NEIGHBOUR_STRENGTH = 0.4  # how much a neighbour of a file in play counts beside the file itself
MAX_FILES_IN_PLAY = 40  # files in play, and neighbours of them, that are looked at
MAX_NAMES_LOOKED_UP = 5  # names in a question that are looked up in the graph
RECENT_IN_PLAY = 5  # memories whose files are in play when a structural question names none
ANCHOR_CHANGED = 0.7  # what is left of a memory whose symbol reads otherwise now
ANCHOR_GONE = 0.4  # and of one whose symbol is nowhere

# --- recipes ------------------------------------------------------------------------------------------------------


Tier: TypeAlias = Literal["none", "small", "strong"]  # no vectors, a static table, a transformer


@dataclass(frozen=True, slots=True)
class Widening:
    """When to look a second time, and how."""

    enough: int = 3  # candidates that must be more likely right than not
    above: float = 0.5  # what counts as likely: relevance, before what is known of the memory weighs in
    hypothesis: float = 0.6  # share of the made-up answer's vector beside the question's; 0: never
    feedback: bool = False  # without a language model: look by what the first look found
    leaders: int = 5  # first results that feedback is taken from
    share: float = 0.4  # of their mean vector beside the question's
    words: int = 5  # of theirs that are looked for too
    moved: bool = False  # feedback's candidates are measured by the moved vector, not by the question's own
    deadline: float = 8.0  # seconds for the language model, which takes its time


PLAIN_COLUMNS = (1.0, 0.8, 0.3)  # BM25 weights of the index columns for a look-up that no recipe governs


@dataclass(frozen=True, slots=True)
class Recipe:
    """One named set of weights."""

    name: str
    # gather: how many candidates each channel may bring, and how long all of them may take together
    depth: Mapping[str, int] = field(default_factory=lambda: {"keyword": 20, "dense": 30, "graph": 15, "entity": 15})
    deadline: float = 3.0  # seconds; a late channel is named in the notes, not awaited
    # BM25 weights of the index columns: the text, the names in it, the words around it
    columns: tuple[float, float, float] = PLAIN_COLUMNS
    # fuse: weight of each channel by query type, and the damping of reciprocal ranks
    channels: Mapping[QueryType, Mapping[str, float]] = field(default_factory=dict)
    damping: int = 60
    # boost: for candidates that touch a neighbour of the best ones' files
    boost: float = 0.3
    boost_from: int = 10  # the ranks whose files are looked at
    boost_to: int = 50  # the last rank that may gain
    # score: shares of the base score; with evidence, what a memory's odds lose by age and gain by use, as powers of e
    relevance: float = 0.6
    recency: float = 0.25
    frequency: float = 0.15
    recency_days: float = 30.0  # days after which recency has fallen to 1/e
    recency_changes: float = 3.0  # … or changes, for a memory about files with a history
    fastest_days: float = 7.0  # a file that changes every hour still leaves a memory a week
    slowest_days: float = 120.0  # and one that rests lets it fade in a season
    frequency_full: int = 100  # accesses that count as often
    plain: bool = False  # relevance alone decides: no phase, trust, confidence, recency or frequency
    # rerank: how many are read, and how long the model may take for them
    rerank_top: int = 20
    rerank_deadline: float = 4.0  # seconds; after that the order stays as it was
    # widen: a second look when the first found little, for explicit searches
    widening: Widening = Widening()
    # pack: passages of one document in an answer; a long text must not crowd out what somebody said
    per_document: int = 2
    # weigh: what each piece of evidence is worth, by how good the vectors are; empty means ranks are fused instead
    evidence: Mapping[Tier, Mapping[str, float]] = field(default_factory=dict)
    passages: Mapping[Tier, Mapping[str, float]] = field(default_factory=dict)  # the same, for passages of documents
    floor: float = 0.0  # the least relevance of what only its vector found
    middle: float = 4.5  # the sum of evidence at which a memory is as likely to answer as not

    def channel_weights(self, type: QueryType) -> Mapping[str, float]:
        """What a channel's rank counts for. Those of a second look count as much as the dense one."""
        first = self.channels[type]
        return {**dict.fromkeys(EXPANSION_CHANNELS, first.get("dense", 0.0)), **first}

    def weighs(self, mode: Mode) -> bool:
        """Does evidence decide, or the channels' ranks alone?"""
        return bool(self.evidence) and mode != "dense"


# --- stages -------------------------------------------------------------------------------------------------------

EXPANSION_CHANNELS = ("hypothesis", "feedback", "expansion")
WEIGHED_LIMIT = 120  # candidates by rank that are looked at closely: costs a fifth of a point, 90 would cost half
SCORED_LIMIT = 90  # candidates by relevance; what is known of a memory does not lift one from farther down
CUES_MAX_CHARS = 2_000  # of a question that its cues are looked for in

# Neighbours of a candidate in its conversation.
NEIGHBOUR_LEADERS = 24  # best candidates whose neighbours are looked at too
NEIGHBOUR_STEPS = 2  # turns on either side of a leader that become candidates themselves
WISHES_LIMIT = 40  # standing wishes that are weighed when something is asked for
WISHES_SCREENED = 200  # memories that may hold one, by either way of looking, before it is known whether they do
TYPICAL_WORDS = 24.0  # in a typical memory, until the candidates tell otherwise

# Newest first. Chosen on LongMemEval's dated updates (n=31), its other questions (n=209) and BEAM, where a newer
# statement often only resembles an answer: these lose the least reciprocal rank while 30 of 31 updates lead with a
# transformer's vectors (benchmarks/results/lived_in.md; no half was held back).
NEWEST_TOP = 5  # places in which a newer statement may stand
NEWEST_SHARED = 0.25  # part of the question's words, by worth, that both must hold
NEWEST_ALIKE = 0.25  # part of the words of the question that either holds that both must hold
NEWEST_NEARLY = 0.9  # of the most that another shares with the first: the rest is about something else
NEWEST_WITHIN = 16.0  # points of evidence by which it may trail, were all of the question's words in both
NEWEST_AMOUNTS = 4.0  # points more where an amount is asked for and both tell one

# Sessions around an event.
EVENT_SESSIONS = 3  # on either side of it that are looked at
EVENT_WINDOW = timedelta(days=7)  # "around the migration", when only its day is known

# Staleness.
MARKED_STALE = 0.5  # what is left of the score of a memory that was marked stale
WAITING = 0.9  # … of one that waits for a person's word: its rival, which holds, goes first
TO_COME = 0.9  # … of one that is dated after the question
FILES_CHANGED = 0.4  # the most that is lost when every file of a memory changed since its commit
FILE_OUTGREW = timedelta(days=30)  # a file this much newer than its memory asks for a review

PASSAGE_FLOOR = 0.7  # what is left of a passage nobody has used for a month: a file that is still there is still true


# --- the recipes --------------------------------------------------------------------------------------------------


# "personal" is the keyword channel over the person's own file: its words count as much as the project's.
_SEED_CHANNELS: Mapping[QueryType, Mapping[str, float]] = {
    "identifier": {"keyword": 0.5, "personal": 0.5, "graph": 0.3, "dense": 0.2, "entity": 0.25},
    "semantic": {"dense": 0.5, "keyword": 0.25, "personal": 0.25, "graph": 0.25, "entity": 0.25},
    "structural": {"graph": 0.6, "keyword": 0.25, "personal": 0.25, "dense": 0.15, "entity": 0.25},
}

SEED = Recipe("seed", channels=_SEED_CHANNELS)

# What most peers do: every channel counts the same, by reciprocal rank; and words alone. Kept to measure against.
_EQUAL = {"keyword": 1.0, "personal": 1.0, "dense": 1.0, "graph": 1.0, "entity": 1.0}
RRF = Recipe("rrf", channels={"identifier": _EQUAL, "semantic": _EQUAL, "structural": _EQUAL}, plain=True)
_WORDS = {"keyword": 1.0, "personal": 1.0, "dense": 0.0, "graph": 0.0, "entity": 0.0}
BM25 = Recipe(
    "bm25",
    depth={"keyword": 100, "dense": 0, "graph": 0, "entity": 0, "personal": 100},
    channels={"identifier": _WORDS, "semantic": _WORDS, "structural": _WORDS},
    plain=True,
)

# Learnt by listwise logistic regression on LoCoMo, LongMemEval and BEAM with fixed signs. These are the weights of both
# halves together: figures on the same data are in-sample (decision 5). `answers_dense`, how near the question before an
# answer is, was added later with all else held: anything from .5 to 1 gains on LoCoMo and LongMemEval.
_EVIDENCE: Mapping[Tier, Mapping[str, float]] = {
    "none": {
        "turn": 1.7, "kernel": 2.2, "loose_coverage": 2.6, "pairs": 2.3, "session_keyword": 1.0, "speaker": 2.1,
        "date": 2.1, "when": 1.5, "where": 1.6, "asks": -0.8, "answers": 1.8, "long": -2.0, "assistant": -1.7,
        "answer": 2.3, "standing": 1.6, "standing_asked": 3.1, "preference_asked": 3.8, "opens": 0.8,
    },
    "small": {
        "keyword": 0.9, "coverage": 1.9, "loose_coverage": 3.0, "pairs": 1.6, "speaker": 2.0, "date": 3.0, "when": 1.6,
        "where": 1.6, "asks": -1.0, "answers": 1.6, "long": -2.2, "assistant": -1.4, "answer": 3.0, "standing": 1.8,
        "standing_asked": 2.9, "preference_asked": 3.7, "opens": 0.7, "dense": 1.8, "session_dense": 2.1,
        "answers_dense": 0.7,
    },
    "strong": {
        "keyword": 0.9, "coverage": 1.3, "loose_coverage": 2.7, "pairs": 1.5, "speaker": 1.8, "date": 3.2, "when": 1.4,
        "where": 1.5, "asks": -0.6, "answers": 1.3, "long": -2.2, "assistant": -1.4, "answer": 1.9, "standing": 1.6,
        "standing_asked": 2.9, "preference_asked": 3.5, "opens": 0.7, "dense": 2.7, "session_dense": 2.2,
        "answers_dense": 0.7,
    },
}  # fmt: skip

# For passages of documents and code: chosen on every other question of SciFact, Cranfield and CoSQA, where the surface
# is flat; the other questions agree within a point. A transformer's vectors weigh more, because on code they beat words
# by far; between 6 and 8 the chosen half ties, and 8 was taken while looking at all questions.
_PASSAGES: Mapping[Tier, Mapping[str, float]] = {
    "none": {"keyword": 4.0, "turn": 1.0, "coverage": 1.0, "pairs": 2.0},
    "small": {"keyword": 4.0, "turn": 1.0, "coverage": 0.6, "pairs": 1.7, "dense": 3.2},
    "strong": {"keyword": 4.0, "turn": 1.0, "coverage": 0.6, "pairs": 1.7, "dense": 8.0},
}

# A memory about a file in play, or one edge away from it, matters whatever its words. No public set measures this: the
# figure makes such a memory worth about as much as one that shares half of the question's words.
IN_PLAY = 3.0
_EVIDENCE = {tier: {**weights, "graph": IN_PLAY} for tier, weights in _EVIDENCE.items()}

# The usual spread of similarities to texts that have nothing to do with the question, by model. Constant, because the
# spread within a store grows with how mixed it is, and the vectors would count for less just where they are needed.
SPREAD: Mapping[str, float] = {"arctic-embed-s-int8": 0.0316, "potion-base-8M": 0.0818}
USUAL_SPREAD = 0.06  # of a model nobody measured
SMALL_MODELS = frozenset({"potion-base-8M"})  # static tables: their vectors weigh less than a transformer's

# The least relevance of what shares no word with the question: nearest of all is not near, and nothing is better than
# something unrelated. One in two hundred of what answers LoCoMo's questions lies below twice as much.
_FLOOR = 0.2

MEASURED = Recipe(
    "measured",
    depth={"keyword": 100, "dense": 100, "graph": 15, "entity": 15, "personal": 20},
    columns=KEYWORD_COLUMNS,
    channels=_SEED_CHANNELS,
    evidence=_EVIDENCE,
    # Its relevance is no probability: a hit of 0.5 is right once in thirty times, one of 0.98 every other time. What
    # tells a failed look is a best hit below 0.95 (benchmarks/results/widening.md); the third best tells nothing.
    widening=Widening(enough=1, above=0.95),
    passages=_PASSAGES,
    floor=_FLOOR,
    recency=0.3,
    frequency=0.2,
)

# The same evidence for other occasions. While coding, what was needed lately is likely needed again, and the files in
# play and their neighbours count; an assistant's facts, a document's passages and the search for a double of a new
# statement are judged by what they say alone.
CODING = replace(MEASURED, name="coding", recency=0.8, frequency=0.5)
ASSISTANT = replace(MEASURED, name="assistant", plain=True)
DOCUMENTS = replace(MEASURED, name="documents", plain=True)
DUPLICATES = replace(MEASURED, name="duplicates", plain=True, depth={**MEASURED.depth, "keyword": 30, "dense": 30})

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe for recipe in (MEASURED, SEED, RRF, BM25, CODING, ASSISTANT, DOCUMENTS, DUPLICATES)
}
DEFAULT = MEASURED
