from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.app import Recollect
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.query import Candidate, Filter
from recollect.core.scope import SHOWN, Source, Status


def test_one_text_is_one_value_and_any_collection_is_a_set() -> None:
    assert Filter(tags="urgent") == Filter(tags=["urgent"]) == Filter(tags={"urgent"}) == Filter(tags=("urgent",))
    assert Filter(tags="urgent").tags == frozenset({"urgent"})
    assert Filter(sources="user_taught").sources == frozenset({Source.USER_TAUGHT})
    assert Filter(statuses=Status).statuses == frozenset(Status)
    assert Filter().statuses == SHOWN


@pytest.mark.parametrize(
    "wrong",
    [
        {"tags": 3}, {"tags": [3]}, {"files": b"x"}, {"kinds": {"fact": 1}}, {"min_confidence": 2}, {"min_trust": "x"},
        {"since": "2026-01-01"}, {"needs_review": "yes"}, {"user": 7}, {"min_confidence": float("nan")},
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_an_error_that_names_the_field(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidField, match=next(iter(wrong))):
        Filter(**wrong)


@pytest.mark.parametrize("field", ["sources", "scopes", "visibilities", "statuses"])
def test_a_word_nobody_knows_is_an_error_with_the_choices(field: str) -> None:
    with pytest.raises(UnknownChoice, match="nonsense"):
        Filter(**{field: "nonsense"})


def test_a_misspelt_name_is_an_error() -> None:
    with pytest.raises(TypeError, match="tag"):
        Filter(tag="x")  # type: ignore[call-arg]


def test_kinds_are_taken_by_their_aliases_and_unknown_ones_refused() -> None:
    assert Filter(kinds="workflow").named(Kinds()).kinds == frozenset({"workflow_recipe"})
    with pytest.raises(UnknownChoice, match="gotcha"):
        Filter(kinds="gotchaa").named(Kinds())


def test_a_moment_without_a_zone_is_taken_as_utc_and_a_filter_can_be_changed() -> None:
    asked = Filter(since=datetime(2026, 1, 1), tags="a")
    assert asked.since == datetime(2026, 1, 1, tzinfo=UTC)
    assert replace(asked, user="anna").tags == asked.tags


def test_a_briefing_is_a_sequence_of_its_hits(memory: Recollect) -> None:
    for number in range(3):
        memory.remember(f"Pebble {number} rolls.")
    briefing = memory.recall("pebble")
    assert len(briefing) == 3
    assert [briefing[0], briefing[-1]] == [briefing.hits[0], briefing.hits[2]]
    assert briefing[:2] == briefing.hits[:2]
    assert list(briefing) == list(briefing.hits)
    assert briefing.hits[1] in briefing
    assert list(reversed(briefing)) == list(reversed(briefing.hits))


def test_a_page_is_a_sequence_of_its_memories(memory: Recollect) -> None:
    for number in range(3):
        memory.remember(f"Pebble {number} rolls.")
    page = memory.list(order="oldest")
    assert len(page) == 3
    assert [one.content for one in page] == [f"Pebble {number} rolls." for number in range(3)]
    assert page[0].content == "Pebble 0 rolls."
    assert page[1:] == page.memories[1:]
    assert page[2] in page


def test_a_share_adds_to_a_candidate_and_its_reason_is_kept() -> None:
    first = Candidate(MemoryId("a"), 0.5, ("keyword #1",))
    assert first.plus(0.25, because="near") == Candidate(MemoryId("a"), 0.75, ("keyword #1", "near"))
