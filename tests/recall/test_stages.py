from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.query import Candidate, Query, Reading
from recollect.core.records import Memory, Span
from recollect.core.scope import Phase, Scope, Source, Status, Visibility
from recollect.core.text import fingerprint
from recollect.core.tokens import EstimatedTokens
from recollect.recall.gather import fuse, gather
from recollect.recall.pack import cite, pack
from recollect.recall.question import read
from recollect.recall.recipes import BUDGETS, PHASE_WEIGHTS, SEED, UNBOUNDED, Budget
from recollect.recall.related_files import boost
from recollect.recall.rerank import rerank
from recollect.recall.score import score
from recollect.testing.fakes import FileNeighbours, FixedChannel, FunctionReranker

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def remembered(id: str, content: str = "", **fields: Any) -> Memory:
    content = content or f"Statement {id}"
    base = Memory(
        id=MemoryId(id), project="p", kind="decision", content=content, confidence=0.8, created_at=NOW,
        updated_at=NOW, accessed_at=NOW, source=Source.MCP_AUTO, scope=Scope.GLOBAL, visibility=Visibility.PROJECT,
        status=Status.ACTIVE, fingerprint=fingerprint(content),
    )  # fmt: skip
    return replace(base, **fields)


def candidate(id: str, score: float = 0.0, **fields: Any) -> Candidate:
    return Candidate(MemoryId(id), score=score, memory=remembered(id, **fields))


# --- read ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls", "expected"),
    [
        ("where is verifyJwt used", (), "identifier"),
        ("what does user_id hold", (), "identifier"),
        ("look at src/app.py", (), "identifier"),
        ("why did the deploy fail", (), "semantic"),
        ("what depends on it", ("Read", "analyzeImpact"), "structural"),
        ("what depends on verify_jwt", ("analyzeImpact",), "identifier"),
        ("", (), "semantic"),
    ],
)
def test_the_type_of_a_question_is_read_from_its_words_and_recent_calls(
    text: str, calls: tuple[str, ...], expected: str
) -> None:
    assert read(Query(text, recent_calls=calls)).type == expected


def test_filler_words_are_left_out_and_phrases_kept() -> None:
    reading = read(Query('what is the "cold boot" time'))
    assert reading.phrases == ("cold boot",)
    assert reading.words == ("cold", "boot", "time")


# --- gather -------------------------------------------------------------------------------------------------------


def test_a_broken_channel_is_named_and_the_others_answer() -> None:
    channels = [FixedChannel("dense", error=OSError("no model")), FixedChannel("keyword", [candidate("a")])]
    gathered = gather(Query("x"), read(Query("x")), channels, deadline=5)
    assert gathered.notes == ["dense: no model"]
    assert list(gathered.channels) == ["keyword"]


def test_a_late_channel_is_named_not_awaited() -> None:
    asked = threading.Event()

    class Slow(FixedChannel):
        def candidates(self, query: Query, reading: Reading) -> Sequence[Candidate]:
            asked.wait(60)
            return super().candidates(query, reading)

    channels = [FixedChannel("keyword", [candidate("a")]), Slow("slow", [candidate("b")])]
    gathered = gather(Query("x"), read(Query("x")), channels, deadline=1.0)  # a busy machine needs a while to answer
    assert not asked.is_set()
    asked.set()
    assert gathered.notes == ["slow: too late, left out"]
    assert list(gathered.channels) == ["keyword"]


# --- fuse ---------------------------------------------------------------------------------------------------------


def test_two_channels_that_agree_outrank_one_that_shouts() -> None:
    quiet, loud = candidate("quiet"), candidate("loud", 99.0)
    ranking = fuse({"keyword": [loud, quiet], "dense": [quiet]}, weights={"keyword": 1.0, "dense": 1.0}, damping=60)
    assert [candidate.id for candidate in ranking] == ["quiet", "loud"]


def test_first_in_every_channel_scores_one() -> None:
    best = candidate("best")
    ranking = fuse({"keyword": [best], "dense": [best]}, weights={"keyword": 0.25, "dense": 0.5}, damping=60)
    assert ranking[0].score == pytest.approx(1.0)
    assert ranking[0].reasons == ("keyword #1", "dense #1")


def test_absent_channels_do_not_lower_the_rest() -> None:
    ranking = fuse({"keyword": [candidate("a")], "dense": []}, weights=SEED.channels["semantic"], damping=60)
    assert ranking[0].score == pytest.approx(1.0)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4))
def test_fusion_does_not_depend_on_the_order_of_channels(rankings: list[list[str]]) -> None:
    channels = {f"c{n}": [candidate(id) for id in ids] for n, ids in enumerate(rankings)}
    weights = {name: 1.0 + n for n, name in enumerate(channels)}
    forwards = fuse(channels, weights=weights, damping=10)
    backwards = fuse(dict(reversed(channels.items())), weights=weights, damping=10)
    assert {one.id: round(one.score, 9) for one in forwards} == {one.id: round(one.score, 9) for one in backwards}
    assert all(0 <= one.score <= 1 + 1e-9 for one in forwards)


# --- boost --------------------------------------------------------------------------------------------------------


def test_candidates_near_the_best_files_gain() -> None:
    ranking = [candidate("top", 0.9, files=("a.py",)), candidate("far", 0.3), candidate("near", 0.28, files=("b.py",))]
    boosted = boost(ranking, FileNeighbours({"a.py": ["b.py"]}), top=1, last=50, gain=0.3)
    assert [one.id for one in boosted] == ["top", "near", "far"]
    assert boosted[1].factors["neighbourhood"] == pytest.approx(0.3)


@pytest.mark.parametrize("neighbourhood", [None, FileNeighbours({})])
def test_an_empty_graph_changes_nothing(neighbourhood: FileNeighbours | None) -> None:
    ranking = [candidate("top", 0.9, files=("a.py",)), candidate("next", 0.3)]
    assert boost(ranking, neighbourhood, top=1, last=50, gain=0.3) == ranking


# --- score --------------------------------------------------------------------------------------------------------


def scored(*candidates: Candidate, phase: Phase | None = None) -> list[Candidate]:
    return score(candidates, recipe=SEED, kinds=Kinds(), phase=phase, now=NOW)


def test_the_score_is_the_product_of_its_named_factors() -> None:
    one = scored(candidate("a", 1.0, access_count=10, accessed_at=NOW - timedelta(days=30), source=Source.USER_TAUGHT))[
        0
    ]
    base = 0.6 + 0.25 * math.exp(-1) + 0.15 * math.log1p(10) / math.log1p(100)
    assert one.score == pytest.approx(base * 1.4 * 0.8)
    assert set(one.factors) == {"relevance", "recency", "frequency", "phase", "trust", "confidence"}


def test_a_phase_favours_its_kinds() -> None:
    gotcha, recipe = candidate("g", 0.5, kind="gotcha"), candidate("r", 0.5, kind="workflow_recipe")
    assert [one.id for one in scored(gotcha, recipe, phase=Phase.IMPLEMENT)] == ["g", "r"]
    assert [one.id for one in scored(gotcha, recipe, phase=Phase.DEFINE)] == ["r", "g"]


def test_what_is_said_of_a_busy_file_is_sooner_old_news() -> None:
    idle = NOW - timedelta(days=20)
    about = {"busy": ("busy.py",), "calm": ("calm.py",), "both": ("calm.py", "busy.py"), "none": ("unknown.py",)}
    told = [candidate(id, 0.5, accessed_at=idle, files=files) for id, files in about.items()]
    paces = {"busy.py": 1.0, "calm.py": 0.001}
    scored = score(told, recipe=SEED, kinds=Kinds(), phase=None, now=NOW, paces=paces)
    recency = {one.id: one.factors["recency"] for one in scored}
    assert recency["busy"] == pytest.approx(math.exp(-20 / SEED.fastest_days))
    assert recency["calm"] == pytest.approx(math.exp(-20 / SEED.slowest_days))
    assert recency["both"] == recency["busy"]
    assert recency["none"] == pytest.approx(math.exp(-20 / SEED.recency_days))


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 200), st.floats(0, 1))
def test_more_of_anything_good_never_lowers_the_score(relevance: float, more: float, uses: int, sure: float) -> None:
    low = scored(candidate("a", relevance, access_count=uses, confidence=sure / 2))[0].score
    high = scored(candidate("a", max(relevance, more), access_count=uses + 1, confidence=sure))[0].score
    assert high >= low


def test_ties_are_broken_the_same_way_every_time() -> None:
    ids = [one.id for one in scored(candidate("b", 0.5), candidate("a", 0.5), candidate("c", 0.5))]
    assert ids == ["a", "b", "c"]


def test_every_phase_has_weights_and_a_budget() -> None:
    assert set(PHASE_WEIGHTS) == set(Phase) == set(BUDGETS)
    assert all(sum(budget.shares.values()) <= 1.0 + 1e-9 for budget in BUDGETS.values())


# --- rerank -------------------------------------------------------------------------------------------------------


def test_a_reranker_reorders_only_the_top() -> None:
    ranking = [candidate("a", 0.9), candidate("b", 0.8), candidate("c", 0.7)]
    moved, note = rerank(ranking, FunctionReranker(lambda question, text: float("b" in text)), question="q", top=2)
    assert ([one.id for one in moved], note) == (["b", "a", "c"], "")


def test_a_failing_reranker_leaves_the_order_and_a_note() -> None:
    def fail(question: str, text: str) -> float:
        raise TimeoutError("gone")

    ranking = [candidate("a", 0.9), candidate("b", 0.8)]
    assert rerank(ranking, FunctionReranker(fail), question="q", top=2) == (ranking, "function: gone")


def test_a_late_reranker_is_not_awaited() -> None:
    never = threading.Event()

    def wait(question: str, text: str) -> float:
        never.wait(30)
        return 1.0

    ranking = [candidate("a", 0.9), candidate("b", 0.8)]
    moved, note = rerank(ranking, FunctionReranker(wait), question="q", top=2, deadline=0.05)
    never.set()
    assert (moved, note) == (ranking, "function: too late after 0.05 s, ignored")


@pytest.mark.parametrize("mark", [math.nan, math.inf])
def test_a_mark_that_is_no_number_leaves_the_order(mark: float) -> None:
    ranking = [candidate("a", 0.9), candidate("b", 0.8)]
    moved, note = rerank(ranking, FunctionReranker(lambda *_: mark), question="q", top=2)
    assert (moved, note) == (ranking, "function: a mark is no number, ignored")


def test_too_few_marks_leave_the_order() -> None:
    class Short:
        name = "short"

        def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [1.0]

    ranking = [candidate("a", 0.9), candidate("b", 0.8)]
    assert rerank(ranking, Short(), question="q", top=2) == (ranking, "short: 1 marks for 2 texts, ignored")


def test_a_mark_replaces_relevance_but_not_what_is_known_of_a_memory() -> None:
    trusted = candidate("a", 0.5).scored(0.5, trust=1.0, confidence=0.9)
    doubted = candidate("b", 0.5).scored(0.5, trust=0.5, confidence=0.2)
    moved, _ = rerank(
        [doubted, trusted], FunctionReranker(lambda _, text: 0.6 + 0.4 * ("b" in text)), question="q", top=2
    )
    assert [one.id for one in moved] == ["a", "b"]
    assert moved[0].score == pytest.approx(0.6 * 0.9)


def test_what_was_not_read_never_scores_above_what_was() -> None:
    ranking = [candidate("a", 0.9), candidate("b", 0.8), candidate("c", 0.7)]
    moved, _ = rerank(ranking, FunctionReranker(lambda *_: 0.1), question="q", top=2)
    assert [one.score for one in moved] == [0.1, 0.1, 0.1]


# --- pack ---------------------------------------------------------------------------------------------------------


def packed(*candidates: Candidate, k: int = 8, budget: Budget = UNBOUNDED) -> Any:
    return pack(candidates, k=k, budget=budget, tokenizer=EstimatedTokens())


def test_k_is_an_upper_bound() -> None:
    assert len(packed(*[candidate(f"m{n}") for n in range(20)], k=3).hits) == 3
    assert packed(candidate("a"), k=0).hits == ()


def test_near_duplicates_are_given_once() -> None:
    same = [candidate("a", content="Use the blue door."), candidate("b", content="use the blue door")]
    result = packed(*same)
    assert [hit.id for hit in result.hits] == ["a"]
    assert result.notes == ("1 near-duplicate(s) left out",)


def test_statements_that_differ_in_a_number_are_not_duplicates() -> None:
    texts = [candidate("a", content="The port of the public API gateway in staging is 8080"),
             candidate("b", content="The port of the public API gateway in staging is 9090")]  # fmt: skip
    assert len(packed(*texts).hits) == 2


def test_overlapping_spans_of_one_document_are_given_once() -> None:
    first = candidate("a", content="alpha beta", span=Span("prose", 0, 10, document="d.md"))
    second = candidate("b", content="gamma delta", span=Span("prose", 5, 15, document="d.md"))
    third = candidate("c", content="epsilon", span=Span("prose", 15, 20, document="d.md"))
    assert [hit.id for hit in packed(first, second, third).hits] == ["a", "c"]


def test_a_briefing_stays_within_its_budget_and_says_what_did_not_fit() -> None:
    long = [candidate(f"m{n}", content=f"word{n} " * 100) for n in range(10)]
    result = packed(*long, budget=Budget(500, {}))
    assert 0 < result.tokens <= 500
    assert any("did not fit" in note for note in result.notes)


def test_what_a_kind_leaves_unused_rolls_over_whether_it_is_there_or_not() -> None:
    gotchas = [candidate(f"m{n}", content=f"word{n} " * 40, kind="gotcha") for n in range(6)]
    small = candidate("p", kind="pattern")
    for told in (gotchas, [*gotchas, small]):
        assert len(packed(*told, budget=Budget(600, {"gotcha": 0.3, "pattern": 0.7})).hits) == len(told)


def test_a_share_is_kept_for_its_kind_however_low_it_ranks() -> None:
    gotchas = [candidate(f"g{n}", content=f"word{n} " * 40, kind="gotcha") for n in range(20)]
    patterns = [candidate(f"p{n}", content=f"other{n} " * 40, kind="pattern") for n in range(20)]
    result = packed(*gotchas, *patterns, k=40, budget=Budget(1_000, {"gotcha": 0.5, "pattern": 0.5}))
    spent = Counter(hit.memory.kind for hit in result.hits)
    assert abs(spent["gotcha"] - spent["pattern"]) <= 1


MIXES = st.lists(st.tuples(st.sampled_from(["gotcha", "pattern", "error_pattern", "preference"]), st.integers(1, 60)))
SHARES = st.dictionaries(st.sampled_from(["gotcha", "pattern", "error_pattern"]), st.floats(0, 0.33))


@given(MIXES, SHARES, st.integers(0, 3_000), st.integers(0, 60))
def test_a_budget_is_never_overspent_and_is_used_whenever_enough_fits(
    mix: list[tuple[str, int]], shares: dict[str, float], tokens: int, k: int
) -> None:
    told = [
        candidate(f"m{place:03}", content=" ".join(f"w{place}x{n}" for n in range(size)), kind=kind)
        for place, (kind, size) in enumerate(mix)
    ]
    result = packed(*told, k=k, budget=Budget(tokens, shares))
    chosen = {hit.id for hit in result.hits}
    costs = {one.id: EstimatedTokens().count(one.memory.content) + 12 for one in told if one.memory}
    assert result.tokens == sum(costs[id] for id in chosen) <= tokens
    assert len(chosen) == len(result.hits) <= k
    if len(chosen) < min(k, len(told)):  # whatever was left out would not have fitted
        assert all(result.tokens + cost > tokens for id, cost in costs.items() if id not in chosen)


def test_memories_of_one_file_stay_together_in_a_briefing() -> None:
    mixed = [candidate("a", files=("x.py",)), candidate("b", files=("y.py",)), candidate("c", files=("x.py",))]
    assert [hit.id for hit in packed(*mixed, budget=Budget(1000, {})).hits] == ["a", "c", "b"]


def test_a_citation_names_the_memory_in_forty_characters() -> None:
    text = cite(remembered("mem_1", "A statement that is considerably longer than forty characters."))
    assert text.startswith("[Memory #mem_1: A statement")
    assert len(text.partition(": ")[2].rstrip("]")) <= 40
