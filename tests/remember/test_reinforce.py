from __future__ import annotations

import pytest

from recollect.app import Recollect
from recollect.core.query import Filter
from recollect.core.scope import SHOWN, Source, Status

EVERYTHING = Filter(statuses=SHOWN | {Status.CANDIDATE})


def use(memory: Recollect, times: int) -> None:
    for _ in range(times):
        assert len(memory.recall("gravel", filter=EVERYTHING)) == 1


def test_every_fifth_access_adds_a_little_confidence_up_to_the_cap(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted by size.", confidence=0.88).id
    use(memory, 4)
    assert memory.get(id).confidence == 0.88
    use(memory, 1)
    assert memory.get(id).confidence == pytest.approx(0.93)
    use(memory, 15)
    assert memory.get(id).confidence == 0.95


def test_use_never_lowers_what_a_person_made_certain(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted by size.").id
    memory.confirm(id)
    use(memory, 10)
    assert memory.get(id).confidence == 1.0


def test_ten_accesses_end_the_need_for_review(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted.", source=Source.OBSERVER_INFERRED, kind="pattern").id
    use(memory, 9)
    assert memory.get(id).needs_review
    use(memory, 1)
    assert not memory.get(id).needs_review


def test_a_correction_starts_the_count_again(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted.", confidence=0.5).id
    use(memory, 4)
    memory.edit(id, content="Gravel is washed.")
    use(memory, 4)
    assert memory.get(id).confidence == 0.5


def test_untracked_recall_changes_nothing(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted.").id
    memory.recall("gravel", track=False)
    assert memory.get(id).access_count == 0


def test_reinforcement_is_in_the_log_but_not_in_the_way_of_undo(memory: Recollect) -> None:
    id = memory.remember("Gravel is sorted.", confidence=0.5).id
    memory.pin(id)
    use(memory, 5)
    assert memory.history(id)[-1].change.action == "reinforce"
    memory.undo()
    assert not memory.get(id).pinned
    assert memory.get(id).confidence == pytest.approx(0.55)


def test_reading_settles_no_contradiction_and_makes_neither_side_surer(memory: Recollect) -> None:
    memory.remember("The payment timeout is 30 seconds.")
    second = memory.remember("The payment timeout is 45 seconds.")
    assert second.memory.needs_review
    for _ in range(12):
        memory.recall("payment timeout")
    kept = memory.get(second.id)
    assert (kept.access_count, kept.needs_review, kept.confidence) == (12, True, second.memory.confidence)


def test_boats_with_other_numbers_are_other_boats(memory: Recollect) -> None:
    first = memory.remember("Boat 7 gets fuel from Shell.")
    second = memory.remember("Boat 8 gets fuel from Shell.")
    assert (second.verdict, second.memory.needs_review) == ("new", False)
    assert memory.get(first.id).status is Status.ACTIVE
