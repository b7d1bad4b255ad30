"""Errors name what they were given and show a way out."""

from __future__ import annotations

import pytest

from recollect.core.errors import CodeNotIndexed, InternalError, NodeNotFound, RecollectError, StoreAltered


def test_code_that_is_being_indexed_is_told_apart_from_code_nobody_indexed() -> None:
    running, never = CodeNotIndexed(since="2026-03-01 12:00"), CodeNotIndexed()
    assert "in progress since 2026-03-01 12:00" in str(running)
    assert "Ask again" in running.hint
    assert "No source code was indexed" in str(never)
    assert "recollect code index" in never.hint


def test_a_node_that_is_not_there_comes_with_its_neighbours_if_there_are_any() -> None:
    assert NodeNotFound("a.py:g", ["a.py:go", "a.py:gone"]).hint == "Near it: a.py:go, a.py:gone."
    assert "recollect code map" in NodeNotFound("a.py:g").hint


def test_a_message_without_end_is_cut_and_a_short_one_kept() -> None:
    assert str(RecollectError("short")) == "short"
    long = str(RecollectError("x" * 100_000))
    assert long.startswith("xxx")
    assert long.endswith(" …")
    assert len(long) < 10_000


def test_a_mistake_of_ours_is_told_in_one_line_with_a_way_to_report_it() -> None:
    told = InternalError(ValueError("two\nlines"))
    assert str(told) == "ValueError: two lines"
    assert "RECOLLECT_TRACEBACK=1" in told.hint
    assert str(InternalError(KeyError())) == "KeyError"


@pytest.mark.parametrize(
    ("odd", "said"),
    [("ab", "a, b."), ("abc", "a, b, c."), ("abcd", "a, b, c and 1 more."), ("abcdef", "a, b, c and 3 more.")],
)
def test_of_many_alterations_three_are_named_and_the_rest_counted(odd: str, said: str) -> None:
    assert f"by another program: {said} It was not read." in str(StoreAltered("m.db", odd))
