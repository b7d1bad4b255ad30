"""Each of the eighteen signals: it fires when its definition is met, and is silent on the near miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer_session import Session
from recollect.core.observed import SequenceSeen
from recollect.observer import policy
from recollect.observer.recorder import Recorder
from recollect.observer.signals import DETECTORS


def subjects(session: Session, name: str) -> list[str]:
    return sorted(signal.subject for signal in session.found(name))


def test_there_are_eighteen_detectors_and_each_has_a_grade_and_a_definition() -> None:
    assert {detector.name for detector in DETECTORS} == set(policy.GRADES)
    assert len(DETECTORS) == 18
    for detector in DETECTORS:
        assert (detector.__doc__ or "").startswith(f"{detector.name}: ")


def test_every_file_touched_is_an_access_and_four_reads_without_an_edit_make_it_hard_to_read() -> None:
    session = Session().read("a.py").read("a.py").read("a.py").read("a.py").read("b.py").edit("b.py")
    hunches = {signal.subject: signal.hunch for signal in session.found("file_access")}
    assert hunches == {"a.py": "hard to read", "b.py": "edited"}
    assert not Session().grep("x").run("make").found("file_access")


def test_files_within_three_steps_are_used_together_in_that_direction() -> None:
    near = Session().read("a.py").grep("x").read("b.py")
    assert subjects(near, "co_access") == ["a.py → b.py"]
    assert near.found("co_access")[0].measure == 20.0
    assert not Session().read("a.py").grep("x").grep("y").grep("z").read("b.py").found("co_access")


def test_an_agent_that_corrects_itself_is_heard_with_the_files_it_was_about() -> None:
    found = (
        Session()
        .read("a.py")
        .says("Reading on. I was wrong about the cache: it is per user. Next.")
        .found("self_correction")
    )
    assert [(one.subject, one.hunch, one.paths) for one in found] == [
        ("I was wrong about the cache: it is per user.", "own correction", ("a.py",))
    ]
    assert not Session().read("a.py").says("Now I will wait for the tests and read the cache.").found("self_correction")


def test_a_dead_end_of_an_agent_and_the_words_of_a_person_are_different_signals() -> None:
    session = Session().user("please add a cache").says("This approach won't work here.")
    session.user("No, we don't use sqlite here, use the other store")
    assert [one.hunch for one in session.found("self_correction")] == ["dead end"]
    assert [one.hunch for one in session.found("said")] == ["correction"]
    assert not Session().user("fix the failing test, then push").user("why did you never run it?").found("said")


def test_a_refused_call_is_a_correction_and_no_error() -> None:
    session = Session().edit("a.py", "The user said no", error=True, rejected=True).edit("a.py")
    assert subjects(session, "self_correction") == ["refused: Edit a.py"]
    assert not session.found("error_retry")


def test_a_failure_that_is_tried_again_is_an_error_retry_with_its_resolution() -> None:
    session = Session().run("go test ./a", "undefined: foo", error=True).edit("a.go").run("go test ./b")
    (found,) = session.found("error_retry")
    assert found.hunch == "resolved"
    assert "resolved by Bash go test ./b" in found.words
    assert not Session().run("go test ./a", "undefined: foo", error=True).edit("a.go").run("ls").found("error_retry")


def test_the_same_error_with_other_numbers_and_paths_is_the_same_error() -> None:
    session = (
        Session()
        .run("a x", "/p/a.go:12: undefined: foo", error=True)
        .run("b x", "/p/c/b.go:99: undefined: foo", error=True)
    )
    (found,) = session.found("error_retry")
    assert found.count == 2


def test_two_agents_editing_one_file_conflict_and_one_agent_does_not() -> None:
    assert subjects(Session().edit("a.py").edit("a.py", agent="side"), "parallel_conflict") == ["a.py"]
    assert not Session().edit("a.py").edit("a.py").edit("b.py", agent="side").found("parallel_conflict")


def test_a_file_that_changed_underneath_is_a_conflict() -> None:
    session = Session().edit("a.py", "File has been modified since read", error=True)
    assert subjects(session, "parallel_conflict") == ["a.py"]


def test_a_file_left_for_a_search_and_never_touched_again_was_abandoned() -> None:
    left = Session().read("a.py").grep("x").read("b.py").edit("b.py")
    assert subjects(left, "read_abandon") == ["a.py"]
    assert not Session().read("a.py").grep("x").read("b.py").edit("b.py").read("a.py").found("read_abandon")
    assert not Session().read("a.py").grep("x").read("b.py").found("read_abandon")


def test_a_pattern_searched_three_times_is_repeated_and_twice_is_not() -> None:
    assert subjects(Session().grep("Foo").grep("foo").run("rg -n 'foo' src"), "repeated_grep") == ["foo"]
    assert not Session().grep("foo").grep("foo").grep("bar").found("repeated_grep")


def test_one_test_command_after_another_is_an_order_and_a_rerun_is_not() -> None:
    order = Session().run("pytest tests/a").edit("a.py").run("pytest tests")
    assert subjects(order, "test_order") == ["pytest tests/a → pytest tests"]
    assert not Session().run("pytest -q").run("pytest").run("npx lint@latest").found("test_order")


def test_a_test_command_that_failed_or_was_corrected_is_no_part_of_an_order() -> None:
    assert not Session().run("npm test", "no such script", error=True).run("make test").found("test_order")
    assert (
        not Session().run("npm test").user("there is no npm here, use make test").run("make test").found("test_order")
    )


def test_four_tools_in_the_same_order_three_times_are_a_sequence() -> None:
    session = Session()
    for number in range(3):
        session.grep(f"x{number}").read("a.py").edit("a.py").run("make test")
    assert "search → read → edit → run make test" in subjects(session, "tool_sequence")
    dull = Session()
    for _ in range(12):
        dull.read("a.py").edit("a.py")
    assert not dull.found("tool_sequence")


def test_a_session_far_over_its_plan_overran_it() -> None:
    long, short, unplanned = (Session() for _ in range(3))
    for session, steps in ((long, 40), (short, 20)):
        session.call("TodoWrite", todos=[{"content": "one"}, {"content": "two"}])
        for _ in range(steps):
            session.grep("x")
    for _ in range(100):
        unplanned.grep("x")
    (found,) = long.found("step_overrun")
    assert found.measure > 1.5
    assert not short.found("step_overrun")
    assert not unplanned.found("step_overrun")


@pytest.mark.parametrize(
    ("session", "cause"),
    [
        (Session().edit("a.py").run("make", "boom", error=True).edit("a.py"), "wrong assumption"),
        (Session().edit("a.py").read("b.py").edit("a.py"), "missing context"),
        (Session().edit("a.py").edit("b.py").edit("a.py"), "cascading change"),
    ],
)
def test_an_edit_made_again_soon_is_a_backtrack_and_what_lay_between_is_why(session: Session, cause: str) -> None:
    assert [(one.subject, one.hunch) for one in session.found("backtrack")] == [("a.py", cause)]


def test_edits_with_nothing_between_or_far_apart_are_no_backtrack() -> None:
    assert not Session().edit("a.py").edit("a.py").edit("a.py").found("backtrack")
    far = Session().edit("a.py")
    for _ in range(6):
        far.grep("x")
    assert not far.edit("a.py").found("backtrack")


def test_a_setting_edited_beside_other_files_reaches_them() -> None:
    (found,) = Session().edit("pyproject.toml").edit("src/a.py").found("config_touch")
    assert (found.subject, found.paths) == ("pyproject.toml", ("pyproject.toml", "src/a.py"))
    assert not Session().edit("pyproject.toml").read("src/a.py").found("config_touch")


def test_a_listing_none_of_whose_files_is_touched_led_nowhere() -> None:
    assert subjects(Session().call("Glob", "/p/a.py\n/p/b.py", pattern="*.py").read("c.py"), "glob_ignore") == ["*.py"]
    assert not Session().call("Glob", "/p/src/a.py\n/p/b.py", pattern="*.py").read("src/a.py").found("glob_ignore")
    assert not Session().call("Glob", "No files found", pattern="*.py").found("glob_ignore")


def test_one_huge_answer_among_small_ones_is_a_spike() -> None:
    (found,) = Session().read("a.py").read("big.json", size=200_000).found("context_token_spike")
    assert (found.subject, found.measure) == ("Read big.json", 50_000.0)
    assert not Session().read("a.py", size=20_000).found("context_token_spike")
    assert len(Session().read("a", size=200_000).read("b", size=200_000).found("context_token_spike")) == 1


def test_a_page_looked_up_before_an_edit_is_a_reference() -> None:
    (found,) = (
        Session().call("WebFetch", url="https://docs.example.org/api?x=1").edit("a.py").found("external_reference")
    )
    assert (found.subject, found.paths) == ("https://docs.example.org/api", ("a.py",))
    assert not Session().call("WebFetch", url="https://docs.example.org/api").read("a.py").found("external_reference")


def test_reading_along_imports_is_a_chase() -> None:
    chased = Session().read("a.py", "import b\n").read("b.py", "from c import d\n").read("c.py", "x = 1")
    (found,) = chased.found("import_chase")
    assert (found.subject, found.paths) == ("a.py → c.py", ("a.py", "b.py", "c.py"))
    assert not Session().read("a.py", "import b\n").read("b.py", "x = c").read("c.py").found("import_chase")


def test_a_long_stay_at_a_file_counts_only_with_another_signal_about_it() -> None:
    def stay(*, edited: bool) -> Session:
        session = Session()
        for number in range(6):
            session.read(f"{number}.py").grep("x").grep("y").grep("z").grep("w")
        session.read("slow.py")
        session.grep("v", wait=600.0).grep("u").grep("t")
        return session.edit("other.py") if edited else session

    assert stay(edited=False).found("time_anomaly") == []
    (found,) = stay(edited=True).found("time_anomaly")
    assert (found.subject, found.measure) == ("slow.py", 600.0)


def test_waiting_for_a_person_is_no_long_stay() -> None:
    session = Session().read("a.py").grep("x").read("slow.py").user("go on")
    session.grep("v", wait=600.0).edit("other.py")
    assert session.found("time_anomaly") == []


def later(session: Session) -> Session:
    """The same session, twelve searches on."""
    for number in range(12):
        session.grep(f"far {number}")
    return session


def test_what_happens_much_later_belongs_to_nothing_before() -> None:
    assert not later(Session().edit("pyproject.toml")).edit("src/a.py").found("config_touch")
    assert not later(Session().call("WebFetch", url="https://example.org")).edit("a.py").found("external_reference")
    assert not later(Session().run("go test ./a", "undefined: x", error=True)).run("go test ./a").found("error_retry")


def test_three_reads_are_not_hard_to_read_and_two_rounds_are_no_sequence() -> None:
    (found,) = Session().read("a.py").read("a.py").read("a.py").found("file_access")
    assert found.hunch != "hard to read"
    session = Session()
    for number in range(2):
        session.grep(f"x{number}").read("a.py").edit("a.py").run("make test")
    assert not session.found("tool_sequence")


def test_two_files_are_no_chain_and_a_big_file_among_big_ones_is_no_spike() -> None:
    assert not Session().read("a.py", "import b\n").read("b.py", "x = 1").found("import_chase")
    among = Session()
    for number in range(6):
        among.read(f"{number}.py", size=40_000)
    assert subjects(among, "context_token_spike") == ["Read 0.py"]  # the first had nothing to be held against


def test_every_signal_is_named_in_a_positive_and_in_a_negative_test() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for name in policy.GRADES:
        mentions = [line for line in source.splitlines() if f'"{name}"' in line]
        silent = [line for line in mentions if "assert not" in line or "== []" in line]
        assert len(mentions) > len(silent), f"{name} is never seen to fire"
        assert silent, f"{name} is never seen to be silent"


def test_an_order_of_tools_that_came_once_is_not_written_down_and_one_that_came_again_is() -> None:
    again = Session("again")
    for _ in range(4):
        again.read("a.py").edit("a.py").grep("x").run("make test")
    once = Session("once").read("a.py").edit("a.py").grep("x").run("make test")

    def kept(session: Session) -> tuple[SequenceSeen, ...]:
        recorder = Recorder()
        for event in session.events:
            recorder.see(event)
        return recorder.sequences()

    assert kept(once) == ()
    assert kept(again)
    assert all(one.times > 1 and " → " in one.tools for one in kept(again))
