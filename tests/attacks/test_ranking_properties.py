"""What ranking promises whatever is stored: more of what counts never lowers a rank, what was replaced never stands
above what replaced it, and neither the order of writing nor a larger `k` changes who stands above whom."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import recollect
from faults.fault_tools import base_seed, report, size
from recollect import Filter, Recollect, Status

WORDS = ("pump", "valve", "oil", "hall", "spring", "filter", "motor", "seal", "deploy", "friday", "cache", "token")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ASKED = 8  # questions of one world
Statement = tuple[str, dict[str, Any]]


def filled(statements: list[Statement]) -> Recollect:
    memory = recollect.open(":memory:", project="p", clock=lambda: NOW)
    for text, more in statements:
        memory.remember(text, again=True, **more)
    return memory


def make_statements(chance: random.Random) -> list[Statement]:
    return [
        (
            f"{' '.join(chance.sample(WORDS, 4))} {''.join(chance.choices('bdfghjklmnp', k=12))}",
            {
                "confidence": round(chance.uniform(0.3, 0.9), 2),
                "event_at": NOW - timedelta(days=chance.randrange(1, 300)),
            },
        )
        for _ in range(chance.randrange(4, 12))
    ]


def ranked(memory: Recollect, question: str, *, k: int = 20, filter: Filter | None = None) -> list[str]:
    return [hit.memory.content for hit in memory.recall(question, k=k, filter=filter, track=False).hits]


def scored(memory: Recollect, question: str) -> list[tuple[float, str]]:
    """Who stands where; those that stand equal in the order of the alphabet."""
    hits = memory.recall(question, k=20, track=False).hits
    return sorted((-round(hit.score, 9), hit.memory.content) for hit in hits)


def place(texts: list[str], text: str) -> int:
    return texts.index(text) if text in texts else len(texts) + 1


def test_ranking_keeps_its_promises() -> None:
    seed, checked = base_seed(), 0
    worlds = size(60, 2_400)
    for number in range(worlds):
        chance = random.Random(f"{seed} {number}")
        statements = make_statements(chance)
        shuffled = chance.sample(statements, len(statements))
        with filled(statements) as memory, filled(shuffled) as other:
            for _ in range(ASKED):
                question = " ".join(chance.sample(WORDS, chance.randrange(1, 4)))
                where = f"seed {seed}, world {number}, {question!r}"
                first = ranked(memory, question)
                assert ranked(memory, question) == first, f"{where}: not deterministic"
                for k in (1, 2, 3, 5):
                    assert ranked(memory, question, k=k) == first[:k], f"{where}: k={k} is no prefix"
                sure = ranked(memory, question, filter=Filter(min_confidence=0.6))
                assert set(sure) <= set(first), f"{where}: a filter added something"
                assert scored(other, question) == scored(memory, question), f"{where}: the order of writing counts"
                checked += 7
                if first:
                    chosen = chance.choice(first)
                    own = ranked(memory, chosen)
                    assert place(own, chosen) <= place(first, chosen), f"{where}: by its own words, and lower"
                    checked += 1
            checked += check_changes(memory, chance, f"seed {seed}, world {number}")
    report(f"ranking: worlds: {worlds}, properties checked: {checked}, broken: 0")


def check_changes(memory: Recollect, chance: random.Random, where: str) -> int:
    """Surer, newer, replaced: what a change may do to a rank."""
    question = " ".join(chance.sample(WORDS, 2))
    first = memory.recall(question, k=20, track=False).hits
    if not first:
        return 0
    hit = chance.choice(list(first))
    before = [one.memory.content for one in first]
    text = hit.memory.content
    memory.edit(hit.memory.id, confidence=0.99)
    surer = ranked(memory, question)
    assert place(surer, text) <= place(before, text), f"{where}: surer, and lower"
    memory.pin(hit.memory.id)
    assert place(ranked(memory, question), text) <= place(surer, text), f"{where}: pinned, and lower"
    better = memory.correct(hit.memory.id, f"{text} after all").memory.content
    after = ranked(memory, question, filter=Filter(statuses=frozenset(Status)))
    assert place(after, better) <= place(after, text), f"{where}: the replaced above its successor"
    assert text not in ranked(memory, question), f"{where}: what was replaced is told"
    return 4
