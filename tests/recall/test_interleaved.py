"""Conversation order is that of a session, whatever else is written at the same time."""

from __future__ import annotations

from pathlib import Path

import recollect
from recollect import Draft


def test_turns_of_two_sessions_captured_at_once_each_know_the_turn_before_them(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", project="test") as memory:
        turns: dict[str, list[str]] = {"left": [], "right": []}
        for number in range(3):
            for session, ids in turns.items():
                ids.append(memory.remember(f"{session} says {number}", kind="episode", session=session).id)
                memory.remember(f"{session} is at {number}", session=session)  # drawn from it, and no turn
        near = memory.store.memories.nearby([id for ids in turns.values() for id in ids], reach=1)
        for ids in turns.values():
            known = [said.id if (said := near.beside(id, -1)) else None for id in ids]
            assert known == [None, *ids[:-1]]


def test_turns_remembered_at_once_are_in_the_order_they_were_given(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", project="test") as memory:
        drafts = [Draft(f"{s} {n}", kind="episode", session=s) for n in range(3) for s in ("a", "b")]
        memory.remember_all(drafts)
        said = [memory.content for _, memory in memory.store.sessions.episodes("b", limit=9)]
        assert said == ["b 0", "b 1", "b 2"]
