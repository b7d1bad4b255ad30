"""Facets are counted from arrays that stay in step with the store, whatever changes in it and whoever changes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.query import Filter
from recollect.core.scope import Status

EVERYTHING = Filter(statuses=Status, user="*")


def brute(memory: Recollect, filter: Filter) -> dict[str, dict[str, int]]:
    """The same figures from the memories themselves."""
    counts: dict[str, Counter[str]] = {"tag": Counter(), "file": Counter(), "module": Counter()}
    for one in memory.list(filter, limit=1_000):
        plain = {
            "kind": one.kind, "source": str(one.source), "scope": str(one.scope), "status": str(one.status),
            "user": one.user, "needs_review": str(one.needs_review).lower(), "pinned": str(one.pinned).lower(),
            "confidence": f"{min(9, int(one.confidence * 10)) / 10:.1f}",
        }  # fmt: skip
        for name, value in plain.items():
            if value is not None:
                counts.setdefault(name, Counter())[value] += 1
        counts["tag"].update(tag.casefold() for tag in one.tags)
        counts["file"].update(one.files)
        counts["module"].update(one.modules)
    return {name: dict(found) for name, found in counts.items()}


def agree(memory: Recollect, filter: Filter = EVERYTHING) -> None:
    total, counts = memory.store.facet_counts.count(filter, limit=1_000)
    assert {name: dict(found) for name, found in counts.items()} == brute(memory, filter)
    assert total == memory.count(filter)


@pytest.mark.both_engines
def test_counts_stay_right_through_every_kind_of_change(memory: Recollect) -> None:
    agree(memory)
    stone = memory.remember("Granite is hard.", tags=["Stone", "rock"], files=["a.py"], modules=["core"]).id
    chalk = memory.remember("Chalk is soft.", kind="gotcha", confidence=0.35, user="anna", tags=["stone"]).id
    agree(memory)
    memory.edit(stone, tags=["rock", "grey"], files=["b.py"])
    memory.pin(stone)
    memory.dispute(chalk)
    agree(memory)
    memory.correct(stone, "Granite is very hard.", reason="inaccurate")
    agree(memory)
    memory.forget(chalk)
    agree(memory)
    last = memory.remember("Basalt is dark.", tags=["new"]).id  # SQLite gives it the number of a row that went
    agree(memory)
    memory.forget(last)
    memory.remember("Slate is flat.", tags=["other"])
    agree(memory)
    memory.undo()
    agree(memory)


@pytest.mark.both_engines
@pytest.mark.parametrize(
    "filter",
    [
        Filter(user="*", tags="even"),
        Filter(user="*", kinds="gotcha", min_confidence=0.5),
        Filter(user="*", files=["f1.py", "f2.py"]),
        Filter(user="anna"),
        Filter(user="*", pinned=True),
        Filter(user="*", tags="nothing has it"),
    ],
    ids=["tag", "kind and confidence", "files", "user", "pinned", "none"],
)
def test_a_filter_is_counted_as_it_is_listed(memory: Recollect, filter: Filter) -> None:
    for number in range(12):
        memory.remember(
            f"Stone number {number} weighs {number * 7} kilos.",
            kind="gotcha" if number % 3 else "fact",
            confidence=number / 12,
            tags=["even"] if number % 2 == 0 else ["odd", "odder"],
            files=[f"f{number % 4}.py"],
            user="anna" if number > 8 else None,
        )
    memory.pin(memory.list(limit=1)[0].id)
    agree(memory, filter)


def test_the_most_frequent_values_come_first_and_equal_ones_by_name(memory: Recollect) -> None:
    for number, tags in enumerate((["b", "a"], ["b"], ["c"])):
        memory.remember(f"Stone {number} is a stone of its own kind.", tags=tags, again=True)
    assert memory.overview.facets(limit=2).counts["tag"] == [("b", 2), ("a", 1)]


def test_what_another_process_wrote_is_counted(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory, recollect.open(tmp_path / "m.db") as other:
        memory.remember("Granite is hard.", tags=["stone"])
        agree(memory)
        other.remember("Chalk is soft.", tags=["stone", "white"])
        agree(memory)


def test_a_log_that_is_not_the_one_that_was_read_makes_it_read_all_again(memory: Recollect) -> None:
    memory.remember("Granite is hard.", tags=["stone"])
    agree(memory)
    before = memory.store.facet_counts._held
    assert before is not None
    before.hash = "of another store"
    memory.remember("Slate is flat.", tags=["grey"])
    agree(memory)
    assert memory.store.facet_counts._held is not before
