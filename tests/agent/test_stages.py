"""What stages of work hand over: files, limits, states, relays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.agent.methodology import native
from recollect.agent.prefetch import MAX_FILES, list_pattern_files, load_files, resolve_inside
from recollect.agent.stages import extract_work_state, find_relayed, measure_step_ratio, scale_step_limit
from recollect.app import Recollect
from recollect.core.summary import MemorySummary
from recollect.privacy.fence import unfence


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("alpha = 1\n")
    (tmp_path / "secret.txt").write_text("outside")
    return project


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "~/x", "", "src/\0a", ".git/config"]
)
def test_a_name_that_leaves_the_project_means_nothing(root: Path, name: str) -> None:
    assert resolve_inside(root, name) is None
    assert load_files(root, [name]) == []


def test_links_are_followed_and_those_that_lead_out_are_not_read(root: Path, tmp_path: Path) -> None:
    os.symlink(tmp_path / "secret.txt", root / "out.txt")
    os.symlink(tmp_path, root / "up")
    os.symlink(root / "src" / "a.py", root / "in.py")
    assert [one.path for one in load_files(root, ["out.txt", "up/secret.txt", "in.py"])] == ["in.py"]


def test_pipes_directories_binaries_and_giants_are_left_out(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "binary").write_bytes(b"a\0b")
    (root / "giant").write_bytes(b"x" * 500_000)
    assert load_files(root, ["pipe", "src", "binary", "giant", "missing"]) == []


def test_files_are_read_in_order_within_count_and_budget(root: Path) -> None:
    for number in range(20):
        (root / f"f{number}.py").write_text("word " * 100)
    names = [f"f{number}.py" for number in range(20)]
    assert [one.path for one in load_files(root, names)] == names[:MAX_FILES]
    few = load_files(root, names, most_tokens=300)
    assert sum(one.tokens for one in few) <= 300
    (root / "long.py").write_text("line of text\n" * 4_000)
    (long,) = load_files(root, ["long.py"])
    assert long.cut
    assert long.text.endswith("line of text")


def test_secrets_in_prefetched_files_are_hidden(root: Path) -> None:
    (root / "env.py").write_text('KEY = "AKIAIOSFODNN7EXAMPLQ"\n')
    (one,) = load_files(root, ["env.py"])
    assert "AKIAIOSFODNN7EXAMPLQ" not in one.text


def pattern(id: str, always: list[str], frequently: list[str]) -> MemorySummary:
    payload = {"module_trigger": "src", "always": always, "frequently": frequently}
    return MemorySummary(id, "prefetch_pattern", "x", confidence=0.9, source="observer_inferred", payload=payload)


def test_always_files_come_before_frequent_ones() -> None:
    assert list_pattern_files([pattern("1", ["a"], ["b"]), pattern("2", ["c"], ["a"])]) == ["a", "c", "b"]


def test_a_step_limit_is_scaled_at_most_doubled_and_bounded() -> None:
    assert [scale_step_limit(100, ratio) for ratio in (None, 1.5, 9.0, 0.5, float("nan"), -1)] == [
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
