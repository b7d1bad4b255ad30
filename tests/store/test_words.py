"""Looking up by words: a large store is entered by its rare words and must answer as if everything were ranked."""

from __future__ import annotations

import pytest

from recollect import Draft, Filter
from recollect.app import Recollect
from recollect.core.query import Query, Reading
from recollect.recall.question import read
from recollect.recall.recipes import PLAIN_COLUMNS
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.keywords import Limits, SqliteKeywords
from recollect.store.words import Words

TIGHT = Limits(small=0, gathered=6, counted=30, exact=0, stripe=40, telling=5)


def reading(text: str) -> Reading:
    return read(Query(text))


def words_of(memory: Recollect, limits: Limits) -> Words:
    engine = memory.store.engine
    assert isinstance(engine, SqliteEngine)
    return Words(engine, memory.store.project, SqliteKeywords(engine, limits))


def found(memory: Recollect, text: str, *, limits: Limits = TIGHT, limit: int = 3, **filters: object) -> list[str]:
    words = words_of(memory, limits)
    filter = Filter(**filters)  # type: ignore[arg-type]
    best = words.matching(reading(text), filter, weights=PLAIN_COLUMNS, limit=limit)
    return [one.content for one in memory.store.memories.get_many([one.id for one in best]).memories]


@pytest.fixture
def quarry(memory: Recollect) -> Recollect:
    """A hundred memories about stone among others, and a few that say something else too."""
    memory.remember_all(memory_draft(f"gravel number {number}") for number in range(150))
    memory.remember_all(memory_draft(f"stone number {number}") for number in range(60))
    memory.remember("zircon, mentioned once")
    memory.remember("stone with zircon")
    memory.remember_all(memory_draft(f"stone of moss, number {number}", kind="gotcha") for number in range(60, 100))
    return memory


def memory_draft(text: str, kind: str = "fact") -> Draft:
    return Draft(text, kind=kind)


def test_a_frequent_word_tells_apart_what_a_rare_one_found(quarry: Recollect) -> None:
    assert found(quarry, "zircon stone", limit=2) == [
        "stone with zircon",
        "zircon, mentioned once",
    ]


def test_rows_with_a_rare_word_are_ranked_as_if_all_were(quarry: Recollect) -> None:
    assert found(quarry, "zircon stone", limit=2) == found(quarry, "zircon stone", limit=2, limits=Limits())


def test_where_a_rare_word_finds_too_few_the_next_ones_together_find_more(quarry: Recollect) -> None:
    best = found(quarry, "zircon moss stone", limit=10)
    assert len(best) == 10
    assert set(best[:2]) == {"stone with zircon", "zircon, mentioned once"}
    assert all("moss" in one for one in best[2:])


def test_a_single_word_that_is_everywhere_finds_the_newest(quarry: Recollect) -> None:
    best = found(quarry, "stone", limit=3)
    assert len(best) == 3
    assert all(int(one.split()[-1]) >= 80 for one in best)


def test_a_filter_reaches_behind_what_was_gathered(quarry: Recollect) -> None:
    best = found(quarry, "zircon stone", limit=5, kinds=frozenset({"gotcha"}))
    assert len(best) == 5
    assert all("moss" in one for one in best)


def test_a_single_character_of_an_unspaced_script_is_found_in_a_large_store_too(quarry: Recollect) -> None:
    quarry.remember("石の話")
    assert found(quarry, "石") == ["石の話"]


def test_a_word_that_nobody_said_finds_nothing(quarry: Recollect) -> None:
    assert found(quarry, "obsidian") == []


def test_a_frequent_word_is_counted_from_a_part_of_the_rows(quarry: Recollect) -> None:
    counts, size = words_of(quarry, TIGHT).frequencies(["number", "zircon"])
    assert size == 252
    assert counts["number"] == pytest.approx(250, rel=0.1)
    assert counts["zircon"] == 2


def test_counts_follow_the_store(quarry: Recollect) -> None:
    words = words_of(quarry, TIGHT)
    assert words.frequencies(["obsidian"]) == ({}, 252)
    quarry.remember("obsidian is glass")
    assert words.frequencies(["obsidian"]) == ({"obsidian": 1}, 253)
