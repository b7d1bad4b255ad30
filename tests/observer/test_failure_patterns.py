"""Repeated errors are foreseen from what earlier sessions taught: by feature and state, rarely, and once a session."""

from __future__ import annotations

import pytest

from observer_session import Session
from recollect.observer import policy
from recollect.observer.events import Event, ToolCall
from recollect.observer.failure_patterns import (
    Pattern,
    Trouble,
    choose_threshold,
    format_warning,
    match_patterns,
)
from recollect.observer.features import FeatureState, split_commands
from recollect.observer.predictor import FailureOdds, SessionPredictor

UNREAD = "File has not been read yet. Read it first before writing to it."


def learnt(*sessions: Session) -> list[Pattern]:
    odds = FailureOdds()
    for session in sessions:
        odds.add(watched(session).features())
    return odds.patterns()


def watched(session: Session, patterns: list[Pattern] | None = None) -> SessionPredictor:
    predictor = SessionPredictor(patterns or [])
    for event in session.events:
        predictor.see(event)
    return predictor


def last_call(session: Session) -> tuple[ToolCall, FeatureState]:
    """The last call of a session, and how things stood before it."""
    calls = [number for number, event in enumerate(session.events) if isinstance(event, ToolCall)]
    feature_state = FeatureState()
    for event in session.events[: calls[-1]]:
        feature_state.see(event)
    call = session.events[calls[-1]]
    assert isinstance(call, ToolCall)
    return call, feature_state


def likelihood(session: Session, patterns: list[Pattern]) -> float:
    """How likely the last call of a session is to fail, by the best match."""
    call, feature_state = last_call(session)
    return max(
        (match.likelihood for match in match_patterns(call, patterns, feature_state=feature_state, threshold=0.0)),
        default=0.0,
    )


def unread_edits(name: str) -> Session:
    return Session(name).edit(f"{name}.py", UNREAD, error=True).read(f"{name}.py").edit(f"{name}.py")


def test_an_edit_of_an_unread_file_is_foreseen_to_fail_and_one_of_a_read_file_is_not() -> None:
    patterns = learnt(unread_edits("a"), unread_edits("b"), unread_edits("c"))
    assert likelihood(Session().edit("new.py"), patterns) > 0.6
    assert likelihood(Session().read("new.py").edit("new.py"), patterns) < 0.35


def test_a_trouble_of_one_session_is_not_foreseen() -> None:
    assert learnt(unread_edits("a")) == []
    assert learnt(unread_edits("a"), unread_edits("b")) != []


def test_a_command_that_always_fails_is_foreseen_wherever_it_stands_in_the_line() -> None:
    def failing(name: str) -> Session:
        return Session(name).run("rtk bun run test", "error: unrecognized subcommand 'bun'", error=True)

    patterns = learnt(failing("a"), failing("b"), failing("c"))
    assert likelihood(Session().run("cd web && rtk bun run lint"), patterns) > 0.6
    assert likelihood(Session().run("bun run test"), patterns) == 0.0


def test_a_failure_that_a_pipe_hides_is_not_warned_of() -> None:
    sessions = [
        Session(name)
        .run("make lint", "lint failed", error=True)
        .run("make lint | tail -3", "lint failed")
        .run("make lint | tail -3", "lint failed")
        for name in ("a", "b", "c", "d")
    ]
    patterns = learnt(*sessions)
    assert likelihood(Session().run("make lint"), patterns) > 0.6
    assert likelihood(Session().run("make lint | tail -5"), patterns) < 0.3


def test_a_file_nobody_ever_saw_is_doubted_and_one_that_was_listed_is_not() -> None:
    def guess(name: str) -> Session:
        return (
            Session(name)
            .call("Glob", "src/real.py", pattern="*.py")
            .read("src/real.py")
            .read("src/guessed.py", "File does not exist.", error=True)
        )

    patterns = learnt(guess("a"), guess("b"), guess("c"))
    assert likelihood(Session().read("lib/other.py"), patterns) > 0.5
    assert likelihood(Session().call("Glob", "lib/other.py", pattern="*").read("lib/other.py"), patterns) < 0.3


def test_a_command_that_mostly_works_is_left_in_peace() -> None:
    def steady(name: str, *, fails: bool) -> Session:
        session = Session(name)
        for _ in range(9):
            session.run("go test ./...")
        return session.run("go test ./...", "FAIL: TestX", error=True) if fails else session

    patterns = learnt(*(steady(f"s{number}", fails=number in (3, 9)) for number in range(12)))
    assert likelihood(Session().run("go test ./..."), patterns) < 0.25


def test_what_was_mended_fades() -> None:
    bad = [Session(f"b{n}").run("make docs", "sphinx: not found", error=True) for n in range(3)]
    good = [Session(f"g{n}").run("make docs") for n in range(40)]
    before, after = learnt(*bad), learnt(*bad, *good)
    assert likelihood(Session().run("make docs"), before) > 0.6
    assert likelihood(Session().run("make docs"), after) < policy.THRESHOLDS[0]


def test_the_same_pattern_is_given_once_and_the_same_troubles_are_told_once() -> None:
    patterns = learnt(unread_edits("a"), unread_edits("b"), unread_edits("c"))
    call, feature_state = last_call(Session().edit("new.py"))
    first, *others = match_patterns(call, patterns, feature_state=feature_state, threshold=0.1)
    again = match_patterns(call, patterns, feature_state=feature_state, threshold=0.1, given={first.pattern.id})
    assert [match.pattern.id for match in again] == [match.pattern.id for match in others]
    assert (
        match_patterns(call, patterns, feature_state=feature_state, threshold=0.1, told=first.pattern.fingerprints)
        == []
    )


def test_a_lookout_counts_one_warning_a_session_for_each_bar_that_it_passes() -> None:
    patterns = learnt(unread_edits("a"), unread_edits("b"), unread_edits("c"))
    predictor = watched(Session().edit("x.py").edit("y.py").edit("z.py"), patterns)
    assert predictor.raised[0] == 1
    assert predictor.raised[-1] in (0, 1)
    assert predictor.calls == 3


def test_the_bar_is_the_lowest_that_keeps_the_budget() -> None:
    chatty = (policy.THRESHOLD_CALLS, tuple(20 if threshold < 0.3 else 2 for threshold in policy.THRESHOLDS))
    assert choose_threshold([chatty], budget=3.0) == min(
        threshold for threshold in policy.THRESHOLDS if threshold >= 0.3
    )
    assert (
        choose_threshold([(policy.THRESHOLD_CALLS, tuple(1 for _ in policy.THRESHOLDS))], budget=3.0)
        == policy.THRESHOLDS[0]
    )


def test_without_enough_calls_the_first_bar_holds_and_the_surest_is_always_told() -> None:
    assert choose_threshold([], budget=3.0) == policy.FIRST_THRESHOLD
    assert (
        choose_threshold([(policy.THRESHOLD_CALLS - 1, tuple(0 for _ in policy.THRESHOLDS))], budget=3.0)
        == policy.FIRST_THRESHOLD
    )
    assert (
        choose_threshold(
            [(policy.THRESHOLD_CALLS, tuple(policy.THRESHOLD_CALLS for _ in policy.THRESHOLDS))], budget=3.0
        )
        == policy.THRESHOLDS[-1]
    )


def test_a_warning_says_what_failed_and_what_helped() -> None:
    pattern = Pattern("Bash", "command", "rtk bun", 0.9, {}, (Trouble("f", "unrecognized subcommand", "run bun"),), 4)
    (match,) = match_patterns(last_call(Session().run("rtk bun test"))[0], [pattern])
    assert format_warning(match) == (
        "`rtk bun` failed in 4 earlier sessions here: an option it does not know (what helped: run bun)"
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cd web && npm run lint 2>&1 | tail -5", [("npm run lint", False)]),
        ("mise run fmt && mise run lint", [("mise run fmt", True), ("mise run lint", True)]),
        ("git commit -m 'a; b && c'", [("git commit", True)]),
        ("make test; echo done", [("make test", False), ("echo done", True)]),
        ("", []),
        ("echo 'never closed && make", [("echo", True), ("make", True)]),
    ],
)
def test_commands_of_a_line_are_named_with_whether_their_failure_is_told(
    line: str, found: list[tuple[str, bool]]
) -> None:
    assert list(split_commands(line)) == found


def test_events_out_of_order_and_answers_without_calls_are_survived() -> None:
    predictor = SessionPredictor()
    events: list[Event] = list(reversed(unread_edits("a").events))
    for event in events:
        predictor.see(event)
    assert predictor.calls == 3
    assert all(not feature.failed for feature in predictor.features())


def test_that_a_command_fails_is_a_local_fact_whatever_was_looked_up_before() -> None:
    def outside(name: str) -> Session:
        session = Session(name).call("WebFetch", url="https://example.org")
        return session.run("rtk bun test", "unrecognized subcommand", error=True)

    assert learnt(*(outside(name) for name in "abc")) != []


def test_the_same_sessions_teach_the_same_patterns() -> None:
    sessions = [unread_edits(name) for name in "abc"]
    assert learnt(*sessions) == learnt(*sessions)
