from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.app import Recollect
from recollect.core.ids import MemoryId
from recollect.core.links import Link
from recollect.core.scope import Relation
from recollect.remember.acts import move_confidence, propagate

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def link(source: str, relation: Relation, target: str, confidence: float = 1.0) -> Link:
    return Link(MemoryId(source), relation, MemoryId(target), None, confidence, False, NOW)


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Relation.VALIDATES, 0.5 + 0.6 * 0.4),
        (Relation.REQUIRED_WITH, 0.5 + 0.3 * 0.4),
        (Relation.CONFLICTS_WITH, 0.5 - 0.4 * 0.4),
        (Relation.DERIVED_FROM, 0.5 + 0.5 * 0.4),
        (Relation.SUPERSEDES, 0.5 * (1 - 0.8 * 0.9)),
    ],
)
def test_the_change_travels_not_the_level(relation: Relation, expected: float) -> None:
    assert move_confidence(0.5, link("a", relation, "b"), source=0.9, change=0.4) == pytest.approx(expected)


def test_a_validation_never_lowers_what_it_validates() -> None:
    assert move_confidence(0.9, link("a", Relation.VALIDATES, "b"), source=0.3, change=0.2) > 0.9


def test_a_conflict_does_not_zero_its_rival() -> None:
    assert move_confidence(0.9, link("a", Relation.CONFLICTS_WITH, "b"), source=0.95, change=0.1) > 0.8


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1), st.sampled_from(list(Relation)))
def test_confidence_stays_between_0_and_1(
    target: float, source: float, change: float, edge: float, relation: Relation
) -> None:
    assert 0.0 <= move_confidence(target, link("a", relation, "b", edge), source=source, change=change) <= 1.0


def spread(links: list[Link], levels: dict[str, float], after: float) -> dict[str, float]:
    return dict(
        propagate(
            MemoryId("a"),
            before=0.5,
            after=after,
            links=lambda id: [link for link in links if link.source == id],
            confidence=lambda id: levels.get(id),
        )
    )


def test_a_cycle_is_walked_once() -> None:
    links = [link("a", Relation.VALIDATES, "b"), link("b", Relation.VALIDATES, "a"), link("b", Relation.VALIDATES, "b")]
    assert spread(links, {"a": 0.5, "b": 0.5}, 0.9) == {"b": pytest.approx(0.74)}


def test_small_changes_stay_where_they_are() -> None:
    assert spread([link("a", Relation.VALIDATES, "b")], {"b": 0.5}, 0.55) == {}


def test_the_wave_stops_where_it_has_become_small() -> None:
    links = [link("a", Relation.REQUIRED_WITH, "b"), link("b", Relation.REQUIRED_WITH, "c")]
    assert spread(links, {"b": 0.5, "c": 0.5}, 0.6) == {"b": pytest.approx(0.53)}


def test_files_have_no_confidence_to_change() -> None:
    file = Link(MemoryId("a"), Relation.VALIDATES, None, "a.py", 1.0, False, NOW)
    assert spread([file], {}, 0.9) == {}


def test_confirming_a_memory_lifts_what_it_validates_and_undo_brings_both_back(memory: Recollect) -> None:
    a = memory.remember("Tests pass on Windows.", confidence=0.5).id
    b = memory.remember("The path code is portable.", confidence=0.5).id
    memory.relate(a, "validates", to=b)
    memory.confirm(a)
    assert memory.get(b).confidence == pytest.approx(0.5 + 0.6 * 0.5)
    assert [entry.change.action for entry in memory.history(b)] == ["add", "propagate"]
    memory.undo()
    assert (memory.get(a).confidence, memory.get(b).confidence) == (0.5, 0.5)
