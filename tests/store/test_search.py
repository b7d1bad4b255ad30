from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.app import Recollect

pytestmark = pytest.mark.both_engines

ORDINARY = [
    "pre-edit", "don't", "src/app.py:42", "GB/s", "C++", "c#", "node.js", "a AND b", "NOT working", "foo OR",
    '"unclosed', "(paren", "col:value", "*", "^start", "NEAR(a b)", "x - y", "100%", "user@example.com", "what's up?",
]  # fmt: skip


@pytest.mark.parametrize("query", ORDINARY)
def test_an_ordinary_developer_query_never_fails(memory: Recollect, query: str) -> None:
    memory.remember(f"Something about {query} and its friends.")
    briefing = memory.recall(query)
    assert not any("keyword:" in note and "syntax" in note for note in briefing.notes)
    assert len(briefing) >= (0 if query == "*" else 1)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("call verify_jwt first", "verifyJwt"),
        ("call verifyJwt first", "verify_jwt"),
        ("call verifyJwt first", "jwt"),
        ("see auth/tokens.py for details", "tokens.py"),
        ("see auth/tokens.py for details", "auth/tokens.py:42"),
        ("use --no-cache here", "no-cache"),
        ("HTTPServer restarts", "http server"),
        ("running tests twice", "run test"),
        ("naïve café résumé", "naive cafe"),
        ("東京都に住んでいます", "京都に"),
        ("東京都に住んでいます", "東"),
        ("中文测试句子", "测试"),
        ("한국어 문장입니다", "한국어"),
        ("ภาษาไทยง่ายมาก", "ไทย"),
        ("version v2.10.3 broke it", "v2.10.3"),
        ("supercalifragilistic", "supercali"),
        ("weird§token§inside", "token§ins"),
    ],
)
def test_what_people_type_finds_what_was_written(memory: Recollect, content: str, query: str) -> None:
    memory.remember("An unrelated distraction about gardening.")
    receipt = memory.remember(content)
    assert [hit.id for hit in memory.recall(query)] == [receipt.id]


def test_tags_files_and_modules_are_searchable(memory: Recollect) -> None:
    receipt = memory.remember("A statement.", tags=["dépannage"], files=["src/relay_race.py"], modules=["billing"])
    for query in ("depannage", "relayRace", "billing"):
        assert [hit.id for hit in memory.recall(query)] == [receipt.id], query


def test_rare_words_outweigh_common_ones(memory: Recollect) -> None:
    for number in range(30):
        memory.remember(f"The service number{number} restarts at night.")
    rare = memory.remember("The wombat service restarts.")
    assert memory.recall("wombat service restarts").hits[0].id == rare.id


def test_a_quoted_phrase_is_looked_for_as_such(memory: Recollect) -> None:
    memory.remember("Cold start matters; the boot is slow.")
    exact = memory.remember("A slow cold boot was measured.")
    assert memory.recall('"cold boot"').hits[0].id == exact.id


def test_a_word_that_is_in_every_question_still_finds_when_it_is_alone(memory: Recollect) -> None:
    receipt = memory.remember("Who is it?")
    assert [hit.id for hit in memory.recall("who")] == [receipt.id]


def test_an_empty_or_wordless_question_finds_nothing_and_does_not_fail(memory: Recollect) -> None:
    memory.remember("One.")
    for query in ("", " ", "?!", "\0", "…"):
        assert len(memory.recall(query)) == 0


def test_ten_thousand_words_are_a_question_too(memory: Recollect) -> None:
    receipt = memory.remember("The needle is here.")
    assert receipt.id in [hit.id for hit in memory.recall("needle " + "hay " * 10_000)]


def test_a_prefix_find_is_noted(memory: Recollect) -> None:
    memory.remember("supercalifragilistic")
    assert any("prefix" in note for note in memory.recall("supercali").notes)


def test_filters_reach_behind_the_best_matches() -> None:
    with recollect.open(":memory:") as memory:
        wanted = memory.remember("granite granite common", tags=["rare"], kind="gotcha").id
        for number in range(300):
            memory.remember(f"granite granite granite {number}", kind="fact")
        found = memory.recall("granite", filter=recollect.Filter(kinds=frozenset({"gotcha"})))
        assert [hit.id for hit in found] == [wanted]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_no_text_is_syntax(query: str) -> None:
    with recollect.open(":memory:") as memory:
        memory.remember("A stable statement about copper.")
        assert all("keyword:" not in note or "found by" in note for note in memory.recall(query).notes)
