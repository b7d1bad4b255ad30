"""Errors name what they were given and show a way out."""

from __future__ import annotations

from recollect.core.errors import CodeNotIndexed, NodeNotFound


def test_code_that_is_being_indexed_is_told_apart_from_code_nobody_indexed() -> None:
    running, never = CodeNotIndexed(since="2026-03-01 12:00"), CodeNotIndexed()
    assert "in progress since 2026-03-01 12:00" in str(running)
    assert "Ask again" in running.hint
    assert "No source code was indexed" in str(never)
    assert "recollect code index" in never.hint


def test_a_node_that_is_not_there_comes_with_its_neighbours_if_there_are_any() -> None:
    assert NodeNotFound("a.py:g", ["a.py:go", "a.py:gone"]).hint == "Near it: a.py:go, a.py:gone."
    assert "recollect code map" in NodeNotFound("a.py:g").hint
