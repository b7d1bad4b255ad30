"""A transcript tells whether an edit will find its text, from what it showed of the file before."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.observer.readers.base import EventMaker, ReadingTally

SHOWN = "     1→def f():\n     2→\treturn 1\n     3→\n     4→def g():\n     5→\treturn 1\n"


def look(*calls: tuple[str, dict[str, Any], str | None]) -> str:
    """What is said of the last call; an answer of None means that the call failed."""
    maker, word = EventMaker("s", ReadingTally()), ""
    for number, (tool, given, answer) in enumerate(calls):
        word = maker.call(str(number), tool, given, at=None).disk
        maker.result(str(number), answer or "an error", error=answer is None, at=None)
    return word


def edit(old: str, new: str = "", **more: Any) -> tuple[str, dict[str, Any], str | None]:
    return "Edit", {"file_path": "a.py", "old_string": old, "new_string": new, **more}, "ok"


READ: tuple[str, dict[str, Any], str | None] = ("Read", {"file_path": "a.py"}, SHOWN)


@pytest.mark.parametrize(
    ("calls", "word"),
    [
        ([READ, edit("def f():\n\treturn 1")], ""),
        ([READ, edit("def f():\n    return 1")], "absent"),
        ([READ, edit("class Never:")], ""),
        ([READ, edit("\treturn 1")], "several"),
        ([READ, edit("\treturn 1", replace_all=True)], ""),
        ([edit("def f():\n    return 1")], ""),
        ([("Read", {"file_path": "a.py"}, None), edit("def f():\n    return 1")], ""),
        ([READ, edit("def f():\n\treturn 1", "def f():\n    return 1"), edit("def f():\n    return 1")], ""),
        ([("Write", {"file_path": "a.py", "content": "x = {\n\t1,\n}\n"}, "ok"), edit("x = {\n  1,\n}")], "absent"),
        ([READ, ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "def g():\n return 1"}]}, "ok")],
         "absent"),
    ],
)  # fmt: skip
def test_an_edit_is_compared_with_what_was_shown(
    calls: list[tuple[str, dict[str, Any], str | None]], word: str
) -> None:
    assert look(*calls) == word


def test_what_a_hook_saw_on_the_disk_counts_more_than_what_was_shown() -> None:
    maker = EventMaker("s", ReadingTally())
    assert maker.call("1", "Edit", {"file_path": "a.py", "old_string": "x"}, at=None, disk="missing").disk == "missing"


def test_what_is_remembered_of_a_session_is_bounded() -> None:
    maker = EventMaker("s", ReadingTally())
    for number in range(1_000):
        maker.call(str(number), "Read", {"file_path": f"{number}.py"}, at=None)
        maker.result(str(number), "x" * 1_000, error=False, at=None)
    assert len(maker._shown._files) <= 200
