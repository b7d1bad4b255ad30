"""What stages of work hand over: limits, states, relays."""

from __future__ import annotations

from recollect.agent.methodology import native
from recollect.agent.stages import extract_work_state, find_relayed, measure_step_ratio, scale_step_limit
from recollect.app import Recollect
from recollect.core.summary import MemorySummary
from recollect.privacy.fence import unfence


def test_a_step_limit_is_scaled_at_most_doubled_and_bounded() -> None:
    assert [scale_step_limit(100, ratio) for ratio in (None, 0.0, 1.5, 9.0, 0.5, float("nan"), -1)] == [
        100,
        100,
        150,
        200,
        50,
        100,
        100,
    ]
    assert scale_step_limit(400, 2.0) == 500
    assert scale_step_limit(1, 0.01) == 1


def test_calibration_is_weighed_by_samples_and_the_methodology_in_use_counts_first() -> None:
    def figure(ratio: float, samples: int, methodology: str) -> MemorySummary:
        payload = {"ratio": ratio, "samples": samples, "methodology": methodology}
        return MemorySummary("m", "task_calibration", "x", confidence=0.9, source="observer_inferred", payload=payload)

    assert measure_step_ratio([figure(2.0, 1, "native"), figure(1.0, 3, "native")], "native") == 1.25
    assert measure_step_ratio([figure(2.0, 1, "native"), figure(1.0, 3, "bmad")], "native") == 2.0
    assert measure_step_ratio([], "native") is None


def test_the_state_of_work_is_drawn_from_boxes_and_headings() -> None:
    state = extract_work_state(
        "I stopped here.\n\n## Done\n- parser\n- lexer\n\n**Next steps:**\n1. wire the CLI\n2. write tests\n\n"
        "Decisions:\n- keep sqlite\n\n- [x] docs\n- [ ] changelog\n"
    )
    assert state is not None
    assert state.completed == ("parser", "lexer", "docs")
    assert state.next_step.startswith("wire the CLI; write tests")
    assert state.key_decisions == ("keep sqlite",)
    assert extract_work_state("All good, nothing listed here.") is None


def test_only_what_a_transition_lets_pass_is_handed_over(memory: Recollect) -> None:
    memory.remember("Tokens expire after an hour.", kind="requirement", session="review-1")
    memory.remember("The reviewer liked tabs.", kind="preference", session="review-1")
    memory.remember("Another session's requirement.", kind="requirement", session="other")
    reader, work = memory.agent_context.reader, native()
    fixer = find_relayed(reader, work, "qa_fixer", sessions=["review-1"])
    assert [one.content for one in fixer] == ["Tokens expire after an hour."]
    assert len(find_relayed(reader, work, "coder", sessions=["review-1"])) == 2
    assert find_relayed(reader, work, "nobody", sessions=["review-1"]) == []


def test_what_is_handed_over_is_fenced_and_told_once_a_session(memory: Recollect) -> None:
    memory.remember("Tokens expire after an hour.", kind="requirement", session="review-1")
    session = memory.agent("fix-1", arm="full")
    told = session.taken_over("qa_fixer", sessions=["review-1"])
    assert "Tokens expire after an hour." in told
    assert unfence(told).strip() == ""
    assert session.taken_over("qa_fixer", sessions=["review-1"]) == ""
    assert session.notes == ()
