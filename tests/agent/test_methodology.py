from __future__ import annotations

import pytest

from recollect.core.errors import UnknownChoice
from recollect.core.payloads import WorkState
from recollect.core.records import WorkUnit
from recollect.core.scope import Phase
from recollect.registry import methodology


@pytest.mark.parametrize(
    ("name", "phase", "expected"),
    [
        ("native", "planning", Phase.DEFINE),
        ("native", "spec", Phase.DEFINE),
        ("native", "coding", Phase.IMPLEMENT),
        ("native", "qa_review", Phase.VALIDATE),
        ("native", "qa_fix", Phase.REFINE),
        ("native", "debugging", Phase.REFINE),
        ("native", "insights", Phase.EXPLORE),
        ("native", "something else", Phase.EXPLORE),
        ("bmad", "Story", Phase.DEFINE),
        ("bmad", "qa", Phase.VALIDATE),
        ("bmad", "retrospective", Phase.REFLECT),
        ("tdd", "red", Phase.DEFINE),
        ("tdd", "green", Phase.IMPLEMENT),
        ("tdd", "refactor", Phase.REFINE),
    ],
)
def test_every_phase_of_a_methodology_is_one_of_the_six(name: str, phase: str, expected: Phase) -> None:
    assert methodology(name).phase(phase) is expected


@pytest.mark.parametrize("name", ["native", "bmad", "tdd"])
def test_each_shipped_methodology_covers_defining_implementing_and_validating(name: str) -> None:
    phases = set(methodology(name).phases.values())
    assert {Phase.DEFINE, Phase.IMPLEMENT, Phase.VALIDATE} <= phases


def test_a_work_unit_is_named_from_the_outside_in() -> None:
    native = methodology("native")
    assert native.work_unit(spec="042", subtask="3") == WorkUnit("native", ("042", "3"), "Spec 042 / Subtask 3")
    assert native.work_unit(spec="042", subtask=None) == WorkUnit("native", ("042",), "Spec 042")
    assert native.work_unit(other="x") is None


def test_the_reviewer_hands_only_what_the_fixer_needs() -> None:
    (relay,) = methodology("native").relays_to("qa_fixer", "qa_reviewer")
    assert (relay.source, relay.target) == ("qa_reviewer", "qa_fixer")
    assert relay.kinds == {"error_pattern", "requirement"}


def test_a_work_state_is_told_in_order_without_empty_lines() -> None:
    text = methodology("native").work_state_text(WorkState(("parser",), "printer", "tests"))
    assert text == "Done: parser\nIn progress: printer\nNext step: tests"


def test_an_unknown_methodology_lists_the_known_ones() -> None:
    with pytest.raises(UnknownChoice) as caught:
        methodology("waterfall")
    assert "bmad, native, tdd" in caught.value.hint
